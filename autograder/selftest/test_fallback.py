"""Is the last valid result kept when grading failed, and nothing else taken for one?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder import fallback

GOOD = {"score": 71.5, "output": "All files were found.", "tests": [{"name": "a", "score": 71.5}]}


def entry(time: str, **fields: Any) -> dict[str, Any]:
    """Return one earlier submission as the metadata lists it."""
    return {"submission_time": time, "score": 0.0, "autograder_error": False, **fields}


def leave(folder: Path, metadata: Any) -> tuple[int, dict[str, Any] | None]:
    """Run the fallback beside a half-done result: its status, and what is in the folder then."""
    (folder / "results.json").write_text('{"score": 0, "tests": []}')
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    (folder / "metadata.json").write_text(text)
    arguments = ["--metadata", str(folder / "metadata.json"), "--out", str(folder)]
    status = fallback.main(arguments)
    path = folder / "results.json"
    return status, json.loads(path.read_text()) if path.exists() else None


def test_last_valid_result_is_kept(tmp_path: Path) -> None:
    """Does the newest result that is no error stay, with a note, in whatever order they come?"""
    earlier = [
        entry("2026-03-03T10:00:00Z", score="71.5", results=GOOD),
        entry("2026-03-05T10:00:00Z", autograder_error=True, results={"score": 0.0, "tests": []}),
        entry("2026-03-01T10:00:00Z", score=90.0),
    ]
    status, kept = leave(tmp_path, {"id": 4, "previous_submissions": earlier})
    assert status == 0
    assert kept is not None
    assert (kept["score"], kept["tests"]) == (GOOD["score"], GOOD["tests"])
    assert kept["output"].startswith(fallback.NOTE)
    assert kept["output"].endswith("All files were found.")


def test_note_is_not_repeated(tmp_path: Path) -> None:
    """Does a second failure in a row leave the same text?"""
    kept = GOOD
    for _ in range(2):
        earlier = [entry("2026-03-03T10:00:00Z", results=kept)]
        _, found = leave(tmp_path, {"previous_submissions": earlier})
        assert found is not None
        kept = found
    assert str(kept["output"]).count(fallback.NOTE) == 1


def test_score_alone_is_kept_too(tmp_path: Path) -> None:
    """Is a score kept whose details the platform has left out?"""
    earlier = [entry("2026-03-03T10:00:00Z", score="64.0")]
    status, kept = leave(tmp_path, {"previous_submissions": earlier})
    assert status == 0
    assert kept is not None
    assert kept["score"] == 64.0


NOTHING: dict[str, Any] = {
    "no earlier submission": {"previous_submissions": []},
    "no such key": {"id": 1},
    "not JSON": "{",
    "a list": [],
    "null": {"previous_submissions": None},
    "odd entries": {"previous_submissions": [None, 3, {}, {"score": None}, {"score": "x"}]},
    "NaN": '{"previous_submissions": [{"results": {"score": NaN}, "autograder_error": false}]}',
    "an error": {"previous_submissions": [entry("1", autograder_error=True, results=GOOD)]},
    "no score": {"previous_submissions": [entry("1", score=None, results={"output": "hm"})]},
}


@pytest.mark.parametrize("metadata", NOTHING.values(), ids=NOTHING)
def test_nothing_is_made_up(tmp_path: Path, metadata: Any) -> None:
    """Is there no results file, and a status that tells, where nothing valid is at hand?"""
    assert leave(tmp_path, metadata) == (3, None)


def test_missing_metadata_is_no_fault(tmp_path: Path) -> None:
    """Does a missing file count as no earlier result?"""
    assert fallback.last_result(tmp_path / "nothing.json") is None
