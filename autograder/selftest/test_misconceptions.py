"""Is every known mistake caught by the tests meant to catch it, and no right style harmed?"""

from __future__ import annotations

import importlib
import re

import pytest

from autograder.misconceptions import TASKS, catalogue
from autograder.misconceptions.entry import Misconception
from autograder.selftest.harness import (
    FACTS,
    WarmWorker,
    lost,
    overridden,
    reference_files,
    run_task,
)

SEEDS = range(20)
SLIP = re.compile(r"raised (NameError|SyntaxError|IndentationError|UnboundLocalError|ImportError)")


def variants() -> list[tuple[str, str, str]]:
    """List the right implementations as (task, name, override)."""
    found = []
    for task in TASKS:
        module = importlib.import_module(f"autograder.selftest.right.{task}")
        found += [(task, name, override) for name, override in module.VARIANTS.items()]
    return found


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.id)
def test_mistake_is_caught(warm: WarmWorker, entry: Misconception) -> None:
    """Do the named tests fail?"""
    verdicts = run_task(warm, entry.task, overridden(entry.task, entry.override))
    assert set(entry.caught_by) <= lost(verdicts)
    # An override with a slip of ours would fail everything, and prove nothing.
    assert [verdict.message for verdict in verdicts.values() if SLIP.search(verdict.message)] == []


@pytest.mark.parametrize(
    ("task", "name", "override"), variants(), ids=lambda value: str(value).splitlines()[0][:40]
)
def test_right_style_keeps_every_point(
    warm: WarmWorker, task: str, name: str, override: str
) -> None:
    """Does a right implementation in another style keep every point?"""
    verdicts = run_task(warm, task, overridden(task, override))
    assert {test: verdicts[test].message for test in lost(verdicts)} == {}


@pytest.mark.parametrize("task", TASKS)
def test_every_hidden_test_can_fail(task: str) -> None:
    """Is each hidden test one that some mistake is known to fail?"""
    named = {test for entry in catalogue(task) for test in entry.caught_by}
    assert named == set(FACTS.tasks[task].tests)


@pytest.mark.parametrize("task", TASKS)
def test_verdicts_do_not_depend_on_the_seed(warm: WarmWorker, task: str) -> None:
    """Does the reference pass, and the first mistake fail the same tests, whatever the seed?"""
    mistake = overridden(task, catalogue(task)[0].override)
    found = set()
    for seed in SEEDS:
        assert not lost(run_task(warm, task, reference_files(), seed))
        found.add(frozenset(lost(run_task(warm, task, mistake, seed))))
    assert len(found) == 1
