"""Send numbers of kinds that cannot cross to the grader: numpy's, fractions, decimals."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import torch


def sendable(value: Any) -> Any:
    """Return a number of another kind than the contract's as a tensor of no dimensions.

    The grader reads its value where values are compared, and sees that it is neither an int nor a
    float where kinds are. Everything else is returned as it is.
    """
    if type(value) in (bool, int) or isinstance(value, float):
        return value
    if isinstance(value, numbers.Integral):
        return torch.tensor(int(value))
    if isinstance(value, (numbers.Real, Decimal)):
        return torch.tensor(float(value), dtype=torch.float64)
    return value


def all_sendable(values: Any) -> Any:
    """Do so with the items of a tuple or list."""
    if type(values) in (tuple, list):
        return type(values)(map(sendable, values))
    return sendable(values)
