"""Keep what parts found, each in a file that is named by everything that decides its figures."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from labs.experiment import Outcome, Results
from labs.part import Part
from nmt.files import HOME, write_atomically
from nmt.worker import TASKS

DIGITS = 6  # that figures are kept with: more than float32 has to say after a training
PACKAGES = ("labs", "nmt")

Record = dict[str, Any]  # what is stored of a part: its figures, seconds, machine and date
Finder = Callable[[Part], Record | None]


def sources(part: Part) -> list[Path]:
    """List the files that decide what a part finds: its module, its tasks, what these import.

    Only imports at the top of a module count: training imports the beam search in a function, and
    has not to be done again when that changes.
    """
    waiting = [_module_path(part.work.__module__), *(HOME / TASKS[task] for task in part.needs)]
    found: list[Path] = []
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.append(path)
            waiting += _imports(path)
    return sorted(found)


def _module_path(name: str) -> Path:
    return HOME / (name.replace(".", "/") + ".py")


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Return the files of `labs` and `nmt` that a file imports at its top."""
    names = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            # `from labs import cells` names a module, `from labs.cells import make` does not.
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names += inner if node.module in PACKAGES else [node.module]
    return tuple(_module_path(name) for name in names if name.split(".")[0] in PACKAGES)


def key(part: Part) -> str:
    """Return a text that changes with the part's settings, its sources, and the part before it."""
    digest = hashlib.sha256(part.name.encode())
    for path in sources(part):
        digest.update(path.name.encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    if part.before:
        digest.update(key(part.before).encode())
    return digest.hexdigest()[:16]


def place(part: Part, folder: Path) -> Path:
    """Return where a part's record is, or will be."""
    return folder / "parts" / f"{part.work.__name__}-{key(part)}.json"


def stored(part: Part, folder: Path) -> Record | None:
    """Return the record of a part that was run, or None."""
    path = place(part, folder)
    return read(path) if path.is_file() else None


def read(path: Path) -> Record:
    """Return a record."""
    record: Record = json.loads(path.read_text(encoding="utf-8"))
    return record


def keep(path: Path, record: Record) -> None:
    """Store a record."""
    write_text(path, json.dumps(rounded(record), allow_nan=False))


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all, with the same bytes on every system."""
    data = text.encode()
    write_atomically(path, lambda temporary: _write(temporary, data))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def results(parts: Sequence[Part], find: Finder) -> Results | None:
    """Return what parts found, or None if one has not been run."""
    outcomes = []
    for part in parts:
        record = find(part)
        if record is None:
            return None
        outcomes.append(Outcome(part.settings, part.seed, record["figures"]))
    return Results(tuple(outcomes))


def rounded(value: Any) -> Any:
    """Round the numbers in nested lists and dicts to a few digits."""
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry) for entry in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
