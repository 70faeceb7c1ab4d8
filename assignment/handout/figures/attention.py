"""Draw one step of the decoder: attention over the source, and the output fed to the next step."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .canvas import (
    BLUE,
    GREEN,
    GREY,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    PALE_RED,
    RED,
    arrow,
    box,
    canvas,
    dot,
    label,
    path,
)

WORDS = ("the", "kings", "see", "</s>")
WEIGHTS = (0.15, 0.7, 0.1, 0.05)  # made up: what a heatmap's row looks like
LEFT, GAP = 1.1, 1.7
MIX = LEFT + 1.5 * GAP  # where the weighted mean stands
CELL = 10.3


def draw(root: Path) -> Figure:
    """Return the figure."""
    figure, axes = canvas(16.4, 8.5)
    _source(axes)
    _decoder(axes)
    label(axes, (MIX, 0.25), "encoder: the memory", color=GREY, size=9)
    label(axes, (CELL + 0.8, 0.25), "decoder: one step", color=GREY, size=9)
    return figure


def _source(axes: Axes) -> None:
    """Draw the memory, the weights as bars, and their mean."""
    for index, (word, weight) in enumerate(zip(WORDS, WEIGHTS, strict=True)):
        x = LEFT + GAP * index
        box(axes, (x, 1.9), f"$\\mathbf{{h}}_{index + 1}$", PALE_BLUE, width=1.0)
        label(axes, (x, 0.9), word, size=9)
        axes.bar(x, weight * 1.3, 0.5, bottom=3.7, color=BLUE, zorder=3)
        arrow(axes, (x, 2.35), (x, 3.65), GREY)
        label(axes, (x, 3.75 + weight * 1.3 + 0.18), rf"$\alpha_{index + 1}$", size=9)
        arrow(axes, (x, 5.25), (MIX + (x - MIX) * 0.12, 6.12), BLUE, 0.6 + 3 * weight)
    dot(axes, (MIX, 6.45), r"$\Sigma$")


def _decoder(axes: Axes) -> None:
    """Draw the cell, the query, the context and the output."""
    box(axes, (CELL, 2.9), "LSTM cell", PALE_GREEN, width=2.2)
    arrow(axes, (CELL - 0.5, 1.5), (CELL - 0.5, 2.45))
    label(axes, (CELL - 0.5, 1.15), r"$\mathbf{y}$", size=11)
    arrow(axes, (CELL + 0.5, 1.5), (CELL + 0.5, 2.45), RED)
    label(axes, (CELL + 0.5, 1.15), r"$\mathbf{o}_{t-1}$", size=11, color=RED)
    arrow(axes, (CELL + 2.6, 2.9), (CELL + 1.1, 2.9))
    label(axes, (CELL + 3.3, 2.9), "$(h, c)$", size=10)
    box(axes, (CELL, 6.45), "[ context ; new $\\mathbf{h'}$ ]", PALE_ORANGE, width=3.6)
    arrow(axes, (CELL, 3.35), (CELL, 6.0))
    label(axes, (CELL + 0.2, 4.7), "new $\\mathbf{h'}$", size=9.5, ha="left")
    path(axes, [(CELL, 4.2), (LEFT + GAP * 3 + 0.75, 4.2)], GREEN)
    label(axes, (CELL - 1.3, 4.47), "query", size=9, color=GREEN)
    label(axes, (CELL - 1.3, 3.8), "scores,\nsoftmax", size=8.5, color=GREY, va="center")
    arrow(axes, (MIX + 0.34, 6.45), (CELL - 1.8, 6.45))
    label(axes, ((MIX + CELL - 1.5) / 2, 6.75), "context $\\mathbf{a}$", size=9.5)
    box(axes, (CELL + 4.0, 6.45), "tanh$(W_u\\,\\cdot)$", PALE_RED, width=2.2)
    arrow(axes, (CELL + 1.8, 6.45), (CELL + 2.9, 6.45))
    arrow(axes, (CELL + 4.0, 6.9), (CELL + 4.0, 7.75))
    label(axes, (CELL + 4.0, 8.05), "$\\mathbf{o}_t$: next word", size=9.5)
    path(
        axes,
        [(CELL + 5.1, 6.45), (CELL + 5.6, 6.45), (CELL + 5.6, 1.15), (CELL + 5.15, 1.15)],
        RED,
    )
    label(axes, (CELL + 3.7, 1.15), "$\\mathbf{o}_t$ is fed to\nthe next step", size=9, color=RED)
