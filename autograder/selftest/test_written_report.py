"""Does the report show each student's reasoning where it belongs, and run none of it?"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from autograder import reasoning, written_report
from autograder.reasoning import PARTS, texts
from autograder.selftest import notebooks
from autograder.selftest.notebooks import BLANK, SOLVED, Notebook, cell, solved
from nmt.notebook import read_cells

NASTY = (
    '=cmd()|x </pre><script>alert("1")</script><img src=x onerror=y> \x1b[31m\ud800\u202e {0} %s'
)
METADATA = b":submission_1:\n  :submitters:\n  - :name: Ada Lovelace\n"


def nasty() -> bytes:
    """Return a notebook with a hostile text."""
    notebook = json.loads(BLANK)
    part = next(c for c in notebook["cells"] if c["id"] == "q2_why-text")
    part["source"] = NASTY
    return json.dumps(notebook).encode()


EXPORT = {
    "submission_metadata.yml": METADATA,
    "submission_1/written.ipynb": SOLVED,
    "submission_1/nmt/lstm.py": b"",
    "submission_22/starter/written.ipynb": BLANK,
    "submission_3/written.ipynb": nasty(),
    "submission_4/lstm.py": b"",
    "submission_5/a/written.ipynb": SOLVED,
    "submission_5/b/written.ipynb": SOLVED,
    "submission_6/written.ipynb": b"{}",
    "__MACOSX/submission_7/._written.ipynb": b"junk",
}


def as_zip(folder: Path) -> Path:
    """Write the export as the platform does."""
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in EXPORT.items():
            archive.writestr(f"assignment_9_export/{name}", content)
    return path


def as_folder(folder: Path) -> Path:
    """Write the export unpacked."""
    for name, content in EXPORT.items():
        path = folder / "export" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "export"


class Tags(HTMLParser):
    """Collect the tags of a page, and the text outside of its head."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, and any attribute that could run or load something."""
        self.tags.add(tag)
        self.tags.update(name for name, _ in attrs if name.startswith("on") or name == "src")

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


def report(export: Path, out: Path) -> tuple[str, list[dict[str, str]]]:
    """Run the command and return page and rows."""
    assert written_report.main(["--export", str(export), "--out", str(out)]) == 0
    rows = (out / "reasoning.csv").read_text(encoding="utf-8-sig")
    page = (out / "reasoning.html").read_text(encoding="utf-8")
    return page, list(csv.DictReader(io.StringIO(rows)))


