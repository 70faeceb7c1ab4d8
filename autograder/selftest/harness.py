"""Run hidden tests on many implementations in one warm worker, for the tests of the grader.

The code that runs here is our own, so it needs no isolation; what is tested is the hidden tests.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignment.facts import load
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
    warm: WarmWorker, task: str, files: Mapping[str, bytes], seed: int = 0
) -> dict[str, Verdict]:
    """Run one task's hidden tests on these files: test name -> verdict."""
    plugin = Warm(
        FACTS, [task], Submission(dict(files)), seed, lambda name: warm.serve(name, files)
    )
    run_hidden_tests(plugin)
    return {result.name: result for result in plugin.results}


def lost(verdicts: Mapping[str, Verdict]) -> set[str]:
    """Name the tests that did not give their full score."""
    return {name for name, result in verdicts.items() if result.score < result.max_score}
