"""Draw inputs from a seeded generator."""

from __future__ import annotations

import torch
from torch import Tensor


def normal(
    rng: torch.Generator, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Draw a standard normal tensor times `scale`, the same numbers in every dtype."""
    return (torch.randn(*shape, generator=rng, dtype=torch.float64) * scale).to(dtype)


def integer(rng: torch.Generator, low: int, high: int) -> int:
    """Draw an integer from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=rng))
