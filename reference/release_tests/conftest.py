"""Folders that the tests of the release work on."""

import shutil
import sys
from pathlib import Path

import pytest
from release.build import Files, released_files, write

from assignment.facts import Facts, load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def facts() -> Facts:
    """Return the assignment's facts."""
    return load()


@pytest.fixture(scope="session")
def files(root: Path, facts: Facts) -> Files:
    """Return what the reference releases."""
    return released_files(root, facts)


@pytest.fixture
def starter(tmp_path: Path, files: Files) -> Path:
    """Return a student's copy of the starter, in a folder whose name has a space in it."""
    folder = tmp_path / "my starter"
    write(files, folder)
    return folder


@pytest.fixture
def solved(starter: Path, root: Path, facts: Facts) -> Path:
    """Return a starter whose five files are the reference's."""
    for file in facts.task_files.values():
        shutil.copy(root / "reference" / file, starter / file)
    return starter


@pytest.fixture
def python() -> list[str]:
    """Return the command that runs this Python without leaving byte code behind."""
    return [sys.executable, "-B"]
