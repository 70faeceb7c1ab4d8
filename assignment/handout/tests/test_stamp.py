"""Is it noticed when a page is not what the inputs make, and does it depend on nothing else?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assignment.handout.inputs import digest, inputs
from assignment.handout.stamp import is_current, stamped

# Makes the page, and writes the names of all files of the project that were read meanwhile.
WITNESS = """
import sys
from pathlib import Path
root, out, seen = Path(sys.argv[1]), Path(sys.argv[2]), set()
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(f"{root}/"):
        seen.add(arguments[0])
sys.addaudithook(watch)
from assignment.handout.build import html
page = html(root)
out.joinpath("page").write_bytes(page)
out.joinpath("seen").write_text("\\n".join(sorted(seen)))
"""


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """Return a folder with copies of the inputs."""
    for path in [*inputs(root), root / "README.md"]:
        place = tmp_path / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    return tmp_path


def test_checked_in_page_is_current(root: Path) -> None:
    """Is the starter's page made from the inputs as they are?"""
    assert is_current((root / "starter/handout.html").read_bytes(), root), "run: make starter"


def test_new_page_is_current(made: tuple[bytes, bytes], root: Path) -> None:
    """Is a page just made up to date, and not once a letter of it is another?"""
    page = made[0]
    assert is_current(page, root)
    assert not is_current(page.replace(b"Zhoric", b"Zhorik", 1), root)
    assert not is_current(b"", root)
    assert not is_current(b"<!DOCTYPE html>\n<html></html>", root)


@pytest.mark.parametrize(
    "name",
    [
        "assignment/assignment.toml",
        "assignment/handout/chapters/05-beam.md",
        "assignment/handout/figures/cell.py",
        "assignment/handout/page/style.css",
        "reference/nmt/attention.py",
    ],
)
def test_every_input_counts(name: str, copy: Path) -> None:
    """Does a changed input make the page out of date, but for its line ends?"""
    page = stamped(b"<!DOCTYPE html>\n<html></html>\n", digest(copy))
    assert is_current(page, copy)
    path = copy / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert is_current(page, copy)
    path.write_bytes(path.read_bytes() + b"\n# more\n")
    assert not is_current(page, copy)


def test_of_the_readme_only_the_figures_count(copy: Path) -> None:
    """Is the page out of date for a new figure, not for the rest of the README?"""
    before, readme = digest(copy), copy / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(f"{text}\nMore.\n", encoding="utf-8")
    assert digest(copy) == before
    readme.write_text(text.replace("2 epochs | ", "2 epochs | 9"), encoding="utf-8")
    assert digest(copy) != before


def test_same_page_again(made: tuple[bytes, bytes], root: Path, tmp_path: Path) -> None:
    """Does another process make the same bytes, and read nothing that is not an input?"""
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = f"{root}{os.pathsep}{root / 'reference'}"
    command = [sys.executable, "-B", "-c", WITNESS, str(root), str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "page").read_bytes() == made[0]
    read = {Path(name) for name in (tmp_path / "seen").read_text().splitlines()}
    modules = {path for path in read if path.suffix != ".pyc" and ".venv" not in path.parts}
    packages = {path for path in modules if path.name == "__init__.py"}  # say nothing
    assert modules - packages - {root / "README.md"} <= set(inputs(root))
    assert root / "assignment/assignment.toml" in modules
