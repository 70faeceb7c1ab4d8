"""Walk through the worked example of beam search: which extensions it keeps, step by step.

The steps are worked out here from the table; that the search comes to the same is checked against
the reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.beam_search import Hypothesis, beam_search

END = "</s>"
# P(</s>), P(a), P(b) after each prefix; "else" is any other.
TABLE = {
    "": (0.10, 0.52, 0.38),
    "a": (0.10, 0.60, 0.30),
    "b": (0.85, 0.10, 0.05),
    "aa": (0.15, 0.25, 0.60),
    "ab": (0.70, 0.20, 0.10),
    "aab": (0.97, 0.02, 0.01),
    "aaa": (0.60, 0.30, 0.10),
    "else": (0.80, 0.15, 0.05),
}
LETTERS = (END, "a", "b")
BEAM, LENGTH = 2, 6


@dataclass(frozen=True)
class Extension:
    """Hold a live prefix, one more token, and what the search makes of it."""

    prefix: str
    token: str
    chance: float  # of the token, after the prefix
    total: float  # of prefix and token
    kept: bool

    @property
    def finished(self) -> bool:
        """Tell whether it leaves the beam as a translation."""
        return self.kept and self.token == END

    @property
    def text(self) -> str:
        """Return all tokens."""
        return " ".join([*self.prefix, self.token])


@dataclass(frozen=True)
class Walk:
    """Hold the steps of a search, and what it returns."""

    steps: list[list[Extension]]  # of each step all extensions, in the order of the table
    result: list[Hypothesis]

    def spelled(self, hypothesis: Hypothesis) -> str:
        """Return the letters of a hypothesis."""
        return " ".join(LETTERS[token] for token in hypothesis.tokens)


def beam() -> Walk:
    """Return the walk of the table with a beam of 2.

    Raises:
        AssertionError: if the reference returns something else.
    """
    live, steps, finished = {"": 1.0}, [], dict[str, float]()
    while live and len(finished) < BEAM:
        extensions = _extend(live)
        steps.append(extensions)
        finished |= {e.prefix: e.total for e in extensions if e.finished}
        live = {e.prefix + e.token: e.total for e in extensions if e.kept and not e.finished}
    result = beam_search(
        _step,
        (torch.zeros(1, 0, dtype=torch.long),),
        bos=3,
        eos=0,
        beam_size=BEAM,
        max_length=LENGTH,
    )
    for hypothesis in result:
        letters = "".join(LETTERS[token] for token in hypothesis.tokens)
        assert math.isclose(math.exp(hypothesis.log_prob), finished[letters], rel_tol=1e-5)
    return Walk(steps, result)


def _extend(live: dict[str, float]) -> list[Extension]:
    """Return all extensions of the live prefixes, and which of them are kept."""
    whole = [
        (prefix, token, chance, total * chance)
        for prefix, total in live.items()
        for token, chance in zip(LETTERS, TABLE.get(prefix, TABLE["else"]), strict=True)
    ]
    least = sorted((entry[3] for entry in whole), reverse=True)[BEAM - 1]
    return [Extension(*entry, kept=entry[3] >= least) for entry in whole]


def _step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Look the table up; the state is what was read so far."""
    (history,) = state
    history = torch.cat([history, tokens.unsqueeze(1)], dim=1)
    prefixes = ["".join(LETTERS[token] for token in row[1:]) for row in history.tolist()]
    chances = [TABLE.get(prefix, TABLE["else"]) for prefix in prefixes]
    return torch.tensor(chances, dtype=torch.float64).log(), (history,)
