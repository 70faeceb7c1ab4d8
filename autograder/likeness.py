"""Tell whether two replies of a worker are the same, but for rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.hidden_tests.compare import TOLERANCES
from autograder.sandbox.wire import Other

EXACT_INTEGERS = 1 << 53  # up to here every integer is a float
Reply = Mapping[str, Any]


def same_reply(one: Reply, other: Reply, *, relative: float, exact: bool) -> bool:
    """Compare two replies, either of which may be an exception.

    `relative` is the tolerance of Python floats. Only if `exact` do the kinds count: tuple or list,
    int or float, number or tensor of 0 dimensions.
    """
    if "error" in one or "error" in other:
        return _error(one) == _error(other)
    values = (one["value"], other["value"])
    return alike(*(values if exact else map(plain, values)), relative=relative)


def _error(reply: Reply) -> tuple[Any, ...] | None:
    """Return what an exception says; not where it was raised, which every file has elsewhere."""
    error = reply.get("error")
    return (error.get("type"), error.get("text")) if isinstance(error, dict) else None


def plain(value: Any) -> Any:
    """Return the value with lists for tuples and floats for numbers, tensors of one included."""
    if isinstance(value, Tensor) and value.dim() == 0:
        return plain(value.item())
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        items = {key: plain(item) for key, item in value.items()}
        return {key: _reached(v) if key.endswith("gradients") else v for key, v in items.items()}
    if type(value) is int and abs(value) <= EXACT_INTEGERS:
        return float(value)
    return value


def _reached(gradients: Any) -> Any:
    """Put None, no gradient, for one of zeros: whether a term is left out or taken off again."""
    if isinstance(gradients, Tensor):
        return gradients if bool(gradients.any()) else None
    if isinstance(gradients, dict):
        return {key: _reached(item) for key, item in gradients.items()}
    return [_reached(item) for item in gradients] if isinstance(gradients, list) else gradients


def alike(one: Any, other: Any, *, relative: float, absolute: float = 0.0) -> bool:
    """Compare two values of the same kinds; the tolerances are those of Python floats."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Tensor):
        return _alike_tensors(one, other)
    if isinstance(one, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=relative, abs_tol=absolute)
    if isinstance(one, (dict, tuple, list)):
        same = one.keys() == other.keys() if isinstance(one, dict) else len(one) == len(other)
        keys = one if isinstance(one, dict) else range(len(one))
        return same and all(
            alike(one[key], other[key], relative=relative, absolute=absolute) for key in keys
        )
    if isinstance(one, Other):
        return bool(one.description == other.description)
    return bool(one == other)


def _alike_tensors(one: Tensor, other: Tensor) -> bool:
    """Compare shape, dtype and entries, relative to the largest entry; NaN is like NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    finite = other.isfinite()
    if not torch.equal(finite, one.isfinite()):
        return False
    odd = torch.equal(one[~finite].nan_to_num(), other[~finite].nan_to_num())
    tight = other.dtype is torch.float64
    scale = max(float(other[finite].abs().max()) if bool(finite.any()) else 0.0, 1e-3)
    relative = TOLERANCES.float64 if tight else TOLERANCES.float32
    return odd and bool(((one - other)[finite].abs() <= relative * scale).all())
