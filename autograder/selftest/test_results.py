"""Is `results.json` valid whatever the tests say?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder import feedback, results
from autograder.results import Results, Verdict
from autograder.selftest.harness import FACTS


def verdict(**changes: object) -> Verdict:
    """Return a verdict with some fields changed."""
    fields: dict[str, object] = {
        "task": "lstm",
        "name": "test_step",
        "number": "1.1",
        "title": "Does it?",
        "max_score": 6.0,
        "score": 6.0,
        "outcome": "passed",
        "message": "Passed.",
        "visibility": "visible",
        **changes,
    }
    return Verdict(**fields)  # type: ignore[arg-type]


def run(*tests: Verdict) -> Results:
    """Return the results of a run with these verdicts."""
    return Results(
        list(tests), "alice.zip", "All files were found.", 1, "none", 1.0, {"BLEU": 99.5}
    )


def written(folder: Path, *tests: Verdict) -> dict[str, Any]:
    """Write and read back."""
    text = results.write(run(*tests), folder).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def test_scores_are_rounded(tmp_path: Path) -> None:
    """Do thirds add up to a score with two decimals?"""
    document = written(tmp_path, *[verdict(score=1 / 3)] * 3)
    assert document["score"] == 1.0


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_no_score_that_is_not_finite(tmp_path: Path, score: float) -> None:
    """Does a score of NaN stop the writing, the older file kept?"""
    written(tmp_path, verdict())
    with pytest.raises(ValueError, match="a score of"):
        results.write(run(verdict(score=score)), tmp_path)
    assert json.loads((tmp_path / "results.json").read_text())["score"] == 6.0
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_text_is_made_fit(tmp_path: Path) -> None:
    """Are control codes, lone surrogates, odd line ends and endless texts made harmless?"""
    nasty = "\x1b[31mred\x00 \ud800 a\u2028b\r\n" + "x" * 100_000 + "tail"
    (test,) = written(tmp_path, verdict(score=0.0, outcome="failed", message=nasty))["tests"]
    output = test["output"]
    assert len(output) < results.OUTPUT_CHARACTERS + 100
    assert output.endswith("tail")
    assert not set("\x1b\x00\r\u2028") & set(output)
    assert output.startswith("red ? ab\n")
    assert max(len(line) for line in output.split("\n")) < results.LINE_CHARACTERS + 100


def test_page_escapes_what_students_write(tmp_path: Path) -> None:
    """Is a message with markup shown as text in the HTML report?"""
    graded = run(verdict(score=0.0, outcome="failed", message="<script>alert(1)</script>"))
    page = feedback.write_report(graded, FACTS, tmp_path).read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_terminal_shows_reason_and_sum() -> None:
    """Does the terminal show the reason for lost points, and the sum?"""
    failed = verdict(score=0.0, outcome="failed", message="why")
    assert "why" in feedback.verdict(failed, {})
    assert "Score: 6 of 12" in feedback.summary(run(verdict(), failed), FACTS)


def test_what_was_said_is_not_repeated(tmp_path: Path) -> None:
    """Are lines that a task's earlier test has said replaced by its number, on screen and page?"""
    tests = [
        verdict(number=number, score=0.0, outcome="failed", message=message)
        for number, message in (("1.1", "a\nhint"), ("1.2", "b\nhint"), ("1.3", "a\nhint"))
    ]
    seen: feedback.Seen = {}
    first, second, third = (feedback.verdict(test, seen).splitlines()[1:] for test in tests)
    assert [line.strip() for line in first] == ["a", "hint"]
    assert [line.strip() for line in second] == ["b", "The rest is as in 1.1."]
    assert [line.strip() for line in third] == ["As in 1.1."]
    page = feedback.write_report(run(*tests), FACTS, tmp_path).read_text(encoding="utf-8")
    assert page.count("hint") == 1


def test_what_the_intake_says_is_shown(tmp_path: Path) -> None:
    """Do screen and page say which files were missing or ignored?"""
    graded = run(verdict())
    page = feedback.write_report(graded, FACTS, tmp_path).read_text(encoding="utf-8")
    for shown in (feedback.summary(graded, FACTS), page):
        assert "All files were found." in shown


def test_points_are_shown_rounded() -> None:
    """Do thirds of points look like points?"""
    shown = feedback.verdict(verdict(score=10 / 3, max_score=10.0, outcome="failed"), {})
    assert "3.33/10" in shown
