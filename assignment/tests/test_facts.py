"""Are the facts read strictly, and does the prose that quotes them agree?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from assignment.facts import PATH, FactsError, load

FACTS = load()
README = PATH.parents[1] / "README.md"
PAGES = PATH.parent / "instructor"


def altered(folder: Path, old: str, new: str) -> Path:
    """Write the settings with one text replaced; old is a pattern, as the numbers may be others."""
    text, found = re.subn(old, new, PATH.read_text(encoding="utf-8"), count=1)
    assert found
    path = folder / "assignment.toml"
    path.write_text(text, encoding="utf-8")
    return path


BAD = {
    "no TOML": (r"\[tasks\.lstm\]", "[tasks.lstm", "not valid TOML"),
    "weights": (r"(?m)^points = (\d+)", r"points = \g<1>.5", r"add up to [\d.]+, not \d+\.5"),
    "visibility": (r'visibility = "\w+"', 'visibility = "seen"', "visibility is 'seen'"),
    "unknown key": (r"(?m)^points = (\d+)", r"points = \1\npoint = 1", "unknown key 'point'"),
    "missing key": ("full_bleu", "# full_bleu", "full_bleu"),
    "text for a number": (r"(?m)^points = (\d+)", r'points = "\1"', r"points is '\d+'"),
    "NaN": (r"test_step = [\d.]+", "test_step = nan", "test_step is nan"),
    "no time": (r"call_seconds = [\d.]+", "call_seconds = 0", "call_seconds must be above 0"),
    "threshold": (r"full_bleu = [\d.]+", "full_bleu = 0.0", "zero_bleu < full_bleu"),
    "unknown section": (r"\[limits\]", "[limit]", "limit"),
    "sum of points": (
        r"total_points = (\d+)",
        r"total_points = 1\1",
        r"add up to [\d.]+, not total_points = 1",
    ),
}


@pytest.mark.parametrize("old,new,words", BAD.values(), ids=BAD)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    """Is a mistake in the settings reported with its section and key?"""
    with pytest.raises(FactsError, match=words):
        load(altered(tmp_path, old, new))


def test_readme_quotes_the_points() -> None:
    """Do the points in the README's table agree with the settings?"""
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [(task.id, f"{task.points:g}") for task in FACTS.tasks.values()]
    assert rows == wanted, "change the table of points in README.md"


def test_readme_quotes_the_threshold() -> None:
    """Do BLEU's threshold and the sum of points in the README agree with the settings?"""
    text = " ".join(README.read_text(encoding="utf-8").split())
    rules = FACTS.translate
    for words in (
        f"full points from {rules.full_bleu:g}, none below {rules.zero_bleu:g}",
        f"programming assignment of {FACTS.points:g} points",
    ):
        assert words in text, f"change README.md: it should say {words!r}"


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
    missing = [words for words in sorted(quoted) if not re.search(words, text)]
    assert missing == [], "change the pages in assignment/instructor/"


def test_links_of_the_instructors_pages_lead_somewhere() -> None:
    """Is there a file for each path and link in the instructor's pages?"""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))
    paths = set(re.findall(r"`((?:assignment|data|reference|autograder)/[\w./]*)`", text))
    links = set(re.findall(r"\]\(([\w./]+)\)", text))
    assert len(paths) > 5
    assert [path for path in paths if not (PATH.parents[1] / path).exists()] == []
    assert [link for link in links if not (PAGES / link).exists()] == []


def test_settings_say_in_a_line_what_is_wrong(tmp_path: Path) -> None:
    """Does a mistake in the settings stop every make target with one line?"""
    for name in ("__init__.py", "facts.py"):
        (tmp_path / name).write_bytes((PATH.parent / name).read_bytes())
    altered(tmp_path, r"total_points = (\d+)", r"total_points = 1\1")
    command = [sys.executable, str(tmp_path / "facts.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"assignment/assignment.toml: the tasks' points add up .*\n", done.stderr)
