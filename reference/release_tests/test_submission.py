"""Tests of `python -m nmt submit`, as a student runs it."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.model import ModelConfig, Seq2Seq, save_checkpoint
from nmt.worker import TASKS

FIVE = list(TASKS.values())


def submit(folder: Path, python: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [*python, "-m", "nmt", "submit", *arguments],
        cwd=folder,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def contents(path: Path) -> dict[str, bytes]:
    """Return what is in a zip file."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def add_model(folder: Path) -> None:
    """Add an untrained model, of the right sizes."""
    save_checkpoint(Seq2Seq(ModelConfig(60, 36)), folder / "model.safetensors")


def test_whole_submission(solved: Path, python: list[str], root: Path) -> None:
    """Does the zip hold exactly the files wanted, and the same bytes every time?"""
    add_model(solved)
    shutil.copy(root / "reference/written.ipynb", solved)
    (solved / "notes.txt").touch()
    result = submit(solved, python)
    assert (result.returncode, result.stderr) == (0, "")
    assert "WARNING" not in result.stdout
    found = contents(solved / "submission.zip")
    assert list(found) == [*FIVE, "model.safetensors", "written.ipynb"]
    assert all(f"  {name} " in result.stdout for name in found)
    assert found == {name: (solved / name).read_bytes() for name in found}

    os.utime(solved / "nmt/lstm.py", (0, 0))
    submit(solved, python, "--out", str(solved / "again.zip"))
    assert (solved / "again.zip").read_bytes() == (solved / "submission.zip").read_bytes()


def test_untouched_starter(starter: Path, python: list[str]) -> None:
    """Is an unfinished submission written, and said loudly what is missing?"""
    result = submit(starter, python)
    assert result.returncode == 0
    assert list(contents(starter / "submission.zip")) == [*FIVE, "written.ipynb"]
    assert "WARNING: Task beam is not implemented yet: beam_search" in result.stdout
    assert "THE TRANSLATION WILL SCORE 0 POINTS" in result.stdout
    assert "WARNING: 0 of 46 numbers of written.ipynb are filled in, 0 of 16" in result.stdout
    assert result.stdout.count("WARNING") == 14  # the model, the notebook, and twelve functions


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no written.ipynb; get it again from where you got this folder"),
        ("{}", "written.ipynb is not a notebook, or an empty one: it has no cells"),
    ],
)
def test_no_notebook(content: str | None, message: str, solved: Path, python: list[str]) -> None:
    """Is a notebook that is missing, or is none, a warning that says what it costs?"""
    (solved / "written.ipynb").unlink()
    if content is not None:
        (solved / "written.ipynb").write_text(content)
    result = submit(solved, python)
    assert result.returncode == 0
    assert f"{message}; As it is, the written questions score 0 points" in result.stdout
    expected = FIVE if content is None else [*FIVE, "written.ipynb"]
    assert list(contents(solved / "submission.zip")) == expected


def delete(folder: Path) -> None:
    """Delete a file."""
    (folder / "nmt/beam_search.py").unlink()


def break_syntax(folder: Path) -> None:
    """Write what is not Python."""
    (folder / "nmt/bleu.py").write_text("x = 1\ndef f(:\n    pass\n")


def break_bytes(folder: Path) -> None:
    """Write what is not text."""
    (folder / "nmt/bleu.py").write_bytes(b"x = '\xff\x00'\n")


def break_import(folder: Path) -> None:
    """Write what fails when it is imported."""
    (folder / "nmt/masking.py").write_text("import torch\n\ntorch.nonsense()\n")


def leave_python(folder: Path) -> None:
    """Write what ends Python."""
    (folder / "nmt/lstm.py").write_text("import os\nos._exit(0)\n")


def spoil_model(folder: Path) -> None:
    """Cut the model off."""
    add_model(folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def add_strange_model(folder: Path) -> None:
    """Add a model with a tensor too many."""
    from safetensors.torch import save_file

    save_file(Seq2Seq(ModelConfig(60, 36)).state_dict(), folder / "model.safetensors")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (delete, "nmt/beam_search.py cannot be read (No such file or directory)"),
        (break_syntax, "nmt/bleu.py, line 2: invalid syntax; nothing was written"),
        (break_bytes, "nothing was written"),
        (break_import, "nmt/masking.py cannot be imported; nothing was written. AttributeError"),
        (leave_python, "nmt/lstm.py cannot be imported; nothing was written. Python ended"),
        (spoil_model, "model.safetensors does not load; nothing was written."),
        (add_strange_model, "model.safetensors does not load; nothing was written."),
    ],
)
def test_refused(
    spoil: Callable[[Path], None], message: str, solved: Path, python: list[str]
) -> None:
    """Is a file that could not be graded one clear line, exit status 1, and no zip?"""
    spoil(solved)
    result = submit(solved, python)
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (solved / "submission.zip").exists()


def test_unwritable(solved: Path, python: list[str]) -> None:
    """Is a place that cannot be written to one line, with nothing left behind?"""
    (solved / "taken").mkdir()
    result = submit(solved, python, "--out", "taken")
    assert result.returncode == 1
    assert "cannot write taken" in result.stderr
    assert [path.name for path in solved.iterdir() if "taken" in path.name] == ["taken"]
