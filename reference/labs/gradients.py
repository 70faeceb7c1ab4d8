"""Lab 1's work: how gradients shrink, grow, and fall off a cliff."""

import math

import torch
from torch import Tensor

from labs.part import Context, Figures, Settings

START, SHIFT, GOAL = 0.5, 0.2, -0.8  # of the cliff: h_0, what is subtracted, where the loss is 0
STEPS = 40


def random_matrix(size: int, radius: float, generator: torch.Generator) -> Tensor:
    """Draw a normal (size, size) matrix and scale it to a spectral radius."""
    matrix = torch.randn(size, size, dtype=torch.float64, generator=generator)
    largest: Tensor = torch.linalg.eigvals(matrix).abs().max()
    return matrix * (radius / largest)


def powers(settings: Settings, seed: int, context: Context) -> Figures:
    """Measure the length of Wᵏv, for k up to the largest wanted."""
    generator = torch.Generator().manual_seed(seed)
    matrix = random_matrix(settings["size"], settings["radius"], generator)
    v = torch.randn(settings["size"], dtype=torch.float64, generator=generator)
    v /= v.norm()
    lengths = []
    for _ in range(settings["steps"]):
        v = matrix @ v
        lengths.append(v.norm().item())
    return {"lengths": lengths}


def shares(settings: Settings, seed: int, context: Context) -> Figures:
    """Measure which share of the gradient of W_h comes from each distance to the last step.

    Every step gets a copy of W_h of its own: what the loss says to that copy is the step's share.
    """
    generator = torch.Generator().manual_seed(seed)
    size, steps = settings["size"], settings["steps"]
    matrix = random_matrix(size, settings["radius"], generator)
    copies = [matrix.clone().requires_grad_() for _ in range(steps)]
    h = torch.zeros(size, dtype=torch.float64)
    for copy in copies:
        x = torch.randn(size, dtype=torch.float64, generator=generator)
        h = torch.tanh(copy @ h + settings["input_scale"] * x)
    loss = h @ torch.randn(size, dtype=torch.float64, generator=generator)
    lengths = torch.stack([grad.norm() for grad in torch.autograd.grad(loss, copies)])
    return {"shares": (lengths / lengths.sum()).flip(0).tolist()}  # distance 0 is the last step


def cliff_loss(w: float) -> tuple[float, float]:
    """Return L = (h_40 + 0.8)² of h_t = tanh(w h_{t-1} - 0.2), h_0 = 0.5, and dL/dw."""
    h, slope = START, 0.0  # slope = dh/dw
    for _ in range(STEPS):
        new = math.tanh(w * h - SHIFT)
        slope = (1 - new * new) * (h + w * slope)
        h = new
    return (h - GOAL) ** 2, 2 * (h - GOAL) * slope


def cliff(settings: Settings, seed: int, context: Context) -> Figures:
    """Walk over the cliff in small steps of w, and in tiny ones on its wall."""
    wide = [index / 1000 for index in range(1000, 2001)]
    wall = [1.49 + index / 1e6 for index in range(20_000)]
    steepest = max(wall, key=lambda w: abs(cliff_loss(w)[1]))
    return {
        "w": wide,
        "loss": [cliff_loss(w)[0] for w in wide],
        "slope": [abs(cliff_loss(w)[1]) for w in wide],
        "at": cliff_loss(settings["w"]),
        "steepest": [steepest, abs(cliff_loss(steepest)[1])],
        "away": max(abs(cliff_loss(w)[1]) for w in wide if abs(w - steepest) >= settings["wall"]),
    }


def clip(gradient: list[float], limit: float) -> list[float]:
    """Shorten a gradient to a length, if it is longer; its direction stays."""
    length = math.hypot(*gradient)
    return [entry * min(1.0, limit / length) for entry in gradient] if length else gradient


def descend(settings: Settings, seed: int, context: Context) -> Figures:
    """Go down the cliff's slope from its edge, with or without clipping."""
    w, path = settings["w"], []
    for _ in range(settings["steps"]):
        _, slope = cliff_loss(w)
        (step,) = clip([slope], settings["clip"] or math.inf)
        w -= settings["rate"] * step
        path.append((w, cliff_loss(w)[0]))
    return {"path": path, "example": clip([6.0, 8.0], settings["clip"] or math.inf)}
