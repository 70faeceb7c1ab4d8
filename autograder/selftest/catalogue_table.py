"""Write the table of known mistakes: which tests each one fails, and whether it is named.

`python -m autograder.selftest.catalogue_table` runs every mistake through the hidden tests and the
diagnosis. `test_misconceptions.py` holds each row against what it measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.grade import PROJECT
from autograder.misconceptions import TASKS, catalogue
from autograder.misconceptions.entry import Misconception
from autograder.results import Verdict
from autograder.selftest.harness import (
    FACTS,
    Diagnoses,
    WarmWorker,
    lost,
    overridden,
    run_task,
)

PATH = PROJECT / "autograder" / "misconceptions" / "CATALOGUE.md"
HEAD = """\
<!-- Generated from autograder/misconceptions/ by: make catalogue -->
# Known mistakes

{total} mistakes, all caught; {named} are named to the student by their own id. Each loses points in
the tests listed, with inputs of seed 0, and in no other task but `translate`.
"""
COLUMNS = "| mistake | the belief | tests that it fails | named |\n|---|---|---|---|"


def row(entry: Misconception, verdicts: Mapping[str, Verdict]) -> str:
    """Return the row of one mistake."""
    failed = lost(verdicts)
    told = {verdicts[name].misconception for name in failed} - {None}
    if told == {entry.id}:
        count = sum(verdicts[name].misconception == entry.id for name in failed)
        named = "yes" if count == len(failed) else f"in {count} of {len(failed)}"
    else:
        named = f"as {sorted(map(str, told))}" if told else f"no: {entry.unnamed}"
    tests = ", ".join(name.removeprefix("test_") for name in verdicts if name in failed)
    belief = entry.belief.replace("|", r"\|")
    return f"| `{entry.id}` | {belief} | {tests} | {named} |"


def rows(path: Path = PATH) -> dict[str, str]:
    """Return the rows of the table that is there, by id."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def document(rows_of: Mapping[str, str]) -> str:
    """Return the whole page."""
    named = sum(not entry.unnamed for entry in catalogue())
    parts = [HEAD.format(total=len(catalogue()), named=named)]
    for task in TASKS:
        lines = [rows_of[entry.id] for entry in catalogue(task)]
        parts.append("\n".join([f"## {FACTS.tasks[task].title}", "", COLUMNS, *lines, ""]))
    return "\n".join(parts)


def main() -> None:
    """Measure all rows and write the page."""
    warm, diagnoses = WarmWorker(), Diagnoses()
    measured = {}
    for entry in catalogue():
        files = overridden(entry.task, entry.override)
        measured[entry.id] = row(entry, run_task(warm, entry.task, files, diagnoses=diagnoses))
        print(measured[entry.id], flush=True)
    warm.close()
    diagnoses.close()
    PATH.write_text(document(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
