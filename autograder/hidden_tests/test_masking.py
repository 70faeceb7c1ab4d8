"""Task `masking`: does padding stay out of the attention and out of the loss?

Each test checks values too, so that no wrong function earns points for side effects that it does
not have.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.faults import Mismatch
from autograder.hidden_tests import answers, compare, padding
from autograder.hidden_tests.draw import integer, normal
from autograder.probes.common import evaluate
from autograder.sandbox.session import TaskRunner
from nmt import masking

pytestmark = pytest.mark.task("masking")

MASK_RULE = "mask[b, s] is True where s >= lengths[b], so True = padding"
SOFTMAX_RULE = "exp(score) over the sum of exp at the row's real positions; 0 at padding"
LOSS_RULE = "the NLL summed over all targets that are not pad_id, divided by their number"
DTYPES = (torch.float32, torch.float64)
# (B, S): all different, a batch of one, a source of one, and both
SCORE_SIZES = [(4, 7), (3, 5), (1, 6), (4, 1), (1, 1)]
# (B, T, V, pad_id): padding with id 0, the last id, and ids between
LOSS_SIZES = [(3, 5, 7, 0), (4, 6, 5, 3), (5, 2, 6, 5), (1, 4, 3, 1), (4, 1, 5, 2), (1, 1, 4, 3)]


def value_of(probe: TaskRunner, name: str, *arguments: Any) -> Any:
    """Call a function of the student's and return what it gave."""
    return answers.fields(probe.call("run", name=name, arguments=list(arguments)), "value")[0]


def same_mask(actual: object, lengths: Tensor, max_length: int) -> None:
    """Compare a mask with that of the lengths."""
    if isinstance(actual, Tensor) and actual.dtype is not torch.bool:
        raise Mismatch(f"padding_mask must return a mask of torch.bool; it is {actual.dtype}.")
    expected = padding.mask_of(lengths, max_length)
    compare.tensor("padding_mask", actual, expected, sizes="(B, max_length)", rule=MASK_RULE)


def same_weights(actual: object, scores: Tensor, mask: Tensor) -> None:
    """Compare the weights of masked_softmax."""
    expected = masking.masked_softmax(scores, mask)
    compare.tensor("masked_softmax", actual, expected, sizes="(B, S)", rule=SOFTMAX_RULE)


def same_loss(actual: object, logits: Tensor, targets: Tensor, pad_id: int) -> None:
    """Compare the loss."""
    expected = masking.masked_cross_entropy(logits, targets, pad_id)
    compare.tensor("masked_cross_entropy", actual, expected, sizes="()", rule=LOSS_RULE)


