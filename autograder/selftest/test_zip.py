"""Is the zip what the platform needs, the same each time, and refused when it would misgrade?"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from assignment.facts import PATH, load
from autograder import build_zip
from autograder.build_zip import MAX_BYTES, ZipError, build, check, run_autograder
from autograder.selftest.harness import FACTS


def archive() -> zipfile.ZipFile:
    """Open a freshly built zip."""
    return zipfile.ZipFile(io.BytesIO(build()))


def test_same_bytes_twice() -> None:
    """Does building twice give the same bytes, and few?"""
    content = build()
    assert content == build()
    assert len(content) < MAX_BYTES


def test_entry_points_can_run() -> None:
    """Do setup.sh and run_autograder stand at the root, executable, with LF and a shebang?"""
    with archive() as opened:
        for name in ("setup.sh", "run_autograder"):
            info = opened.getinfo(name)
            content = opened.read(name)
            assert (info.external_attr >> 16) & 0o777 == 0o755
            assert content.startswith(b"#!/usr/bin/env bash\n")
            assert b"\r" not in content


def test_nothing_needless_is_inside() -> None:
    """Are byte code, the grader's own tests and the trained reference left out?"""
    with archive() as opened:
        names = opened.namelist()
    unwanted = ("pyc", "selftest", "safetensors", "train.tsv", "/starter", ".git")
    assert [name for name in names if any(part in name for part in unwanted)] == []


def test_carriage_returns_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Is a script with Windows line ends refused?"""
    path = tmp_path / "setup.sh"
    path.write_bytes(b"#!/bin/sh\r\n")
    monkeypatch.setattr(build_zip, "members", lambda: iter([("setup.sh", path)]))
    with pytest.raises(ZipError, match="CR line ends"):
        build()


def result(score: float, offered: float) -> dict[str, object]:
    """Return a minimal results document."""
    test = {"status": "failed", "number": "1.1", "output": "why", "max_score": offered}
    return {"score": score, "tests": [test]}


def test_misgrading_is_refused() -> None:
    """Is a zip refused in which the reference loses a point, or the points do not add up?"""
    full = FACTS.points
    check("reference", result(full, full), full, full)
    with pytest.raises(ZipError, match="reference gets"):
        check("reference", result(full - 1, full), full, full)
    with pytest.raises(ZipError, match="starter gets"):
        check("starter", result(1, full), 0, full)
    with pytest.raises(ZipError, match="the tests offer"):
        check("starter", result(0, full - 1), 0, full)


def test_points_that_do_not_add_up_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Is no zip built where points do not add up, and an older one removed?"""
    settings = tmp_path / "assignment.toml"
    text = PATH.read_text(encoding="utf-8")
    settings.write_text(text.replace("total_points = 100", "total_points = 90"), encoding="utf-8")
    target = tmp_path / "autograder.zip"
    target.write_bytes(b"an older one")
    monkeypatch.setattr(build_zip, "TARGET", target)
    monkeypatch.setattr(build_zip, "load", lambda: load(settings))
    assert build_zip.main() == 1
    assert "points add up to 100, not total_points = 90" in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize("earlier", [True, False], ids=["with an earlier result", "without"])
def test_run_autograder_survives_its_grader(tmp_path: Path, earlier: bool) -> None:
    """Is a grader that was killed in the middle never a student's 0, nor the end of good points?"""
    with archive() as opened:
        opened.extractall(tmp_path / "source")
    # It leaves a half-done result, and dies as the kernel kills a process that takes much memory.
    (tmp_path / "source" / "autograder" / "grade.py").write_text(
        f"import os\nopen('{tmp_path}/results/results.json', 'w').write('{{}}')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    (tmp_path / "results").mkdir()
    (tmp_path / "submission").mkdir()
    kept = {"score": 55.5, "tests": []}
    listed = [{"submission_time": "2026-03-01T10:00:00Z", "results": kept}] if earlier else []
    metadata = {"id": 7, "previous_submissions": listed}
    (tmp_path / "submission_metadata.json").write_text(json.dumps(metadata))
    done = run_autograder(tmp_path)
    path = tmp_path / "results" / "results.json"
    assert "status 137" in done.stderr
    if earlier:
        assert done.returncode == 0
        assert json.loads(path.read_text())["score"] == 55.5
    else:
        assert done.returncode == 3
        assert not path.exists()
