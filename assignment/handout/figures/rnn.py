"""Draw an RNN, unrolled over four steps, with the way that the gradient goes back."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from .canvas import BLUE, PALE_BLUE, PALE_GREEN, PALE_ORANGE, RED, arrow, box, canvas, label

STEPS = 4
GAP = 3.0  # centimetres from step to step


def draw(root: Path) -> Figure:
    """Return the figure."""
    figure, axes = canvas(12.6, 5.3)
    label(axes, (0.55, 2.6), "$h_0$")
    for step in range(1, STEPS + 1):
        x = GAP * step - 0.5
        box(axes, (x, 2.6), f"$h_{step}$", PALE_BLUE)
        box(axes, (x, 0.6), f"$x_{step}$", PALE_ORANGE)
        arrow(axes, (x, 1.05), (x, 2.15))
        start = 0.85 if step == 1 else x - GAP + 0.65
        arrow(axes, (start, 2.6), (x - 0.65, 2.6))
        label(axes, ((start + x - 0.65) / 2, 2.9), "$W_h$", size=9, color=BLUE)
        label(axes, (x + 0.42, 1.6), "$W_x$", size=9, color=BLUE)
    last = GAP * STEPS - 0.5
    box(axes, (last, 4.7), "loss $L$", PALE_GREEN, width=1.6)
    arrow(axes, (last, 3.05), (last, 4.25))
    _gradient(figure, last)
    return figure


def _gradient(figure: Figure, last: float) -> None:
    """Add the way back: from the loss to the last state, and from state to state."""
    (axes,) = figure.axes
    arrow(axes, (last + 0.25, 4.25), (last + 0.25, 3.05), RED, line="--")
    for step in range(STEPS, 1, -1):
        x = GAP * step - 0.5
        arrow(axes, (x - 0.45, 3.05), (x - GAP + 0.45, 3.05), RED, bend=0.35, line="--")
        name = rf"$\frac{{\partial h_{step}}}{{\partial h_{step - 1}}}$"
        label(axes, (x - GAP / 2, 3.95), name, size=11, color=RED)
