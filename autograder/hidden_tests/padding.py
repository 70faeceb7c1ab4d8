"""Draw what has padding: lengths, masks (True = padding), and scores."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.hidden_tests.draw import integer, normal

ABOVE = 49.0  # scores at padding are at most 50 above the real ones, says the contract


def lengths(rng: torch.Generator, batch: int, longest: int) -> Tensor:
    """Draw lengths from 1 to `longest`: different if there is room, the first not the largest.

    A single row has, if there is room, two real positions at least and one of padding.
    """
    if batch == 1:
        return torch.tensor([integer(rng, min(2, longest), max(longest - 1, min(2, longest)))])
    drawn = torch.randperm(longest, generator=rng)[torch.arange(batch) % longest] + 1
    return drawn.roll(1) if drawn[0] == drawn.max() else drawn


def mask_of(sizes: Tensor, width: int) -> Tensor:
    """Return the mask (B, width) of these lengths."""
    return torch.arange(width) >= sizes.unsqueeze(1)


def scattered(rng: torch.Generator, batch: int, width: int) -> Tensor:
    """Draw a mask (B, width) with padding anywhere, and at least one real position a row."""
    mask = torch.rand(batch, width, generator=rng) < 0.5
    mask[:, 0] = True  # padding on the left, which no mask made from lengths has
    real = torch.randint(1, width, (batch, 1), generator=rng)
    return mask.scatter(1, real, False)


def scores(
    rng: torch.Generator,
    mask: Tensor,
    dtype: torch.dtype,
    *,
    spread: float = 1.5,
    level: float = 10.0,
    zero: bool = False,
) -> Tensor:
    """Draw scores (B, S), with larger and smaller ones at padding.

    Rows lie around the level and its negative in turn, so that neither 0 nor a small number stands
    for "no score". With `zero`, the first real score of each row is exactly 0. All stay in a range
    where e to their power is a number of float32, and not 0: larger ones the contract leaves open.
    """
    batch, width = mask.shape
    signs = torch.where((torch.arange(batch) + integer(rng, 0, 1)) % 2 == 0, 1.0, -1.0)
    real = normal(rng, batch, width, scale=spread) + level * signs.unsqueeze(1)
    if zero:
        real = real.masked_fill(~mask & ((~mask).cumsum(1) == 1), 0.0)
    lowest = real.masked_fill(mask, float("inf")).amin(1, keepdim=True)
    above = torch.rand(batch, width, generator=rng) * 2 * ABOVE - ABOVE
    first = mask & (mask.cumsum(1) == 1)
    return torch.where(mask, lowest + above.masked_fill(first, ABOVE), real).to(dtype)
