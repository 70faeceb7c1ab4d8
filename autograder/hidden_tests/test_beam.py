"""Task `beam`: does the search find the contract's n-best list, with its scores?

All hypotheses are compared, not the best one alone, on models whose state depends on the whole
history. Only `test_types_and_inputs` asks for the exact types, so that a slip there costs one test.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.faults import Mismatch
from autograder.hidden_tests import answers, compare
from autograder.hidden_tests.searches import Case, Course, Searches, Wish, by_hand
from autograder.sandbox.session import TaskRunner
from nmt.beam_search import Hypothesis

pytestmark = pytest.mark.task("beam")

# Sums of float32 log-probabilities; no score is larger in size than its log_prob.
TOLERANCE = compare.TOLERANCES.log_prob
KEYS = {"hypotheses", "state_after", "random", "gradients"}
Tokens = tuple[int, ...]
PARTS = ("node", "hidden", "seen", "recent")
FLAT = 0.3  # of the logits: every token has about the same probability


def check(probe: TaskRunner, cases: Iterable[Case]) -> None:
    """Run all searches, then compare the whole list of each.

    All are run before the first is judged: what they give tells similar mistakes apart.
    """
    found = [(case, search(probe, case)) for case in cases]
    for case, (report,) in found:
        same_list(report["hypotheses"], case)


def search(probe: TaskRunner, case: Case, times: int = 1) -> list[Mapping[str, Any]]:
    """Search in the worker; each report has the KEYS, with values of whatever kind."""
    answer = probe.call(
        "search", model=case.model, state=case.state, settings=case.settings, times=times
    )
    return answers.reports(answer, times, KEYS)


def same_list(actual: Any, case: Case) -> None:
    """Compare a list of (tokens, log_prob, score), best first, with what the case gives."""
    items = entries(actual)
    if len(items) > case.settings["beam_size"]:
        raise wrong(case, f"it returned {len(items)} hypotheses, more than beam_size")
    got = [hypothesis(item, index) for index, item in enumerate(items)]
    found, wanted = ([tokens for tokens, _, _ in some] for some in (got, case.expected))
    if found != wanted:
        raise wrong(case, difference(found, wanted, case))
    for index, ((_, log_prob, score), other) in enumerate(zip(got, case.expected)):
        if not close(log_prob, other.log_prob):
            raise wrong(
                case,
                f"hypothesis {index} has the right tokens and a wrong log_prob: the sum of the "
                "log-probabilities of all its generated tokens, </s> included, each once",
            )
        if not close(score, other.score):
            raise wrong(
                case,
                f"hypothesis {index} has the right tokens and log_prob and a wrong score: "
                "log_prob / n**alpha, n its own generated tokens with </s> and without <s>",
            )


def close(actual: float, expected: float) -> bool:
    """Tell whether two sums of log-probabilities are the same but for rounding."""
    return math.isclose(actual, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def wrong(case: Case, what: str) -> Mismatch:
    """Return the mismatch, with the settings of the search."""
    return Mismatch(f"beam_search with {case.described()}: {what}.")


def difference(found: list[Tokens], wanted: list[Tokens], case: Case) -> str:
    """Say in what way the lists of tokens differ, without the tokens."""
    eos, bos = case.settings["eos"], case.settings["bos"]
    if not found:
        return "it returned no hypothesis; if none has finished, the best live one is the result"
    if any(tokens[-1:] == (eos,) for tokens in found):
        return "</s> is among the tokens of a hypothesis; they end before it"
    # Where () alone is right, (<s>,) may as well be a translation of one word.
    if any(wanted) and found == [(bos, *tokens) for tokens in wanted]:
        return "the tokens begin with <s>; it is given, not generated"
    if sorted(found) == sorted(wanted):
        return "the hypotheses are right, their order is not: the best score comes first"
    if len(set(found)) < len(found):
        return "two hypotheses of the result have the same tokens"
    if len(found) != len(wanted):
        return (
            f"it returned {len(found)} of them, and this search gives another number: the finished "
            "hypotheses, at most beam_size, or, if none has finished, the best live one alone"
        )
    index = next(i for i, (mine, theirs) in enumerate(zip(found, wanted)) if mine != theirs)
    return (
        f"hypothesis {index} of {len(found)}, best first, has other tokens than this search gives; "
        "follow the five steps in the docstring of beam_search"
    )


def entries(actual: Any) -> list[Any]:
    """Take what should be a list of hypotheses."""
    if not isinstance(actual, list):
        raise Mismatch(
            f"beam_search must return a list of Hypothesis; it returned {compare.kind(actual)}."
        )
    return actual


def hypothesis(item: Any, index: int) -> tuple[Tokens, float, float]:
    """Read one hypothesis, leniently: lists, tensors and numpy's numbers will do."""
    what = f"hypothesis {index} of beam_search"
    tokens, log_prob, score = compare.parts(what, item, Hypothesis._fields)
    read = tuple(token_of(token, what) for token in sequence(tokens, what))
    return read, number(log_prob, f"the log_prob of {what}"), number(score, f"the score of {what}")


