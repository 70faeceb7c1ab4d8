"""Task `masking`: keep padding out of the attention and out of the loss.

A batch holds sentences of different lengths, filled up with padding on the right; only
`masked_softmax` has to work with padding in any place. Throughout the package a mask is True at
PADDING and False at real tokens.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def padding_mask(lengths: Tensor, max_length: int) -> Tensor:
    """Return the mask of a batch from the lengths of its sentences.

    lengths (B,) int64, max_length int -> (B, max_length) bool, True = padding, on the device of
    lengths. Row b has lengths[b] times False, then True to the end:

        mask[b, s] = (s >= lengths[b])

    The lengths come in any order; max_length may be larger than all of them (the last columns are
    then True in every row). lengths is left as it is.

    Raises:
        ValueError: if a length is below 1 or above max_length.
    """
    raise NotImplementedError("Task masking is not implemented yet: padding_mask in nmt/masking.py")


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax of each row of scores over its real positions only.

    scores (B, S) float, mask (B, S) bool, True = padding -> (B, S) in the dtype of scores:
    0 at padding, and each row sums to 1. With r over the real positions of row b:

        weight[b, s] = exp(scores[b, s]) / sum_r exp(scores[b, r])

    Padding may stand anywhere in a row, not only at its end. You may rely on this: each row has at
    least one real position; all scores are finite; and none at padding is more than 50 above any
    real score of its row, so that exp() of the difference fits into float32. So all of these are
    right: -inf at padding before the softmax, any fill of -1e9 or less, or a plain softmax that is
    masked and then divided by its new sum. Wrong are a fill of 0 (which still gets the weight of
    e^0) and masking without dividing again.

    scores and mask are left as they are. The result is differentiable with respect to scores. It
    must work in float32 and float64, at B = 1 and at S = 1.
    """
    raise NotImplementedError(
        "Task masking is not implemented yet: masked_softmax in nmt/masking.py"
    )


def masked_cross_entropy(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """Return the mean negative log-likelihood of the real target tokens.

    logits (B, T, V) float, not normalised; targets (B, T) int64; pad_id int, a vocabulary id (not
    always 0) -> a tensor of 0 dimensions, in the dtype of logits. Targets equal to pad_id are
    padding, wherever they stand; all others are real and count, `</s>` too:

        loss = sum over real (b, t) of -log softmax(logits[b, t])[targets[b, t]] / number of real

    The mean is over the tokens of the whole batch, so long sentences weigh more than short ones: it
    is neither a mean of sentence means nor divided by B * T. At least one target is real.

    logits and targets are left as they are. The result is differentiable with respect to logits;
    those at padding get the gradient 0. It must work in float32 and float64, at B = 1 and T = 1.
    """
    raise NotImplementedError(
        "Task masking is not implemented yet: masked_cross_entropy in nmt/masking.py"
    )