@pytest.mark.parametrize("make", [as_zip, as_folder])
def test_export_is_read(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Is there a row for each part and submission, with the text, or why there is none?"""
    page, rows = report(make(tmp_path), tmp_path / "out")
    names = {f"submission_{number}" for number in (1, 22, 3, 4, 5, 6)}
    assert len(rows) == len(PARTS) * len(names)
    assert {row["submission"] for row in rows} == names
    found = {(row["part"], row["submission"]): row["text"] for row in rows}
    for part in PARTS.values():
        assert found[part.id, "submission_1"] == part.model
        assert found[part.id, "submission_22"] == ""
    assert {found[part, f"submission_{number}"] for part in PARTS for number in (4, 5, 6)} == {""}
    told = Tags(page).text
    for words in ("4: written.ipynb is missing", "5: written.ipynb is there more than once"):
        assert told.count(f"submission_{words}") == 1
    assert "Ada" not in page + str(rows)


def test_marks_are_added_up(tmp_path: Path) -> None:
    """Is there a row for each submission, with a cell for each part, their sum, and a problem?"""
    report(as_zip(tmp_path), tmp_path / "out")
    lines = (tmp_path / "out" / "marks.csv").read_text(encoding="utf-8-sig").splitlines()
    head, *rows = csv.reader(lines)
    assert head[1:-2] == [f"{part} (of 2)" for part in PARTS]
    assert [row[-2] for row in rows] == [f"=SUM(B{n}:Q{n})" for n in range(2, len(rows) + 2)]
    assert written_report.column(len(head) - 3) == "Q"
    assert [written_report.column(index) for index in (0, 25, 26, 702)] == ["A", "Z", "AA", "AAA"]
    problems = {row[0]: row[-1] for row in rows if row[-1]}
    assert set(problems) == {"submission_4", "submission_5", "submission_6"}


def test_our_own_texts_are_rendered(tmp_path: Path) -> None:
    """Are formulas, tables and code of questions, answers and rubrics no source text any more?"""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "written.ipynb").write_bytes(BLANK)
    page, _ = report(tmp_path / "work", tmp_path / "out")
    assert {"math", "table", "code", "strong"} <= Tags(page).tags
    assert not re.search(r"\$|\\[a-z]+\b|\*\*|`", re.sub(r"<annotation.*?</annotation>", "", page))
    assert page.count("<section") == len(PARTS)


def test_what_is_printed_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Can the name of a folder do nothing to a terminal?"""
    (tmp_path / "work").mkdir()
    with zipfile.ZipFile(tmp_path / "work" / "x\x1b[31m.zip", "w") as archive:
        archive.writestr("written.ipynb", b"{}")
    report(tmp_path / "work", tmp_path / "out")
    assert "x: written.ipynb is not a notebook" in capsys.readouterr().out


def test_nothing_of_students_runs(tmp_path: Path) -> None:
    """Is a hostile text only text: in a browser, and in a spreadsheet?"""
    page, rows = report(as_zip(tmp_path), tmp_path / "out")
    tags = Tags(page)
    assert not tags.tags & {"script", "img", "src", "onerror", "iframe", "link"}
    assert '</pre><script>alert("1")</script><img src=x onerror=y>' in tags.text
    assert "default-src 'none'" in page
    text = next(
        r["text"] for r in rows if (r["part"], r["submission"]) == ("q2_why", "submission_3")
    )
    assert text.startswith("'=cmd()|x </pre>")
    assert text.endswith("{0} %s")
    assert not set(text) & set("\x1b\ud800\u202e")


def test_order_differs_from_part_to_part(tmp_path: Path) -> None:
    """Is nobody always read first?"""
    _, rows = report(as_zip(tmp_path), tmp_path / "out")
    firsts = {part: next(r["submission"] for r in rows if r["part"] == part) for part in PARTS}
    assert len(set(firsts.values())) > 2


LAYOUTS: dict[str, tuple[dict[str, bytes], set[str]]] = {
    "one": ({"written.ipynb": SOLVED}, {"work"}),
    "one in a folder": ({"starter/written.ipynb": SOLVED, "starter/README.md": b""}, {"work"}),
    "one with older copies": ({"written.ipynb": SOLVED, "old/written.ipynb": BLANK}, {"work"}),
    "many": ({"ann/written.ipynb": SOLVED, "bob/x/written.ipynb": SOLVED}, {"ann", "bob"}),
    "many, one without": (
        {"ann/written.ipynb": SOLVED, "bob/written.ipynb": SOLVED, "cy/nmt/lstm.py": b""},
        {"ann", "bob", "cy"},
    ),
}


@pytest.mark.parametrize("files,names", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(files: dict[str, bytes], names: set[str], tmp_path: Path) -> None:
    """Are one submission and many told apart?"""
    for name, content in files.items():
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).write_bytes(content)
    _, rows = report(tmp_path / "work", tmp_path / "out")
    assert {row["submission"] for row in rows} == names
    own = [r for r in rows if r["part"] == "q1_why" and r["submission"] != "cy"]
    assert {row["text"] for row in own} == {PARTS["q1_why"].model}


def test_folder_of_zips(tmp_path: Path) -> None:
    """Is each zip in a folder a submission?"""
    (tmp_path / "work").mkdir()
    for name in ("ann", "bob"):
        with zipfile.ZipFile(tmp_path / "work" / f"{name}.zip", "w") as archive:
            archive.writestr("written.ipynb", SOLVED)
    (tmp_path / "work" / "cy.zip").write_bytes(b"PK, but no zip")
    page, rows = report(tmp_path / "work", tmp_path / "out")
    assert {row["submission"] for row in rows} == {"ann", "bob", "cy"}
    assert Tags(page).text.count("cy: ") == 1


@pytest.mark.parametrize("name", ["nothing", "empty", "file"])
def test_nothing_to_read_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Is wrong usage one line and not exit status 0?"""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    arguments = ["--export", str(tmp_path / name), "--out", str(tmp_path / "out")]
    assert written_report.main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- Which text belongs where ---


def found(notebook: Notebook) -> dict[str, str]:
    """Return the texts of a notebook, without the empty ones."""
    cells = read_cells(json.dumps(notebook).encode())
    return {part: text for part, text in texts(cells).items() if text}


MODELS = {part.id: part.model for part in PARTS.values()}
EDITORS = ("executed", "by colab", "by vs code", "by jupyterlab", "reordered", "duplicated")


@pytest.mark.parametrize("editor", EDITORS)
def test_texts_are_found_whatever_an_editor_does(editor: str) -> None:
    """Is every text found once, and nothing that was given taken for one?"""
    notebook = solved()
    notebooks.KEEPS[editor](notebook)
    assert found(notebook) == MODELS


def test_texts_are_found_by_the_line_above_them() -> None:
    """Is a text found where neither ids nor tags nor the order of cells are left?"""
    notebook = solved()
    notebooks.by_colab(notebook)
    notebooks.reordered(notebook)
    assert found(notebook) == MODELS


def place_of(notebook: Notebook, own: str) -> int:
    """Return the place of a cell."""
    return [c.get("id") for c in notebook["cells"]].index(own)


def test_added_cells_belong_to_what_was_asked_last() -> None:
    """Is prose in a cell of one's own shown with the part above it?"""
    notebook = json.loads(BLANK)
    notebook["cells"].insert(place_of(notebook, "q2_why-text") + 1, cell("mine", "markdown"))
    notebook["cells"].insert(place_of(notebook, "q3_gates-prompt"), cell("raw", "raw"))
    notebook["cells"].insert(place_of(notebook, "q11_ka-text"), cell("seen", "markdown"))
    notebook["cells"].insert(0, cell("hello", "markdown"))
    notebook["cells"].append(cell("# code", "code"))
    expected = {"q2_why": "mine", "q3_gates": "raw", "q11_ka": "seen", reasoning.ELSEWHERE: "hello"}
    assert found(notebook) == expected


def test_text_in_the_place_of_what_was_given() -> None:
    """Is a text found where its marker was deleted, or that was typed into the question?"""
    notebook = json.loads(BLANK)
    notebook["cells"][place_of(notebook, "q4_why-text")]["source"] = "no marker"
    asked = notebook["cells"][place_of(notebook, "q6_why-prompt")]
    asked["source"] = "".join(asked["source"]) + "\nAnswered here."
    texts_found = found(notebook)
    assert texts_found["q4_why"] == "no marker"
    assert texts_found["q6_why"].endswith("Answered here.")
    assert set(texts_found) == {"q4_why", "q6_why"}


def test_deleted_cells_leave_gaps() -> None:
    """Is a part whose cell was deleted empty, and no other one?"""
    notebook = solved()
    del notebook["cells"][place_of(notebook, "q7_why-text")]
    assert set(found(notebook)) == set(MODELS) - {"q7_why"}


def test_blanks_of_all_kinds_stay_blanks() -> None:
    """Are words that a no-break space or a tab parts still apart?"""
    answers = written_report.Answers("x", {"q1_why": "a\u00a0b\tc\u2009d\u3000e\nf\r"})
    assert written_report.shown(answers, "q1_why") == "a b c d e\nf "


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\uff1d", "\t="])
def test_formulas_are_quoted(begin: str) -> None:
    """Is nothing that a spreadsheet takes for a formula left as it is?"""
    assert written_report.harmless(f"{begin}1") == f"'{begin}1"


def test_text_in_a_code_cell_is_found() -> None:
    """Is a text found whose cell was turned into code, by its id or its tag?"""
    notebook = solved()
    for part in ("q1_why", "q2_why"):
        own = notebook["cells"][place_of(notebook, f"{part}-text")]
        own.update(cell_type="code", outputs=[], execution_count=None)
    notebook["cells"][place_of(notebook, "q2_why-text")].pop("id")
    assert found(notebook) == MODELS


def test_merged_cells_are_parted() -> None:
    """Is each text found where several were merged into one cell?"""
    notebook = solved()
    first, second = (place_of(notebook, f"{part}-text") for part in ("q1_why", "q2_why"))
    sources = ["".join(notebook["cells"][place]["source"]) for place in (first, second)]
    notebook["cells"][first]["source"] = "\n\n".join(sources)
    del notebook["cells"][second]
    assert found(notebook) == MODELS


def test_long_paragraph_is_whole() -> None:
    """Is a paragraph of one line not cut as a message of the grader's is?"""
    answers = written_report.Answers("x", {"q1_why": "word " * 1000 + "end"})
    assert written_report.shown(answers, "q1_why") == "word " * 1000 + "end"
