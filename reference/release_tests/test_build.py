"""Tests of reference/release/build.py and of the command."""

import ast
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from release import __main__ as command
from release.build import (
    ZIP_FOLDER,
    Files,
    differences,
    differing,
    instructors_files,
    render,
    write,
)
from release.markers import ReleaseError

from assignment.facts import Facts
from labs.names import LABS
from nmt import files as nmt_files
from nmt import worker


def test_starter_is_up_to_date(root: Path, files: Files) -> None:
    """Is the starter that is checked in what the reference makes?"""
    assert differences(files, root / "starter") == [], "run: make starter"


def test_given_modules_are_verbatim(root: Path, files: Files, facts: Facts) -> None:
    """Are all modules that no task changes the reference's, byte for byte?"""
    for path in (root / "reference/nmt").glob("*.py"):
        name = f"nmt/{path.name}"
        same = files[name] == path.read_bytes()
        assert same != (name in facts.task_files.values()), name


def test_no_marker_is_left(files: Files) -> None:
    """Is there no trace of the solution markers?"""
    assert not [name for name, content in files.items() if b"SOLUTION" in content]


def test_python_parses(files: Files) -> None:
    """Is all Python in the starter Python, as Python 3.10 knows it?"""
    for name, content in files.items():
        if name.endswith(".py"):
            ast.parse(content, name, feature_version=(3, 10))


def test_facts_of_the_given_code(facts: Facts) -> None:
    """Does the given code, which cannot read the facts, name the same files?"""
    assert facts.task_files == worker.TASKS
    assert nmt_files.CHECKPOINT.name == facts.checkpoint
    assert nmt_files.NOTEBOOK.name == facts.notebook


def test_readme_has_the_points(files: Files, facts: Facts) -> None:
    """Does the README show every task with its points, and the thresholds?"""
    text = files["README.md"].decode()
    for task in facts.tasks.values():
        assert f"| `{task.id}` | {task.title} |" in text
    changed = replace(facts, translate=replace(facts.translate, full_bleu=91.5))
    assert render("at $full_bleu", changed) == "at 91.5"


def test_readme_has_the_labs(files: Files) -> None:
    """Does the README say of every lab what it needs?"""
    rows = re.findall(r"(?m)^\| `(lab\d)` \|", files["README.md"].decode())
    assert rows == list(LABS)


@pytest.mark.parametrize("text", ["$unknown", "a $ alone"])
def test_template_faults(text: str, facts: Facts) -> None:
    """Is a name that no fact has refused?"""
    with pytest.raises(ReleaseError, match=r"README\.md"):
        render(text, facts)


def test_instructors_files_are_up_to_date(root: Path, facts: Facts) -> None:
    """Are the solved notebook and the page with the answers what their source makes?"""
    assert differing(instructors_files(facts), root) == [], "run: make starter"


def test_instructors_files_that_differ_are_named(tmp_path: Path, facts: Facts) -> None:
    """Is one that is missing or was changed by hand named?"""
    made = instructors_files(facts)
    assert differing(made, tmp_path) == [f"different: {name}" for name in made]


def remove(folder: Path) -> None:
    """Remove a file."""
    (folder / "nmt/lstm.py").unlink()


def add(folder: Path) -> None:
    """Add a file."""
    (folder / "model.safetensors").touch()


def change(folder: Path) -> None:
    """Change a file's line ends."""
    (folder / "Makefile").write_bytes((folder / "Makefile").read_bytes().replace(b"\n", b"\r\n"))


def leave_caches(folder: Path) -> None:
    """Leave what Python leaves."""
    (folder / "nmt/__pycache__").mkdir()
    (folder / "nmt/__pycache__/lstm.pyc").touch()


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (remove, ["missing: nmt/lstm.py"]),
        (add, ["extra: model.safetensors"]),
        (change, ["different: Makefile"]),
        (leave_caches, []),
    ],
)
def test_check(
    edit: Callable[[Path], None],
    expected: list[str],
    starter: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Does --check list what differs, and exit with 1 if anything does?"""
    edit(starter)
    assert command.main(["--check", "--out", str(starter)]) == (1 if expected else 0)
    assert capsys.readouterr().out.splitlines() == expected


def test_write_replaces_a_release(starter: Path, files: Files) -> None:
    """Is an earlier release replaced whole, with nothing left beside it?"""
    add(starter)
    assert command.main(["--out", str(starter)]) == 0
    assert differences(files, starter) == []
    assert list(starter.parent.iterdir()) == [starter]


def test_write_keeps_the_old_release_on_failure(starter: Path, files: Files) -> None:
    """If writing fails half-way, is the old release still there, whole?"""
    with pytest.raises(OSError, match="too long"):
        write({"README.md": b"new", "x" * 300: b""}, starter)
    assert differences(files, starter) == []
    assert list(starter.parent.iterdir()) == [starter]


def test_write_spares_other_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Is a folder that holds something else left alone?"""
    (tmp_path / "thesis.tex").touch()
    assert command.main(["--out", str(tmp_path)]) == 1
    assert "is not an earlier release" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_zip_holds_the_release(starter: Path, files: Files, tmp_path: Path) -> None:
    """Does the zip hold the starter, in one folder, with the same bytes each time?"""
    path = tmp_path / "dist" / "student.zip"
    contents = []
    for _ in range(2):
        assert command.main(["--out", str(starter), "--zip", str(path)]) == 0
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {f"{ZIP_FOLDER}/{name}": content for name, content in files.items()}
    assert list(path.parent.iterdir()) == [path]
