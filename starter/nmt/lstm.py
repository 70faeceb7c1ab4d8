"""Task `lstm`: one step of a long short-term memory."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

State = tuple[Tensor, Tensor]  # (h, c), each (B, H)


class LSTMCell(nn.Module):
    """Update a hidden state and a cell state with one input.

    The parameters have the names, the shapes and the order of the gates of `torch.nn.LSTMCell`,
    so either loads the other's state dict:

        weight_ih (4H, I)    weight_hh (4H, H)    bias_ih (4H,)    bias_hh (4H,)

    Rows 0..H-1 belong to the input gate i, the next H to the forget gate f, then the candidate g,
    then the output gate o.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        """Create the parameters, uniform in ±1/sqrt(H) as torch's own cell has them (given)."""
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.weight_ih = nn.Parameter(torch.empty(4 * hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.empty(4 * hidden_size, hidden_size))
        self.bias_ih = nn.Parameter(torch.empty(4 * hidden_size))
        self.bias_hh = nn.Parameter(torch.empty(4 * hidden_size))
        bound = 1 / math.sqrt(hidden_size)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: Tensor, state: State) -> State:
        """Return the next state (h', c') after reading x in the state (h, c).

        x (B, I), state = (h, c), each (B, H) -> (h', c'), each (B, H), in the dtype of the inputs.
        σ is the sigmoid, ∘ the product entry by entry. Of the two letters at W and b, the first is
        the source (i: the input x, h: the state h), the second the gate whose rows they are:

            i = σ(W_ii x + b_ii + W_hi h + b_hi)        how much of the candidate is written
            f = σ(W_if x + b_if + W_hf h + b_hf)        how much of the old cell is kept
            g = tanh(W_ig x + b_ig + W_hg h + b_hg)     the candidate
            o = σ(W_io x + b_io + W_ho h + b_ho)        how much of the new cell is shown
            c' = f∘c + i∘g
            h' = o∘tanh(c')

        x, h and c are left as they are: nothing is changed in place, and nothing is kept on `self`.
        The result is differentiable with respect to x, h, c and all four parameters. It must work
        in float32 and float64, for any B >= 1, and where B, I and H all differ.

        Not allowed: torch's own LSTM layers, cells and functions (`nn.LSTM`, `nn.LSTMCell`,
        `torch.lstm_cell`, `torch._VF.lstm*`). Everything else in torch is.

        Source: Hochreiter and Schmidhuber (1997); the forget gate: Gers et al. (2000).
        """
        raise NotImplementedError(
            "Task lstm is not implemented yet: LSTMCell.forward in nmt/lstm.py"
        )
