"""List what a submission holds, in a folder or a zip, and read single files of it, within a limit.

Nothing is unpacked, no link is followed, and only regular files are ever opened.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

MAX_DEPTH = 20  # folders; a submission is at most a few deep
MAX_ENTRIES = 200_000  # files and folders; half as many take 3 s and 130 MB on a 2020s server
MAX_SHOWN = 100  # characters of a path in a message
JUNK = {"__MACOSX", "__pycache__", "site-packages", "node_modules", "Thumbs.db", "desktop.ini"}
FOLDER = "a folder"
# What a damaged member, one that was cut off, and one of an unknown version raise.
READ_ERRORS = (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError)


class IntakeError(ValueError):
    """A submission, or one file of it, cannot be read; the message is one line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a submission, with everything that a student could put there."""

    parts: tuple[str, ...]  # of its path, in characters that can be shown
    obstacle: str  # what it is, if it is not a file that can be taken; else empty
    opener: Callable[[], IO[bytes]] = field(repr=False)

    @property
    def name(self) -> str:
        """Return the last part."""
        return self.parts[-1]

    @property
    def shown(self) -> str:
        """Return the path for a message: its end, if it is long."""
        text = "/".join(self.parts)
        return text if len(text) <= MAX_SHOWN else f"…{text[1 - MAX_SHOWN :]}"

    def read(self, limit: int) -> bytes:
        """Return the content.

        Raises:
            IntakeError: it has more than `limit` bytes, or is damaged.
        """
        try:
            with self.opener() as file:
                content = file.read(limit + 1)  # whatever size is claimed
        except READ_ERRORS as error:
            reason = getattr(error, "strerror", None) or error
            raise IntakeError(
                f"{self.shown} cannot be read ({reason}): submit it again."
            ) from error
        if len(content) > limit:
            raise IntakeError(f"{self.shown} is larger than {limit:,} bytes.")
        return content


@contextmanager
def opened(submission: Path) -> Iterator[list[Entry]]:
    """Yield the entries of a folder or a zip; they can be read until the context ends.

    Raises:
        IntakeError: it is neither.
    """
    with ExitStack() as stack:
        try:
            entries = _list(submission, stack)
            reason = "is neither a folder nor a zip" if submission.exists() else "does not exist"
        except (*READ_ERRORS, ValueError) as error:  # ValueError: names that are not UTF-8
            raise IntakeError(f"{submission} cannot be read: {error}") from error
        if entries is None:
            raise IntakeError(f"{submission} {reason}")
        yield entries


def _list(submission: Path, stack: ExitStack) -> list[Entry] | None:
    if submission.is_dir():
        return list(islice(_walk(submission), MAX_ENTRIES))
    if submission.is_file() and zipfile.is_zipfile(submission):
        archive = stack.enter_context(zipfile.ZipFile(submission))
        return sorted(_members(archive), key=lambda entry: len(entry.parts))[:MAX_ENTRIES]
    return None


def _walk(root: Path) -> Iterator[Entry]:
    """Yield what is in a folder, nearest the top first: no flood further down hides it."""
    folders: deque[tuple[str, tuple[str, ...]]] = deque([(os.fspath(root), ())])
    while folders:
        folder, inside = folders.popleft()
        with os.scandir(folder) as items:
            for item in items:
                parts = inside + _parts(item.name)
                if not _is_junk(parts):
                    entry = _of_item(item, parts)
                    yield entry
                    if entry.obstacle == FOLDER and len(parts) <= MAX_DEPTH:
                        folders.append((item.path, parts))


def _of_item(item: os.DirEntry[str], parts: tuple[str, ...]) -> Entry:
    def opener() -> IO[bytes]:
        return open(item.path, "rb")

    try:
        status = item.stat(follow_symlinks=False)
    except OSError:  # a path longer than the system's limit
        return Entry(parts, "out of the system's reach", opener)
    obstacle = _obstacle(parts, status.st_mode)
    if obstacle == FOLDER and not os.access(item.path, os.R_OK | os.X_OK):
        obstacle = "a folder that cannot be read"
    return Entry(parts, obstacle, opener)


def _members(archive: zipfile.ZipFile) -> Iterator[Entry]:
    for info in archive.infolist():
        parts = _parts(info.filename)
        if 0 < len(parts) <= MAX_DEPTH + 1 and not _is_junk(parts):
            obstacle = _obstacle_of_member(parts, info)
            yield Entry(parts, obstacle, partial(archive.open, info))


def _obstacle_of_member(parts: tuple[str, ...], info: zipfile.ZipInfo) -> str:
    # The upper half of the attributes is the Unix mode; 0 where Windows made the zip.
    mode = stat.S_IFDIR if info.filename.endswith("/") else info.external_attr >> 16
    if info.flag_bits & 1:
        return "encrypted"
    # The other methods may turn few bytes into very many before a limit can stop them.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "compressed by an unusual method (zip it in the usual one, deflate)"
    return _obstacle(parts, mode if stat.S_IFMT(mode) else stat.S_IFREG)


def _obstacle(parts: tuple[str, ...], mode: int) -> str:
    """Say why something cannot be taken, or nothing."""
    if ".." in parts or parts[0].endswith(("/", ":")):
        return "outside of the submission"
    if stat.S_ISREG(mode):
        return ""
    kinds = {stat.S_IFDIR: FOLDER, stat.S_IFLNK: "a link, which may lead elsewhere"}
    return kinds.get(stat.S_IFMT(mode), "not a regular file")


def _parts(name: str) -> tuple[str, ...]:
    """Split a name, which may have Windows' separators, and replace what cannot be shown."""
    name = name.replace("\\", "/")
    if not name.isprintable():
        name = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    root = ("/",) if name.startswith("/") else ()
    return root + tuple(part for part in name.split("/") if part not in ("", "."))


def _is_junk(parts: tuple[str, ...]) -> bool:
    return any(part in JUNK or (part[0] == "." and part != "..") for part in parts)
