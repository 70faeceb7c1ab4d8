"""Lab 2's memory: name the first token of a sequence after some steps of noise."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from labs import cells
from labs.part import Context, Figures, Settings
from nmt.lstm import LSTMCell

SIGNALS = 8  # what the first token is one of; chance is 1 / 8
NOISE = 8  # other tokens
# With 96 sequences a step is mostly arithmetic, not the calls of a loop in Python (see 2.5).
EMBEDDING, HIDDEN, BATCH = 16, 64, 96
RATE, CLIP = 2e-3, 1.0
TESTED, PROBED = 1000, 2000  # sequences


class Reader(nn.Module):
    """Read a sequence with a cell and name its first token."""

    def __init__(self, kind: str, bias: float | None) -> None:
        """Create the layers."""
        super().__init__()
        self.embedding = nn.Embedding(SIGNALS + NOISE, EMBEDDING)
        self.cell = cells.make(kind, bias, EMBEDDING, HIDDEN)
        self.output = nn.Linear(HIDDEN, SIGNALS)

    def states(self, tokens: Tensor) -> list[cells.State]:
        """Return the states after each token; tokens (T + 1, B)."""
        return cells.unroll(self.cell, self.embedding(tokens).unbind())

    def forward(self, tokens: Tensor) -> Tensor:
        """Score the signals (B, 8) after the last token."""
        scores: Tensor = self.output(self.states(tokens)[-1][0])
        return scores


def draw(length: int, count: int, generator: torch.Generator) -> Tensor:
    """Draw sequences (T + 1, count): a signal, then T noise tokens."""
    signals = torch.randint(SIGNALS, (1, count), generator=generator)
    noise = torch.randint(SIGNALS, SIGNALS + NOISE, (length, count), generator=generator)
    return torch.cat([signals, noise])


def remember(settings: Settings, seed: int, context: Context) -> Figures:
    """Train a reader and test it; probe its states, too, where that is asked for."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    reader, length = Reader(settings["cell"], settings["bias"]), settings["length"]
    losses = train(reader, length, settings["steps"], generator, context)
    tested = draw(length, TESTED, generator)
    with torch.no_grad():
        right = (reader(tested).argmax(dim=1) == tested[0]).double().mean().item()
    figures = {"accuracy": right, "losses": losses}
    if settings["probe"]:
        figures |= probe(reader, length, generator)
    return figures


def train(
    reader: Reader, length: int, steps: int, generator: torch.Generator, context: Context
) -> list[float]:
    """Train a reader on fresh sequences; return the mean loss of each twentieth of the steps."""
    optimizer = torch.optim.Adam(reader.parameters(), lr=RATE)
    losses = []
    for step in range(steps):
        tokens = draw(length, BATCH, generator)
        loss = F.cross_entropy(reader(tokens), tokens[0])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(reader.parameters(), CLIP)
        optimizer.step()
        losses.append(loss.item())
        context.progress((step + 1) / steps)
    size = math.ceil(steps / 20)
    return [math.fsum(losses[i : i + size]) / size for i in range(0, steps - size + 1, size)]


def probe(reader: Reader, length: int, generator: torch.Generator) -> Figures:
    """Tell how well a linear map reads the signal out of the state after each token.

    The map is the least-squares one to the signals' one-hot vectors, fitted on one half of the
    sequences and tested on the other. The state is c of an LSTM, else h.
    """
    tokens = draw(length, PROBED, generator)
    wanted = F.one_hot(tokens[0], SIGNALS).double()
    half, shares = PROBED // 2, []
    with torch.no_grad():
        states, inputs = reader.states(tokens), reader.embedding(tokens)
    for state in states:
        seen = F.pad(state[-1].double(), (0, 1), value=1.0)  # a column for the constant
        fit = ridge(seen[:half], wanted[:half])
        right = (seen[half:] @ fit).argmax(dim=1) == tokens[0, half:]
        shares.append(right.double().mean().item())
    cell = reader.cell
    return {
        "probe": shares,
        "forget": forget_gate(cell, inputs) if isinstance(cell, LSTMCell) else None,
    }


def ridge(seen: Tensor, wanted: Tensor) -> Tensor:
    """Return the least-squares map from what is seen (N, H) to what is wanted (N, 8).

    The small penalty decides where columns are nearly dependent.
    """
    square = seen.T @ seen
    penalty = 1e-6 * square.diagonal().mean() * torch.eye(len(square), dtype=seen.dtype)
    fit: Tensor = torch.linalg.solve(square + penalty, seen.T @ wanted)
    return fit


def forget_gate(cell: LSTMCell, inputs: Tensor) -> float:
    """Return the mean of the forget gate over inputs (T, B, I).

    The cell does not show its gates, but c' = f ∘ c + i ∘ g makes f the derivative of c' by c.
    """
    state, total = cells.first_state(cell, inputs[0]), 0.0
    for x in inputs:
        h, c = (part.detach() for part in state)
        state = cell(x, (h, c.requires_grad_()))
        (gate,) = torch.autograd.grad(state[1].sum(), c)
        total += gate.mean().item()
    return total / len(inputs)
