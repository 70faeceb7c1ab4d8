"""Draw an encoder and a decoder with one state between them."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .canvas import GREY, PALE_BLUE, PALE_GREEN, RED, arrow, box, canvas, label

SOURCE = ("the", "kings", "see", "a", "cat", "</s>")
READ = ("<s>", "rega", "ka", "miro", "tavek")
WRITTEN = ("rega", "ka", "miro", "tavek", "</s>")
GAP = 1.32


def draw(root: Path) -> Figure:
    """Return the figure."""
    figure, axes = canvas(15.8, 4.4)
    _chain(axes, 0.8, SOURCE, PALE_BLUE)
    start = 0.8 + GAP * len(SOURCE) + 0.6
    _chain(axes, start, READ, PALE_GREEN)
    for index, word in enumerate(WRITTEN):
        x = start + GAP * index
        arrow(axes, (x, 2.35), (x, 3.2))
        label(axes, (x, 3.5), word, size=9)
    arrow(axes, (0.8 + GAP * (len(SOURCE) - 1) + 0.4, 2.0), (start - 0.4, 2.0), RED, 2.4)
    middle = (0.8 + GAP * (len(SOURCE) - 1) + start) / 2
    label(axes, (middle, 2.62), "all it knows", size=8.5, color=RED)
    label(axes, (0.8 + GAP * 2.5, 4.1), "encoder reads", color=GREY)
    label(axes, (start + GAP * 2, 4.1), "decoder writes", color=GREY)
    return figure


def _chain(axes: Axes, start: float, words: tuple[str, ...], fill: str) -> None:
    """Draw cells in a row, each with the word that it reads."""
    for index, word in enumerate(words):
        x = start + GAP * index
        box(axes, (x, 2.0), "", fill, width=0.8, height=0.7)
        label(axes, (x, 0.55), word, size=9)
        arrow(axes, (x, 0.85), (x, 1.65))
        if index:
            arrow(axes, (x - GAP + 0.4, 2.0), (x - 0.4, 2.0))
