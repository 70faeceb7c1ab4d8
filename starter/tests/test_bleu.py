"""Public tests of task `bleu`: nmt/bleu.py. Segments are written with spaces between the tokens."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

CAT = ("the cat is on the mat", "there is a cat on the mat")
# All is rational arithmetic, one logarithm and one exponential: good to far less than 1e-9.
TIGHT = 1e-9
ROUNDED = 6e-7  # the values here have six decimals


@pytest.fixture
def bleu() -> ModuleType:
    """Import the module inside a test, so that a broken file fails the tests one by one."""
    import nmt.bleu

    return nmt.bleu


def corpus(bleu: ModuleType, pairs: Sequence[tuple[str, Sequence[str]]], max_n: int) -> Any:
    """Score pairs of a candidate and its references."""
    candidates = [candidate.split() for candidate, _ in pairs]
    references = [[reference.split() for reference in group] for _, group in pairs]
    try:
        return bleu.corpus_bleu(candidates, references, max_n)
    except ArithmeticError as error:  # a division by zero: its message does not say of what
        raise AssertionError(
            f"corpus_bleu of {pairs}, max_n = {max_n}: {type(error).__name__}: {error}. An order "
            "without n-grams has p_n = 0.0, and c = 0 gives the score 0."
        ) from error


def assert_value(got: float, expected: float, what: str, idea: str, abs: float = ROUNDED) -> None:
    """Compare two numbers."""
    __tracebackhide__ = True
    same = got == pytest.approx(expected, abs=abs)
    assert same, f"{what}: expected {expected:.6g}, got {got:.6g}. {idea}"


@pytest.mark.parametrize(
    ("candidate", "precisions", "penalty", "score"),
    [
        ("the cat is on the mat", (1, 1, 1, 1), 1, 1.0),
        ("the cat sat on the mat", (5 / 6, 3 / 5, 1 / 4, 0), 1, 0.420),
        ("mat the on is cat the", (1, 0, 0, 0), 1, 0.302),
        ("the the the the the the the", (2 / 7, 0, 0, 0), 1, 0.192),
        ("the cat", (1, 1, 0, 0), 0.135335, 0.135),
        ("a feline rests upon the rug", (2 / 6, 0, 0, 0), 1, 0.230),
    ],
)
def test_lecture_table(
    bleu: ModuleType, candidate: str, precisions: Sequence[float], penalty: float, score: float
) -> None:
    """Do both functions give the lecture's table?"""
    plain = corpus(bleu, [(candidate, CAT)], 4)
    assert len(plain.precisions) == 4, f"expected four precisions, got {plain.precisions}"
    for n, (got, expected) in enumerate(zip(plain.precisions, precisions, strict=True), start=1):
        idea = "Matches are clipped at the reference that has the n-gram most often."
        assert_value(got, expected, f"p_{n} of {candidate!r}", idea, TIGHT)
    idea = "c is the candidate's length, r the closest reference's; BP = exp(1 - r / c) if c < r."
    assert_value(plain.brevity_penalty, penalty, f"BP of {candidate!r}", idea)
    if 0 in precisions:
        assert plain.score == 0, f"{candidate!r}: a p_n of 0 makes the score 0, got {plain.score}"
    smoothed = bleu.sentence_bleu(candidate.split(), [reference.split() for reference in CAT])
    idea = "For n >= 2 without a match, numerator and denominator each get 1."
    assert_value(smoothed.score, score, f"sentence_bleu of {candidate!r}", idea, abs=6e-4)


