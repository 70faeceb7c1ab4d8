"""Build a worker's folder: the pristine package, the student's files over it, and the probes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assignment.facts import load

PROJECT = Path(__file__).resolve().parents[2]
GIVEN = PROJECT / "reference" / "nmt"
VOCABULARIES = ("english.vocab", "zhoric.vocab")


@contextmanager
def workspace(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield a worker's folder, laid out as `starter/` is, and remove it in the end.

    `files` are the student's, by their path inside the submission (`nmt/lstm.py`); only the task
    files that it has exist in the folder, never the reference's.
    """
    parent = Path(tempfile.mkdtemp(prefix="nmt-worker-"))
    try:
        parent.chmod(0o711)  # the worker passes through, and cannot list
        folder = parent / "work"
        (folder / "nmt").mkdir(parents=True)
        for source in given_modules():
            shutil.copyfile(source, folder / "nmt" / source.name)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        _add_probes(folder)
        (folder / "scratch").mkdir()
        yield folder
    finally:
        # Not shutil's, which descends by recursion: a worker may have nested folders without end.
        # What cannot be removed stays; that is no reason for anybody to lose a result.
        subprocess.run(["rm", "-rf", "--", str(parent)], stderr=subprocess.DEVNULL, check=False)


def given_modules() -> list[Path]:
    """List the modules of `nmt` that are given to students, and never taken from them."""
    tasks = {Path(file).name for file in load().task_files.values()}
    return sorted(path for path in GIVEN.glob("*.py") if path.name not in tasks)


def _add_probes(folder: Path) -> None:
    sandbox = Path(__file__).parent
    for name in ("worker.py", "wire.py", "confine.py"):
        shutil.copyfile(sandbox / name, folder / name)
    shutil.copytree(
        sandbox.parent / "probes", folder / "probes", ignore=shutil.ignore_patterns("__pycache__")
    )
    (folder / "data").mkdir()
    for name in VOCABULARIES:
        shutil.copyfile(PROJECT / "data" / name, folder / "data" / name)
