"""Public tests of task `masking`: nmt/masking.py."""

import math
from collections.abc import Callable, Mapping
from types import ModuleType

import pytest
import torch
from torch import Tensor

Close = Callable[..., None]
Reached = Callable[[Mapping[str, Tensor]], None]


@pytest.fixture
def masking() -> ModuleType:
    """Import the module inside a test, so that a broken file fails the tests one by one."""
    import nmt.masking

    return nmt.masking


def logits_of(probabilities: list[list[list[float]]]) -> Tensor:
    """Return logits (B, T, V) whose softmax is given; with 3 added, they are not normalised."""
    return torch.tensor(probabilities).log() + 3


def with_nll(value: float) -> list[float]:
    """Return probabilities of three words, of which word 1 has this negative log-likelihood."""
    p = math.exp(-value)
    return [(1 - p) * 0.4, p, (1 - p) * 0.6]


def test_padding_mask_by_hand(masking: ModuleType, close: Close) -> None:
    """Is the mask False at real tokens and True at padding, for lengths in any order?"""
    got = masking.padding_mask(torch.tensor([2, 4, 1]), 5)
    expected = torch.tensor(
        [
            [False, False, True, True, True],
            [False, False, False, False, True],
            [False, True, True, True, True],
        ]
    )
    idea = "True = padding, the first padded position is lengths[b], and the width is max_length."
    close(got, expected, "padding_mask of lengths [2, 4, 1], max_length 5", idea)


@pytest.mark.parametrize("lengths", [[2, 0], [2, 4], [-1]])
def test_padding_mask_refuses(masking: ModuleType, lengths: list[int]) -> None:
    """Does a length below 1 or above max_length raise ValueError?"""
    try:
        masking.padding_mask(torch.tensor(lengths), 3)
    except ValueError:
        return
    raise AssertionError(f"lengths {lengths} with max_length 3: expected a ValueError, got none")


def test_padding_mask_single(masking: ModuleType, close: Close) -> None:
    """Does one sentence of one word work, and do the lengths stay as they were?"""
    lengths = torch.tensor([1])
    close(masking.padding_mask(lengths, 1), torch.tensor([[False]]), "the mask for B = S = 1")
    close(lengths, torch.tensor([1]), "lengths after the call", "Do not change the input.")


def test_masked_softmax_by_hand(masking: ModuleType, close: Close) -> None:
    """Does padding get no weight, and the rest all of it?"""
    scores, mask = torch.tensor([[2.0, 1.0, -1.0]]), torch.tensor([[False, False, True]])
    mistakes = {
        "when the mask is not used": 0.705385,
        "when padded scores become 0 (or 1e-9) in place of -inf: e^0 is still a weight": 0.665241,
        "when the mask is inverted: True means padding": 0.0,
    }
    # e^2 / (e^2 + e^1) = .731059
    close(
        masking.masked_softmax(scores, mask),
        torch.tensor([[0.731059, 0.268941, 0.0]]),
        "masked_softmax of [2, 1, padding]",
        "Each row sums to 1 over its real positions.",
        mistakes,
    )


def test_masked_softmax_rows(masking: ModuleType, close: Close) -> None:
    """Does each row follow its own mask, even where padding has the largest score?"""
    scores = torch.tensor([[1.0, 3.0, 2.0, 40.0], [1.0, 30.0, 20.0, 2.0]])
    mask = torch.tensor([[False, False, False, True], [False, True, True, True]])
    got = masking.masked_softmax(scores, mask)
    first = torch.tensor([1.0, 3.0, 2.0]).exp() / sum(math.exp(score) for score in (1, 3, 2))
    expected = torch.stack([torch.cat([first, torch.zeros(1)]), torch.eye(4)[0]])
    close(got, expected, "weights of rows with 3 and 1 real positions", "Softmax over dim 1.")


def test_masked_softmax_single(masking: ModuleType, close: Close) -> None:
    """Does one sentence of one word get the weight 1, in shape (1, 1)?"""
    got = masking.masked_softmax(torch.tensor([[-7.0]]), torch.tensor([[False]]))
    close(got, torch.tensor([[1.0]]), "the weights for B = S = 1", "No `squeeze()` is needed.")


