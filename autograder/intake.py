"""Take from a submission the files that count, as bytes, and say what is missing or ambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from assignment.facts import Facts
from autograder import notebook, source_text, sources
from autograder.sandbox.workspace import given_modules
from autograder.sources import Entry
from autograder.sources import IntakeError as IntakeError  # raised here as well as there

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
MAX_HINTS, MAX_LISTED = 3, 10  # files that a hint and a message name
# What else lies in a student's folder by right, beside the modules and the tests that are given:
# what the starter has, and what its commands write. Nobody needs to hear that it is not taken.
BESIDE = {
    *("README.md", "Makefile", "pyproject.toml", "requirements.txt", "conftest.py"),
    "explore.ipynb",
    "handout.html",
}
LABS = "labs"  # given as a whole, and the folder of what they write
WRITTEN = (
    *(".tsv", ".vocab", ".previous.safetensors", ".training.pt", ".tmp"),
    *("heatmap.png", "tree.png", "submission.zip"),
)


@dataclass(frozen=True)
class Submission:
    """What counts of a submission: contents by contract path, and what is wrong with the others.

    A file that is there, and is not text, is in both `files` and `problems`. The notebook is here
    without its outputs.
    """

    files: dict[str, bytes] = field(repr=False)
    problems: dict[str, str] = field(default_factory=dict)
    name: str = ""  # where it was read from, for staff
    ignored: tuple[str, ...] = ()  # paths of the student's own that were not taken


def read(submission: Path, facts: Facts) -> Submission:
    """Read a submission from a folder or a zip.

    Raises:
        IntakeError: it is neither.
    """
    files: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    with sources.opened(submission) as entries:
        found = {wanted: _nearest(wanted, entries) for wanted in limits(facts)}
        own = _own(entries, found.values(), facts)
        hint = _archive_hint(entries) if not any(found.values()) else _flood_hint(entries)
        for wanted, limit in limits(facts).items():
            try:
                content = _only(wanted, found[wanted], own, hint).read(limit)
                files[wanted] = content
                if wanted in facts.task_files.values():
                    files[wanted] = source_text.to_python(content)
                elif wanted == facts.notebook:
                    files[wanted] = b""  # what is refused need not be kept
                    files[wanted] = notebook.slim(content, facts.limits.notebook_text_bytes)
            except source_text.NotText as error:
                problems[wanted] = f"{wanted}{error}"
            except IntakeError as error:
                problems[wanted] = str(error)
    ignored = sorted(entry.shown for entry in own if entry.obstacle != sources.FOLDER)
    return Submission(files, problems, str(submission), tuple(ignored))


def read_notebook(entries: list[Entry], facts: Facts) -> bytes:
    """Return the notebook among the entries of one submission, without its outputs.

    Raises:
        IntakeError: there is none, or not one that can be read.
    """
    found = _only(facts.notebook, _nearest(facts.notebook, entries), entries, "")
    content = found.read(facts.limits.notebook_bytes)
    return notebook.slim(content, facts.limits.notebook_text_bytes)


def limits(facts: Facts) -> dict[str, int]:
    """Return the files that count: path in the contract -> bytes that it may have."""
    code = dict.fromkeys(facts.task_files.values(), facts.limits.source_bytes)
    uploads = {
        facts.checkpoint: facts.limits.upload_bytes,
        facts.notebook: facts.limits.notebook_bytes,
    }
    return code | uploads


def _nearest(wanted: str, entries: list[Entry]) -> list[Entry]:
    """List the files of the wanted name that are nearest the top: one, if all is well."""
    name = PurePosixPath(wanted).name
    found = [entry for entry in entries if entry.name == name and not entry.obstacle]
    depth = min((len(entry.parts) for entry in found), default=0)
    return [entry for entry in found if len(entry.parts) == depth]


def _only(wanted: str, found: list[Entry], own: list[Entry], hint: str) -> Entry:
    name = PurePosixPath(wanted).name
    if not found:
        raise IntakeError(
            f"{name} is missing: submit it at the top or in a folder, under this very name."
            f"{_obstacle_hint(name, own) or _rename_hint(name, own) or hint}"
        )
    if len(found) > 1:
        listed = ", ".join(sorted(entry.shown for entry in found)[:MAX_LISTED])
        raise IntakeError(f"{name} is there more than once ({listed}): submit one.")
    return found[0]


def _own(entries: list[Entry], found: Iterable[list[Entry]], facts: Facts) -> list[Entry]:
    """List what is neither taken nor given: the student's own, nearest the top first."""
    taken = {entry.parts for nearest in found for entry in nearest}
    given = BESIDE | {path.name for path in given_modules()}
    given |= {f"test_{task}.py" for task in facts.tasks}
    environments = {entry.parts[:-1] for entry in entries if entry.name == "pyvenv.cfg"}
    own = [
        entry
        for entry in entries
        if entry.parts not in taken
        and entry.name not in given
        and not entry.name.endswith(WRITTEN)
        and LABS not in entry.parts[:-1]
        and environments.isdisjoint(entry.parts[:depth] for depth in range(len(entry.parts)))
    ]
    return sorted(own, key=lambda entry: (len(entry.parts), entry.parts))


def _obstacle_hint(name: str, own: list[Entry]) -> str:
    """Say why something of this very name was not taken."""
    for entry in own:
        if entry.name == name and entry.obstacle:
            return f" {entry.shown!r} does not count: it is {entry.obstacle}."
    return ""


def _rename_hint(name: str, own: list[Entry]) -> str:
    """Name files that may be the one meant: `lstm (1).py`, `LSTM.py`, `lstm.py.txt`."""
    stem, ending = PurePosixPath(name).stem, re.escape(PurePosixPath(name).suffix)
    near = [
        repr(entry.shown)
        for entry in own
        if not entry.obstacle
        and re.search(rf"{ending}\b", entry.name, re.IGNORECASE)
        and _letters(stem) in _letters(entry.name)
    ]
    return f" Rename {' or '.join(near[:MAX_HINTS])}?" if near else ""


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _archive_hint(entries: list[Entry]) -> str:
    """Say that an archive was not looked into."""
    archives = [entry.shown for entry in entries if entry.name.lower().endswith(ARCHIVES)]
    if not archives:
        return ""
    return f" {archives[0]!r} is an archive and was not unpacked: submit the files in it."


def _flood_hint(entries: list[Entry]) -> str:
    """Say that a submission was too full to look through."""
    full = len(entries) >= sources.MAX_ENTRIES
    return f" Only {sources.MAX_ENTRIES:,} of your many files were looked at." if full else ""
