"""Draw boxes, circles and arrows in a plane of centimetres."""

from __future__ import annotations

import itertools

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

Point = tuple[float, float]

# Okabe and Ito (2008): told apart with every kind of colour vision, and in grey.
BLUE, ORANGE, GREEN, RED, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9"
INK, GREY, FAINT = "#222222", "#6b6b6b", "#b8b8b8"
# The same hues, light enough for dark letters.
PALE_BLUE, PALE_ORANGE, PALE_GREEN, PALE_RED = "#d6e9f5", "#fbe8c4", "#cfeee3", "#f8dccb"
PALE_GREY = "#ececec"


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of so many centimetres, and its plane with the origin at the lower left."""
    figure = Figure(figsize=(width / 2.54, height / 2.54))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_aspect("equal")
    axes.axis("off")
    return figure, axes


def box(
    axes: Axes,
    at: Point,
    text: str,
    fill: str = PALE_BLUE,
    width: float = 1.3,
    height: float = 0.9,
    size: float = 10,
    edge: str = INK,
) -> None:
    """Draw a box with a text in it, round its middle."""
    axes.add_patch(
        FancyBboxPatch(
            (at[0] - width / 2, at[1] - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=fill,
            edgecolor=edge,
            linewidth=1,
            zorder=3,
        )
    )
    label(axes, at, text, size=size)


def dot(axes: Axes, at: Point, text: str, fill: str = "white", radius: float = 0.34) -> None:
    """Draw a circle with a sign in it."""
    box(axes, at, text, fill, 2 * radius, 2 * radius, size=10)


def label(
    axes: Axes,
    at: Point,
    text: str,
    size: float = 10,
    color: str = INK,
    ha: str = "center",
    va: str = "center",
    weight: str = "normal",
) -> None:
    """Write a text."""
    axes.text(*at, text, ha=ha, va=va, fontsize=size, color=color, weight=weight, zorder=5)


def arrow(
    axes: Axes,
    start: Point,
    end: Point,
    color: str = INK,
    width: float = 1.3,
    bend: float = 0.0,
    line: str = "-",
    head: bool = True,
) -> None:
    """Draw an arrow, bent to the right for a positive bend."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>" if head else "-",
            mutation_scale=9,
            shrinkA=0,
            shrinkB=0,
            color=color,
            linewidth=width,
            linestyle=line,
            connectionstyle=f"arc3,rad={bend}",
            zorder=2,
        )
    )


def path(axes: Axes, points: list[Point], color: str = INK, width: float = 1.3) -> None:
    """Draw a line through points, with an arrow head at its end."""
    for start, end in itertools.pairwise(points[:-1]):
        arrow(axes, start, end, color, width, head=False)
    arrow(axes, points[-2], points[-1], color, width)
