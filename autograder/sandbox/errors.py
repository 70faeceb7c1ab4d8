"""Turn what a worker says of an exception into the fault that the student reads."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from assignment.facts import load
from autograder.faults import (
    ForbiddenShortcut,
    Mismatch,
    NotImplementedYet,
    StudentError,
    StudentFault,
    WorkerCrashed,
)
from autograder.sandbox.workspace import given_modules
from autograder.wording import hint

SHORTCUT = (
    "Not allowed: your code calls what solves the task by itself, so no test of this task gives "
    "points. Write that part yourself; all else in torch and the standard library may be used."
)
TASK_FILES = dict.fromkeys(load().task_files.values()).keys()  # a set, in order
FILES = TASK_FILES | {f"nmt/{path.name}" for path in given_modules()}
MODULE = re.compile(r"[A-Za-z_]\w{0,60}(\.[A-Za-z_]\w{0,60}){0,5}", re.ASCII)
MAX_LINE = 10_000  # more would be a number that the student's code chose


def student_error(error: Any, ignored: Sequence[str] = ()) -> StudentFault:
    """Turn a worker's description of an exception into the fault that the student reads."""
    if not isinstance(error, dict):
        return WorkerCrashed("Your code broke the connection to the grader.")
    # A forged description may hold anything; what follows asks for truth, text and membership.
    error = {key: value for key, value in error.items() if type(value) in (bool, int, str)}
    text = str(error.get("text", ""))
    place = _place(error)
    if error.get("shortcut"):
        # A worker that lies here lies to the disadvantage of its student.
        return ForbiddenShortcut(f"{SHORTCUT} It uses {text}.", private=SHORTCUT)
    if error.get("not_implemented") and (not text or "not implemented" in text.lower()):
        return NotImplementedYet(f"Not implemented yet. {text}", private="Not implemented yet.")
    if error.get("contract"):
        return Mismatch(text, private=f"Your code broke the contract{place}.")
    code = f": {error['code']}" if place and error.get("code") else ""
    lines = [f"Your code raised {error.get('type')}: {text}"]
    lines += [f" {place}{code}"] if place else []
    words = hint(str(error.get("type")), text)
    lines += [f"Hint: {words}"] if words else []
    return StudentError(
        "\n".join(lines) + _import_advice(error, ignored),
        private=f"Your code raised {_known_kind(error.get('type'))}{place}.",
    )


def _import_advice(error: dict[str, Any], ignored: Sequence[str]) -> str:
    """Explain why a module is not there, or lacks a name; nothing for any other error."""
    name = error.get("module")
    if not isinstance(name, str) or not MODULE.fullmatch(name):
        return ""
    paths = {f"{name.replace('.', '/')}{ending}" for ending in (".py", "/__init__.py")}
    into = error["file"] if _place(error) else "the file that imports it"
    move = (
        f"Only {', '.join(TASK_FILES)} are taken from a submission: move what you need into {into}."
    )
    if error.get("type") != "ModuleNotFoundError":  # the module is there, and a name in it is not
        as_given = f"\n`{name}` is here as it was given to you, without any change of yours. {move}"
        return as_given if paths & FILES - TASK_FILES else ""
    if paths & TASK_FILES:
        return f"\n{(paths & TASK_FILES).pop()} was not found in your submission."
    found = [path for path in ignored if _holds(path, name)]
    if found:
        return f"\n{found[0]} is in your submission, and was ignored. {move}"
    return (
        f"\n`{name}` is not there where your code is graded: torch and the standard library are. "
        f"If it is a file of your own: {move[0].lower()}{move[1:]}"
    )


def _holds(path: str, module: str) -> bool:
    """Tell whether a file may be the module, or a part of it, wherever it lies."""
    leaf, file = module.split(".")[-1], PurePosixPath(path)
    return file.name == f"{leaf}.py" or leaf in file.parts[:-1]


def _place(error: dict[str, Any]) -> str:
    """Name file and line, if they are ones that a student's error can have."""
    file, line = error.get("file"), error.get("line")
    known = file in FILES and type(line) is int and 0 <= line < MAX_LINE
    return f" at {file}, line {line}" if known else ""


def _known_kind(name: Any) -> str:
    """Return the name of an exception of Python's own; others are the student's to choose."""
    kind = getattr(builtins, name, None) if isinstance(name, str) else None
    own = isinstance(kind, type) and issubclass(kind, BaseException)
    return str(name) if own else "an exception"
