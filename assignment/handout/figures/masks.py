"""Draw a batch of three sentences with its padding."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from .canvas import GREY, PALE_BLUE, PALE_GREY, box, canvas, label

ROWS = (
    ("the", "cat", "sleeps", "</s>"),
    ("a", "small", "red", "house", "</s>"),
    ("dogs", "</s>"),
)
LEFT, WIDTH, HEIGHT = 1.9, 1.75, 0.8


def draw(root: Path) -> Figure:
    """Return the figure."""
    columns = max(map(len, ROWS))
    figure, axes = canvas(LEFT + columns * WIDTH + 0.1, 3.1)
    for row, words in enumerate(ROWS):
        y = 2.6 - row * (HEIGHT + 0.15)
        label(axes, (LEFT - 0.2, y), f"length {len(words)}", size=9, color=GREY, ha="right")
        for column in range(columns):
            real = column < len(words)
            text = words[column] if real else "<pad>"
            mark = "False" if real else "True"
            x = LEFT + WIDTH * (column + 0.5)
            box(axes, (x, y), "", PALE_BLUE if real else PALE_GREY, WIDTH - 0.12, HEIGHT)
            label(axes, (x, y + 0.14), text, size=9.5)
            label(axes, (x, y - 0.22), mark, size=7.5, color=GREY)
    return figure
