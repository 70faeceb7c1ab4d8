"""Draw how powers grow and shrink, and the cliff that an RNN's loss can have."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from labs.gradients import cliff_loss

from ..examples import gradient
from .canvas import BLUE, GREEN, GREY, RED, Point


def draw_powers(root: Path) -> Figure:
    """Return ρᵏ for three radii on a logarithmic axis."""
    figure = Figure(figsize=(5.6, 2.7), layout="constrained")
    axes = figure.add_subplot()
    steps = range(101)
    for radius, color, style in ((1.1, RED, "--"), (1.0, GREY, ":"), (0.9, BLUE, "-")):
        axes.plot(steps, [radius**k for k in steps], style, color=color, linewidth=2)
        axes.annotate(
            rf"$\rho$ = {radius}", (100, radius**100), (5, 0), textcoords="offset points",
            va="center", color=color, annotation_clip=False,
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlim(0, 100)
    axes.set_xlabel("steps back, k")
    axes.set_ylabel(r"$\rho^{\,k}$")
    axes.grid(color="#dddddd", linewidth=0.6)
    return figure


def draw_cliff(root: Path) -> Figure:
    """Return the loss of a one-unit RNN by its weight, and one step with and without clipping."""
    figure = Figure(figsize=(5.6, 2.7), layout="constrained")
    axes = figure.add_subplot()
    weights = [1 + index / 1000 for index in range(1001)]
    axes.plot(weights, [cliff_loss(w)[0] for w in weights], color=BLUE, linewidth=2)
    worked = gradient()
    axes.plot(worked.start, worked.loss, "o", color=RED, zorder=3)
    far = f"{worked.unclipped:.1f}".replace("-", "−")
    text = f"from here, one step\nwithout clipping\nlands at w = {far}"
    _point_out(axes, text, (worked.start, 0.1), (1.1, 1.9), RED)
    axes.plot(worked.clipped, worked.clipped_loss, "s", color=GREEN, zorder=3)
    text = f"and with clipping,\nat w = {worked.clipped:.3f}"
    _point_out(axes, text, (worked.clipped, 0.05), (1.1, 0.8), GREEN)
    axes.set_xlabel("recurrent weight w")
    axes.set_ylabel("loss L")
    return figure


def _point_out(axes: Axes, text: str, at: Point, beside: Point, color: str) -> None:
    """Write a text with an arrow to what it is about."""
    arrow = {"arrowstyle": "-|>", "color": color, "shrinkB": 5}
    axes.annotate(text, at, beside, color=color, va="center", arrowprops=arrow)
