"""Fixtures of the grader's own tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from autograder.sandbox.isolation import Isolation, choose
from autograder.selftest.harness import FACTS, Diagnoses, WarmWorker


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmWorker]:
    """One worker for all implementations that are ours."""
    worker = WarmWorker()
    yield worker
    worker.close()


@pytest.fixture(scope="session")
def diagnoses() -> Iterator[Diagnoses]:
    """One worker for all diagnoses."""
    diagnoses = Diagnoses()
    yield diagnoses
    diagnoses.close()


@pytest.fixture(scope="session")
def isolation() -> Iterator[Isolation]:
    """The isolation that real grading uses here."""
    with contextlib.closing(choose(FACTS.limits)) as chosen:
        yield chosen
