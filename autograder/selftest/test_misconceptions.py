"""Is every known mistake caught where it must be, and named, and is no right style harmed?"""

from __future__ import annotations

import importlib
import re

import pytest

from autograder.misconceptions import TASKS, catalogue
from autograder.misconceptions.entry import Misconception
from autograder.selftest.catalogue_table import PATH, document, row, rows
from autograder.selftest.harness import (
    FACTS,
    Diagnoses,
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
def test_mistake_is_caught_and_named(
    warm: WarmWorker, diagnoses: Diagnoses, entry: Misconception
) -> None:
    """Do the named tests fail, by this mistake's name and no other, as the table says?"""
    files = overridden(entry.task, entry.override)
    verdicts = run_task(warm, entry.task, files, diagnoses=diagnoses)
    assert entry.id in rows(), "not in CATALOGUE.md: run make catalogue"
    assert rows()[entry.id] == row(entry, verdicts)
    told = {verdict.misconception for verdict in verdicts.values()} - {None}
    assert told == (set() if entry.unnamed else {entry.id})
    assert set(entry.caught_by) <= lost(verdicts)
    # An override with a slip of ours would fail everything, and prove nothing.
    assert [verdict.message for verdict in verdicts.values() if SLIP.search(verdict.message)] == []


@pytest.mark.parametrize(
    ("task", "name", "override"), variants(), ids=lambda value: str(value).splitlines()[0][:40]
)
def test_right_style_keeps_every_point(
    warm: WarmWorker, diagnoses: Diagnoses, task: str, name: str, override: str
) -> None:
    """Does a right implementation in another style keep every point, and get no mistake's name?"""
    verdicts = run_task(warm, task, overridden(task, override), diagnoses=diagnoses)
    assert {verdict.misconception for verdict in verdicts.values()} == {None}
    assert {test: verdicts[test].message for test in lost(verdicts)} == {}


def test_table_lists_every_mistake() -> None:
    """Has the table one row for each mistake, and is it as the generator writes it?"""
    assert list(rows()) == [entry.id for entry in catalogue()]
    assert PATH.read_text(encoding="utf-8") == document(rows())


def test_few_mistakes_have_no_name() -> None:
    """Are at least nine mistakes in ten named?"""
    entries = catalogue()
    assert sum(not entry.unnamed for entry in entries) >= 0.9 * len(entries)


@pytest.mark.parametrize("task", TASKS)
def test_every_hidden_test_can_fail(task: str) -> None:
    """Is each hidden test one that some mistake is known to fail?"""
    named = {test for entry in catalogue(task) for test in entry.caught_by}
    assert named == set(FACTS.tasks[task].tests)


@pytest.mark.parametrize("task", TASKS)
def test_no_task_reads_the_files_of_others(warm: WarmWorker, task: str) -> None:
    """Does a task keep its points whatever stands in the other files: does none cost elsewhere?"""
    files = dict.fromkeys(reference_files(), b"raise RuntimeError('of another task')\n")
    own = FACTS.task_files[task]
    files[own] = reference_files()[own]
    assert not lost(run_task(warm, task, files))


@pytest.mark.parametrize("task", TASKS)
def test_verdicts_do_not_depend_on_the_seed(warm: WarmWorker, task: str) -> None:
    """Does the reference pass, and the first mistake fail the same tests, whatever the seed?"""
    mistake = overridden(task, catalogue(task)[0].override)
    found = set()
    for seed in SEEDS:
        assert not lost(run_task(warm, task, reference_files(), seed))
        found.add(frozenset(lost(run_task(warm, task, mistake, seed))))
    assert len(found) == 1