def batch_of_targets(
    rng: torch.Generator,
    sizes: tuple[int, int, int, int],
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Draw logits and targets in which every id but pad_id is a real token.

    One real token has a likelihood of about e^-25: whoever adds something to it has another loss.
    """
    batch, length, words, pad_id = sizes
    mask = padding.mask_of(padding.lengths(rng, batch, length), length)
    ids = torch.tensor([word for word in range(words) if word != pad_id])
    order = integer(rng, 0, words - 1) + torch.arange(batch * length)
    real = ids[order % len(ids)].view(batch, length)
    logits = normal(rng, batch, length, words, scale=1.5, dtype=dtype)
    logits[0, 0, real[0, 0]] -= 25
    return logits, torch.where(mask, pad_id, real)


def test_padding_mask(probe: TaskRunner, rng: torch.Generator) -> None:
    """Is the mask True at padding only, whatever the lengths and max_length?"""
    for batch, longest, extra in [(5, 6, 3), (3, 4, 0), (7, 5, 1), (1, 4, 2), (1, 1, 0), (2, 1, 4)]:
        lengths = padding.lengths(rng, batch, longest)
        max_length = int(lengths.max()) + extra
        same_mask(value_of(probe, "padding_mask", lengths, max_length), lengths, max_length)


def test_padding_mask_lengths(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does a length below 1 or above max_length raise ValueError, and no other length?"""
    legal = torch.tensor([2, 6, 1, 4])
    same_mask(value_of(probe, "padding_mask", legal, 6), legal, 6)
    answers_to: list[tuple[int, Any]] = []
    for bad in (0, -integer(rng, 1, 5), 7, integer(rng, 8, 20)):
        for lengths in (legal, legal[:1]):
            lengths = lengths.clone()
            lengths[integer(rng, 0, len(lengths) - 1)] = bad
            answers_to.append((bad, probe.call("refusal", lengths=lengths, max_length=6)))
    for bad, raised in answers_to:
        if raised != "ValueError":
            name = raised[:80] if isinstance(raised, str) else "another error"
            raise Mismatch(
                f"padding_mask must raise ValueError for a length of {bad} where max_length is 6; "
                f"it raised {name}."
            )


def test_padding_mask_device(probe: TaskRunner, rng: torch.Generator) -> None:
    """Is the mask on the device of lengths?"""
    lengths = padding.lengths(rng, 4, 5)
    same_mask(value_of(probe, "padding_mask", lengths, 6), lengths, 6)
    if probe.call("on_cpu", lengths=lengths, max_length=6) is not False:
        raise Mismatch(
            "padding_mask must return a mask on lengths.device; for lengths on another device than "
            "the CPU, the mask is on the CPU."
        )


def test_masked_softmax(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are the weights 0 at padding, and those of a softmax over the rest?"""
    for dtype in DTYPES:
        for batch, width in SCORE_SIZES:
            mask = padding.mask_of(padding.lengths(rng, batch, width), width)
            scores = padding.scores(rng, mask, dtype)
            with compare.during(compare.settings(True, dtype)):
                same_weights(value_of(probe, "masked_softmax", scores, mask), scores, mask)
    mask = padding.mask_of(padding.lengths(rng, 4, 7), 7)
    scores = padding.scores(rng, mask, torch.float32, level=0.0, zero=True)
    with compare.during("A real score of each row is exactly 0 here."):
        same_weights(value_of(probe, "masked_softmax", scores, mask), scores, mask)


def test_masked_softmax_any_mask(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does the mask count, position by position, where padding is not at the end?"""
    for batch, width in [(4, 7), (3, 5), (1, 4)]:
        mask = padding.scattered(rng, batch, width)
        scores = padding.scores(rng, mask, torch.float32)
        same_weights(value_of(probe, "masked_softmax", scores, mask), scores, mask)


def test_masked_softmax_gradients(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the gradients reach the real scores, and leave those at padding alone?"""
    for dtype in DTYPES:
        for lengths in (padding.lengths(rng, 4, 5), torch.tensor([integer(rng, 2, 5)])):
            mask = padding.mask_of(lengths, 6)
            # Real scores close together, and cotangents far apart: no gradient is a small
            # difference of large numbers, which other ways to compute it would round otherwise.
            scores = padding.scores(rng, mask, dtype, spread=0.5)
            cotangent = normal(rng, *mask.shape, scale=0.3, dtype=dtype)
            cotangent[:, ::2] += 3
            value, found, expected = with_gradients(
                probe, "masked_softmax", [scores, mask], cotangent
            )
            same_weights(value, scores, mask)
            compare.gradients("masked_softmax", {"scores": found}, {"scores": expected})


def test_masked_cross_entropy(probe: TaskRunner, rng: torch.Generator) -> None:
    """Is the loss the mean over all real targets, </s> and words with id 0 included?"""
    for dtype in DTYPES:
        for sizes in LOSS_SIZES:
            logits, targets = batch_of_targets(rng, sizes, dtype)
            loss = value_of(probe, "masked_cross_entropy", logits, targets, sizes[3])
            same_loss(loss, logits, targets, sizes[3])
        # pad_id wherever it stands: what counts is the target, not its place.
        logits, targets = batch_of_targets(rng, (3, 4, 6, 2), dtype)
        targets = torch.where(torch.arange(12).view(3, 4) % 3 == 1, 2, targets)
        loss = value_of(probe, "masked_cross_entropy", logits, targets, 2)
        same_loss(loss, logits, targets, 2)
        # One real target in the whole batch: all other rows are padding from end to end.
        logits, targets = batch_of_targets(rng, (3, 4, 6, 2), dtype)
        targets = torch.where(torch.arange(12).view(3, 4) == 4, integer(rng, 3, 5), 2)
        loss = value_of(probe, "masked_cross_entropy", logits, targets, 2)
        same_loss(loss, logits, targets, 2)


def test_masked_cross_entropy_gradients(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the gradients reach the logits of real targets, and are they 0 at padding?"""
    for dtype in DTYPES:
        for sizes in LOSS_SIZES[1:4]:
            logits, targets = batch_of_targets(rng, sizes, dtype)
            cotangent = torch.tensor(1.5, dtype=dtype)
            value, found, expected = with_gradients(
                probe, "masked_cross_entropy", [logits, targets, sizes[3]], cotangent
            )
            same_loss(value, logits, targets, sizes[3])
            compare.gradients("masked_cross_entropy", {"logits": found}, {"logits": expected})


def with_gradients(
    probe: TaskRunner, name: str, arguments: list[Any], cotangent: Tensor
) -> tuple[Any, Any, Tensor]:
    """Return the student's value and gradient for the first argument, and the right gradient."""
    report = probe.call("run", name=name, arguments=arguments, cotangents=[cotangent])
    value, found = answers.fields(report, "value", "argument_gradients")
    ours = [arguments[0].clone(), *arguments[1:]]
    expected = evaluate(getattr(masking, name), ours, cotangents=[cotangent])
    return value, answers.items(found, 1)[0], expected["argument_gradients"][0]


def test_no_side_effects(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are all arguments left as they were, and is a second call like the first?"""
    for grad in (True, False):
        with compare.during("" if grad else "This was under torch.no_grad()."):
            check_twice(probe, rng, grad)


def check_twice(probe: TaskRunner, rng: torch.Generator, grad: bool) -> None:
    """Call each function twice, and check values and arguments."""
    lengths = torch.tensor([3, 5, 2])
    for value in twice(probe, "padding_mask", {"lengths": lengths}, 6, grad=grad):
        same_mask(value, lengths, 6)
    mask = padding.mask_of(lengths, 6)
    scores = padding.scores(rng, mask, torch.float32)
    for value in twice(probe, "masked_softmax", {"scores": scores, "mask": mask}, grad=grad):
        same_weights(value, scores, mask)
    logits, targets = batch_of_targets(rng, (5, 5, 6, 1), torch.float32)
    before = {"logits": logits, "targets": targets}
    for value in twice(probe, "masked_cross_entropy", before, 1, grad=grad):
        same_loss(value, logits, targets, 1)


def twice(
    probe: TaskRunner, name: str, before: dict[str, Tensor], *more: int, grad: bool
) -> list[Any]:
    """Call a function twice, check what it leaves behind, and return both results."""
    report = probe.call("twice", name=name, arguments=[*before.values(), *more], grad=grad)
    values, after, random = answers.fields(report, "values", "arguments_after", "random")
    compare.unchanged(name, after, before)
    answers.draws_nothing(name, random)
    return answers.items(values, 2)
