"""Draw models and settings for a beam search whose result no rounding can change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from autograder.faults import GraderFault
from autograder.hidden_tests.draw import normal
from autograder.probes import toy
from nmt.beam_search import Hypothesis, beam_search

# A decision with less room than this is not drawn. Sums of forty float32 log-probabilities, down to
# -150 and taken in any order, differ by 3e-4 at most, and most by some 1e-5.
ROOM = 1e-3
MAX_DRAWS = 500  # the rarest wish that a test has is met by one draw in about twenty
COURSE_SEED = 1  # any will do that lets no entry of the catalogue pass
FIRST_IDS = {"eos": 0, "bos": 1}  # while a model is drawn
NODES, WIDTH = 40, 4  # of the automaton, of the recurrent network
SPREAD = 1.6  # standard deviation of the logits: tokens differ, and none is out of reach


@dataclass(frozen=True)
class Case:
    """One search: a toy model, its first state and the arguments."""

    model: dict[str, Any]
    state: tuple[Tensor, ...]
    settings: dict[str, Any]

    @cached_property
    def expected(self) -> list[Hypothesis]:
        """Return what the reference finds."""
        return beam_search(self.step, self.state, **self.settings)

    def step(self, tokens: Tensor, state: toy.States) -> tuple[Tensor, toy.States]:
        """Run the toy model."""
        return toy.advance(self.model, tokens, state)

    def described(self) -> str:
        """Return the settings, for a message."""
        names = ("beam_size", "max_length", "alpha")
        given = [f"{name}={self.settings[name]}" for name in names if name in self.settings]
        given.append(f"V={len(self.model['embedding'])}")
        state = ", ".join(f"{tuple(part.shape)} {part.dtype}" for part in self.state)
        return f"{', '.join(given)} and the state [{state}]"


@dataclass(frozen=True)
class Course:
    """How a search went: what a test wants of its draws."""

    room: float  # the smallest difference that a decision hung on
    finished: tuple[tuple[float, int], ...]  # (log_prob, number of tokens with </s>), best first
    length: int  # tokens generated
    live: int  # hypotheses that were live at the end


Wish = Callable[[Course], bool]


def anything(course: Course) -> bool:
    """Wish for nothing."""
    return True


class Searches:
    """Draw searches that go the same way for every seed of a run, under other token ids.

    So a search that is wrong in some cases alone keeps its points, or loses them, in every run.
    """

    def __init__(self, rng: torch.Generator) -> None:
        """Take the run's generator, which draws the ids."""
        self._ids = rng
        self._course = torch.Generator().manual_seed(COURSE_SEED)

    def draw(
        self,
        settings: Mapping[str, float],
        *,
        parts: Sequence[str] = ("node", "hidden"),
        vocabulary: int = 7,
        dtype: torch.dtype = torch.float32,
        favoured: Mapping[str, float] | None = None,
        spread: float = SPREAD,
        wish: Wish = anything,
    ) -> Case:
        """Draw a model until its search has room for rounding and goes as wished.

        `favoured` adds to the logits of "eos" or "bos".
        """
        for _ in range(MAX_DRAWS):
            model, state = _draw_model(self._course, parts, vocabulary, dtype, spread)
            for name, bonus in (favoured or {}).items():
                model["bias"][FIRST_IDS[name]] += bonus
            case = Case(model, state, {**FIRST_IDS, **settings})
            course = follow(case)
            if course.room >= ROOM and wish(course):
                return _renamed(case, torch.randperm(vocabulary, generator=self._ids))
        raise GraderFault(f"no search as wished in {MAX_DRAWS} draws: {dict(settings)}")


def _renamed(case: Case, old: Tensor) -> Case:
    """Give the tokens other ids: the new id i stands for old[i]."""
    model = dict(case.model)
    for name in ("embedding", "bias"):
        model[name] = model[name][old]
    for name in ("table", "next", "hidden_output", "seen_output", "recent_output"):
        model[name] = model[name][:, old]
    model["seen_output"] = model["seen_output"][old]
    parts = zip(model["parts"], case.state)
    state = tuple(part[:, old] if name == "seen" else part for name, part in parts)
    new = {name: int((old == number).nonzero()) for name, number in FIRST_IDS.items()}
    return Case(model, state, {**case.settings, **new})


