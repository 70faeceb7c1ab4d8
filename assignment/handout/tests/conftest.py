"""What the tests of the handout share: it is made once."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from assignment.facts import Facts, load
from assignment.handout.build import html_and_pdf
from assignment.handout.text import markdown

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def facts() -> Facts:
    """Return the assignment's facts."""
    return load()


@pytest.fixture(scope="session")
def text(facts: Facts) -> str:
    """Return the whole handout as Markdown."""
    return markdown(ROOT, facts)


@pytest.fixture(scope="session")
def made() -> tuple[bytes, bytes]:
    """Return the handout as HTML and as PDF."""
    return html_and_pdf(ROOT)


@pytest.fixture(scope="session")
def page(made: tuple[bytes, bytes]) -> ET.Element:
    """Return the page as a tree without namespaces; it is well-formed XML, too."""
    tree = ET.fromstring(made[0])
    for element in tree.iter():
        element.tag = str(element.tag).split("}")[-1]
    return tree
