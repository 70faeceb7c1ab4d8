"""Take from a submission the files that count, as bytes, and say what is missing or ambiguous."""

from __future__ import annotations

import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from assignment.facts import Facts

MAX_DEPTH = 20  # folders; a submission is at most a few deep
# What a damaged, an encrypted and an unusually compressed member raise.
COMPRESSION_ERRORS = (zlib.error, lzma.LZMAError, RuntimeError, NotImplementedError)
IGNORED_FOLDERS = {"__MACOSX", "__pycache__", "site-packages", "node_modules"}


class IntakeError(ValueError):
    """The submission as a whole cannot be read; the message is one line."""


@dataclass(frozen=True)
class Submission:
    """What counts of a submission: contents by contract path, and a reason for each one missing."""

    files: dict[str, bytes] = field(repr=False)
    problems: dict[str, str] = field(default_factory=dict)
    name: str = ""  # where it was read from, for staff


@dataclass(frozen=True)
class Entry:
    """One regular file of a submission."""

    path: PurePosixPath
    size: int
    source: Path  # the file itself, or the zip that holds it
    member: str | None = None

    def read(self) -> bytes:
        """Return the content."""
        if self.member is None:
            return self.source.read_bytes()
        with zipfile.ZipFile(self.source) as archive:
            return archive.read(self.member)


def read(submission: Path, facts: Facts) -> Submission:
    """Read a submission from a folder or a zip.

    Raises:
        IntakeError: it is neither.
    """
    entries = _entries(submission)
    sizes = dict.fromkeys(facts.task_files.values(), facts.limits.source_bytes)
    sizes |= dict.fromkeys((facts.checkpoint, facts.notebook), facts.limits.upload_bytes)
    files: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    for wanted, limit in sizes.items():
        try:
            files[wanted] = _take(wanted, entries, limit)
        except IntakeError as error:
            problems[wanted] = str(error)
    return Submission(files, problems, str(submission))


def _entries(submission: Path) -> list[Entry]:
    try:
        if submission.is_dir():
            return list(_walk(submission))
        if submission.is_file() and zipfile.is_zipfile(submission):
            return list(_members(submission))
        found = submission.exists()
    except (OSError, zipfile.BadZipFile, ValueError) as error:  # also names that are not UTF-8
        raise IntakeError(f"{submission} cannot be read: {error}") from error
    reason = "is neither a folder nor a zip" if found else "does not exist"
    raise IntakeError(f"{submission} {reason}")


def _walk(root: Path) -> Iterator[Entry]:
    for folder, folders, names in os.walk(root):  # does not follow links
        inside = Path(folder).relative_to(root).parts
        if len(inside) >= MAX_DEPTH:
            folders.clear()
        folders[:] = sorted(name for name in folders if not _ignored(name))
        for name in sorted(name for name in names if not _ignored(name)):
            path = Path(folder, name)
            status = path.lstat()  # of a link itself
            if stat.S_ISREG(status.st_mode):
                yield Entry(PurePosixPath(*inside, name), status.st_size, path)


def _members(path: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            relative = PurePosixPath(info.filename.replace("\\", "/"))
            # The upper half of the attributes is the Unix mode; 0 where Windows made the zip.
            kind = stat.S_IFMT(info.external_attr >> 16)
            regular = kind in (0, stat.S_IFREG) and not info.is_dir()
            if regular and not any(_ignored(part) for part in relative.parts):
                yield Entry(relative, info.file_size, path, info.filename)


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in IGNORED_FOLDERS


def _take(wanted: str, entries: list[Entry], limit: int) -> bytes:
    """Return the content of the file nearest the top that has the wanted name."""
    name = PurePosixPath(wanted).name
    found = [entry for entry in entries if entry.path.name == name]
    if not found:
        stem, ending = PurePosixPath(name).stem, PurePosixPath(name).suffix
        near = [
            str(e.path) for e in entries if e.path.name.startswith(stem) and e.path.suffix == ending
        ]
        hint = f" Rename {near[0]!r}?" if near else ""
        raise IntakeError(
            f"{name} is missing: submit it at the top or in a folder, under this very name.{hint}"
        )
    depth = min(len(entry.path.parts) for entry in found)
    nearest = [entry for entry in found if len(entry.path.parts) == depth]
    if len(nearest) > 1:  # `nmt/lstm.py` beside `old/lstm.py`: the package's own folder wins
        folder = PurePosixPath(wanted).parent.name
        nearest = [entry for entry in nearest if entry.path.parent.name == folder] or nearest
    if len(nearest) > 1:
        listed = ", ".join(str(entry.path) for entry in nearest)
        raise IntakeError(f"{name} is there more than once ({listed}): submit one.")
    if nearest[0].size > limit:
        raise IntakeError(f"{name} is larger than {limit:,} bytes.")
    try:
        return nearest[0].read()
    except (OSError, EOFError, zipfile.BadZipFile, *COMPRESSION_ERRORS) as error:
        raise IntakeError(
            f"{nearest[0].path} cannot be read ({error}): submit it again."
        ) from error
