"""Run hidden tests on many implementations in one warm worker, for the tests of the grader.

The code that runs here is our own, so it needs no isolation; what is tested is the hidden tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment.facts import load
from autograder.diagnosis import Diagnosis
from autograder.faults import StudentFault
from autograder.grade import PROJECT, run_hidden_tests
from autograder.intake import Submission
from autograder.plugin import HiddenTests
from autograder.results import Verdict
from autograder.sandbox.isolation import PlainIsolation
from autograder.sandbox.session import TaskRunner, Worker

REFERENCE = PROJECT / "reference"
FACTS = load()


class WarmWorker:
    """A plain worker that can be given other files without starting Python and torch again."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def serve(self, task: str, files: Mapping[str, bytes]) -> TaskRunner:
        """Return a runner of the task on these files."""
        runner = TaskRunner(task, files, PlainIsolation(FACTS.limits), FACTS.limits, 60.0)
        if self._worker is None or not self._worker.alive():
            self._worker = Worker(runner.isolation, files, FACTS.limits)
        self._worker.replace(files)
        try:
            runner.adopt(self._worker)
        except StudentFault:
            pass  # the runner remembers it, and every test reports it
        return runner

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()


class Lasting(Worker):
    """A plain worker for diagnoses that lives on, unless a known mistake hangs in it."""

    def request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request; after a fault the worker is of no more use."""
        try:
            return super().request(message, seconds)
        except StudentFault:
            super().close()
            raise

    def close(self) -> None:
        """Leave the worker to the next diagnosis."""


class Diagnoses:
    """Start diagnoses on one worker, which is started again only when it has ended."""

    def __init__(self) -> None:
        self._worker: Lasting | None = None

    def start(self, files: Mapping[str, bytes]) -> Worker:
        """Return the worker."""
        if self._worker is None or not self._worker.alive():
            self._worker = Lasting(PlainIsolation(FACTS.limits), files, FACTS.limits)
        self._worker.replace(files)
        return self._worker

    def new(self) -> Diagnosis:
        """Return the diagnosis of one run, with time enough on any machine."""
        return Diagnosis(self.start, seconds=100.0)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            super(Lasting, self._worker).close()


class Warm(HiddenTests):
    """The plugin, leaving its worker alive for the next implementation."""

    def _close(self) -> None:
        self._runner = None


def reference_files() -> dict[str, bytes]:
    """Return the reference's five files."""
    return {path: (REFERENCE / path).read_bytes() for path in FACTS.task_files.values()}


def overridden(task: str, override: str) -> dict[str, bytes]:
    """Return the reference's files, one of them with `override` after it."""
    files = reference_files()
    path = FACTS.task_files[task]
    files[path] += f"\n\n{override}\n".encode()
    return files


def run_task(
    warm: WarmWorker,
    task: str,
    files: Mapping[str, bytes],
    seed: int = 0,
    diagnoses: Diagnoses | None = None,
) -> dict[str, Verdict]:
    """Run one task's hidden tests on these files: test name -> verdict."""
    plugin = Warm(
        FACTS, [task], Submission(dict(files)), seed, lambda name: warm.serve(name, files)
    )
    plugin.diagnosis = diagnoses.new() if diagnoses is not None else None
    run_hidden_tests(plugin)
    return {result.name: result for result in plugin.results}


def lost(verdicts: Mapping[str, Verdict]) -> set[str]:
    """Name the tests that did not give their full score."""
    return {name for name, result in verdicts.items() if result.score < result.max_score}
