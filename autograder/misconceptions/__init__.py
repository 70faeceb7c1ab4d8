"""The catalogue of known mistakes: one module a task, each with a list ENTRIES."""

from __future__ import annotations

import importlib

from autograder.misconceptions.entry import CatalogueError, Misconception

TASKS = ("lstm", "masking", "attention", "beam", "bleu")


def catalogue(task: str | None = None) -> list[Misconception]:
    """Return the entries of one task, or of all.

    Raises:
        CatalogueError: an id is taken twice, or an entry stands in another task's module.
    """
    entries: list[Misconception] = []
    for name in TASKS if task is None else (task,):
        entries += importlib.import_module(f"autograder.misconceptions.{name}").ENTRIES
        if any(entry.task != name for entry in entries if entry.id.startswith(f"{name}-")):
            raise CatalogueError(f"an entry in {name}.py belongs to another task")
    ids = [entry.id for entry in entries]
    if len(set(ids)) != len(ids):
        raise CatalogueError(f"twice: {sorted({i for i in ids if ids.count(i) > 1})}")
    return entries
