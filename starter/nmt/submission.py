"""`python -m nmt submit`: look through what will be handed in, and write it as a zip file."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from nmt import worker
from nmt.checking import judge_written, make_output_tolerant, require
from nmt.files import CHECKPOINT, HOME, NOTEBOOK, InputError, write_atomically
from nmt.worker import NOT_IMPLEMENTED, TASKS


def main(arguments: Sequence[str]) -> int:
    """Write the submission; return 0, with warnings for what is not there yet.

    Raises:
        InputError: if one of the five files is missing or cannot be imported, or the model cannot
            be loaded. Nothing is written then.
    """
    from nmt.cli import Parser

    parser = Parser(prog="python -m nmt submit", description="Write what is to be handed in.")
    parser.add_argument(
        "--out", type=Path, default=HOME / "submission.zip", help="default: %(default)s"
    )
    out: Path = parser.parse_args(arguments).out
    make_output_tolerant()
    require("torch", "safetensors")

    # All checks come before the first byte is written: a refused submission leaves no file.
    try:
        stubs = [stub for file in TASKS.values() for stub in find_stubs(file)]
    except InputError as error:
        raise InputError(f"{error}; nothing was written") from error
    _check_imports()
    names = [*TASKS.values(), *_check_model(), *_optional(NOTEBOOK)]
    write_zip(out, names)

    print(f"{out} ({out.stat().st_size:,} bytes) holds")
    for name in names:
        print(f"  {name:<22} {(HOME / name).stat().st_size:>10,} bytes")
    for warning in _warnings(stubs, names):
        print(f"WARNING: {warning}")
    return 0


def find_stubs(file: str) -> list[str]:
    """Return what the stubs in a file would say, one for each function that is not written yet.

    Raises:
        InputError: if the file is missing or is not Python.
    """
    path = HOME / file
    try:
        tree = ast.parse(path.read_bytes(), filename=file)
    except OSError as error:
        raise InputError(
            f"{file} cannot be read ({error.strerror}): "
            "if you have not started it, put the one you were given back"
        ) from error
    except SyntaxError as error:
        place = f"{file}, line {error.lineno}" if error.lineno else file
        raise InputError(f"{place}: {error.msg}") from error
    except ValueError as error:  # a null byte, before Python 3.12
        raise InputError(f"{file} is not Python: {error}") from error
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    texts = [
        argument.value
        for call in calls
        if isinstance(call, ast.Call)
        for argument in call.args
        if isinstance(argument, ast.Constant)
    ]
    return [text for text in texts if isinstance(text, str) and NOT_IMPLEMENTED in text]


def write_zip(out: Path, names: Iterable[str]) -> None:
    """Write files of the folder into a zip; the same files give the same bytes."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                # The date is fixed, 1980-01-01, and so are the rights: they would tell nothing.
                entry = zipfile.ZipInfo(name)
                entry.create_system, entry.external_attr = 3, 0o100644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, (HOME / name).read_bytes())

    write_atomically(out, write)


def _check_imports() -> None:
    """Refuse files that fail when they are imported: their task could not be graded."""
    report = worker.run("imports")
    # The last file that was begun is the one that failed, or ended the process.
    last = report.lines[-1] if report.lines else {"file": "nmt"}
    problem = last.get("error", report.fault)
    if problem is not None:
        raise InputError(f"{last['file']} cannot be imported; nothing was written. {problem}")


def _check_model() -> list[str]:
    """Return the model's name if there is one; refuse one that does not load."""
    if not CHECKPOINT.exists():
        return []
    report = worker.run("model")
    last = report.lines[-1] if report.lines else {}
    problem = last.get("error", report.fault)
    if problem is None and not last["attention"]:
        problem = "It is a model without attention, and the assignment's model has it"
    if problem is not None:
        raise InputError(
            f"{CHECKPOINT.name} does not load; nothing was written. {problem}. Train again, or "
            "delete it to submit without a model"
        )
    return [CHECKPOINT.name]


def _optional(path: Path) -> list[str]:
    return [path.name] if path.is_file() else []


def _warnings(stubs: Iterable[str], names: Iterable[str]) -> list[str]:
    """Say what is missing, so that nobody hands in less than they think."""
    warnings = list(stubs)
    if CHECKPOINT.name not in names:
        warnings.append(
            f"THERE IS NO {CHECKPOINT.name}: THE TRANSLATION WILL SCORE 0 POINTS. "
            "Train with: python -m nmt train. Then submit again"
        )
    written = judge_written()
    if written.state != "done":
        warnings.append("; ".join([written.summary, *written.details]))
    return warnings