def test_masked_softmax_inputs_unchanged(masking: ModuleType, close: Close) -> None:
    """Are scores and mask as they were after a call?"""
    scores, mask = torch.randn(2, 3), torch.tensor([[False, True, True], [False, False, True]])
    before = scores.clone(), mask.clone()
    masking.masked_softmax(scores, mask)
    idea = "`masked_fill` makes a new tensor; `masked_fill_` and `scores[mask] = ...` do not."
    close(scores, before[0], "scores after the call", idea)
    close(mask, before[1], "mask after the call")


def test_masked_softmax_gradient(masking: ModuleType, reached: Reached) -> None:
    """Do gradients reach the real scores, in float64, without NaN?"""
    scores = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    weights = masking.masked_softmax(scores, torch.tensor([[False] * 3, [False, False, True]]))
    assert weights.dtype == torch.float64, f"expected weights in float64, got {weights.dtype}"
    (weights * torch.arange(3.0)).sum().backward()
    reached({"scores": scores})


def test_cross_entropy_by_hand(masking: ModuleType, close: Close) -> None:
    """Is the loss the mean over real tokens, padding left out of sum and count?"""
    logits = logits_of([[with_nll(0.5), [0.1353353, 0.4, 0.4646647]]])  # the NLLs .5 and 2
    mistakes = {
        "when the sum is divided by all B * T positions": 0.25,
        "when padding is counted like a word": 1.25,
        "when padding is in the sum, but not in the count": 2.5,
    }
    close(
        masking.masked_cross_entropy(logits, torch.tensor([[1, 0]]), 0),
        torch.tensor(0.5),
        "the loss of one real token with NLL 0.5, and one of padding",
        "Sum over real targets / their number, as a tensor of 0 dimensions.",
        mistakes,
    )


def test_cross_entropy_weighs_tokens(masking: ModuleType, close: Close) -> None:
    """Does every token of the batch weigh the same, in a short sentence or a long one?"""
    short, long = [with_nll(4.0)] + [[0.2, 0.3, 0.5]] * 2, [with_nll(1.0)] * 3
    close(
        masking.masked_cross_entropy(
            logits_of([short, long]), torch.tensor([[1, 2, 2], [1] * 3]), 2
        ),
        torch.tensor(1.75),
        "NLL 4 in a sentence of one token, three times 1 in another",
        "(4 + 1 + 1 + 1) / 4; pad_id is 2 here.",
        {
            "as the mean of the sentences' means": 2.5,
            "when pad_id is taken to be 0": 1.397716,
            "when the sum is not divided by the number of real tokens": 7.0,
        },
    )


def test_cross_entropy_counts_every_real_token(masking: ModuleType, close: Close) -> None:
    """Do `</s>` and a word with id 0 count, where padding has another id?"""
    rows = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.2, 0.4, 0.3], [0.3, 0.3, 0.3, 0.1]]
    loss = masking.masked_cross_entropy(logits_of([rows]), torch.tensor([[0, 2, 3]]), 3)
    expected = torch.tensor(-(math.log(0.5) + math.log(0.4)) / 2)  # ids 0 and 2; 3 is padding
    close(loss, expected, "the loss of targets [0, </s> = 2, padding = 3]", "Compare with pad_id.")


def test_cross_entropy_gradient(masking: ModuleType, close: Close, reached: Reached) -> None:
    """Do gradients reach real positions and not padding, and do the inputs stay as they were?"""
    logits = torch.randn(1, 2, 3, dtype=torch.float64, requires_grad=True)
    targets, before = torch.tensor([[1, 0]]), logits.detach().clone()
    loss = masking.masked_cross_entropy(logits, targets, 0)
    assert loss.dtype == torch.float64, f"expected the loss in float64, got {loss.dtype}"
    loss.backward()
    reached({"logits": logits})
    assert logits.grad is not None
    assert not logits.grad[0, 1].any(), "a gradient at padding: the loss must not depend on it"
    close(logits.detach(), before, "logits after the call")
    close(targets, torch.tensor([[1, 0]]), "targets after the call")
