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
from nmt.corpus import data_directory
from nmt.files import HOME, InputError, write_atomically
from nmt.worker import TASKS

DIGITS = 6  # that figures are kept with: more than float32 has to say after a training
PACKAGES = ("labs", "nmt")
READER = "nmt/corpus.py"  # what imports it reads the data
# What all work goes through, and what no figure depends on.
PLUMBING = ("labs/part.py", "nmt/files.py")

Record = dict[str, Any]  # what is stored of a part: its figures, seconds, machine and date
Finder = Callable[[Part], Record | None]


def sources(part: Part) -> dict[str, str]:
    """Return the files that decide what a part finds, each with its code.

    They are its module, its tasks, and what these import, wherever the import stands. A task's file
    counts only where the part needs the task: the model without attention imports
    nmt/attention.py, and has not to be trained again when that changes.
    """
    left_out = {*PLUMBING, *TASKS.values()} - {TASKS[task] for task in part.needs}
    waiting = [*_files(part.module), *(TASKS[task] for task in part.needs)]
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if name not in found and name not in left_out and (HOME / name).is_file():
            found[name], imported = _read((HOME / name).read_bytes(), name)
            waiting += imported
    return dict(sorted(found.items()))


def _files(module: str) -> tuple[str, str]:
    """Return where a module may be, from HOME: it is a file or a folder."""
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


@cache
def _read(text: bytes, name: str) -> tuple[str, Sequence[str]]:
    """Return the code of a file, without comments and docstrings, and the files it may import."""
    try:
        tree = ast.parse(text, name)
    except (SyntaxError, ValueError):  # half-written: running it says what is wrong with it
        return repr(text), ()
    modules: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = name.split("/")[: -node.level] if node.level else []  # of `from .mine import`
            base = ".".join([*package, *filter(None, [node.module])])
            # `from labs import cells` names a module, `from labs.cells import make` does not.
            modules += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    own = [module for module in modules if module.split(".")[0] in PACKAGES]
    return _code(tree), [file for module in own for file in _files(module)]


def _code(node: Any) -> str:
    """Write a syntax tree in the same way in all versions of Python: without what is empty.

    A text that stands for itself, as a docstring does, decides nothing.
    """
    if isinstance(node, ast.AST):
        if isinstance(node, ast.Constant):
            return repr(node.value)
        filled = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        fields = ", ".join(f"{name}={_code(value)}" for name, value in filled)
        return f"{type(node).__name__}({fields})"
    if isinstance(node, list):
        return f"[{', '.join(_code(entry) for entry in node if not _is_text(entry))}]"
    return repr(node)


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def data() -> dict[str, str]:
    """Return the files of the data, each with its digest; none where there are no data."""
    try:
        folder = data_directory()
    except InputError:
        return {}
    paths = sorted([*folder.rglob("*.tsv"), *folder.rglob("*.vocab")])
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
    }


def key(part: Part) -> str:
    """Return a text that changes with all that decides what a part finds.

    That is its settings and seed, its sources, the data if it reads them, and the part before it.
    """
    files = sources(part)
    if READER in files:
        files |= data()
    before = key(part.before) if part.before else ""
    text = json.dumps([part.work, part.name, files, before])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def changed(part: Part, since: float) -> list[str]:
    """List the sources of a part that were written since a time."""
    slack = 1.0  # second: clocks of files may be a little late
    return [file for file in sources(part) if (HOME / file).stat().st_mtime >= since - slack]


def place(part: Part, folder: Path) -> Path:
    """Return where a part's record is, or will be."""
    return folder / "parts" / f"{part.function}-{key(part)}.json"


def stored(part: Part, folder: Path) -> Record | None:
    """Return the record of a part that was run, or None; one that is damaged was not."""
    path = place(part, folder)
    try:
        record = read(path)
        weights = record["figures"].get("weights")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    # 6.3 calls other figures by this name; those of a training name its file.
    lost = isinstance(weights, str) and not path.with_name(weights).is_file()
    return None if lost else record


def read(path: Path) -> Record:
    """Return a record."""
    record: Record = json.loads(path.read_text(encoding="utf-8"))
    return record


def keep(path: Path, record: Record) -> None:
    """Store a record."""
    write_text(path, json.dumps(rounded(record), allow_nan=False))


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all, with the same bytes on every system."""
    write_atomically(path, lambda temporary: temporary.write_bytes(text.encode()))


def check_writable(folder: Path) -> None:
    """Refuse a folder before anything is run for it.

    Raises:
        InputError: if one cannot write there.
    """
    path = folder / "parts/try"
    write_text(path, "")
    path.unlink()


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
