"""Are the figures clear: no letters on other letters, colours that everybody can tell apart?"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from assignment.handout.figures import FIGURES, STYLE, draw


def texts(figure: Figure) -> list[Text]:
    """Return the texts of a figure that can be seen."""
    found = figure.findobj(lambda artist: isinstance(artist, Text))
    return [text for text in found if isinstance(text, Text) and text.get_text().strip()]


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_on_another(name: str, root: Path) -> None:
    """Does every text have its place to itself?"""
    with rc_context(STYLE):
        figure = FIGURES[name](root)
        figure.draw_without_rendering()
        # Of the text alone: an annotation's own box has its arrow in it.
        boxes = [
            (text.get_text(), Text.get_window_extent(text).padded(-1))
            for text in texts(figure)
            if text.get_visible()
        ]
    assert len(boxes) > 5
    crossing = [
        (one, other)
        for (one, here), (other, there) in itertools.combinations(boxes, 2)
        if here.overlaps(there)
    ]
    assert crossing == []


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_shown(name: str, text: str) -> None:
    """Does a chapter show it?"""
    assert text.count(f"]({name}.svg)") == 1


def test_a_drawing_has_no_date_and_no_picture(root: Path, tmp_path: Path) -> None:
    """Is a figure the same whenever it is drawn, and made of shapes alone?"""
    for number in range(2):
        draw("heatmap", root, tmp_path / f"{number}.svg")
    first, second = ((tmp_path / f"{number}.svg").read_text() for number in range(2))
    assert first == second
    assert "<image" not in first
    assert "<text" not in first
