"""Compare what a worker sent with what the contract gives, and say what differs.

Messages name the contract, shapes and positions, never an expected value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from assignment.facts import load
from autograder.faults import Mismatch

TOLERANCES = load().tolerances


def kind(value: Any) -> str:
    """Describe a value by its type and shape, for a message."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and {value.dtype}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None:
        return "None"
    return f"a {type(value).__name__}" if type(value).__module__ == "builtins" else str(value)


def parts(what: str, value: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Take a tuple apart that the contract says to have these parts."""
    if not isinstance(value, (tuple, list)) or len(value) != len(names):
        raise Mismatch(f"{what} must return ({', '.join(names)}); it returned {kind(value)}.")
    return tuple(value)


def tensor(what: str, actual: Any, expected: Tensor, *, sizes: str, rule: str = "") -> None:
    """Hold one tensor against the expected one: kind, shape, dtype, finiteness, values.

    `sizes` names the dimensions, as in "(B, H)"; `rule` is the equation that was broken.
    """
    if not isinstance(actual, Tensor):
        raise Mismatch(f"{what} must be a tensor {sizes}; it is {kind(actual)}.")
    if actual.shape != expected.shape:
        here = (
            f"here {sizes} is {tuple(expected.shape)}"
            if expected.dim()
            else "it must have no dimension"
        )
        raise Mismatch(
            f"{what} has the shape {tuple(actual.shape)}; {here}." + _squeezed(actual, expected)
        )
    if actual.dtype != expected.dtype:
        raise Mismatch(
            f"{what} is {actual.dtype}; it must be {expected.dtype}, as the inputs are: take dtype "
            "from them, never from a constant."
        )
    if actual.is_floating_point() and not bool(actual.isfinite().all()):
        raise Mismatch(f"{what} has entries that are NaN or infinite, for finite inputs.")
    wrong = _differs(actual, expected)
    if bool(wrong.any()):
        raise Mismatch(
            f"{what} is wrong: {_where(wrong, sizes)}.{f' The rule: {rule}.' if rule else ''}"
            + _rounded(actual, expected)
        )


def _squeezed(actual: Tensor, expected: Tensor) -> str:
    """Say what drops a dimension of one, if that is what is missing."""
    ones = [size for size in expected.shape if size != 1]
    if actual.dim() >= expected.dim() or [size for size in actual.shape if size != 1] != ones:
        return ""
    return " squeeze() without a dimension drops every dimension of 1: name the dimension."


def in_order(what: str, values: Sequence[Any], expected: Sequence[Tensor], order: str) -> None:
    """Notice results that have the right shapes in another order."""
    got = [tuple(value.shape) if isinstance(value, Tensor) else () for value in values]
    wanted = [tuple(value.shape) for value in expected]
    if got != wanted and sorted(got) == sorted(wanted):
        raise Mismatch(f"{what} returns its results in another order than {order}.")


def _differs(actual: Tensor, expected: Tensor) -> Tensor:
    if not expected.is_floating_point():
        return actual != expected
    wide = expected.dtype is torch.float64
    return _off(actual, expected, TOLERANCES.float64 if wide else TOLERANCES.float32)


def _off(actual: Tensor, expected: Tensor, relative: float) -> Tensor:
    scale = expected.abs().max().clamp(min=1e-3) if expected.numel() else torch.tensor(1.0)
    return (actual - expected).abs() > relative * scale


def _rounded(actual: Tensor, expected: Tensor) -> str:
    """Say that a result in float64 has the precision of float32, if it has."""
    if expected.dtype is not torch.float64 or bool(
        _off(actual, expected, TOLERANCES.float32).any()
    ):
        return ""
    return " It is right to about the precision of float32: is it computed in float32 on the way?"


def _where(wrong: Tensor, sizes: str) -> str:
    count, total = int(wrong.sum()), wrong.numel()
    if wrong.dim() == 0:
        return "the single value differs"
    first = wrong.nonzero()[0].tolist()
    return (
        f"{count} of {total} entries differ, the first at {first} of {sizes} = {tuple(wrong.shape)}"
    )


def gradients(
    what: str,
    actual: Mapping[str, Any],
    expected: Mapping[str, Tensor | None],
) -> None:
    """Hold gradients against the expected ones, by the name of what they belong to."""
    for name, wanted in expected.items():
        if wanted is None:
            continue
        got = actual.get(name)
        if got is None:
            raise Mismatch(
                f"{what} passes no gradient to {name}: something cuts the graph (.data, .detach(), "
                ".item(), .tolist(), torch.tensor(...), torch.no_grad), or it is not used."
            )
        what_of = f"the gradient of {what} with respect to {name}"
        tensor(what_of, got, wanted, sizes=f"the shape of {name}")


@contextmanager
def during(words: str) -> Iterator[None]:
    """Add words on the call to a mismatch in it."""
    try:
        yield
    except Mismatch as fault:
        raise Mismatch(f"{fault} {words}" if words else str(fault)) from None


def settings(training: bool, dtype: torch.dtype) -> str:
    """Say in which mode and dtype a call was, if these are not the usual ones."""
    words = [] if training else ["in evaluation mode"]
    words += ["in float64"] if dtype is torch.float64 else []
    return f"This was {' and '.join(words)}." if words else ""


def after(number: int) -> str:
    """Say what a mismatch in a later call of several may come from."""
    return (
        f"This was call {number + 1} of several, and those before it were right: is anything kept "
        "from one call to the next?"
        if number
        else ""
    )


def unchanged(what: str, left: Any, before: Mapping[str, Tensor]) -> None:
    """Check that the arguments are what they were."""
    for value, (name, wanted) in zip(parts(what, left, tuple(before)), before.items()):
        kept = isinstance(value, Tensor) and value.dtype == wanted.dtype
        if not kept or not torch.equal(value, wanted):
            raise Mismatch(
                f"{what} changes its argument {name} in place; work on a new tensor instead "
                "(x = x + 1, not x += 1; masked_fill, not masked_fill_)."
            )
