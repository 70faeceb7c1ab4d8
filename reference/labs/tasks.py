"""Tell which tasks are not written yet, and what needs them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache

from labs.experiment import Experiment
from nmt.files import HOME
from nmt.worker import NOT_IMPLEMENTED, TASKS


@cache
def fault(task: str) -> str | None:
    """Tell why a task cannot be used: its file is not there, does not parse, or is still a stub."""
    path = HOME / TASKS[task]
    try:
        tree = ast.parse(path.read_bytes(), filename=TASKS[task])
    except FileNotFoundError:
        return f"there is no {TASKS[task]}"
    except SyntaxError as error:
        return f"{TASKS[task]}, line {error.lineno}: {error.msg}"
    except ValueError as error:  # null bytes
        return f"{TASKS[task]}: {error}"
    raised = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    stub = any(NOT_IMPLEMENTED in text for text in raised)
    return f"{TASKS[task]} is not finished" if stub else None


def lacks(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Yield a line for each lab and each task that it needs and that cannot be used."""
    for lab in dict.fromkeys(experiment.lab for experiment in experiments):
        own = [experiment for experiment in experiments if experiment.lab == lab]
        for task in dict.fromkeys(task for experiment in own for task in experiment.tasks):
            ids = [experiment.id for experiment in own if task in experiment.tasks]
            if reason := fault(task):
                yield f"{lab} needs the task {task}: {reason} (for {', '.join(ids)})"
