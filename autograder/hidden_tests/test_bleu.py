"""Task `bleu`: does the score follow its definition, corpus by corpus and sentence by sentence?

Most corpora here are small and made to tell one mistake from the right answer: on random ones many
mistakes do not show. The run's seed draws their words, so that a wrong answer costs the same points
in every run; all fields of the result are compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import pytest
import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from autograder.faults import Mismatch
from autograder.hidden_tests import answers, compare
from autograder.hidden_tests.draw import integer
from autograder.sandbox.session import TaskRunner
from nmt.bleu import Bleu, corpus_bleu, sentence_bleu

pytestmark = pytest.mark.task("bleu")

TOLERANCE = compare.TOLERANCES.bleu
KEYS = {"bleu", "arguments_after"}
NEARLY_0 = 1e-3  # an epsilon in place of 0 gives less
EXACT_INTEGERS = 2**53  # up to here a float holds every integer
WORDS = (
    *("the", "cat", "mat", "on", "dog", "red", "wufo", "ka", "rega", "miro", "rosa", "gron"),
    *("7", "über", "straße", "猫", "пес", "x-y", "o'clock"),
)
SHAPE_SEED = 1  # of the random corpora: the run's seed draws their words alone

Segment = list[str]


class Row(NamedTuple):
    """One small corpus, each letter of which stands for a word to be drawn."""

    segments: list[tuple[str, list[str]]]  # candidate, references; empty ones are ""
    max_n: int | None  # None leaves the argument out
    rule: str  # what it tests, as the student reads it


CLIP = "an n-gram matches at most as often as the one reference that has it most often"
PRECISION = "p_n = matches / the candidate's n-grams, not the reference's"
CLIPPING = [
    Row([("a a a a a a a", ["a b c d a e"])], 1, CLIP),
    Row([("a a a b a a", ["a a b"])], 2, CLIP),
    Row([("a a a b", ["a b c", "a d e"])], 1, CLIP + ", not as often as all of them together"),
    Row([("a b c d e f", ["a b c d e x", "y b c d e f"])], 4, CLIP + ": every reference counts"),
    Row([("a b c", ["x y z", "a b c"])], 2, CLIP + ": every reference counts"),
    Row([("c d", ["a b"]), ("a b", ["c d"])], 1, "clip segment by segment, then sum"),
    Row([("a a b", ["a b b"]), ("b a c", ["a a c"])], 1, "clip segment by segment, then sum"),
    Row([("a b", ["a b c d"])], 2, PRECISION),
    Row([("a b c d e f", ["c d"])], 2, PRECISION),
    Row([("a b c d e", ["a b c d e f g"])], 1, PRECISION),
    Row([("d c b a e", ["a b c d e"])], 2, "an n-gram is n tokens in their order"),
    Row([("x b c y", ["a b c d"])], 2, "n-grams overlap: there is one at every position"),
    Row([("a b x c", ["a b c"])], 2, "an n-gram is n tokens side by side"),
    Row([("b a c", ["a b", "a c"])], 2, "no n-gram reaches from one reference into the next"),
]

CLOSEST = "r sums, for each segment, the length of the reference closest to the candidate's"
TIE = "of two references that are equally close, the shorter one counts, wherever it stands"
PENALTY = "BP = 1 if c >= r, else exp(1 - r / c), c and r summed over the corpus"
BREVITY = [
    Row([("a b c d e", ["a", "a b c d e f"])], 1, CLOSEST),
    Row([("a b c d", ["a b c", "a b c d x y"])], 2, CLOSEST),
    Row([("a b c d", ["a b c d x y", "a b c"])], 2, CLOSEST),
    Row([("a b c", ["a b c x y z a b", "a b c x y", "a b c x y z"])], 1, CLOSEST),
    Row([("a b c d e f", ["a b", "a b c d", "a b c"])], 1, CLOSEST),
    Row([("a b c d", ["a b c d e", "a"])], 2, CLOSEST),
    Row([("a b c", ["a b", "a b c d e f"]), ("a b c d e", ["a", "a b c d e f"])], 1, CLOSEST),
    Row([("a b c d e f", ["a b c d e f a b c d e f a b"])], 1, CLOSEST),
    Row([("a b c d", ["a b c", "a b c d x"])], 2, TIE),
    Row([("a b c d", ["a b c d x", "a b c"])], 2, TIE),
    Row([("a b c", ["a b c x y", "a"]), ("a b", ["a b c", "a"])], 1, TIE),
    Row([("a b c d e", ["a b c d e f g"])], 1, PENALTY),
    Row([("a b", ["a b c d e f g"])], 2, PENALTY),
    Row([("a b c d e f", ["a b c d"])], 1, PENALTY),
    Row([("a b x d", ["a b c d"])], 1, PENALTY),
    Row([("a a a b", ["a b c d e"])], 1, PENALTY + ": c counts tokens, matched or not"),
    Row([("a b", ["a b c d"]), ("a b c d e f", ["a b c d"])], 1, PENALTY),
    Row([("a b c d", ["a b c d e f"]), ("a b", ["a b c"])], 2, PENALTY),
]

SUMS = "sum matches and n-grams over the corpus and divide once; no mean of segments"
MEAN = "BLEU = BP * (p_1 * ... * p_N) ** (1 / N), N = max_n"
SHORT = "a segment shorter than n has 0 n-grams, neither 1 nor a negative number"
ZERO = "a p_n of 0, or an order without n-grams, makes corpus_bleu exactly 0.0: no smoothing"
SUMMING = [
    Row([("a b x y", ["a b c d"]), ("a b c d e f g h", ["a b c d e f g h"])], 2, SUMS),
    Row([("a b c d e f g h", ["a b c d e f g h"]), ("x b", ["a b"])], 1, SUMS),
    Row([("a x", ["a b"]), ("a b c d e f", ["a b c d x y"]), ("c", ["c"])], 1, SUMS),
    Row([("a b x", ["a b c"]), ("d", ["d"]), ("a b x", ["a b c"])], 1, SUMS + "; equal ones too"),
    Row([("a b x d", ["a b c d"])], 2, MEAN),
    Row([("a b c x e f", ["a b c d e f"])], 3, MEAN),
    Row([("a b c d e f x", ["a b c d e f g"])], 5, MEAN),
    Row([("a b c d e x", ["a b c d e f"])], 4, MEAN),
    Row([("a b c d e x", ["a b c d e f"])], None, MEAN + "; max_n is 4 if it is not given"),
    Row([("a x c", ["a b c"])], 1, MEAN),
    Row([("a b c", ["a b c"]), ("a b c d e f", ["a b c d e f"])], 4, SHORT),
    Row([("a b", ["a b"]), ("a b c d e x", ["a b c d e f"])], 4, SHORT),
    Row([("a", ["a"]), ("b", ["b"]), ("a b c d", ["a b c d"])], 3, SHORT),
    Row([("d c b a", ["a b c d"])], 2, ZERO),
    Row([("a b x c d", ["a b c d"])], 4, ZERO),
    Row([("x y", ["a b"])], 1, ZERO),
    Row([("a b", ["a b"])], 4, ZERO),
    Row([("a b c", ["a b c"]), ("d", ["d"])], 4, ZERO),
]

EMPTY = "an empty candidate adds no n-gram and no length to c, and its reference's length to r"
NOTHING = "c = 0 gives the score 0.0"
NO_REFERENCE = "an empty reference is legal: its length is 0, and nothing matches it"
EMPTIES = [
    Row([("", ["a b c d"]), ("a b c d e", ["a b c d e"])], 4, EMPTY),
    Row([("a b c d e", ["a b c d e"]), ("", ["a b", "a b c"])], 2, EMPTY),
    Row([("a b c", ["a b c d"]), ("", [""]), ("a", ["a"])], 1, EMPTY),
    Row([("", ["a b c d"])], 4, NOTHING),
    Row([("", ["a b"]), ("", ["a"])], 2, NOTHING),
    Row([("", [""])], 2, NOTHING),
    Row([("a b", ["", "a b c"])], 2, NO_REFERENCE),
    Row([("a", ["", "a b"]), ("a b c", ["a b c d e"])], 1, NO_REFERENCE + "; " + TIE),
    Row([("a b c", [""]), ("a b", ["a b"])], 2, NO_REFERENCE),
    Row([("a b", [""])], 1, NO_REFERENCE),
]
SENTENCE_EMPTIES = [
    Row([("", ["a b c"])], 4, NOTHING),
    Row([("", ["", "a"])], 2, NOTHING),
    Row([("a", ["", "a b"])], 2, NO_REFERENCE + "; " + TIE),
    Row([("a b", [""])], 3, NO_REFERENCE),
]

SMOOTH = "for n >= 2 without a match, and only there, numerator and denominator each get 1"
FIRST = "p_1 is never smoothed: with no token in common the score is 0.0"
NO_NGRAMS = "an order n >= 2 without n-grams, 0 / 0, becomes 1 / 1"
SENTENCES = [
    Row([("a b c d a e", ["a b c d a e", "f c g b d a e"])], 4, MEAN),
    Row([("a b h d a e", ["a b c d a e", "f c g b d a e"])], 4, SMOOTH),
    Row([("e a d c b f", ["a b c d e f"])], 3, SMOOTH),
    Row([("a b x c d", ["a b c d"])], None, SMOOTH + "; max_n is 4 if it is not given"),
    Row([("a a a a a a a", ["a b c d a e", "f c g b d a e"])], 4, SMOOTH),
    Row([("a b x c", ["a b c d"])], 1, SMOOTH),
    Row([("a b c d x f", ["a b c d e f"])], 5, SMOOTH),
    Row([("x y", ["a b"])], 2, FIRST),
    Row([("x y z u v", ["a b", "c d e"])], 4, FIRST),
    Row([("a b", ["a b"])], 4, NO_NGRAMS),
    Row([("a", ["a"])], 5, NO_NGRAMS),
    Row([("a b", ["a b c d a e", "f c g a b h"])], 4, NO_NGRAMS + "; " + PENALTY),
    Row([("a b c", ["a b c d e", "a"])], 3, TIE),
    Row([("a b c d", ["a b c x y z", "b c d"])], 2, CLOSEST),
]

# Tokens that a join could confuse: each of these between two words, or inside one.
GLUE = (" ", "", "_", "-", "\t", "\n", "|", ",", "\x00", "</s>", "▁", "', '")
EXACT = "tokens are compared as they are: not joined, split, stripped or lower-cased"

AGREES = "corpus_bleu agrees with sacrebleu (tokenize none, smooth_method none)"
LENGTH = "c counts all tokens of the candidates, matched or not"
NO_TOKENS = "p_n of corpus_bleu is 0.0 where there is no n-gram"
NO_MATCH = "a p_n of 0 makes the score exactly 0.0"
# What rows are about, by the start of their rules. The others are about precisions alone.
ABOUT = {
    "candidate_length": (EMPTY, PENALTY + ": c"),
    "reference_length": (CLOSEST, TIE, EMPTY, NO_REFERENCE),
    "brevity_penalty": (PENALTY,),
    "score": (MEAN, ZERO, FIRST, NOTHING),
}
NOT_PRECISIONS = (CLOSEST, TIE, PENALTY, MEAN, NOTHING)


def test_clipping(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are n-grams counted, clipped and divided as the definition says?"""
    check_rows(probe, rng, "corpus_bleu", CLIPPING)


