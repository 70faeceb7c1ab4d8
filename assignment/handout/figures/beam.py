"""Draw the worked example of beam search as a tree."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..beam import END, Extension, beam
from .canvas import (
    FAINT,
    GREEN,
    GREY,
    INK,
    PALE_BLUE,
    PALE_GREEN,
    Point,
    arrow,
    box,
    canvas,
    label,
)

COLUMN, ROW = 3.7, 0.86  # centimetres from step to step, and from one extension to the next
WIDTH, HEIGHT = 1.9, 0.62


def draw(root: Path) -> Figure:
    """Return the figure."""
    walk = beam()
    rows = max(len(step) for step in walk.steps)
    figure, axes = canvas(2.1 + COLUMN * len(walk.steps), 1.4 + ROW * rows)
    places: dict[str, Point] = {"": (0.85, 0.5 + ROW * (rows - 1) / 2)}
    box(axes, places[""], "<s>", PALE_BLUE, 1.1, HEIGHT, size=9)
    for number, step in enumerate(walk.steps, start=1):
        top = places[""][1] + ROW * (len(step) - 1) / 2
        x = 0.9 + COLUMN * number
        label(axes, (x - 0.2, 0.95 + ROW * rows), f"step {number}", size=9, color=GREY)
        for index, extension in enumerate(step):
            at = (x, top - ROW * index)
            _extension(axes, extension, places[extension.prefix], at)
            places[extension.prefix + extension.token] = at
    return figure


def _extension(axes: Axes, extension: Extension, parent: Point, at: Point) -> None:
    """Draw an extension, and the line from what it extends."""
    start = (parent[0] + (WIDTH if extension.prefix else 1.1) / 2, parent[1])
    color = INK if extension.kept else FAINT
    end = (at[0] - WIDTH / 2, at[1])
    arrow(axes, start, end, color, 1.5 if extension.kept else 0.8)
    fill = "white" if not extension.kept else PALE_GREEN if extension.finished else PALE_BLUE
    edge = GREEN if extension.finished else color
    box(axes, at, "", fill, WIDTH, HEIGHT, edge=edge)
    ink = INK if extension.kept else GREY
    label(axes, (at[0] - 0.45, at[1]), extension.token, size=9, color=ink)
    label(axes, (at[0] + 0.5, at[1]), f"{extension.total:.3f}".lstrip("0"), size=8, color=ink)
    assert extension.token in (END, "a", "b")
