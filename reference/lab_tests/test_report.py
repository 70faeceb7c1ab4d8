"""The page, the CSV files, the Markdown that is checked in."""

import csv
import json
import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from labs import by_length, lab2, lab5, report
from labs.__main__ import experiments_of
from labs.experiment import Claim, Experiment, Outcome, Results, Row, Table
from labs.names import LABS
from labs.report import Plans
from labs.store import stored

from .conftest import FAST


def test_page(world: tuple[Path, Plans], capsys: pytest.CaptureFixture[str]) -> None:
    """Does the page show every experiment, with its plot and CSV beside it, and open offline?"""
    folder, plans = world
    report.show(plans, folder, ["1.3"], ["lab9 needs the task <x>"])
    page = (folder / "index.html").read_text(encoding="utf-8")
    for experiment, _ in plans:
        assert f'<section id="{experiment.id}">' in page
        assert (folder / f"{experiment.id}.png").read_bytes().startswith(b"\x89PNG")
        text = (folder / f"{experiment.id}.csv").read_text(encoding="utf-8-sig")
        assert len({len(line) for line in csv.reader(text.splitlines())}) == 1
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {
        name for e, _ in plans for name in (f"{e.id}.png", f"{e.id}.csv", f"#{e.id}")
    }
    alts = re.findall(r'alt="([^"]*)"', page)
    assert len(set(alts)) > 15  # some draw the same of other models
    assert "Plot of the lengths over k, a line a seed. The table above has the figures." in alts
    Tags().feed(page)
    assert "the task &lt;x&gt;" in page
    printed = capsys.readouterr().out
    assert "1.3 A cliff" in printed
    assert "1.4 Clipping" not in printed


TABLE = Table(
    "ρ",
    ["k = 1", "k = 2"],
    [
        Row("a|b", [[1.0, 2.0], [3.0, 3.0]], ("1.50", None), ".1f"),
        Row("c", [[], []]),
        Row("d", [[4790.4], [0.5]], ("4,790", "0.5"), (".1e", ".3g")),
    ],
)


def test_tables() -> None:
    """Do the tables have ours beside the lecture's, the mean with its range, and every seed?"""
    assert report.cells(TABLE) == [
        ["a|b", "ours", "1.5 (1.0 … 2.0)", "3.0"],
        ["", "lecture", "1.50", "–"],
        ["c", "ours", "–", "–"],
        ["d", "ours", "4,790", "0.5"],
        ["", "lecture", "4,790", "0.5"],
    ]
    assert report.comma_separated(TABLE, [4, 7]).splitlines() == [
        "ρ,whose,k = 1,k = 2",
        'a|b,"ours, seed 4",1.0,3.0',
        'a|b,"ours, seed 7",2.0,3.0',
        "a|b,lecture,1.50,",
        'd,"ours, seed 4",4790.4,0.5',
        "d,lecture,4790,0.5",
    ]
    assert report.comma_separated(replace(TABLE, rows=TABLE.rows[2:]), []).splitlines()[1:] == [
        "d,ours,4790.4,0.5",
        "d,lecture,4790,0.5",
    ]
    expected = r"| a\|b | ours | 1.5 (1.0 … 2.0) | 3.0 |"
    assert report.markdown_table(TABLE).splitlines()[2] == expected


class Tags(HTMLParser):
    """Note the cells of tables, and that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[tuple[str, dict[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Check that it is the last one that was opened."""
        opened = self.open.pop()
        assert opened == tag or (opened, tag) == ("p", "section")


def test_table_for_readers_aloud() -> None:
    """Has each column and each row a heading, that of two lines over both?"""
    tags = Tags()
    html = report.html_table(TABLE, "A <title>")
    tags.feed(html)
    assert tags.open == []
    assert "<caption>A &lt;title&gt;</caption>" in html
    assert [cell[1].get("scope") for cell in tags.rows[0]] == ["col"] * 4
    heads = [[cell[1] for cell in row if cell[0] == "th"] for row in tags.rows[1:]]
    two, one = [{"scope": "row", "rowspan": "2"}], [{"scope": "row"}]
    assert heads == [two, [], one, two, []]


