"""Take from a submission the files that count, as bytes, and say what is missing or ambiguous."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from assignment.facts import Facts

IGNORED_FOLDERS = {"__MACOSX", "__pycache__", "site-packages", "node_modules"}


class IntakeError(ValueError):
    """The submission as a whole cannot be read; the message is one line."""


@dataclass(frozen=True)
class Submission:
    """What counts of a submission: contents by contract path, and a reason for each one missing."""

    files: dict[str, bytes]
    problems: dict[str, str] = field(default_factory=dict)


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
    if submission.is_dir():
        entries = list(_walk(submission, submission))
    elif zipfile.is_zipfile(submission):
        entries = list(_members(submission))
    elif submission.exists():
        raise IntakeError(f"{submission} is neither a folder nor a zip")
    else:
        raise IntakeError(f"{submission} does not exist")
    files: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    for wanted in [*facts.task_files.values(), facts.checkpoint, facts.notebook]:
        try:
            files[wanted] = _take(wanted, entries, facts.limits.submission_bytes)
        except IntakeError as error:
            problems[wanted] = str(error)
    return Submission(files, problems)


def _walk(folder: Path, root: Path) -> Iterator[Entry]:
    for path in sorted(folder.iterdir()):
        mode = path.lstat().st_mode  # of a link itself: links are not followed
        relative = PurePosixPath(path.relative_to(root).as_posix())
        if _ignored(relative):
            continue
        if stat.S_ISDIR(mode):
            yield from _walk(path, root)
        elif stat.S_ISREG(mode):
            yield Entry(relative, path.lstat().st_size, path)


def _members(archive_path: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(archive_path) as archive:
        for info in archive.infolist():
            relative = PurePosixPath(info.filename.replace("\\", "/"))
            # The upper half of the attributes is the Unix mode; 0 where Windows made the zip.
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir() or kind not in (0, stat.S_IFREG) or _ignored(relative):
                continue
            yield Entry(relative, info.file_size, archive_path, info.filename)


def _ignored(path: PurePosixPath) -> bool:
    return path.name.startswith(".") or path.name in IGNORED_FOLDERS or ".." in path.parts


def _take(wanted: str, entries: list[Entry], limit: int) -> bytes:
    """Return the content of the file nearest the top that has the wanted name."""
    name = PurePosixPath(wanted).name
    found = [entry for entry in entries if entry.path.name == name and not _hidden(entry.path)]
    if not found:
        raise IntakeError(
            f"{name} is missing: submit it at the top or in a folder, under exactly this name."
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
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise IntakeError(
            f"{nearest[0].path} cannot be read ({error}): submit it again."
        ) from error


def _hidden(path: PurePosixPath) -> bool:
    return any(part.startswith(".") or part in IGNORED_FOLDERS for part in path.parts)
