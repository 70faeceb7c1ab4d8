"""Public tests of task `beam`: nmt/beam_search.py."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

EOS, A, B, BOS = 0, 1, 2, 3
LETTERS = {A: "a", B: "b", BOS: "<s>", EOS: "</s>"}
Step = Callable[[Tensor, tuple[Tensor, ...]], tuple[Tensor, tuple[Tensor, ...]]]

# P(</s>), P(a), P(b) after each prefix; "else" is any other.
MAIN = {
    "": (0.10, 0.52, 0.38),
    "a": (0.10, 0.60, 0.30),
    "b": (0.85, 0.10, 0.05),
    "aa": (0.15, 0.25, 0.60),
    "ab": (0.70, 0.20, 0.10),
    "aab": (0.97, 0.02, 0.01),
    "aaa": (0.60, 0.30, 0.10),
    "else": (0.80, 0.15, 0.05),
}
# With k = 2, `a </s>` finishes and only `b a` lives on: its parent is the second hypothesis.
SECOND_PARENT = {
    "": (0.05, 0.55, 0.40),
    "a": (0.80, 0.12, 0.08),
    "b": (0.05, 0.90, 0.05),
    "ba": (0.90, 0.06, 0.04),
    "else": (0.10, 0.30, 0.60),
}
# With k = 2, both hypotheses of length 2 are children of `a`: `aa` .45 and `ab` .36.
ONE_PARENT = {
    "": (0.04, 0.90, 0.06),
    "a": (0.10, 0.50, 0.40),
    "aa": (0.60, 0.30, 0.10),
    "ab": (0.90, 0.06, 0.04),
    "else": (0.50, 0.30, 0.20),
}


@pytest.fixture
def search() -> Callable[..., list[Any]]:
    """Import inside a test, so that a broken file fails the tests one by one."""
    import nmt.beam_search

    module: ModuleType = nmt.beam_search

    def run(table: Mapping[str, tuple[float, ...]], k: int, **settings: float) -> list[Any]:
        state = (torch.zeros(1, 0, dtype=torch.long), torch.zeros(1))
        arguments: dict[str, Any] = {"max_length": 6, "alpha": 1.0, **settings}
        step = step_from(table)
        result: list[Any] = module.beam_search(
            step, state, bos=BOS, eos=EOS, beam_size=k, **arguments
        )
        return result

    return run


def step_from(table: Mapping[str, tuple[float, ...]]) -> Step:
    """Return a step function that knows only what the state tells it.

    The state holds the tokens so far (n, t), and how many there were (n,).
    """

    def step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        history, length = state
        assert tokens.dtype == torch.int64, f"step takes tokens in int64, got {tokens.dtype}"
        assert tokens.dim() == 1, f"step takes tokens (n,), got {tuple(tokens.shape)}"
        assert len(tokens) == len(history) == len(length), (
            f"step got {len(tokens)} tokens and states with {len(history)} and {len(length)} rows: "
            "pick the rows of EVERY tensor of the state with their hypotheses"
        )
        history = torch.cat([history, tokens.unsqueeze(1)], dim=1)
        prefixes = ["".join(LETTERS[token] for token in row[1:]) for row in history.tolist()]
        chances = torch.tensor([table.get(prefix, table["else"]) for prefix in prefixes])
        begin = torch.full((len(tokens), 1), 1e-9)  # <s> again: possible, but never worth it
        return torch.cat([chances, begin], dim=1).log(), (history, length + 1)

    return step


def spelled(result: list[Any]) -> list[str]:
    """Return each hypothesis as letters."""
    return ["".join(LETTERS[token] for token in hypothesis.tokens) for hypothesis in result]


def assert_best(result: list[Any], expected: list[tuple[str, float, float]], idea: str) -> None:
    """Compare hypotheses with the (letters, log_prob, score) expected, best first."""
    __tracebackhide__ = True
    got = [
        (letters, round(hypothesis.log_prob, 4), round(hypothesis.score, 4))
        for letters, hypothesis in zip(spelled(result), result, strict=True)
    ]
    # Four decimals are given; the sums of at most six float32 numbers are good to 1e-6.
    same = len(got) == len(expected) and all(
        mine[0] == theirs[0] and mine[1:] == pytest.approx(theirs[1:], abs=1.1e-4)
        for mine, theirs in zip(got, expected, strict=True)
    )
    number = f"expected {len(expected)} hypotheses, got {len(got)}: "
    assert same, (
        f"{number if len(got) != len(expected) else ''}"
        f"expected (tokens, log_prob, score) {expected}, got {got}. {idea}"
    )


def test_two_best(search: Callable[..., list[Any]]) -> None:
    """Does a beam of 2 find `aab` before `b`, with the right scores?"""
    result = search(MAIN, 2)
    aab = result[0].score if result and spelled(result)[0] == "aab" else None
    mistakes = {
        -0.3412: "The score of aab divides by 5: the length counts </s>, but not <s>.",
        -0.5687: "The score of aab divides by 3: the length counts </s>, too.",
        -0.0987: "Scores are normalised again at every step; normalise once, at the end.",
        -1.7060: "The score of aab is not divided by length**alpha.",
    }
    near = [text for value, text in mistakes.items() if aab and abs(aab - value) < 1.1e-4]
    idea = (
        near[0]
        if near
        else "Best score first. aab: log(.52 * .60 * .60 * .97) / 4, b: log(.38 * .85) / 2."
    )
    assert_best(result, [("aab", -1.7060, -0.4265), ("b", -1.1301, -0.5651)], idea)


def test_alpha_zero(search: Callable[..., list[Any]]) -> None:
    """With alpha = 0, are plain log-probabilities compared?"""
    expected = [("b", -1.1301, -1.1301), ("aab", -1.7060, -1.7060)]
    assert_best(search(MAIN, 2, alpha=0.0), expected, "score = log_prob / length**alpha.")


def test_greedy(search: Callable[..., list[Any]]) -> None:
    """With a beam of 1, is the most probable token taken at every step?"""
    assert_best(search(MAIN, 1), [("aab", -1.7060, -0.4265)], "k = 1 is greedy search.")


def test_length_limit(search: Callable[..., list[Any]]) -> None:
    """Does max_length = 2 leave only what finished in two tokens?"""
    idea = "b </s> are two tokens; an unfinished hypothesis is not returned if one finished."
    assert_best(search(MAIN, 2, max_length=2), [("b", -1.1301, -0.5651)], idea)


def test_nothing_finished(search: Callable[..., list[Any]]) -> None:
    """If none finished, is the best live hypothesis returned alone?"""
    idea = "After one token none has finished: the best live one, divided by its own length."
    assert_best(search(MAIN, 2, max_length=1), [("a", -0.6539, -0.6539)], idea)


def test_state_follows_its_hypothesis(search: Callable[..., list[Any]]) -> None:
    """Does the state of a hypothesis come from its parent's row?"""
    idea = (
        "`b a` grows from the second row of the state. Index every tensor of the state with the "
        "parents' rows before the next step."
    )
    expected = [("ba", -1.1270, -0.3757), ("a", -0.8210, -0.4105)]
    assert_best(search(SECOND_PARENT, 2), expected, idea)