@pytest.mark.parametrize(
    ("values", "quick", "expected"),
    [
        ([1, 1, 1], False, "holds on 3 of 3 seeds"),
        ([1, 0, 1], False, "holds on 2 of 3 seeds only. More steps."),
        ([0, 0, 0], False, "does not hold on any seed. More steps."),
        ([1, 1, 1], True, report.NOT_JUDGED),
    ],
)
def test_verdicts(
    values: list[int], quick: bool, expected: str, experiments: dict[str, Experiment]
) -> None:
    """Is a claim's verdict said as it is, with what was tried?"""
    claim = Claim("It is 1.", lambda own: own.first()["value"] == 1, "More steps.")
    outcomes = [Outcome({}, seed, {"value": value}) for seed, value in enumerate(values, start=1)]
    found = Results(tuple(outcomes))
    assert report.verdict(claim, experiments["1.1"], found, quick)[1] == expected


@pytest.fixture
def whole_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let keys be those of the project's own data."""
    monkeypatch.delenv("NMT_DATA", raising=False)


def all_plans() -> Plans:
    """Return every experiment with its parts."""
    return [(e, e.parts()) for lab in LABS for e in experiments_of(lab)]


@pytest.mark.usefixtures("whole_data")
def test_record_is_what_the_figures_make(root: Path) -> None:
    """Is LABS.md what the figures beside it make, with the code as it is?"""
    path = root / "LABS.md"
    plans = all_plans()
    expected = report.markdown(plans, report.recorded(path))
    assert path.read_text(encoding="utf-8") == expected, (
        "run: cd reference && python -m labs --rewrite ../LABS.md"
    )


def test_record_is_whole(root: Path) -> None:
    """Has every experiment been run for the record, and claims of random ones with three seeds?"""
    find = report.recorded(root / "LABS.md")
    lacking = [part.name for _, parts in all_plans() for part in parts if not find(part)]
    assert lacking == []
    assert [e.id for e, _ in all_plans() if e.claims and 0 < e.seeds < 3] == []


@pytest.mark.parametrize("name", FAST)
def test_record_is_what_the_code_finds(
    name: str, root: Path, found: dict[str, Results], experiments: dict[str, Experiment]
) -> None:
    """Are the recorded figures of the fast experiments those that they give now?"""
    find = report.recorded(root / "LABS.md")
    by_name = {part.name: find(part) for part in experiments[name].parts()}
    for part in experiments[name].parts(seeds=3):
        (own,) = [
            o for o in found[name].outcomes if (o.settings, o.seed) == (part.settings, part.seed)
        ]
        record = by_name[part.name]
        assert record
        same(own.figures, record["figures"], part.name)


def same(ours: Any, theirs: Any, where: str) -> None:
    """Compare nested figures; another processor may round otherwise."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), where
        for name in ours:
            same(ours[name], theirs[name], f"{where}, {name}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), where
        for number, (own, their) in enumerate(zip(ours, theirs, strict=True)):
            same(own, their, f"{where}, {number}")
    else:
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6), where


def test_what_was_tried_is_what_is_recorded(root: Path) -> None:
    """Are the figures that a claim's explanation names those of the record?"""
    find = report.recorded(root / "LABS.md")
    wanted = (
        by_length.translator(epochs=lab5.VARIATION_EPOCHS),
        by_length.translator(),
        by_length.translator(attention=True),
    )
    records = [find(by_length.READ.part(settings, 1)) for settings in wanted]
    assert all(records)
    early, late, attentive = (record["figures"] for record in records if record)
    named = [
        f"({attentive['groups'][4]['missing']:.1f} words too short)",
        f"after 3 epochs its BLEU is {early['groups'][4]['bleu']:.2f} there "
        f"({early['test']['bleu']:.2f} on the test set)",
        f"after 10 epochs {late['groups'][4]['bleu']:.2f} ({late['test']['bleu']:.2f})",
    ]
    assert [text for text in named if text not in lab5.AT_FOUR] == []


