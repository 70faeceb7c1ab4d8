"""Read a source sentence in both directions."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from nmt.lstm import LSTMCell, State


def run(
    cell: LSTMCell, inputs: Iterable[Tensor], paddings: Iterable[Tensor | None], h: Tensor
) -> tuple[list[Tensor], State]:
    """Run a cell over a sequence, from a state of zeros; padding leaves the state as it is.

    inputs S times (B, I); paddings S times (B, 1) bool, True = padding, or None where all rows are
    real; h (B, H) zeros -> S times the hidden state (B, H) after each step, and the last state.
    """
    c, outputs = h, []
    for x, padding in zip(inputs, paddings, strict=True):
        new_h, new_c = cell(x, (h, c))
        if padding is None:
            h, c = new_h, new_c
        else:
            h, c = torch.where(padding, h, new_h), torch.where(padding, c, new_c)
        outputs.append(h)
    return outputs, (h, c)


class Encoder(nn.Module):
    """Encode a batch with a cell a direction, and make the decoder's first state of their last."""

    def __init__(self, embedding_size: int, encoder_size: int, decoder_size: int) -> None:
        """Create the cells and the projections; encoder_size is that of one direction."""
        super().__init__()
        self.forward_cell = LSTMCell(embedding_size, encoder_size)
        self.backward_cell = LSTMCell(embedding_size, encoder_size)
        self.project_h = nn.Linear(2 * encoder_size, decoder_size)
        self.project_c = nn.Linear(2 * encoder_size, decoder_size)

    def forward(self, embedded: Tensor, mask: Tensor) -> tuple[Tensor, State]:
        """Return the outputs at each position and the decoder's first state.

        embedded (B, S, E), mask (B, S) bool, True = padding, at the right
        -> outputs (B, S, D), [forward; backward]; state = (h, c), each (B, H).
        """
        inputs = embedded.transpose(0, 1).contiguous().unbind()  # S times (B, E)
        padded = mask.any(dim=0).tolist()
        columns = mask.t().unsqueeze(2).unbind()  # S times (B, 1)
        paddings = [column if some else None for column, some in zip(columns, padded, strict=True)]
        zeros = embedded.new_zeros(len(embedded), self.forward_cell.hidden_size)

        ahead, (h_ahead, c_ahead) = run(self.forward_cell, inputs, paddings, zeros)
        # From the right, padding comes first: it leaves the zeros, and the last word starts afresh.
        back, (h_back, c_back) = run(self.backward_cell, inputs[::-1], paddings[::-1], zeros)
        outputs = torch.cat([torch.stack(ahead, dim=1), torch.stack(back[::-1], dim=1)], dim=2)
        h = self.project_h(torch.cat([h_ahead, h_back], dim=1))
        c = self.project_c(torch.cat([c_ahead, c_back], dim=1))
        return outputs, (h, c)
