"""Task `bleu`: compare translations with references by their n-grams."""

# BEGIN SOLUTION bleu
import math
from collections import Counter

# END SOLUTION bleu
from collections.abc import Sequence
from typing import NamedTuple

Tokens = Sequence[str]


class Bleu(NamedTuple):
    """Hold a score between 0 and 1 and what it is made of."""

    score: float  # brevity_penalty times the geometric mean of the precisions
    precisions: tuple[float, ...]  # p_1 .. p_N as they enter the score
    brevity_penalty: float
    candidate_length: int  # c
    reference_length: int  # r


# BEGIN SOLUTION bleu
def _ngrams(tokens: Tokens, n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of a segment, each a tuple of its n tokens."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _matches_and_total(candidate: Tokens, references: Sequence[Tokens], n: int) -> tuple[int, int]:
    """Count the clipped n-gram matches of a segment, and all its n-grams."""
    counts = _ngrams(candidate, n)
    limits: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        limits |= _ngrams(reference, n)  # the maximum, n-gram by n-gram
    return (counts & limits).total(), counts.total()


def _closest_length(candidate: Tokens, references: Sequence[Tokens]) -> int:
    """Return the reference length closest to the candidate's, the shorter on a tie."""
    if not references:
        raise ValueError("each segment needs at least one reference, got a segment with none")
    lengths = [len(reference) for reference in references]
    return min(lengths, key=lambda length: (abs(length - len(candidate)), length))


def _combine(precisions: Sequence[float], c: int, r: int) -> Bleu:
    """Multiply the geometric mean of the precisions by the brevity penalty."""
    if c == 0:
        return Bleu(0.0, tuple(precisions), 0.0, c, r)
    penalty = 1.0 if c >= r else math.exp(1 - r / c)
    mean = math.prod(precisions) ** (1 / len(precisions))  # exactly 0.0 if one of them is
    return Bleu(penalty * mean, tuple(precisions), penalty, c, r)


# END SOLUTION bleu
def corpus_bleu(
    candidates: Sequence[Tokens], references: Sequence[Sequence[Tokens]], max_n: int = 4
) -> Bleu:
    """Score a corpus of translations; there is no smoothing.

    candidates[segment] is a list of tokens, references[segment][reference] too: each segment has
    one or more references. With N = max_n and sums over all segments of the corpus:

        p_n  = (sum of clipped matches of order n) / (sum of the candidates' n-grams)
        c    = sum of the candidates' lengths
        r    = sum of, for each segment, the length of its reference that is closest to the
               candidate's, the shorter of two equally close ones
        BP   = 1 if c >= r, else exp(1 - r / c)     (at c = 0 the score is 0, BP is not tested)
        BLEU = BP * (p_1 * p_2 * ... * p_N) ** (1 / N)

    In a segment an n-gram matches as often as the candidate has it, but at most as often as the one
    reference that has it most (clipping, segment by segment). Segments shorter than n add no
    n-grams of order n: their number is 0, neither negative nor 1. `precisions` holds the plain p_n,
    0.0 for an order without any n-grams; any p_n of 0 makes the score exactly 0.0, and so does
    c = 0. An empty candidate or an empty reference is legal, of length 0. Tokens are compared as
    they are: not joined, split, or lower-cased. The inputs are left as they are. The score agrees
    with sacrebleu's (tokenize="none", smooth_method="none", divided by 100) to 1e-12. Not tested:
    `corpus_bleu([], [])`, and BP where c = r = 0.

    Import what you need, such as `math`. Not allowed: sacrebleu, nltk, torchmetrics, or any other
    BLEU than your own.

    Raises:
        ValueError: if there are not as many candidates as references, or a segment has no
            reference.

    Source: Papineni et al. (2002).
    """
    # BEGIN SOLUTION bleu
    if len(candidates) != len(references):
        raise ValueError(
            "each candidate needs its list of references, "
            f"got {len(candidates)} candidates and {len(references)} lists"
        )
    segments = list(zip(candidates, references, strict=True))
    precisions = []
    for n in range(1, max_n + 1):
        counts = [_matches_and_total(candidate, group, n) for candidate, group in segments]
        matches, total = sum(match for match, _ in counts), sum(total for _, total in counts)
        precisions.append(matches / total if total else 0.0)
    c = sum(len(candidate) for candidate in candidates)
    r = sum(_closest_length(candidate, group) for candidate, group in segments)
    return _combine(precisions, c, r)
    # END SOLUTION bleu


def sentence_bleu(candidate: Tokens, references: Sequence[Tokens], max_n: int = 4) -> Bleu:
    """Score one translation, smoothed so that one missing order does not make it 0.

    candidate is a list of tokens, references one or more lists of tokens. The definitions are those
    of `corpus_bleu` for a corpus of this one segment, but for n >= 2: where no n-gram matches, the
    numerator and the denominator of p_n each get 1.

        p_n = 0 / 3 becomes 1 / 4;  an order without n-grams, 0 / 0, becomes 1 / 1

    Orders with a match are not smoothed. p_1 never is: with no token in common the score is 0.0.
    `precisions` holds the p_n that enter the score, so the smoothed ones.

    Example: `the cat` against `the cat is on the mat` and `there is a cat on the mat`: all four p_n
    are 1, c = 2, r = 6, BP = exp(1 - 6 / 2) = 0.135 = the score.

    Raises:
        ValueError: if there is no reference.

    Source: Lin and Och (2004), who smooth every order above 1; here only those without a match.
    """
    # BEGIN SOLUTION bleu
    precisions = []
    for n in range(1, max_n + 1):
        matches, total = _matches_and_total(candidate, references, n)
        if n >= 2 and matches == 0:
            matches, total = matches + 1, total + 1
        precisions.append(matches / total if total else 0.0)
    return _combine(precisions, len(candidate), _closest_length(candidate, references))
    # END SOLUTION bleu
