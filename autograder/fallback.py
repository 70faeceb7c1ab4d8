"""Say what is left when grading failed: the last valid result, if the metadata holds one.

A fault of the grader must not look like a student's 0, nor take away points that an earlier run
gave. Without an earlier result there is no `results.json`, and the platform reports the failure.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder import results

NOTE = (
    "The autograder itself failed on this submission, which says nothing about your code. What you "
    "see is the result of your last submission that could be graded. Your instructor has to run "
    "the autograder again."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Leave the last valid result, or none; 0 if there is one, else 3."""
    parser = argparse.ArgumentParser(prog="fallback", description=__doc__)
    parser.add_argument("--metadata", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    results.clear(options.out)
    kept = last_result(options.metadata)
    if kept is None:
        print("fallback: there is no earlier result to keep", file=sys.stderr)
        return 3
    results.put(kept, options.out)
    print("fallback: the result of an earlier submission was kept", file=sys.stderr)
    return 0


def last_result(metadata: Path) -> dict[str, Any] | None:
    """Return the newest valid result that the platform's metadata holds, with a note on it."""
    try:
        content = json.loads(metadata.read_text(encoding="utf-8"))
        earlier = list(content["previous_submissions"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    for submission in sorted(filter(_graded, earlier), key=_time, reverse=True):
        result = submission.get("results") or {"score": float(submission["score"])}
        output = str(result.get("output") or "")
        return {**result, "output": output if NOTE in output else f"{NOTE}\n\n{output}".strip()}
    return None


def _time(submission: dict[str, Any]) -> str:
    return str(submission.get("submission_time", ""))  # ISO 8601, which sorts as text


def _graded(submission: Any) -> bool:
    """Tell whether an earlier submission has a result that may be shown again."""
    if not isinstance(submission, dict) or submission.get("autograder_error"):
        return False
    result = submission.get("results")
    try:
        json.dumps(result, allow_nan=False)
        if isinstance(result, dict) and ("score" in result or result.get("tests")):
            return "score" not in result or math.isfinite(float(result["score"]))
        return not result and math.isfinite(float(submission["score"]))
    except (TypeError, ValueError, KeyError):
        return False


if __name__ == "__main__":
    sys.exit(main())