def _draw_model(
    rng: torch.Generator,
    parts: Sequence[str],
    vocabulary: int,
    dtype: torch.dtype,
    spread: float,
) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    # Each part moves the logits equally far; entries of hidden are about 0.7 in size.
    spread = spread / math.sqrt(len(parts))
    other = torch.float64 if dtype is torch.float32 else torch.float32
    model = {
        "parts": list(parts),
        "bias": torch.zeros(vocabulary, dtype=torch.float64),
        "embedding": normal(rng, vocabulary, WIDTH, dtype=dtype),
        "table": normal(rng, NODES, vocabulary, scale=spread),
        "next": torch.randint(NODES, (NODES, vocabulary), generator=rng),
        "recurrent": normal(rng, WIDTH, WIDTH, scale=0.9 / math.sqrt(WIDTH), dtype=dtype),
        "hidden_output": normal(rng, WIDTH, vocabulary, scale=spread / math.sqrt(WIDTH / 2)),
        "seen_output": normal(rng, vocabulary, vocabulary, scale=spread / math.sqrt(2)),
        "recent_output": normal(rng, 2 * WIDTH, vocabulary, scale=spread / math.sqrt(2 * WIDTH)),
    }
    first = {
        "node": torch.randint(NODES, (1,), generator=rng),
        "hidden": normal(rng, 1, WIDTH, dtype=dtype),
        "seen": torch.rand(1, vocabulary, generator=rng) < 0.5,
        "recent": normal(rng, 1, 2, WIDTH, dtype=other),
    }
    return model, tuple(first[name] for name in parts)


def follow(case: Case) -> Course:
    """Search, and measure by how much each decision was taken.

    Decisions are: which extensions are kept, and the order of the results.
    """
    step, state, k = case.step, case.state, case.settings["beam_size"]
    tokens, totals = torch.tensor([case.settings["bos"]]), [0.0]
    room, length = [math.inf], 0
    finished: list[tuple[float, int]] = []
    while totals and len(finished) < k and length < case.settings["max_length"]:
        log_probs, state = step(tokens, state)
        length += 1
        extended = sorted(_extensions(totals, log_probs), reverse=True)
        room += [extended[k - 1][0] - extended[k][0]] if len(extended) > k else []
        finished += [(t, length) for t, _, token in extended[:k] if token == case.settings["eos"]]
        live = [item for item in extended[:k] if item[2] != case.settings["eos"]]
        totals = [total for total, _, _ in live]
        tokens = torch.tensor([token for _, _, token in live], dtype=torch.int64)
        state = tuple(part[[row for _, row, _ in live]] for part in state)
    alpha = case.settings.get("alpha", 1.0)
    finished.sort(key=lambda item: item[0] / item[1] ** alpha, reverse=True)
    ranked = [total / n**alpha for total, n in finished] or totals
    room += [better - worse for better, worse in pairwise(ranked)]
    return Course(min(room), tuple(finished), length, len(totals))


def _extensions(totals: Sequence[float], log_probs: Tensor) -> list[tuple[float, int, int]]:
    """List (summed log-probability, row, token)."""
    return [
        (total + log_prob, row, token)
        for row, total in enumerate(totals)
        for token, log_prob in enumerate(log_probs[row].tolist())
    ]


# P(</s>), P(a), P(b) after each prefix: a search small enough to be done by hand.
BY_HAND = {
    "": (0.10, 0.52, 0.38),
    "a": (0.10, 0.60, 0.30),
    "b": (0.85, 0.10, 0.05),
    "aa": (0.15, 0.25, 0.60),
    "ab": (0.70, 0.20, 0.10),
    "aab": (0.97, 0.02, 0.01),
    "aaa": (0.60, 0.30, 0.10),
    "else": (0.80, 0.15, 0.05),
}
NEVER = 1e-9  # the probability of a <s> among the tokens


def by_hand(rng: torch.Generator, settings: Mapping[str, float]) -> Case:
    """Return the search by hand, the ids of its four tokens drawn."""
    return from_table(torch.randperm(4, generator=rng).tolist(), settings)


Chances = Mapping[str, tuple[float, float, float]]


def from_table(
    ids: Sequence[int], settings: Mapping[str, float], chances_after: Chances = BY_HAND
) -> Case:
    """Return a search in a table as an automaton; `ids` are those of </s>, a, b and <s>."""
    ids = list(ids)
    eos, a, b, bos = ids
    prefixes = [*chances_after, "start"]
    table = torch.full((len(prefixes), 4), 0.25)
    after = torch.full((len(prefixes), 4), prefixes.index("else"))
    for node, chances in enumerate(chances_after.values()):
        table[node, ids] = torch.tensor([*chances, NEVER])
        for letter, token in (("a", a), ("b", b)):
            longer = prefixes[node] + letter
            after[node, token] = prefixes.index(longer if longer in chances_after else "else")
    after[prefixes.index("start"), bos] = 0
    model = {
        "parts": ["node"],
        "bias": torch.zeros(4, dtype=torch.float64),
        "embedding": torch.zeros(4, 1),
        "table": table.log(),
        "next": after,
    }
    state = (torch.tensor([prefixes.index("start")]),)
    return Case(model, state, {"bos": bos, "eos": eos, **settings})
