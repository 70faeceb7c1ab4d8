"""Are the facts read strictly, and does the prose that quotes them agree?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assignment.facts import PATH, FactsError, load

FACTS = load()
README = PATH.parents[1] / "README.md"
PAGES = PATH.parent / "instructor"


def altered(folder: Path, old: str, new: str) -> Path:
    """Write the settings with one text replaced."""
    text = PATH.read_text(encoding="utf-8")
    assert old in text
    path = folder / "assignment.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


BAD = {
    "no TOML": ("[tasks.lstm]", "[tasks.lstm", "not valid TOML"),
    "weights": ("points = 20", "points = 21", "add up to 20, not 21"),
    "visibility": ('visibility = "visible"', 'visibility = "seen"', "visibility is 'seen'"),
    "unknown key": ("points = 20", "points = 20\npoint = 1", "unknown key 'point'"),
    "missing key": ("full_bleu", "# full_bleu", "full_bleu"),
    "sum of points": ("total_points = 100", "total_points = 90", "add up to 100, not total_points"),
    "text for a number": ("points = 20", 'points = "20"', "points is '20'"),
    "NaN": ("test_step = 6", "test_step = nan", "test_step is nan"),
    "no time": ("call_seconds = 20", "call_seconds = 0", "call_seconds must be above 0"),
    "threshold": ("full_bleu = 95.0", "full_bleu = 50.0", "zero_bleu < full_bleu"),
    "unknown section": ("[limits]", "[limit]", "limit"),
}


@pytest.mark.parametrize("old,new,words", BAD.values(), ids=BAD)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    """Is a mistake in the settings reported with its section and key?"""
    with pytest.raises(FactsError, match=re.escape(words)):
        load(altered(tmp_path, old, new))


def test_readme_quotes_the_points() -> None:
    """Do the points in the README's table agree with the settings?"""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert {task: float(points) for task, points in rows} == {
        task.id: task.points for task in FACTS.tasks.values()
    }


def test_readme_quotes_the_threshold() -> None:
    """Do BLEU's threshold and the sum of points in the README agree with the settings?"""
    text = " ".join(README.read_text(encoding="utf-8").split())
    rules = FACTS.translate
    assert f"full points from {rules.full_bleu:g}, none below {rules.zero_bleu:g}" in text
    assert f"programming assignment of {FACTS.points:g} points" in text


def test_grading_ends_before_the_platform_stops_it() -> None:
    """Is the whole run's limit below Gradescope's 600 seconds?"""
    assert FACTS.limits.total_seconds + FACTS.limits.start_seconds < FACTS.limits.stop_seconds < 600


def test_instructors_pages_quote_the_facts() -> None:
    """Do points, limits and the leaderboard in the instructor's pages agree with the settings?"""
    pages = [path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))]
    text = " ".join(" ".join(pages).split())
    limits, points = FACTS.limits, f"{FACTS.points:g}"
    quoted = {
        rf"\| \*Autograder points\* \| {points} \|",
        rf"gives the reference all {points} points",
        rf"{points} of {points}",
        rf"Points sum to {points}",
        rf"task `written`, {FACTS.tasks['written'].points:g} points",
        rf"column `{FACTS.translate.leaderboard}`",
        rf"stops itself after {limits.stop_seconds:g} s",
        rf"gives each submission's code {limits.total_seconds:g} s",
    }
    assert [words for words in sorted(quoted) if not re.search(words, text)] == []


def test_links_of_the_instructors_pages_lead_somewhere() -> None:
    """Is there a file for each path and link in the instructor's pages?"""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))
    paths = set(re.findall(r"`((?:assignment|data|reference|autograder)/[\w./]*)`", text))
    links = set(re.findall(r"\]\(([\w./]+)\)", text))
    assert len(paths) > 5
    assert [path for path in paths if not (PATH.parents[1] / path).exists()] == []
    assert [link for link in links if not (PAGES / link).exists()] == []