def sequence(tokens: Any, what: str) -> list[Any]:
    """Take tokens out of a tuple, a list or a tensor (n,)."""
    if isinstance(tokens, Tensor) and tokens.dim() == 1:
        return list(tokens)
    if not isinstance(tokens, (tuple, list)):
        raise Mismatch(
            f"the tokens of {what} must be a tuple of ints; they are {compare.kind(tokens)}."
        )
    return list(tokens)


def token_of(token: Any, what: str) -> int:
    """Read a token id."""
    if isinstance(token, Tensor) and token.numel() == 1 and not token.is_floating_point():
        return int(token.item())
    if type(token) is not int:
        raise Mismatch(f"a token of {what} must be an int; it is {compare.kind(token)}.")
    return token


def number(value: Any, what: str) -> float:
    """Read a finite float."""
    if isinstance(value, Tensor) and value.numel() == 1 and value.is_floating_point():
        value = value.item()
    if not isinstance(value, float):
        raise Mismatch(f"{what} must be a Python float; it is {compare.kind(value)}.")
    if not math.isfinite(value):
        raise Mismatch(f"{what} is NaN or infinite; all log-probabilities are finite.")
    return value


def settings(beam_size: int, max_length: int, alpha: float) -> dict[str, float]:
    """Name the three arguments of a search."""
    return {"beam_size": beam_size, "max_length": max_length, "alpha": alpha}


