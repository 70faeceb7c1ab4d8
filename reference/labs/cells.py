"""Lab 2's cells: a plain RNN and a GRU (given) beside the LSTM that you wrote.

A state is a tuple whose first tensor is h (B, H): (h,) of RNN and GRU, (h, c) of the LSTM.
"""

import math
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.lstm import LSTMCell

State = tuple[Tensor, ...]


class Cell(nn.Module):
    """Hold the weights of a cell with some gates, named and drawn as torch's cells have them."""

    gates = 1

    def __init__(self, input_size: int, hidden_size: int) -> None:
        """Draw the parameters, uniform in ±1/sqrt(H)."""
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        rows, bound = self.gates * hidden_size, 1 / math.sqrt(hidden_size)
        self.weight_ih = nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh = nn.Parameter(torch.empty(rows, hidden_size))
        self.bias_ih = nn.Parameter(torch.empty(rows))
        self.bias_hh = nn.Parameter(torch.empty(rows))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def sums(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return what input and state say to the gates, each (B, gates · H)."""
        return (
            F.linear(x, self.weight_ih, self.bias_ih),
            F.linear(h, self.weight_hh, self.bias_hh),
        )


class RNNCell(Cell):
    """Update a state: h' = tanh(W x + b + U h + b')."""

    def forward(self, x: Tensor, state: State) -> State:
        """Return the next state; x (B, I), h (B, H)."""
        ours, theirs = self.sums(x, state[0])
        return ((ours + theirs).tanh(),)


class GRUCell(Cell):
    """Update a state as the lecture writes it, with a reset gate r and an update gate u.

        r = σ(W_r x + b_r + U_r h + b_r')
        u = σ(W_u x + b_u + U_u h + b_u')
        n = tanh(W_n x + b_n + r ∘ (U_n h + b_n'))
        h' = (1 − u) ∘ h + u ∘ n

    torch's cell has z in the place of 1 − u, so h' = z ∘ h + (1 − z) ∘ n. As 1 − σ(a) = σ(−a), it
    is the same cell with the rows of u negated: see `gru_from_torch`.
    """

    gates = 3

    def forward(self, x: Tensor, state: State) -> State:
        """Return the next state; x (B, I), h (B, H)."""
        (h,) = state
        from_x, from_h = (sums.chunk(3, dim=1) for sums in self.sums(x, h))
        r = (from_x[0] + from_h[0]).sigmoid()
        u = (from_x[1] + from_h[1]).sigmoid()
        n = (from_x[2] + r * from_h[2]).tanh()
        return (torch.lerp(h, n, u),)  # (1 − u) ∘ h + u ∘ n


def gru_from_torch(theirs: nn.GRUCell) -> GRUCell:
    """Return the cell that does what torch's does: the rows of u are those of z, negated."""
    cell = GRUCell(theirs.input_size, theirs.hidden_size)
    rows = slice(cell.hidden_size, 2 * cell.hidden_size)
    cell.load_state_dict(theirs.state_dict())
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter[rows] *= -1
    return cell


def make(kind: str, bias: float | None, input_size: int, hidden_size: int) -> nn.Module:
    """Return an RNN, GRU or LSTM; a bias sets where the gate that keeps the state starts: σ(bias).

    That gate is the LSTM's forget gate f and the GRU's 1 − u.
    """
    cell: nn.Module = {"RNN": RNNCell, "GRU": GRUCell, "LSTM": LSTMCell}[kind](
        input_size, hidden_size
    )
    if bias is not None:
        # Of both cells the second block of rows; 1 − u = σ(bias) is u = σ(−bias).
        rows = slice(hidden_size, 2 * hidden_size)
        with torch.no_grad():
            cell.get_parameter("bias_ih")[rows] = bias if kind == "LSTM" else -bias
            cell.get_parameter("bias_hh")[rows] = 0.0  # both are added
    return cell


def first_state(cell: nn.Module, x: Tensor) -> State:
    """Return a state of zeros for a batch of inputs (B, I)."""
    zeros = x.new_zeros(len(x), cell.get_parameter("weight_hh").shape[1])
    return (zeros, zeros) if isinstance(cell, LSTMCell) else (zeros,)


def unroll(cell: nn.Module, inputs: Iterable[Tensor]) -> list[State]:
    """Return the states after each of T inputs (B, I)."""
    states: list[State] = []
    for x in inputs:
        states.append(cell(x, states[-1] if states else first_state(cell, x)))
    return states


def parameters(cell: nn.Module, biases: int) -> int:
    """Count the parameters, with torch's two biases a gate or with one: LSTM and RNN add them."""
    left_out = "bias_hh" if biases == 1 else ""
    return sum(p.numel() for name, p in cell.named_parameters() if name != left_out)