# name: candidate and references of each segment, max_n, the score, what to look at
SEPARATORS: dict[str, tuple[list[tuple[str, list[str]]], int, float, str]] = {
    "clipping": (
        [("the the the the the the the", ["the cat is on the mat"])],
        1,
        2 / 7,
        "An n-gram matches at most as often as a reference has it.",
    ),
    "clipping by segment": (
        [("c d", ["a b"]), ("a b", ["c d"])],
        1,
        0.0,
        "Matches are counted within a segment; another segment's reference does not help.",
    ),
    "several references": (
        [("a b c d e f", ["a b c d e X", "Y b c d e f"])],
        4,
        1.0,
        "The limit of each n-gram is the maximum over all references of the segment.",
    ),
    "sums over the corpus": (
        [("a b x y", ["a b c d"]), ("a b c d e f g h", ["a b c d e f g h"])],
        2,
        0.816497,
        "Sum matches and totals over the corpus, then divide: no mean of sentences' scores.",
    ),
    "closest length": (
        [("a b c d e", ["a", "a b c d e f"])],
        1,
        0.818731,
        "r is the closest reference's length: here 6. The shortest is 1, the sum 7.",
    ),
    "tie of lengths": (
        [("a b c d", ["a b c d x", "a b c"])],
        2,
        1.0,
        "3 and 5 are equally close to 4: the shorter one counts, in whatever order they stand.",
    ),
    "brevity penalty": (
        [("a b c d e", ["a b c d e f g"])],
        1,
        0.670320,
        "BP = exp(1 - r / c) with r = 7, c = 5.",
    ),
    "no penalty for length": (
        [("a b c d e f", ["a b c d"])],
        1,
        2 / 3,
        "BP is 1 if c >= r; precision divides by the candidate's n-grams.",
    ),
    "geometric mean": (
        [("a b x d", ["a b c d"])],
        2,
        0.5,
        "(3/4 * 1/3) ** (1/2): the exponent is 1 / max_n.",
    ),
    "short segments": (
        [("a b", ["a b"]), ("a b c d e f", ["a b c d e f"])],
        4,
        1.0,
        "A segment shorter than n has 0 n-grams: neither 1 nor a negative number.",
    ),
    "an empty candidate": (
        [("", ["w x y z"]), ("a b c d e", ["a b c d e"])],
        4,
        0.449329,
        "An empty candidate adds no n-gram, and its reference's length to r.",
    ),
    "nothing but empty": ([("", ["a b c d"])], 4, 0.0, "c = 0 gives the score 0."),
    "no smoothing": (
        [("d c b a", ["a b c d"])],
        2,
        0.0,
        "p_2 is 0, so corpus_bleu is exactly 0: no smoothing, no epsilon, no skipping.",
    ),
    "case": ([("The cat", ["the cat"])], 1, 0.5, "Tokens are compared as they are."),
}


@pytest.mark.parametrize("name", SEPARATORS)
def test_corpus_by_hand(bleu: ModuleType, name: str) -> None:
    """Does corpus_bleu follow its definition on small corpora?"""
    pairs, max_n, score, idea = SEPARATORS[name]
    got = corpus(bleu, pairs, max_n).score
    assert_value(got, score, f"corpus_bleu ({name}) of {pairs}, max_n = {max_n}", idea)
    if score == 0:
        assert got == 0, f"({name}): expected exactly 0.0, got {got}. {idea}"


def test_lengths(bleu: ModuleType) -> None:
    """Are both lengths summed over the segments?"""
    got = corpus(bleu, [("a b c", ["a b", "a b c d e"]), ("a", ["a b c d"])], 1)
    lengths = (got.candidate_length, got.reference_length)
    assert lengths == (4, 6), f"expected c = 3 + 1 = 4 and r = 2 + 4 = 6, got {lengths}"


def test_tokens_are_not_joined(bleu: ModuleType) -> None:
    """Are tokens that contain a space kept apart?"""
    got = bleu.corpus_bleu([["a b", "c"]], [[["a", "b c"]]], 2)
    assert (got.score, *got.precisions) == (0, 0, 0), (
        f"no token of ['a b', 'c'] is in ['a', 'b c'], got {got}. Use tuples as n-grams."
    )


@pytest.mark.parametrize(
    ("candidates", "references"),
    [([["a"], ["b"]], [[["a"]]]), ([["a"]], [[["a"]], [["b"]]]), ([["a"]], [[]])],
)
def test_refuses(
    bleu: ModuleType, candidates: list[list[str]], references: list[list[list[str]]]
) -> None:
    """Does a missing candidate, or a missing reference, raise ValueError?"""
    try:
        bleu.corpus_bleu(candidates, references)
    except ValueError:
        return
    raise AssertionError(f"expected a ValueError for {candidates} against {references}, got none")


def test_sentence_precisions(bleu: ModuleType) -> None:
    """Are the precisions of sentence_bleu the smoothed ones, and is p_1 never smoothed?"""
    got = bleu.sentence_bleu(["mat", "the", "on", "is", "cat", "the"], [CAT[0].split()])
    assert got.precisions == pytest.approx((1, 1 / 6, 1 / 5, 1 / 4), abs=TIGHT), (
        f"expected p = 1, 1/6, 1/5, 1/4, got {got.precisions}"
    )
    nothing = bleu.sentence_bleu(["x", "y"], [["a", "b"]])
    assert nothing.score == 0, f"no token in common: expected the score 0, got {nothing.score}"


def test_short_sentence(bleu: ModuleType) -> None:
    """Does an order without n-grams count as 1/1 in sentence_bleu?"""
    got = bleu.sentence_bleu(["a", "b"], [["a", "b"]])
    assert got.score == 1, f"`a b` against itself: expected 1, got {got.score}. 0/0 becomes 1/1."


def test_inputs_unchanged(bleu: ModuleType) -> None:
    """Are the lists as they were, and is a second call the same?"""
    candidates, references = [["a", "b"]], [[["a", "c"], ["b"]]]
    first = bleu.corpus_bleu(candidates, references)
    assert (candidates, references) == ([["a", "b"]], [[["a", "c"], ["b"]]]), "an input was changed"
    again = bleu.corpus_bleu(candidates, references)
    assert again == first, f"the same call gave {first}, then {again}"
