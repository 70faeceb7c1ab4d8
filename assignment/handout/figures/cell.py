"""Draw the LSTM cell: the line of the memory above, the gates below."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .canvas import (
    BLUE,
    GREY,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    PALE_RED,
    arrow,
    box,
    canvas,
    dot,
    label,
    path,
)

MEMORY, GATES, INPUT = 5.6, 2.4, 0.7  # heights of the three lines
PLACES = {"f": 3.2, "i": 5.4, "g": 7.4, "o": 10.0}


def draw(root: Path) -> Figure:
    """Return the figure."""
    figure, axes = canvas(15.4, 6.5)
    _memory(axes)
    _gates(axes)
    _inputs(axes)
    return figure


def _memory(axes: Axes) -> None:
    """Draw c on its way to c', and h' below its end."""
    label(axes, (0.5, MEMORY), "$c$", size=12)
    arrow(axes, (0.85, MEMORY), (2.86, MEMORY), BLUE, 2.2)
    dot(axes, (3.2, MEMORY), r"$\circ$")
    arrow(axes, (3.54, MEMORY), (6.06, MEMORY), BLUE, 2.2)
    dot(axes, (6.4, MEMORY), "+")
    arrow(axes, (6.74, MEMORY), (14.3, MEMORY), BLUE, 2.2)
    label(axes, (14.75, MEMORY), "$c'$", size=12)
    dot(axes, (6.4, 4.1), r"$\circ$")
    arrow(axes, (6.4, 4.44), (6.4, MEMORY - 0.34))
    box(axes, (12.3, 4.4), "tanh", PALE_GREEN, width=1.3, height=0.7, size=9)
    arrow(axes, (12.3, MEMORY), (12.3, 4.75))
    dot(axes, (12.3, 3.1), r"$\circ$")
    arrow(axes, (12.3, 4.05), (12.3, 3.44))
    arrow(axes, (12.64, 3.1), (14.3, 3.1))
    label(axes, (14.75, 3.1), "$h'$", size=12)


def _gates(axes: Axes) -> None:
    """Draw the four gates and what each multiplies."""
    for name, (text, fill) in {
        "f": (r"$f$:  $\sigma$", PALE_RED),
        "i": (r"$i$:  $\sigma$", PALE_BLUE),
        "g": ("$g$:  tanh", PALE_GREEN),
        "o": (r"$o$:  $\sigma$", PALE_ORANGE),
    }.items():
        box(axes, (PLACES[name], GATES), text, fill, width=1.5, height=0.8)
    arrow(axes, (PLACES["f"], GATES + 0.4), (PLACES["f"], MEMORY - 0.34))
    path(axes, [(PLACES["i"], GATES + 0.4), (PLACES["i"], 4.1), (6.06, 4.1)])
    path(axes, [(PLACES["g"], GATES + 0.4), (PLACES["g"], 4.1), (6.74, 4.1)])
    path(axes, [(PLACES["o"], GATES + 0.4), (PLACES["o"], 3.1 + 0.5), (11.2, 3.6), (11.96, 3.2)])
    for name, text in {"f": "forget", "i": "write", "o": "show"}.items():
        label(axes, (PLACES[name] + 0.15, GATES + 0.75), text, size=8.5, color=GREY, ha="left")


def _inputs(axes: Axes) -> None:
    """Draw the line that carries x and h to all four gates."""
    label(axes, (0.6, INPUT), "$x,\\ h$", size=12)
    arrow(axes, (1.1, INPUT), (PLACES["o"], INPUT), head=False)
    for x in PLACES.values():
        arrow(axes, (x, INPUT), (x, GATES - 0.4))
