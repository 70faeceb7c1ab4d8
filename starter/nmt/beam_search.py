"""Task `beam`: search for the translation that the model finds most probable."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

States = tuple[Tensor, ...]  # dimension 0 of each runs over the n live hypotheses
Step = Callable[[Tensor, States], tuple[Tensor, States]]


class Hypothesis(NamedTuple):
    """Hold one translation with its summed and its normalised log-probability."""

    tokens: tuple[int, ...]  # Python ints, without <s> and without </s>
    log_prob: float  # summed over the generated tokens, </s> included
    score: float  # log_prob / length**alpha


def beam_search(
    step: Step,
    state: States,
    *,
    bos: int,
    eos: int,
    beam_size: int,
    max_length: int,
    alpha: float = 1.0,
) -> list[Hypothesis]:
    """Return the best translations that a search with a beam of k = beam_size finds, best first.

    step(tokens (n,) int64, state) -> (log_probs (n, V), the next state) runs the model: `tokens`
    are the last tokens of n hypotheses (bos at the start), on the device of the state; `state` is
    what the model remembers of them, row by row. step leaves both as they are. log_probs are
    normalised over V, finite and fresh (you may change them). state is a tuple of one or more
    tensors of any dtype and rank whose dimension 0 runs over the n hypotheses; at the start n = 1.
    Row j of a result belongs to row j of the input: when you pick and reorder hypotheses, EVERY
    tensor of the state has to be picked and reordered with them, by the row of the hypothesis each
    one comes from.

    1. Start with one live hypothesis: no tokens, log_prob 0.
    2. At every step, from all one-token extensions of all live hypotheses (n * V of them), keep the
       k with the largest summed log-probability (all of them if there are fewer: k > V is allowed).
    3. Those that end in eos are finished and leave the beam; the others are the next live set. So
       finished hypotheses are never extended, and the live set can shrink below k.
    4. Stop as soon as at least k have finished in all, none is live, or max_length tokens (eos
       counts) were generated.
    5. Only now normalise: score = log_prob / length**alpha; length counts the tokens with eos
       and without bos. Inside the search hypotheses are compared by log_prob, never by score.
       alpha = 0 compares plain log-probabilities, alpha = 1 means a token.

    Returns the finished hypotheses with the best scores, best first, at most k. If none finished:
    the live one with the largest log_prob alone, its score normalised by its own number of tokens.

    No token is banned: `<unk>`, bos or padding may be generated like any word, and the empty
    translation (), of length 1, is valid. Tokens are Python ints, log_prob and score Python floats.
    The state passed in, the random numbers and whether gradients are computed are left as they are.
    beam_size and max_length are at least 1. How often step is called, and with how many hypotheses
    at a time, is free. Not tested: the order of exact ties.

    Example: after `<s>` P(a) = .6, P(</s>) = .4; after a always P(</s>) = .9, P(a) = .1. With k = 2
    and alpha = 1, the first step finishes () with log .4, the second (a) with log .54, and the
    result is (a) with score log(.54) / 2 = -.308, then () with score log(.4) / 1 = -.916.
    """
    raise NotImplementedError("Task beam is not implemented yet: beam_search in nmt/beam_search.py")
