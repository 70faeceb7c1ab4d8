"""Lab 6's work: inner products of random vectors, and what softmax makes of them."""

import math

import torch
from torch import Tensor

from labs.part import Context, Figures, Settings


def products(settings: Settings, seed: int, context: Context) -> Figures:
    """Draw inner products of two standard normal vectors; return their variance, and scaled."""
    generator = torch.Generator().manual_seed(seed)
    size = settings["size"]
    pairs = torch.randn(2, settings["count"], size, generator=generator, dtype=torch.float64)
    drawn = pairs.prod(dim=0).sum(dim=1)
    counts, edges = torch.histogram(drawn, bins=60)
    return {
        "variance": drawn.var().item(),
        "scaled": (drawn / math.sqrt(size)).var().item(),
        "counts": counts.tolist(),
        "edges": edges.tolist(),
    }


def sharpness(settings: Settings, seed: int, context: Context) -> Figures:
    """Score keys by a query, both normal, and measure what softmax makes of it.

    That is the mean of the largest weight, and of the largest slope of a weight by its own score,
    w (1 - w): where one weight is nearly 1, no gradient comes through any more.
    """
    generator = torch.Generator().manual_seed(seed)
    size, keys = settings["size"], settings["keys"]
    shape = (settings["count"], keys, size)
    queries = torch.randn(settings["count"], size, generator=generator, dtype=torch.float64)
    drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
    scores = torch.stack([own @ query for own, query in zip(drawn, queries, strict=True)])
    plain, scaled = scores.softmax(dim=1), (scores / math.sqrt(size)).softmax(dim=1)
    return {"plain": _describe(plain), "scaled": _describe(scaled)}


def _describe(weights: Tensor) -> dict[str, float]:
    slopes = weights * (1 - weights)
    return {
        "largest": weights.max(dim=1).values.mean().item(),
        "slope": slopes.max(dim=1).values.mean().item(),
    }


def look_up(settings: Settings, seed: int, context: Context) -> Figures:
    """Ask a table of five keys for the second, louder and louder, with your `attend`.

    The keys are one-hot vectors and the values 10 … 50, so the context is a mean of these.
    """
    # Here, not above: the rest of this lab runs whatever stands in your files.
    from nmt.attention import attend, dot_score

    keys = torch.eye(5, dtype=torch.float64).unsqueeze(0)
    values = torch.arange(10, 60, 10, dtype=torch.float64).view(1, 5, 1)
    mask = torch.tensor([[False, False, False, False, settings["masked"]]])
    weights, contexts = [], []
    for loudness in settings["loudness"]:
        scores = dot_score(loudness * keys[:, 1], keys)
        found, own = attend(scores, values, mask)
        contexts.append(found.item())
        weights.append(own[0].tolist())
    return {"contexts": contexts, "weights": weights}
