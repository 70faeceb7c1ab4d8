"""Put the handout together: Markdown from the chapters, then one page of HTML, and a PDF."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypandoc
import typst

from assignment.facts import load

from .errors import HandoutError
from .figures import draw_all
from .inputs import digest
from .stamp import stamped
from .text import markdown

HERE = Path(__file__).parent
PAGE = HERE / "page"
PRIME = re.compile("<msup>(<mi>[a-z]</mi>)<mo>′</mo></msup>")
# Quotes and dashes stay as they are written: h' is a name, not a quotation, and @ is a product of
# matrices. An image that stands alone becomes a figure with a caption.
READER = "markdown-smart-citations+implicit_figures"


def html(root: Path) -> bytes:
    """Return the handout as one page of HTML.

    Raises:
        HandoutError: if a chapter or a formula cannot be converted.
    """
    with _prepared(root) as (folder, title):
        return stamped(_html(folder, title), digest(root))


def html_and_pdf(root: Path) -> tuple[bytes, bytes]:
    """Return the handout as one page of HTML, and as PDF.

    Raises:
        HandoutError: if a chapter or a formula cannot be converted.
    """
    with _prepared(root) as (folder, title):
        return stamped(_html(folder, title), digest(root)), _pdf(folder, title)


@contextmanager
def _prepared(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield a folder with the Markdown and the figures in it, and the handout's title."""
    with tempfile.TemporaryDirectory(prefix="handout-") as temporary:
        folder = Path(temporary)
        facts = load(root / "assignment/assignment.toml")
        (folder / "handout.md").write_text(markdown(root, facts), encoding="utf-8")
        draw_all(root, folder)
        yield folder, facts.title


def _html(folder: Path, title: str) -> bytes:
    page = _pandoc(
        folder,
        "--to=html5",
        "--mathml",
        "--embed-resources",
        "--toc",
        "--toc-depth=3",
        "--number-sections",
        "--section-divs",
        "--shift-heading-level-by=1",
        f"--css={PAGE / 'style.css'}",
        f"--template={PAGE / 'page.html'}",
        f"--metadata=title:{title}",
    )
    # A font's prime is high and small already: set as an exponent it would be so twice.
    return PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">′</mo></mrow>', page.decode()).encode()


def _pdf(folder: Path, title: str) -> bytes:
    source = _pandoc(
        folder,
        "--to=typst",
        f"--template={PAGE / 'page.typ'}",
        f"--metadata=title:{title}",
    )
    path = folder / "handout.typ"
    path.write_bytes(source)
    try:
        # With the fonts that Typst brings and no date, the same inputs give the same file.
        pdf: bytes = typst.compile(
            path, format="pdf", ignore_system_fonts=True, timestamp=0, pdf_standards=["ua-1"]
        )
    except typst.TypstError as error:
        raise HandoutError(f"Typst: {error}") from error
    return pdf


def _pandoc(folder: Path, *arguments: str) -> bytes:
    """Convert the Markdown; any warning, such as a formula that it cannot read, is an error."""
    command = [
        pypandoc.get_pandoc_path(),
        f"--from={READER}",
        "--standalone",
        "--fail-if-warnings",
        "--syntax-highlighting=none",
        "--wrap=preserve",
        "--columns=1000",  # no table gets wide enough to have its columns measured by dashes
        f"--lua-filter={PAGE / 'blocks.lua'}",
        *arguments,
        "handout.md",
    ]
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if result.returncode:
        raise HandoutError(f"pandoc: {result.stderr.decode(errors='replace')}")
    return result.stdout
