"""Tell which tasks are not written yet, and what needs them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache

from labs.experiment import Experiment
from nmt.files import HOME
from nmt.worker import NOT_IMPLEMENTED, TASKS


@cache
def missing(task: str) -> bool:
    """Tell whether a task's file still raises what its stubs raise, or is not there."""
    path = HOME / TASKS[task]
    if not path.is_file():
        return True
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    raised = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return any(NOT_IMPLEMENTED in text for text in raised)


def lacks(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Yield a line for each lab and each task that it needs and that is not written yet."""
    for lab in dict.fromkeys(experiment.lab for experiment in experiments):
        own = [experiment for experiment in experiments if experiment.lab == lab]
        for task in dict.fromkeys(task for experiment in own for task in experiment.tasks):
            ids = [experiment.id for experiment in own if task in experiment.tasks]
            if missing(task):
                yield (
                    f"{lab} needs the task {task}: {TASKS[task]} is not implemented "
                    f"(for {', '.join(ids)})"
                )
