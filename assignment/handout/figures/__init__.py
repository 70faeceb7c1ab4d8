"""Draw the handout's figures as SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from . import attention, beam, cell, curves, heatmap, masks, rnn, seq2seq

# Letters as outlines: they look the same everywhere. The salt makes the names inside a file, which
# are random otherwise, depend on the drawing alone.
STYLE: dict[Any, Any] = {  # matplotlib's types name each key of theirs
    "svg.fonttype": "path",
    "svg.hashsalt": "handout",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "mathtext.fontset": "dejavusans",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
FIGURES: dict[str, Callable[[Path], Figure]] = {
    "rnn": rnn.draw,
    "powers": curves.draw_powers,
    "cliff": curves.draw_cliff,
    "cell": cell.draw,
    "masks": masks.draw,
    "seq2seq": seq2seq.draw,
    "attention": attention.draw,
    "beam": beam.draw,
    "heatmap": heatmap.draw,
}


def draw_all(root: Path, folder: Path) -> None:
    """Write every figure of the project in the folder root, as `name.svg`."""
    for name in FIGURES:
        draw(name, root, folder / f"{name}.svg")


def draw(name: str, root: Path, path: Path) -> None:
    """Write one figure, in the format that the path's suffix names."""
    with rc_context(STYLE):
        figure = FIGURES[name](root)
        settings = {"metadata": {"Date": None}} if path.suffix == ".svg" else {"dpi": 130}
        figure.savefig(path, bbox_inches="tight", pad_inches=0.05, **settings)
