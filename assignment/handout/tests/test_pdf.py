"""Is the PDF whole: pages, outline, fonts, tags?"""

from __future__ import annotations

import io
from typing import Any

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from pypdf import PdfReader

from assignment.facts import Facts
from assignment.handout.text import CHAPTERS


@pytest.fixture(scope="module")
def pdf(made: tuple[bytes, bytes]) -> PdfReader:
    """Return the PDF."""
    return PdfReader(io.BytesIO(made[1]))


def test_pages_are_numbered(pdf: PdfReader) -> None:
    """Has it some twenty to thirty pages, each with its number at the foot?"""
    assert 20 <= len(pdf.pages) <= 32
    for number, page in enumerate(pdf.pages, start=1):
        assert page.extract_text().endswith(f"\n{number}")


def test_outline_has_the_chapters(pdf: PdfReader) -> None:
    """Do the bookmarks name every chapter, and lead to a page?"""
    chapters = [entry for entry in pdf.outline if not isinstance(entry, list)]
    assert len(chapters) >= len(list(CHAPTERS.glob("*.md")))
    titles = [str(entry.title) for entry in chapters]
    assert any("a cell that remembers" in title for title in titles)
    assert all(pdf.get_destination_page_number(entry) is not None for entry in chapters)


def fonts(pdf: PdfReader) -> dict[str, bool]:
    """Return the names of all fonts, and whether the file carries them."""
    found = {}
    for page in pdf.pages:
        resources: Any = page["/Resources"]
        for entry in resources.get("/Font", {}).values():
            font = entry.get_object()
            (descendant,) = font.get("/DescendantFonts", [font])
            descriptor = descendant.get_object().get("/FontDescriptor", {})
            embedded = any(name in descriptor for name in ("/FontFile2", "/FontFile3"))
            found[str(font["/BaseFont"])] = embedded
    return found


def test_fonts_are_embedded(pdf: PdfReader) -> None:
    """Does the file carry every font that it uses?"""
    assert len(fonts(pdf)) > 3
    assert all(fonts(pdf).values())


def test_a_missing_font_is_found() -> None:
    """Would a font be noticed that a file only names?"""
    file = io.BytesIO()
    with rc_context({"pdf.use14corefonts": True}):
        figure = Figure()
        figure.text(0.5, 0.5, "named")
        figure.savefig(file, format="pdf")
    assert list(fonts(PdfReader(file)).values()) == [False]


def test_tagged_and_titled(pdf: PdfReader, facts: Facts) -> None:
    """Does it have a title, a language, and the tags of an accessible file (PDF/UA-1)?"""
    assert pdf.metadata is not None
    assert pdf.metadata.title == facts.title
    catalogue: Any = pdf.trailer["/Root"]
    assert str(catalogue["/Lang"]).startswith("en")
    assert catalogue["/MarkInfo"]["/Marked"]
    assert b"pdfuaid:part>1<" in catalogue["/Metadata"].get_data()
    figures = list(tagged(catalogue["/StructTreeRoot"], "/Figure"))
    assert len(figures) == 9
    assert all(len(figure["/Alt"]) > 60 for figure in figures)


def tagged(node: Any, kind: str) -> list[Any]:
    """Return the elements of a kind in a tree of tags."""
    node = node.get_object() if hasattr(node, "get_object") else node
    if isinstance(node, list):
        return [found for child in node for found in tagged(child, kind)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("/S") == kind else []
    return own + (tagged(node["/K"], kind) if "/K" in node else [])
