"""Does the notebook run, from top to bottom, in a student's folder?"""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from release.build import NOTEBOOK

GROUP = 10  # dev sentences of each number of phrases: the notebook's own 200 take longer
PREPOSITIONS = {"behind", "in", "near", "under"}


@pytest.fixture(autouse=True)
def _jupyter_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what Jupyter reads and writes out of the user's folders."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def run(
    path: Path, *, cells: int | None = None, before: str = "", where: Path | None = None
) -> Any:
    """Run a notebook's first cells, all by default, with its folder as the working folder."""
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    notebook.cells = notebook.cells[:cells]
    if before:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(before))  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=120,
        allow_errors=True,
        resources={"metadata": {"path": str(where or path.parent)}},
    ).execute()
    return notebook


def outputs(notebook: Any, kind: str) -> list[Any]:
    """Return the outputs of one kind of all cells."""
    return [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == kind
    ]


def shorten(path: Path) -> None:
    """Keep some sentences of each number of phrases."""
    found: Counter[int] = Counter()
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        number = sum(word in PREPOSITIONS for word in line.split("\t")[0].split())
        found[number] += 1
        if found[number] <= GROUP:
            kept.append(line)
    assert len(kept) == 4 * GROUP
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def test_it_runs_on_the_reference(solved: Path, root: Path) -> None:
    """Do all cells run without an error, and are the figures pictures with a description?"""
    shutil.copy(root / "reference/model.safetensors", solved)
    shorten(solved / "data/dev.tsv")
    before = sorted(solved.rglob("*"))
    notebook = run(solved / NOTEBOOK)
    assert ["\n".join(error.traceback) for error in outputs(notebook, "error")] == []
    pictures = outputs(notebook, "display_data")
    assert len(pictures) == 7
    for picture in pictures:
        assert picture.data["image/png"].startswith("iVBORw0KGgo")  # a PNG's first bytes
        assert len(picture.data["text/plain"]) > 20
    text = "".join(output.text for output in outputs(notebook, "stream"))
    assert f"Ready: 1,134,116 parameters, {4 * GROUP} sentence pairs" in text
    assert "    miro gron domo rosa tavek\n" in text  # the old cat sees a red house
    assert "(unknown: zebra)" in text
    assert "most often it looks at [('the'" in text
    assert "4 phrases  beam 5: BLEU 0." in text
    assert sorted(solved.rglob("*")) == before  # it leaves nothing behind


def test_the_untouched_starter_is_told_what_is_missing(starter: Path) -> None:
    """Does the first cell name each task and the model, in a few lines without a traceback?"""
    (error,) = outputs(run(starter / NOTEBOOK, cells=2), "error")
    assert error.ename == "NotReady"
    first, *lines = "\n".join(error.traceback).splitlines()
    assert first == "This notebook cannot start yet."
    for task, line in zip(("lstm", "masking", "attention", "beam", "bleu"), lines[:5], strict=True):
        assert line.startswith(f"- task {task} is not done; write nmt/")
        assert line.endswith(f"see: python -m nmt check {task}")
    assert lines[5:] == [
        "- there is no model.safetensors; once the tasks are done, run: python -m nmt train"
    ]


def test_it_finds_its_folder_in_vs_code(starter: Path, tmp_path: Path) -> None:
    """Is the folder that VS Code names used, whatever the working folder is?"""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = f"__vsc_ipynb_file__ = {str(starter / NOTEBOOK)!r}"
    (error,) = outputs(run(starter / NOTEBOOK, cells=2, before=before, where=elsewhere), "error")
    assert error.ename == "NotReady"


def test_alone_it_says_what_it_needs(starter: Path, tmp_path: Path) -> None:
    """Does a notebook that was moved away say where it looked, and what to do?"""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (error,) = outputs(run(starter / NOTEBOOK, cells=2, where=elsewhere), "error")
    assert error.ename == "SystemExit"
    assert f"There is no folder nmt in {elsewhere}" in error.evalue
