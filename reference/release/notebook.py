"""Make a notebook of a Python file in which lines `# %%` begin the cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .markers import ReleaseError

# As Jupytext and VS Code write it. The name is the cell's id: so an id stays when cells move.
# The format allows 64 characters.
START = re.compile(r"# %% (?P<name>[a-z][a-z0-9-]{,63})(?P<text> \[markdown\])?")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
MINOR = 5  # of the format: the first with ids of cells


class Cell(NamedTuple):
    """Hold a cell of the source."""

    name: str
    is_text: bool
    lines: list[str]


def from_script(script: str, file: str) -> bytes:
    """Return the notebook, without outputs; the same script gives the same bytes.

    Raises:
        ReleaseError: if a cell has no good name, is empty, or is text that is not commented out.
    """
    cells = list(_cells(script, file))
    if twice := {cell.name for cell in cells if [c.name for c in cells].count(cell.name) > 1}:
        raise ReleaseError(f"{file}: two cells are called {min(twice)}")
    return as_file([_to_node(cell, file) for cell in cells])


def as_file(cells: Sequence[nbformat.NotebookNode], **metadata: str) -> bytes:
    """Return a notebook of these cells as a file, checked against the format's schema."""
    notebook = new_notebook(  # type: ignore[no-untyped-call]
        cells=list(cells), metadata={**METADATA, **metadata}
    )
    notebook.nbformat_minor = MINOR
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return f"{text.rstrip()}\n".encode()


def _cells(script: str, file: str) -> Iterator[Cell]:
    """Yield the cells; what stands before the first one is left out."""
    cell = None
    for number, line in enumerate(script.split("\n"), start=1):
        if line.startswith("# %%"):
            found = START.fullmatch(line)
            if not found:
                raise ReleaseError(f"{file}, line {number}: expected # %% name [markdown]: {line}")
            if cell:
                yield cell
            cell = Cell(found["name"], bool(found["text"]), [])
        elif cell:
            cell.lines.append(line)
    if not cell:
        raise ReleaseError(f"{file}: no line # %% begins a cell")
    yield cell


def _to_node(cell: Cell, file: str) -> nbformat.NotebookNode:
    """Return the cell as nbformat has it."""
    source = "\n".join(cell.lines).strip("\n")
    if cell.is_text:
        source = "\n".join(_uncommented(line, cell.name, file) for line in source.split("\n"))
    if not source:
        raise ReleaseError(f"{file}: the cell {cell.name} is empty")
    make = new_markdown_cell if cell.is_text else new_code_cell
    node: nbformat.NotebookNode = make(source, id=cell.name)  # type: ignore[no-untyped-call]
    return node


def _uncommented(line: str, name: str, file: str) -> str:
    """Return a line of text without the sign of the comment."""
    if line != "#" and not line.startswith("# "):
        raise ReleaseError(f"{file}: the text {name} has a line that is no comment: {line!r}")
    return line[2:]
