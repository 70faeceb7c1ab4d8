"""Grade one submission: intake, workers, hidden tests, results, in that order."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
import torch

from assignment.facts import Facts, FactsError, load
from autograder import feedback, intake, results
from autograder.diagnosis import Diagnosis
from autograder.faults import GraderFault
from autograder.intake import IntakeError, Submission
from autograder.plugin import HiddenTests
from autograder.results import Results
from autograder.sandbox import session
from autograder.sandbox.isolation import Isolation, choose, describe
from autograder.sandbox.session import TaskRunner, start_worker

PROJECT = Path(__file__).resolve().parents[1]
HIDDEN_TESTS = PROJECT / "autograder" / "hidden_tests"
AGAIN_SECONDS = 5.0  # between two calls to stop
MAX_IGNORED = 10  # names of ignored files in the output
PYTEST_OPTIONS = [
    *("-c", os.devnull, "--rootdir", str(HIDDEN_TESTS), "--import-mode=importlib"),
    *("-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler", "--noconftest"),
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 whenever grading was completed, whatever the score."""
    options = parse(arguments)
    try:
        facts = load()
        tasks = task_list(options.tasks, facts)
        results.clear(options.out)  # first, so that an older result is never taken for this one
        submission = intake.read(options.submission, facts)
        show(f"Grading {options.submission}")
        with stop_after(facts.limits.stop_seconds), closing(choose(facts.limits)) as isolation:
            session.probe(isolation, facts.limits)
            graded = grade(
                submission,
                facts,
                tasks=tasks,
                seed=options.seed,
                isolation=isolation,
                save=lambda partial: results.write(partial, options.out),
            )
        written = results.write(graded, options.out)
        report = feedback.write_report(graded, facts, options.out)
    except (IntakeError, FactsError, results.OutputError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        some = (options.out / "results.json").exists()
        kept = f"{options.out} holds the tasks that were over" if some else "nothing was graded yet"
        print(f"\ngrade: stopped; {kept}", file=sys.stderr)
        return 130
    except Exception as fault:
        # Ours, not the student's. No results file: the platform then reports a failed autograder to
        # staff, not a score of 0.
        if not isinstance(fault, GraderFault):
            traceback.print_exc()
        print(f"grade: the grader failed, and nobody was graded: {fault}", file=sys.stderr)
        with contextlib.suppress(results.OutputError):
            results.clear(options.out)
        return 3
    show(f"\n{feedback.summary(graded, facts)}\n\nWritten: {written}, {report}")
    return 0


@contextmanager
def stop_after(seconds: float) -> Iterator[None]:
    """End a grading that hangs on our side, before the platform does and keeps nothing.

    Raises:
        GraderFault: out of whatever runs when the time is over.
    """

    def stop(*_: object) -> None:
        raise GraderFault(f"grading was not over after {seconds:.0f} s")

    handler = signal.signal(signal.SIGALRM, stop)
    started = time.monotonic()
    # And again: some places take a fault for one that can be tried anew.
    rest, _ = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        passed = time.monotonic() - started
        signal.setitimer(signal.ITIMER_REAL, max(rest - passed, 0.1) if rest else 0.0)
        signal.signal(signal.SIGALRM, handler)


class Parser(argparse.ArgumentParser):
    """Say in one line what is wrong with a command."""

    def error(self, message: str) -> NoReturn:
        """Print the line and end."""
        self.exit(2, f"{self.prog}: {message}\n")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(prog="grade", description=__doc__)
    parser.add_argument("--submission", type=Path, default=PROJECT / "reference")
    parser.add_argument("--out", type=Path, default=PROJECT / "build" / "results")
    parser.add_argument("--tasks", default="", help="comma-separated task ids; default: all")
    parser.add_argument("--seed", type=int, default=None, help="of the inputs; default: a new one")
    options = parser.parse_args(arguments)
    if options.submission == Path():
        parser.error("SUBMISSION is empty; give a folder or a zip, or leave it out")
    if options.seed is None:
        options.seed = secrets.randbelow(10**6)
    return options


def task_list(names: str, facts: Facts) -> list[str]:
    """Return the wanted task ids.

    Raises:
        IntakeError: one is unknown.
    """
    wanted = names.replace(",", " ").split()
    for name in wanted:
        if name not in facts.tasks:
            raise IntakeError(f"unknown task {name!r}; the tasks are {', '.join(facts.tasks)}")
    return wanted or list(facts.tasks)


def grade(
    submission: Submission,
    facts: Facts,
    *,
    tasks: list[str],
    seed: int,
    isolation: Isolation,
    save: Callable[[Results], object] = lambda partial: None,
) -> Results:
    """Grade a submission and return the results; `save` gets their state after each task.

    Raises:
        GraderFault: something on the trusted side went wrong.
    """
    started = time.monotonic()
    limits = facts.limits
    seen: feedback.Seen = {}

    def make_runner(task: str) -> TaskRunner:
        seconds = limits.translate_seconds if task == "translate" else limits.task_seconds
        files = task_files(submission, facts)
        deadline = started + limits.total_seconds
        return TaskRunner(
            task, files, isolation, limits, seconds, deadline=deadline, ignored=submission.ignored
        )

    def state(*, complete: bool) -> Results:
        return Results(
            tests=[*plugin.results, *([] if complete else plugin.pending())],
            submission=submission.name,
            output=output_text(submission),
            seed=seed,
            isolation=describe(isolation),
            seconds=time.monotonic() - started,
            leaderboard=plugin.leaderboard,
            complete=complete,
        )

    plugin = HiddenTests(
        facts,
        tasks,
        submission,
        seed,
        make_runner,
        progress=lambda verdict: show(feedback.verdict(verdict, seen)),
        checkpoint=lambda: save(state(complete=False)),
        diagnosis=Diagnosis(
            lambda files: start_worker(isolation, files, limits), limits.diagnosis_seconds
        ),
    )
    run_hidden_tests(plugin)
    return state(complete=True)


def run_hidden_tests(plugin: HiddenTests) -> None:
    """Run pytest on the files of the plugin's tasks; the verdicts are in the plugin then.

    Raises:
        GraderFault: a hidden test broke instead of giving a verdict.
    """
    torch.set_num_threads(1)  # more would only wait for each other on tensors as small as these
    paths = [str(HIDDEN_TESTS / f"test_{task}.py") for task in plugin.tasks]
    status = pytest.main([*paths, *PYTEST_OPTIONS], plugins=[plugin])
    if plugin.fault is not None:
        raise GraderFault(f"{type(plugin.fault).__name__}: {plugin.fault}") from plugin.fault
    if status == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise GraderFault(f"the hidden tests could not be run (pytest: {status!r})")


def task_files(submission: Submission, facts: Facts) -> Mapping[str, bytes]:
    """Return the student's Python files, which a worker's folder gets."""
    return {
        path: submission.files[path]
        for path in facts.task_files.values()
        if path in submission.files
    }


def output_text(submission: Submission) -> str:
    """Return the text above the tests: what the intake found missing, and what it ignored."""
    problems = submission.problems.values()
    found = ["Some files could not be used:", *problems] if problems else ["All files were found."]
    return "\n".join([*found, *ignored_text(submission.ignored)])


def ignored_text(paths: Sequence[str]) -> list[str]:
    """Return one line on the files that were ignored, if there are any."""
    if not paths:
        return []
    more = f" and {len(paths) - MAX_IGNORED:,} more" if len(paths) > MAX_IGNORED else ""
    listed = ", ".join(paths[:MAX_IGNORED])
    return [f"Ignored, as only the assignment's own files are graded: {listed}{more}."]


def show(text: str) -> None:
    """Print as the run goes on; who no longer listens must not stop it."""
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
