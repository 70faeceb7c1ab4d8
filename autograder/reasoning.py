"""Find in a notebook what a student wrote to each part that people grade."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from assignment.facts import load
from assignment.written import notebook
from assignment.written.questions import QUESTIONS
from nmt.notebook import MARK, Cell, read_cells

PARTS = {part.id: part for question in QUESTIONS for part in question.reasoning}
MARKER = re.compile(rf"\*?{MARK.pattern}\*?")
ELSEWHERE = ""  # what stands before the first question


@dataclass(frozen=True)
class Given:
    """A cell of prose that students get: its text, and the part that a text behind it answers."""

    text: str
    part: str


@cache
def given() -> dict[str, Given]:
    """Return the prose of the blank notebook: id of the cell -> what it is."""
    found, following = {}, ELSEWHERE
    for cell in reversed(read_cells(notebook.write(load(), solved=False))):
        if cell.id.endswith("-text"):
            following = cell.id.removesuffix("-text")
        elif not cell.is_code:
            found[cell.id] = Given(_flat(cell.source), following)
    return found


def texts(cells: Sequence[Cell]) -> dict[str, str]:
    """Return the student's text to each part, empty where there is none.

    A cell is known by its id, its tag or the line above the text, whichever an editor has left. One
    that was added belongs to the part that was asked last.
    """
    found: dict[str, list[str]] = {part: [] for part in (*PARTS, ELSEWHERE)}
    current = ELSEWHERE
    for cell in (piece for whole in cells for piece in _parted(whole)):
        if cell.is_code and not _is_marked(cell):
            continue
        own, prompt = _part_of(cell), _prompt_of(cell)
        current = own or (prompt.part if prompt is not None else current)
        text = _without_marker(cell.source, current)
        untouched = prompt is not None and prompt.text == _flat(cell.source)
        if text and not untouched and text not in found[current]:
            found[current].append(text)
    return {part: "\n\n".join(several) for part, several in found.items()}


def _parted(cell: Cell) -> list[Cell]:
    """Take a cell apart into which several were merged, at the lines that name the parts."""
    begins = [match.start() for match in MARKER.finditer(cell.source)]
    if len(begins) < 2:
        return [cell]
    ends = [*begins[1:], len(cell.source)]
    pieces = [cell.source[begin:end] for begin, end in zip(begins, ends)]
    before = [cell.source[: begins[0]]] if cell.source[: begins[0]].strip() else []
    return [Cell(cell.is_code, piece, "", ()) for piece in (*before, *pieces)]


def _is_marked(cell: Cell) -> bool:
    """Tell whether a cell of code holds a text, as an editor has changed its kind."""
    marked = any(cell.id == f"{part}-text" or f"reasoning:{part}" in cell.tags for part in PARTS)
    return marked or MARKER.match(cell.source.lstrip()) is not None


def _part_of(cell: Cell) -> str:
    """Return the part whose answer a cell is by its marks; empty if it has none."""
    for part in PARTS:
        if cell.id == f"{part}-text" or f"reasoning:{part}" in cell.tags:
            return part
    return next((name for name in MARK.findall(cell.source) if name in PARTS), "")


def _prompt_of(cell: Cell) -> Given | None:
    """Return the given cell that this one is, or was before it was written into."""
    if cell.id in given():
        return given()[cell.id]
    flat = _flat(cell.source)
    return next((one for one in given().values() if one.text == flat), None)


def _without_marker(source: str, part: str) -> str:
    if part in PARTS:
        marker = notebook.marker(PARTS[part])
        source = source.replace(marker, "").replace(marker.strip("*"), "")
    return source.strip()


def _flat(text: str) -> str:
    return "".join(text.split())
