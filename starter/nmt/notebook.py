"""Read the cells of a Jupyter notebook, whichever program and version of the format wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nmt.files import InputError

LONGEST_INTEGER = 18  # digits; nothing in a notebook needs more, and converting millions takes long

MARK = re.compile(r"Your text \((\w+)\):")  # stands above each text
PROMPTS = ("## ", "**In words.**")  # what begins the cells between them


class Cell(NamedTuple):
    """Hold what a cell has in all versions of the format."""

    is_code: bool
    source: str
    id: str  # empty where there is none: before version 4.5, or where an editor has dropped it
    tags: tuple[str, ...]


def read_cells(content: bytes) -> list[Cell]:
    """Return the cells of a notebook in order; one that is malformed is left out.

    Raises:
        InputError: if it is no notebook.
    """
    try:
        text = content.decode(json.detect_encoding(content))
        notebook = json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"written.ipynb is not a readable notebook ({reason:.100}): open it in Jupyter or VS "
            "Code, save it there, and look whether it opens again"
        ) from error
    found = [_read(cell) for cell in _raw_cells(notebook)]
    cells = [cell for cell in found if cell is not None]
    if not cells:
        raise InputError("written.ipynb is not a notebook, or an empty one: it has no cells")
    return cells


def written_texts(cells: Iterable[Cell]) -> set[str]:
    """Return the parts to which there is a text, below the line that names the part."""
    found: set[str] = set()
    part = ""
    for cell in cells:
        if cell.is_code:
            continue
        marks = MARK.findall(cell.source)
        if marks or cell.source.startswith(PROMPTS):
            part = marks[-1] if marks else ""
        if part and MARK.sub("", cell.source).strip("* \n"):
            found.add(part)
    return found


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= LONGEST_INTEGER else 0


def _raw_cells(notebook: Any) -> Iterator[Any]:
    """Yield what stands where cells stand: from version 4 on at the top, before it in sheets."""
    if not isinstance(notebook, dict):
        return
    sheets = notebook.get("worksheets")
    for holder in [notebook, *(sheets if isinstance(sheets, list) else [])]:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from cells if isinstance(cells, list) else []


def _read(cell: Any) -> Cell | None:
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
        return None
    is_code = cell["cell_type"] == "code"
    source = _text(cell.get("source", cell.get("input")))  # `input`: code before version 4
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    names = tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
    own = cell.get("id")
    return Cell(is_code, source, own if isinstance(own, str) else "", names)


def _text(source: Any) -> str:
    """Return a text that is stored whole or as a list of lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
