"""Task `bleu`: compare translations with references by their n-grams."""

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
    raise NotImplementedError("Task bleu is not implemented yet: corpus_bleu in nmt/bleu.py")


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
    raise NotImplementedError("Task bleu is not implemented yet: sentence_bleu in nmt/bleu.py")
