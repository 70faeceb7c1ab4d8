"""Render the chapters: numbers, contracts and worked examples in the places of their names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from assignment.facts import Facts

from .contracts import contract
from .examples import examples
from .figures import heatmap
from .measured import measured

CHAPTERS = Path(__file__).with_name("chapters")


def markdown(root: Path, facts: Facts, chapters: Path = CHAPTERS) -> str:
    """Return the whole handout as Markdown, the chapters in the order of their names.

    Raises:
        jinja2.UndefinedError: if a chapter names something that there is not.
    """
    environment = Environment(
        loader=FileSystemLoader(chapters),
        undefined=StrictUndefined,
        # Delimiters that LaTeX does not use.
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown, of our own
    )
    environment.filters.update(FILTERS)
    values = names(root, facts)
    files = sorted(path.name for path in chapters.glob("*.md"))
    return "\n\n".join(environment.get_template(file).render(values) for file in files)


def names(root: Path, facts: Facts) -> dict[str, Any]:
    """Return what a chapter can name."""
    return {
        "facts": facts,
        "pairs": {name: _lines(root / f"data/{name}.tsv") for name in ("train", "dev")},
        "words": {name: _lines(root / f"data/{name}.vocab") for name in ("english", "zhoric")},
        "measured": measured(root),
        "examples": examples(),
        "heatmap_alt": heatmap.describe(root),
        "heatmap_sentence": heatmap.SENTENCE,
        "contract": lambda task: contract(root, task, facts.task_files[task]),
    }


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def decimals(value: float, digits: int = 3) -> str:
    """Write a number with a fixed number of decimals, for formulas."""
    return f"{value:.{digits}f}"


def printed(value: float, digits: int = 3) -> str:
    """Write a number with a fixed number of decimals, for text: with a minus that is one."""
    return decimals(value, digits).replace("-", "−")


def general(value: float) -> str:
    """Write a number as short as it can be."""
    return f"{value:g}"


def thousands(value: int) -> str:
    """Write a whole number with commas."""
    return f"{value:,}"


def scientific(value: float) -> str:
    """Write a number with two digits, for LaTeX: in powers of ten where it is small or large."""
    if 1e-3 <= value < 1e4:
        return f"{value:,.2g}" if value < 100 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    factor = "" if mantissa == "1.0" else rf"{mantissa} \cdot "
    return rf"{factor}10^{{{int(exponent)}}}"


FILTERS: dict[str, Callable[..., str]] = {
    "d": decimals,
    "t": printed,
    "g": general,
    "n": thousands,
    "sci": scientific,
}