def test_two_children_of_one_parent(search: Callable[..., list[Any]]) -> None:
    """Can both survivors come from the same parent?"""
    idea = (
        "The k best are taken from all n * V extensions together, not the best of each "
        "hypothesis; and each child needs its own copy of the tokens."
    )
    expected = [("ab", -1.1270, -0.3757), ("aa", -1.3093, -0.4364)]
    assert_best(search(ONE_PARENT, 2), expected, idea)


def test_beam_wider_than_the_vocabulary(search: Callable[..., list[Any]]) -> None:
    """Does a beam of 10, more than there are tokens, work?"""
    result = search(MAIN, 10)
    assert len(result) == 10, f"expected 10 finished hypotheses, got {len(result)}"
    scores = [hypothesis.score for hypothesis in result]
    assert scores == sorted(scores, reverse=True), f"expected best first, got scores {scores}"
    assert spelled(result)[0] == "aab", f"expected aab first, got {spelled(result)}"


def test_empty_translation(search: Callable[..., list[Any]]) -> None:
    """May a translation be empty, if `</s>` is the most probable first token?"""
    result = search({"else": (0.9, 0.06, 0.04)}, 1)
    assert_best(result, [("", -0.1054, -0.1054)], "No token is banned; () has the length 1.")


def test_plain_values(search: Callable[..., list[Any]]) -> None:
    """Are the tokens a tuple of ints, without <s> and </s>, and the numbers floats?"""
    best = search(MAIN, 2)[0]
    assert isinstance(best.tokens, tuple), f"expected a tuple of tokens, got {type(best.tokens)}"
    assert all(type(token) is int for token in best.tokens), f"expected ints, got {best.tokens}"
    for name in ("log_prob", "score"):
        kind = type(getattr(best, name))
        assert kind is float, f"expected {name} as a Python float, got {kind}: use `.item()`"
    assert not {BOS, EOS} & set(best.tokens), f"<s> or </s> among the tokens {best.tokens}"


def test_first_state_unchanged() -> None:
    """Is the state that was passed in as it was?"""
    from nmt.beam_search import beam_search

    state = (torch.full((1, 1), 7), torch.zeros(1))
    before = [part.clone() for part in state]

    def step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        chances = torch.tensor([0.1, 0.4, 0.3, 0.2])
        return chances.log().repeat(len(tokens), 1), state

    beam_search(step, state, bos=BOS, eos=EOS, beam_size=2, max_length=3)
    for part, old in zip(state, before, strict=True):
        assert torch.equal(part, old), f"expected the state {old}, got {part}: copy, then change"