def test_what_left_chance_is_what_is_recorded(
    root: Path, experiments: dict[str, Experiment]
) -> None:
    """Are the figures that 2.3 and 2.4 name those of the record?"""
    find = report.recorded(root / "LABS.md")
    probed, longer = (
        [record["figures"] for part in experiments[name].parts() if (record := find(part))]
        for name in ("2.4", "2.6")
    )
    reached = sorted(max(own["probe"][20:]) for own in probed if own["forget"] is None)
    assert f"{100 * reached[-1]:.1f} % at most" in lab2.KEPT_A_BIT
    assert f"{100 * reached[-2]:.0f} % where" in lab2.KEPT_A_BIT
    (named,) = (own["accuracy"] for own in probed if reached[-1] in own["probe"])
    assert f"names {100 * named:.1f} %" in lab2.LEFT_CHANCE
    assert f"{100 * longer[-2]['accuracy']:.1f} % after 5,000 steps" in lab2.LEFT_CHANCE


def test_quick_looks_are_named(
    world: tuple[Path, Plans], experiments: dict[str, Experiment]
) -> None:
    """Does a quick look say what is shorter than the text has it?"""
    folder, _ = world
    find = partial(stored, folder=folder)
    short = replace(
        experiments["4.3"],
        quick=experiments["4.3"].settings[:1],
        settings=[{"candidate": "x"}],
        table=lambda results: TABLE,
    )
    own = report.section(short, short.parts(quick=True), find)
    assert own
    expected = "Only a quick look: candidate the cat is on the mat."
    assert own.quick == expected
    assert expected in report.html_section(own)
    assert expected in report.terminal(own)
    whole = report.section(experiments["4.3"], experiments["4.3"].parts(), find)
    assert whole
    assert whole.quick == ""


def test_markdown_is_no_html(world: tuple[Path, Plans], tmp_path: Path) -> None:
    """Is </s> a word, and not a tag?"""
    folder, plans = world
    text = report.markdown(plans, partial(stored, folder=folder))
    assert "→ &lt;/s>" in text
    assert "</s>" not in text


def test_a_clock_that_does_not_tick(found: dict[str, Results]) -> None:
    """Is there a table where times are shorter than the clock can tell?"""
    outcomes = [
        replace(own, figures={"ours": 0.0156, "theirs": 0.0}) for own in found["2.5"].outcomes
    ]
    table = lab2.speed_table(Results(tuple(outcomes)))
    assert report.cells(table)[0] == ["8 sequences", "ours", "15.60", "0.00", "–"]


def test_other_sources_are_named(world: tuple[Path, Plans], tmp_path: Path) -> None:
    """Does a record say so where code or data have changed since?"""
    folder, plans = world
    path = tmp_path / "LABS.md"
    report.record(plans[:1], folder, path)
    assert "From other sources" not in path.read_text(encoding="utf-8")
    own = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    own[0]["key"] = "another"
    path.with_suffix(".json").write_text(json.dumps(own), encoding="utf-8")
    report.rewrite(plans[:1], path)
    assert "From other sources or data than these" in path.read_text(encoding="utf-8")


def test_record(world: tuple[Path, Plans], tmp_path: Path) -> None:
    """Does a record hold every figure it was made from, and say what is not run?"""
    folder, plans = world
    path = tmp_path / "LABS.md"
    report.record(plans[:2], folder, path)
    assert path.read_text(encoding="utf-8") == report.markdown(plans[:2], report.recorded(path))
    text = report.markdown(plans, report.recorded(path))
    assert text.count("Not run yet.") == len(plans) - 2
