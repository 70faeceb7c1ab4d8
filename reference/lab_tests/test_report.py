"""The page, the CSV files, the Markdown that is checked in."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from labs import report
from labs.__main__ import LABS, experiments_of
from labs.experiment import Claim, Experiment, Outcome, Results, Row, Table
from labs.report import Plans

from .conftest import FAST


def test_page(world: tuple[Path, Plans], capsys: pytest.CaptureFixture[str]) -> None:
    """Does the page show every experiment, with its plot and CSV beside it, and open offline?"""
    folder, plans = world
    report.show(plans, folder, ["1.3"], ["lab9 needs the task <x>"])
    page = (folder / "index.html").read_text(encoding="utf-8")
    for experiment, _ in plans:
        assert f'<section id="{experiment.id}">' in page
        assert (folder / f"{experiment.id}.png").read_bytes().startswith(b"\x89PNG")
        text = (folder / f"{experiment.id}.csv").read_text(encoding="utf-8")
        assert len({len(line) for line in csv.reader(text.splitlines())}) == 1
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {
        f"{e.id}.{suffix}" for e, _ in plans for suffix in ("png", "csv")
    }
    assert "the task &lt;x&gt;" in page
    printed = capsys.readouterr().out
    assert "1.3 A cliff" in printed
    assert "1.4 Clipping" not in printed


TABLE = Table(
    "ρ", ["k = 1", "k = 2"], [Row("a|b", [[1.0, 2.0], [3.0, 3.0]], (1.5, None)), Row("c", [[], []])]
)


def test_tables() -> None:
    """Do the tables have ours beside the lecture's, the mean with its range, and every seed?"""
    assert report.cells(TABLE) == [
        ["a|b", "ours", "1.5 (1 … 2)", "3"],
        ["", "lecture", "1.5", "–"],
        ["c", "ours", "–", "–"],
    ]
    assert report.comma_separated(TABLE).splitlines() == [
        "ρ,whose,k = 1,k = 2",
        'a|b,"ours, seed 1",1.0,3.0',
        'a|b,"ours, seed 2",2.0,3.0',
        "a|b,lecture,1.5,",
    ]
    assert report.markdown_table(TABLE).splitlines()[2] == r"| a\|b | ours | 1.5 (1 … 2) | 3 |"


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
