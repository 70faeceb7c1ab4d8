"""Say where the files are, write them whole or not at all, and name what is wrong with them."""

import os
from collections.abc import Callable
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent  # the folder above the package
CHECKPOINT = HOME / "model.safetensors"
NOTEBOOK = HOME / "written.ipynb"  # the written questions


class InputError(ValueError):
    """Tell the user in one line what is wrong with a file or a setting, and what to do."""


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside path, then put it in the place of path.

    An interruption at any moment leaves the old file or the new one, never a part of one.

    Raises:
        InputError: if path is a place where one cannot write.
    """
    # With the process in its name, as two runs may write the same file at a time.
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch()  # a place where one may not write is an OSError here, whoever writes
        try:
            mode = temporary.stat().st_mode
            write(temporary)
            temporary.chmod(mode)  # safetensors makes files that only their owner can read
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 text file without their line ends.

    Raises:
        InputError: if there is no such file, or it is not UTF-8.
    """
    try:
        # -sig: some editors on Windows put a byte order mark in front.
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from error
    # Not splitlines(): that would also split at characters such as U+2028 inside a line.
    return text.removesuffix("\n").split("\n") if text else []
