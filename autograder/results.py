"""Hold the results, and write `results.json` as Gradescope wants it: the only module that does."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OUTPUT_CHARACTERS = 8000  # a test's output; Gradescope cuts at 100,000 by itself
LINE_CHARACTERS = 1000  # more in one line is not read by anybody
TERMINAL_CODES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
OUTCOMES = ("passed", "failed", "error", "timeout", "crashed", "not_run")


class OutputError(ValueError):
    """The folder for the results cannot be used; the message is one line."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one hidden test."""

    task: str
    name: str
    number: str
    title: str
    max_score: float
    score: float
    outcome: str
    message: str
    visibility: str
    misconception: str | None = None


@dataclass(frozen=True)
class Results:
    """All of a run."""

    tests: list[Verdict]
    submission: str  # what was graded, for staff
    output: str
    seed: int
    isolation: str
    seconds: float
    leaderboard: dict[str, float] = field(default_factory=dict)
    complete: bool = True

    @property
    def score(self) -> float:
        """Return the points, rounded to cents."""
        return points_of(self.tests)[0]

    @property
    def max_score(self) -> float:
        """Return the points that the tests offer."""
        return points_of(self.tests)[1]


def points_of(tests: Sequence[Verdict]) -> tuple[float, float]:
    """Return the points of some tests, and what they offer, rounded to cents."""
    return number(sum(t.score for t in tests)), number(sum(t.max_score for t in tests))


def number(value: float) -> float:
    """Round to two decimals; anything that is not finite is a bug that must not be written."""
    if not math.isfinite(value):
        raise ValueError(f"a score of {value}")
    return round(value + 0.0, 2)


def clean(text: str, limit: int = OUTPUT_CHARACTERS, line_limit: int = LINE_CHARACTERS) -> str:
    """Make a text fit for a result: valid UTF-8, no control codes, lines and whole in the limits.

    What is too long keeps its head and its tail.
    """
    text = _cut(text, limit)  # before anything looks at every character of it
    text = TERMINAL_CODES.sub("", text.encode("utf-8", errors="replace").decode("utf-8"))
    text = "".join(c for c in text if c in "\n\t" or (c.isprintable() and c not in "\u2028\u2029"))
    return "\n".join(_cut(line, line_limit, " ") for line in text.split("\n"))


def _cut(text: str, limit: int, separator: str = "\n") -> str:
    if len(text) <= limit:
        return text
    half, left_out = limit // 2, len(text) - 2 * (limit // 2)
    note = f"{separator}… {left_out:,} characters left out …{separator}"
    return text[:half] + note + text[-half:]


UNFINISHED = (
    "Grading has not come to its end: the tests marked as not graded yet count 0 so far. If it "
    "stays like this, ask your instructor to run the autograder again."
)


def document(results: Results) -> dict[str, Any]:
    """Return the content of `results.json`."""
    return {
        "score": results.score,
        "execution_time": round(results.seconds, 1),
        "output": clean(results.output if results.complete else f"{UNFINISHED}\n{results.output}"),
        "output_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {
            "submission": results.submission,
            "seed": results.seed,
            "isolation": results.isolation,
        },
        "leaderboard": [
            {"name": name, "value": number(value), "order": "desc"}
            for name, value in results.leaderboard.items()
        ],
        "tests": [_test(test) for test in results.tests],
    }


def _test(test: Verdict) -> dict[str, Any]:
    return {
        "name": test.title,
        "number": test.number,
        "score": number(test.score),
        "max_score": number(test.max_score),
        "status": "passed" if test.score >= test.max_score else "failed",
        "output": clean(test.message),
        "visibility": test.visibility,
        "tags": [test.task],
        "extra_data": {
            "task": test.task,
            "test": test.name,
            "outcome": test.outcome,
            "misconception": test.misconception,
        },
    }


def clear(folder: Path) -> None:
    """Make the folder, and remove the result of an earlier run.

    Raises:
        OutputError: the folder cannot be made or written.
    """
    try:
        # Closed to others if it is new: nobody but the grader writes results.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("results.json", "report.html"):
            (folder / name).unlink(missing_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"OUT={folder} cannot be written: {error.strerror}") from error


def write(results: Results, folder: Path) -> Path:
    """Write `results.json`."""
    return put(document(results), folder)


def put(content: Mapping[str, Any], folder: Path) -> Path:
    """Write a document at one stroke: a reader sees the old file or the whole new one."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    path = folder / "results.json"
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=folder, prefix=".results-", delete=False
    ) as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).chmod(0o644)
    os.replace(file.name, path)
    return path
