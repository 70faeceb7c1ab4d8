"""Build `dist/autograder.zip` for Gradescope, and refuse unless what it holds grades as it must.

The zip is tried before it is kept: unpacked elsewhere, it has to give the reference every point and
the untouched starter none.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from release.archive import stored_zip

from assignment.facts import FactsError, load

PROJECT = Path(__file__).resolve().parents[1]
TARGET = PROJECT / "dist" / "autograder.zip"
MAX_BYTES = 15_000_000
AT_ROOT = ("autograder/gradescope/setup.sh", "autograder/gradescope/run_autograder")
# What grading reads; of `nmt` all modules: the pristine package is laid under each submission.
CONTENT = (
    "pyproject.toml",
    "constraints.txt",
    "assignment/__init__.py",
    "assignment/assignment.toml",
    "assignment/facts.py",
    "assignment/written/__init__.py",
    "assignment/written/source.py",
    "assignment/written/questions/*.py",
    "autograder/environment.sh",
    "autograder/__init__.py",
    "autograder/diagnosis.py",
    "autograder/examples.py",
    "autograder/fallback.py",
    "autograder/faults.py",
    "autograder/feedback.py",
    "autograder/grade.py",
    "autograder/intake.py",
    "autograder/likeness.py",
    "autograder/notebook.py",
    "autograder/plugin.py",
    "autograder/results.py",
    "autograder/source_text.py",
    "autograder/sources.py",
    "autograder/wording.py",
    "autograder/hidden_tests/*.py",
    "autograder/misconceptions/*.py",
    "autograder/probes/*.py",
    "autograder/sandbox/*.py",
    "autograder/sandbox/isolation/*.py",
    "reference/nmt/*.py",
    "data/*.vocab",
    "data/dev.tsv",
    "data/held_out/test.tsv",
)
EXECUTABLE = {"setup.sh", "run_autograder", "environment.sh"}


class ZipError(Exception):
    """The zip must not be built."""


def main() -> int:
    """Build, try and write the zip."""
    TARGET.unlink(missing_ok=True)  # an older one must not be taken for this one
    try:
        content = build()
        if len(content) > MAX_BYTES:
            raise ZipError(
                f"it would have {len(content):,} bytes; at most {MAX_BYTES:,} are allowed"
            )
        try_out(content)
    except (ZipError, FactsError) as error:
        print(f"zip: not built: {error}", file=sys.stderr)
        return 1
    TARGET.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=TARGET.parent, delete=False) as file:
        file.write(content)
    Path(file.name).chmod(0o644)
    os.replace(file.name, TARGET)
    print(f"Written: {TARGET} ({len(content):,} bytes)")
    return 0


def members() -> Iterator[tuple[str, Path]]:
    """Yield the name in the zip and the source of every file, in order."""
    for pattern in AT_ROOT:
        yield Path(pattern).name, PROJECT / pattern
    for pattern in CONTENT:
        paths = sorted(PROJECT.glob(pattern))
        if not paths:
            raise ZipError(f"nothing matches {pattern}")
        for path in paths:
            yield path.relative_to(PROJECT).as_posix(), path


def build() -> bytes:
    """Return the zip's bytes."""
    files = {name: path.read_bytes() for name, path in members()}
    for name, content in files.items():
        if b"\r" in content:
            raise ZipError(f"{name} has CR line ends; shells on Linux need LF")
    return stored_zip(files.items(), [name for name in files if Path(name).name in EXECUTABLE])


def try_out(content: bytes) -> None:
    """Unpack the zip and grade reference and starter with it.

    Raises:
        ZipError: the reference loses a point, or the starter gets one.
    """
    full = load().points
    with tempfile.TemporaryDirectory(prefix="nmt-zip-") as folder:
        source = Path(folder) / "source"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(source)
        for submission, points in (("reference", full), ("starter", 0.0)):
            print(f"Grading {submission} with the new zip ...", flush=True)
            result = grade(source, PROJECT / submission)
            check(submission, result, points, full)


def grade(source: Path, submission: Path) -> dict[str, Any]:
    """Grade a submission as the platform does, and return its `results.json`."""
    base = source.parent
    results = base / "results"
    results.mkdir(exist_ok=True)
    shutil.rmtree(base / "submission", ignore_errors=True)
    shutil.copytree(submission, base / "submission")
    done = run_autograder(base)
    if done.returncode != 0:
        raise ZipError(f"grading {submission.name} failed: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads((results / "results.json").read_text(encoding="utf-8"))
    return result


def run_autograder(base: Path) -> subprocess.CompletedProcess[str]:
    """Run the entry point of the zip that is unpacked in `base / "source"`, in this environment."""
    return subprocess.run(
        ["bash", str(base / "source" / "run_autograder")],
        env={
            **os.environ,
            "AUTOGRADER_BASE": str(base),
            "AUTOGRADER_ENVIRONMENT": os.path.realpath(sys.prefix),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def check(submission: str, result: dict[str, Any], points: float, full: float) -> None:
    """Hold one result against what it must be."""
    if result["score"] != points:
        lost = [test for test in result["tests"] if (test["status"] == "passed") != (points > 0)]
        reasons = "; ".join(f"{test['number']} {test['output']}" for test in lost)
        raise ZipError(f"{submission} gets {result['score']:g} points, not {points:g}: {reasons}")
    offered = sum(test["max_score"] for test in result["tests"])
    if offered != full:
        raise ZipError(f"the tests offer {offered:g} points, not {full:g}")


if __name__ == "__main__":
    sys.exit(main())