def test_by_hand(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does it find what one finds by hand, with k = 1 and 2?"""
    drawn = [by_hand(rng, {"beam_size": 2, "max_length": 6})]  # without alpha it is 1
    for arguments in [(2, 6, 0.0), (1, 6, 1.0), (2, 2, 1.0), (2, 1, 1.0)]:
        drawn.append(by_hand(rng, settings(*arguments)))
    check(probe, drawn)


def test_n_best(probe: TaskRunner, rng: torch.Generator) -> None:
    """Is the whole n-best list right, for several beam sizes?"""
    draws, drawn = Searches(rng), []
    for k, length, alpha in [(2, 6, 1.0), (3, 8, 0.7), (4, 7, 1.0), (5, 10, 0.7), (3, 20, 1.0)]:
        # To max_length, with some finished but not k; and shorter, with k or more of them.
        early = overshoots(k) if k > 2 else finishes
        for wish in (runs_out(k), runs_out(k), ends_at(length), early, finishes):
            drawn.append(draws.draw(settings(k, length, alpha), wish=wish))
    check(probe, drawn)


def overshoots(k: int) -> Wish:
    """Wish for more than k finished hypotheses: several in the last step."""
    return lambda course: len(course.finished) > k


def runs_out(k: int) -> Wish:
    """Wish for some finished hypotheses, but less than k, at max_length."""
    return lambda course: 0 < len(course.finished) < k


def finishes(course: Course) -> bool:
    """Wish for a finished hypothesis."""
    return bool(course.finished)


def test_state_follows(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does every tensor of the state go with its hypothesis, whatever its dtype and rank?"""
    draws, given = Searches(rng), settings(4, 7, 0.7)
    mixtures = [*((part,) for part in PARTS), PARTS, PARTS[::-1], ("recent", "node", "seen")]
    drawn = [
        draws.draw(given, parts=parts, dtype=dtype, wish=runs_out(4))
        for parts in mixtures
        for dtype in (torch.float32, torch.float64)
    ]
    check(probe, drawn)


def test_length_normalisation(probe: TaskRunner, rng: torch.Generator) -> None:
    """Is score = log_prob / n**alpha, for alpha = 0, between 0 and 1, 1, and above?"""
    draws, drawn = Searches(rng), []
    for alpha in (0.0, 0.3, 0.7, 1.0, 2.0):
        for k in (3, 5):
            wish = reorders if alpha >= 0.7 else several_lengths
            drawn.append(draws.draw(settings(k, 8, alpha), wish=wish))
    check(probe, drawn)


def several_lengths(course: Course) -> bool:
    """Wish for finished hypotheses of different lengths."""
    return len({length for _, length in course.finished}) > 1


def reorders(course: Course) -> bool:
    """Wish for a list that is not in the order of log_prob."""
    log_probs = [log_prob for log_prob, _ in course.finished]
    return log_probs != sorted(log_probs, reverse=True)


def test_beam_sizes(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does it work for a beam of 1, as wide as the vocabulary, and wider?"""
    draws, drawn = Searches(rng), []
    for vocabulary in (3, 5):
        for k in (1, 2, vocabulary, vocabulary + 1, 3 * vocabulary):
            for length in (4, 6):
                arguments = settings(k, length, 0.7)
                drawn.append(draws.draw(arguments, vocabulary=vocabulary, wish=finishes))
    check(probe, drawn)


def test_max_length(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does it end after max_length tokens, with the best live hypothesis if none has finished?"""
    draws, drawn = Searches(rng), []
    for length in (1, 2, 3, 6):
        for alpha in (1.0, 0.6):
            arguments = settings(3, length, alpha)
            rare = {"eos": -1.5}
            drawn.append(draws.draw(arguments, favoured=rare, wish=nothing_finishes))
            drawn.append(draws.draw(arguments, wish=ends_at(length)))
    # Far longer than the others, in float64.
    arguments, rare = settings(2, 40, 1.0), {"eos": -6.0}
    wish = nothing_finishes
    drawn.append(draws.draw(arguments, dtype=torch.float64, favoured=rare, wish=wish))
    # As long, with a sum below -110: as a product, the probabilities would be 0 in float32.
    drawn.append(
        draws.draw(arguments, vocabulary=50, spread=FLAT, favoured=rare, wish=nothing_finishes)
    )
    check(probe, drawn)


def nothing_finishes(course: Course) -> bool:
    """Wish for no finished hypothesis and a choice of live ones."""
    return not course.finished and course.live > 1


def ends_at(length: int) -> Wish:
    """Wish for a hypothesis whose </s> is the last token that max_length allows."""
    return lambda course: any(n == length for _, n in course.finished) and course.live > 0


def test_no_token_is_banned(probe: TaskRunner, rng: torch.Generator) -> None:
    """May it be empty, and hold <s> and any other token as often as the model likes?"""
    draws, drawn = Searches(rng), []
    for k in (1, 2, 4):
        for alpha in (0.0, 1.0):
            arguments = settings(k, 6, alpha)
            drawn.append(draws.draw(arguments, favoured={"eos": 1.0}, wish=empty_is_best))
            drawn.append(draws.draw(arguments, favoured={"bos": 2.5}, wish=is_long))
    check(probe, drawn)


def empty_is_best(course: Course) -> bool:
    """Wish for the empty translation as the best."""
    return bool(course.finished) and course.finished[0][1] == 1


def is_long(course: Course) -> bool:
    """Wish for a best hypothesis of several tokens."""
    return bool(course.finished) and course.finished[0][1] > 2


def test_types_and_inputs(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are they tuples of ints and Python floats, and are the state and torch left as they were?"""
    draws = Searches(rng)
    kinds = ((PARTS, torch.float32), (("recent", "hidden"), torch.float64))
    wishes = (several_lengths, runs_out(3), overshoots(3))
    for (parts, dtype), wish in itertools.product(kinds, wishes):
        case = draws.draw(settings(3, 6, 0.7), parts=parts, dtype=dtype, wish=wish)
        before = {f"state[{index}]": part.clone() for index, part in enumerate(case.state)}
        # The second search starts from the state that the first one left.
        for report in search(probe, case, times=2):
            exact_types(report["hypotheses"])
            same_list(report["hypotheses"], case)
            compare.unchanged("beam_search", report["state_after"], before)
            answers.draws_nothing("beam_search", report["random"])
            answers.keeps_gradients("beam_search", report["gradients"])


def exact_types(actual: Any) -> None:
    """Hold the types against Hypothesis's."""
    for index, item in enumerate(entries(actual)):
        what = f"hypothesis {index} of beam_search"
        tokens, log_prob, score = compare.parts(what, item, Hypothesis._fields)
        if not isinstance(tokens, tuple) or any(type(token) is not int for token in tokens):
            raise Mismatch(
                f"the tokens of {what} must be a tuple of Python ints: tuple(...), .tolist()."
            )
        for name, value in (("log_prob", log_prob), ("score", score)):
            if not isinstance(value, float):
                raise Mismatch(f"{name} of {what} must be a Python float: .item().")