def test_brevity_penalty(probe: TaskRunner, rng: torch.Generator) -> None:
    """Is r the sum of the closest references' lengths, and BP = exp(1 - r / c) if c < r?"""
    check_rows(probe, rng, "corpus_bleu", BREVITY)


def test_sums_and_mean(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are counts summed over the corpus, then averaged geometrically, without smoothing?"""
    check_rows(probe, rng, "corpus_bleu", SUMMING)


def test_empty_segments(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do empty candidates and empty references count as the definition says?"""
    check_rows(probe, rng, "corpus_bleu", EMPTIES)
    check_rows(probe, rng, "sentence_bleu", SENTENCE_EMPTIES)


def test_tokens_as_they_are(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are tokens compared as they are, spaces, capitals and special ones included?"""
    for glue in GLUE:
        a, b, c = draw_words(rng, 3)
        candidate, reference = [f"{a}{glue}{b}", c], [a, f"{b}{glue}{c}"]
        check(probe, "corpus_bleu", [[candidate, [c]], [[reference], [[c]]], 2], EXACT)
        # Twice, so that n-grams that were joined give another p_2 than a wrong smoothing does.
        check(probe, "sentence_bleu", [candidate * 2, [reference * 2], 2], EXACT)
    pairs = [
        (["The", "CAT", "sat"], ["the", "cat", "sat"]),
        (["a", "</s>", "<pad>", "<pad>"], ["a", "</s>"]),
        (["<s>", "a", "<unk>"], ["<s>", "b", "<unk>"]),
        ([" ", "a ", "b"], ["a", "b", " "]),
        (["don't", "stop."], ["do", "n't", "stop", "."]),
        (["a", ".", ",", "!", "b"], ["a", ".", "b", ",", "?"]),
        (["", "a", ""], ["a", "", ""]),
        (["10", "\u00e9", "a"], ["10.0", "e\u0301", "a"]),
    ]
    for candidate, reference in pairs:
        check(probe, "corpus_bleu", [[candidate], [[reference]], 2], EXACT)
        check(probe, "sentence_bleu", [candidate, [reference], 2], EXACT)


def test_random_corpora(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does corpus_bleu agree with sacrebleu on random corpora, for max_n from 1 to 5?"""
    shape = torch.Generator().manual_seed(SHAPE_SEED)
    for max_n in (1, 2, 3, 4, 5):
        for vocabulary in (2, 3, 5):
            words = draw_words(rng, vocabulary)
            candidates, references = draw_corpus(shape, words, segments=integer(shape, 4, 12))
            expected = by_sacrebleu(candidates, references, max_n)
            (report,) = call(probe, "corpus_bleu", [candidates, references, max_n])
            what = described("corpus_bleu", [candidates, references, max_n])
            same("corpus_bleu", report["bleu"], expected, what, AGREES)


def test_sentence_bleu(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does sentence_bleu smooth the orders without a match, and only those from n = 2 on?"""
    check_rows(probe, rng, "sentence_bleu", SENTENCES)
    shape = torch.Generator().manual_seed(SHAPE_SEED)
    for max_n in (1, 2, 3, 4, 5):
        for _ in range(3):
            candidates, references = draw_corpus(shape, draw_words(rng, 3), segments=1)
            check(probe, "sentence_bleu", [candidates[0], references[0], max_n], SMOOTH)


def test_value_errors(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does it raise ValueError for unequal numbers of segments, or one without references?"""
    a, b, c = ([word] for word in draw_words(rng, 3))
    check(probe, "corpus_bleu", [[a, b], [[a], [c, b]], 1], MEAN)
    unequal = "the numbers of candidates and references differ"
    nothing = "a segment has no reference"
    for function, arguments, reason in [
        ("corpus_bleu", [[a, b], [[a]]], unequal),
        ("corpus_bleu", [[a], [[a], [b]]], unequal),
        ("corpus_bleu", [[], [[a]]], unequal),
        ("corpus_bleu", [[a], []], unequal),
        ("corpus_bleu", [[a], [[]]], nothing),
        ("corpus_bleu", [[a, b, c], [[a], [], [c]]], nothing),
        ("corpus_bleu", [[a, []], [[a], []]], nothing),
        ("sentence_bleu", [a, []], nothing),
        ("sentence_bleu", [[], []], nothing),
    ]:
        if probe.call("refuses", function=function, arguments=arguments) is not True:
            raise Mismatch(f"{function} must raise ValueError where {reason}; it did not.")


def test_fields_and_inputs(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are the fields the kinds that Bleu names, the inputs left alone, and a second call equal?"""
    row = Row([("a b x d b a", ["a b c d", "b a", "a b"]), ("b a d", ["d b a c"])], 2, MEAN)
    candidates, references = worded(rng, row)
    for function, arguments in [
        ("corpus_bleu", [candidates, references, 2]),
        ("sentence_bleu", [candidates[0], references[0], 4]),
    ]:
        for report in call(probe, function, arguments, times=2):
            same(function, report["bleu"], expect(function, arguments), function, MEAN)
            exact_kinds(function, report["bleu"])
            if not equal(report["arguments_after"], arguments):
                raise Mismatch(f"{function} changes its arguments; work on copies instead.")


# --- Drawing ---


def draw_words(rng: torch.Generator, count: int) -> list[str]:
    """Draw different words."""
    return [WORDS[index] for index in torch.randperm(len(WORDS), generator=rng)[:count].tolist()]


def draw_corpus(
    shape: torch.Generator, words: Sequence[str], segments: int
) -> tuple[list[Segment], list[list[Segment]]]:
    """Draw candidates of up to 8 tokens, the first not empty, each with 1 to 4 references."""

    def segment(shortest: int) -> Segment:
        length = integer(shape, shortest, 8)
        return [words[integer(shape, 0, len(words) - 1)] for _ in range(length)]

    candidates = [segment(0 if index else 1) for index in range(segments)]
    references = [[segment(0) for _ in range(integer(shape, 1, 4))] for _ in candidates]
    return candidates, references


def worded(rng: torch.Generator, row: Row) -> tuple[list[Segment], list[list[Segment]]]:
    """Replace a row's letters by drawn words."""
    letters = sorted(
        {letter for c, refs in row.segments for letter in " ".join([c, *refs]).split()}
    )
    words = dict(zip(letters, draw_words(rng, len(letters))))

    def segment(text: str) -> Segment:
        return [words[letter] for letter in text.split()]

    candidates = [segment(candidate) for candidate, _ in row.segments]
    return candidates, [[segment(reference) for reference in refs] for _, refs in row.segments]


# --- Expected values ---


def expect(function: str, arguments: Sequence[Any]) -> Bleu:
    """Return what the reference gives."""
    return (corpus_bleu if function == "corpus_bleu" else sentence_bleu)(*arguments)


def by_sacrebleu(candidates: list[Segment], references: list[list[Segment]], max_n: int) -> Bleu:
    """Return what sacrebleu gives, from 0 to 1.

    It takes the first references of all segments, then the second ones, and so on; None where a
    segment has no more.
    """
    joined = [[" ".join(reference) for reference in refs] for refs in references]
    streams: Any = list(zip_longest(*joined))
    metric = BLEU(tokenize="none", smooth_method="none", max_ngram_order=max_n, force=True)
    found = metric.corpus_score([" ".join(candidate) for candidate in candidates], streams)
    precisions = tuple(percentage / 100 for percentage in found.precisions)
    return Bleu(found.score / 100, precisions, found.bp, found.sys_len, found.ref_len)


# --- Calling and comparing ---


def check_rows(probe: TaskRunner, rng: torch.Generator, function: str, rows: Sequence[Row]) -> None:
    """Score each row and compare."""
    for row in rows:
        candidates, references = worded(rng, row)
        arguments: list[Any] = [candidates, references]
        if function == "sentence_bleu":
            arguments = [candidates[0], references[0]]
        check(probe, function, arguments + ([row.max_n] if row.max_n else []), row.rule)


def check(probe: TaskRunner, function: str, arguments: list[Any], rule: str) -> None:
    """Score once and compare."""
    (report,) = call(probe, function, arguments)
    what = described(function, arguments)
    same(function, report["bleu"], expect(function, arguments), what, rule)


def call(
    probe: TaskRunner, function: str, arguments: list[Any], times: int = 1
) -> list[Mapping[str, Any]]:
    """Score in the worker; each report has "bleu" and "arguments_after", of whatever kind."""
    answer = probe.call("score", function=function, arguments=arguments, times=times)
    return answers.reports(answer, times, KEYS)


def described(function: str, arguments: list[Any]) -> str:
    """Name the function and the sizes, for a message."""
    max_n = f"max_n={arguments[2]}" if len(arguments) > 2 else "no max_n"
    if function == "sentence_bleu":
        return f"sentence_bleu with {max_n}"
    segments = len(arguments[0])
    return f"corpus_bleu of {segments} segment{'s' if segments > 1 else ''} with {max_n}"


def same(function: str, actual: Any, expected: Bleu, what: str, rule: str) -> None:
    """Compare all fields, what the others are made of first."""
    got, wanted = flat(what, actual), flat(what, expected)
    if len(got) != len(wanted):
        orders = len(expected.precisions)
        raise Mismatch(f"{what}: precisions must be a tuple of {orders}, one for each n.")
    free = untested(function, expected)
    for name in (name for name in wanted if name not in free):
        if not close(got[name], wanted[name]):
            rule = rule_of(name, rule, expected)
            if function == "sentence_bleu" and "precisions" in name and SMOOTH not in rule:
                rule += f"; and {SMOOTH}"  # it enters whatever the row is about
            zero = " (not exactly 0.0)" if wanted[name] == 0 and abs(got[name]) < NEARLY_0 else ""
            raise Mismatch(f"{what}: {name} is wrong{zero}. The rule: {rule}.")


def rule_of(field: str, rule: str, expected: Bleu) -> str:
    """Return the row's rule, if the row is about this field, or else the field's own."""
    empty = not expected.candidate_length
    score = NOTHING if empty else NO_MATCH if not expected.score else MEAN
    own = {
        "candidate_length": LENGTH,
        "reference_length": f"{CLOSEST}; {TIE}",
        "brevity_penalty": PENALTY,
        "score": score,
    }.get(field, NO_TOKENS if empty else f"{PRECISION}; {CLIP}")
    if rule == AGREES:
        return f"{AGREES}; {own}"
    if field in ABOUT:
        return rule if rule.startswith(ABOUT[field]) else own
    return own if rule.startswith(NOT_PRECISIONS) else rule


def flat(what: str, bleu: Any) -> dict[str, float]:
    """Read the fields of a Bleu, each precision by itself; lists and other numbers will do."""
    score, precisions, penalty, c, r = compare.parts(what, bleu, Bleu._fields)
    if not isinstance(precisions, (tuple, list)):
        raise Mismatch(
            f"{what}: precisions must be a tuple of floats; it is {compare.kind(precisions)}."
        )
    fields = {"candidate_length": c, "reference_length": r}
    fields.update({f"precisions[{index}]": value for index, value in enumerate(precisions)})
    fields.update({"brevity_penalty": penalty, "score": score})
    return {name: number(value, f"{what}: {name}") for name, value in fields.items()}


def untested(function: str, expected: Bleu) -> set[str]:
    """Name the fields that the contract leaves open where the candidates have no token."""
    if expected.candidate_length:
        return set()
    # The contract gives the score, and neither exp(1 - r / 0) nor the smoothing of 0 / 0.
    smoothed = [f"precisions[{index}]" for index in range(len(expected.precisions))]
    return {"brevity_penalty", *(smoothed if function == "sentence_bleu" else ())}


def close(actual: float, expected: float) -> bool:
    """Compare; what is exactly 0 must be exactly 0, so that no epsilon passes."""
    return actual == 0 if expected == 0 else abs(actual - expected) <= TOLERANCE


def equal(actual: Any, expected: Any) -> bool:
    """Compare nested lists of plain values, of the same types throughout."""
    if isinstance(expected, list):
        same_length = isinstance(actual, list) and len(actual) == len(expected)
        return same_length and all(map(equal, actual, expected))
    return type(actual) is type(expected) and bool(actual == expected)


def number(value: Any, what: str) -> float:
    """Read a finite float; an int or a tensor of one number will do."""
    if isinstance(value, Tensor) and value.dim() == 0:
        value = value.item()
    if type(value) is int and abs(value) <= EXACT_INTEGERS:
        value = float(value)
    if not isinstance(value, float):
        raise Mismatch(f"{what} must be a number; it is {compare.kind(value)}.")
    if not math.isfinite(value):
        raise Mismatch(f"{what} is NaN or infinite.")
    return value


def exact_kinds(function: str, actual: Any) -> None:
    """Hold the kinds of the fields against Bleu's."""
    score, precisions, penalty, *lengths = compare.parts(function, actual, Bleu._fields)
    if not isinstance(precisions, tuple):
        raise Mismatch(f"{function}: precisions must be a tuple; it is {compare.kind(precisions)}.")
    if any(type(length) is not int for length in lengths):
        raise Mismatch(f"{function}: candidate_length and reference_length must be ints.")
    named = {"score": [score], "precisions": precisions, "brevity_penalty": [penalty]}
    for name, values in named.items():
        if any(isinstance(value, Tensor) for value in values):
            raise Mismatch(f"{function}: {name} must be of Python floats: float(...), .item().")
