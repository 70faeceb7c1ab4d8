"""`python -m nmt check`: run the public tests and say what is done, missing or wrong."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from nmt import worker
from nmt.answers import ANSWERS, TEXTS
from nmt.files import CHECKPOINT, HOME, NOTEBOOK, InputError
from nmt.worker import TASKS, Line, Report

COLOURS = {"done": "32", "missing": "33", "wrong": "31"}  # ANSI: green, yellow, red
INDENT = " " * 11
WIDTH = 80  # columns, as terminals have them unless they are made wider
FINE = ("number", "open")  # what an answer may be
MAX_NAMES = 6  # variables of the notebook that are not answered, or of its texts


@dataclass(frozen=True)
class Result:
    """Hold the state of a task and what to say about it."""

    state: str  # done, missing or wrong
    summary: str
    details: tuple[str, ...] = ()


def main(arguments: Sequence[str]) -> int:
    """Check the tasks named, or all; return 0 if they are all done.

    Raises:
        InputError: if pytest or a test file is missing.
    """
    from nmt.cli import Parser

    parser = Parser(prog="python -m nmt check", description="Run the public tests.")
    parser.add_argument("tasks", nargs="*", type=_task, metavar="task", help=", ".join(TASKS))
    tasks = parser.parse_args(arguments).tasks or list(TASKS)
    _check_setup(tasks)
    make_output_tolerant()

    results = {}
    for task in tasks:
        print(f"{task:<11}", end="", flush=True)  # shows what is being worked on
        results[task] = judge(worker.run("tests", task))
        _print_result(results[task])
    if set(tasks) == set(TASKS):  # who asks about one task is not at the training yet
        print(f"{'model':<11}{describe_model()}")
        written = judge_written()
        print(f"{'written':<11}{written.summary}")
        _print_details(written.details)
    print(f"\n{_next_step(results)}")
    return 0 if all(result.state == "done" for result in results.values()) else 1


def require(*packages: str) -> None:
    """Refuse to go on without packages, before something less clear fails.

    Raises:
        InputError: if one is not installed.
    """
    for name in packages:
        if find_spec(name) is None:
            raise InputError(
                f"{name} is not installed in {sys.executable}; activate the virtual environment, "
                "or run: python -m pip install -r requirements.txt"
            )


def make_output_tolerant() -> None:
    """Print a question mark for what the console cannot show, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def judge(report: Report) -> Result:
    """Tell from the report of a task's tests whether the task is done."""
    # Of the lines about a test the last one counts; "started" stays if the process ended there.
    tests = {line["test"]: line for line in report.lines if "test" in line}
    total = sum(line.get("collected", 0) for line in report.lines)
    passed = _with_outcome(tests.values(), "passed")
    missing = _with_outcome(tests.values(), "missing")
    wrong = _with_outcome(tests.values(), "failed", "started")
    summary = f"{len(passed)} of {total} tests pass"
    if report.fault or not total:
        broken = _with_outcome(tests.values(), "started") or [{"question": "Can the tests run?"}]
        fault = report.fault or "no; get the folder tests/ again from where you got this one."
        return Result("wrong", summary, (broken[-1]["question"], fault))
    to_write = _functions_to_write(missing)
    if wrong:
        details = (wrong[0]["question"], wrong[0]["message"], *to_write)
        return Result("wrong", summary, details)
    return Result("missing", summary, to_write) if missing else Result("done", summary)


def describe_model() -> str:
    """Say whether there is a trained model, and whether it loads."""
    if not CHECKPOINT.exists():
        return f"no {CHECKPOINT.name} yet; it comes from: python -m nmt train"
    report = worker.run("model")
    line = report.lines[-1] if report.lines else {}
    if "parameters" in line:
        return f"{CHECKPOINT.name} loads, {line['parameters']:,} parameters"
    return f"{CHECKPOINT.name} does not load: {line.get('error', report.fault)}"


def judge_written() -> Result:
    """Tell how many numbers of the notebook are filled in, and which ones are none.

    Whether they are right, only the grader knows.
    """
    nothing = ("As it is, the written questions score 0 points",)
    if not NOTEBOOK.is_file():
        again = "get it again from where you got this folder"
        return Result("missing", f"there is no {NOTEBOOK.name}; {again}", nothing)
    report, faults = _run_written()
    last = report.lines[-1] if report.lines else {}
    if "error" in last:
        return Result("wrong", last["error"], nothing)
    found = _collected(report, "answers")
    wrong = [f"{n} {_what_is_wrong(*said)}" for n, said in found.items() if said[0] not in FINE]
    # Of a run that was stopped, what was not assigned until then says nothing.
    wrong = [*faults, *([] if report.fault else wrong)]
    wrong += [_too_slow(*said) for said in _collected(report, "slow").items()]
    missing = [name for name, (state, _) in found.items() if state == "open"]
    texts = [part for part in TEXTS if part not in _collected(report, "texts")]
    filled = sum(state == "number" for state, _ in found.values())
    summary = (
        f"{filled} of {sum(map(len, ANSWERS.values()))} numbers of {NOTEBOOK.name} are filled in, "
        f"{len(TEXTS) - len(texts)} of {len(TEXTS)} texts written"
    )
    state = "wrong" if wrong else "missing" if missing or texts else "done"
    todo = (*_first_of("Still to answer", missing), *_first_of("Still to write", texts))
    return Result(state, summary, (*wrong, *todo))


def _run_written() -> tuple[Report, list[str]]:
    """Run the notebook, and again without each statement that stops it, a few times.

    Return the last report, and what stopped the runs.
    """
    left_out: list[str] = []
    faults: list[str] = []
    report = Report([], None)
    for timeout in worker.WRITTEN_TIMEOUTS:
        report = worker.run("written", *left_out, timeout=timeout)
        if not report.fault:
            break
        places = [line["at"] for line in report.lines if "at" in line]
        place = f", at `{places[-1][1]}`" if places else ""
        faults.append(f"the notebook{place}: {report.fault}")
        left_out += [str(number) for number, _ in places[-1:]]
    return report, faults


def _collected(report: Report, kind: str) -> dict[str, Any]:
    """Put together what the lines of one kind say; of what comes twice, the last."""
    return {name: said for line in report.lines for name, said in line.get(kind, {}).items()}


def _too_slow(text: str, seconds: float) -> str:
    return f"`{text}` takes {seconds:.1f} seconds: that may be too slow for the grader"


def _what_is_wrong(state: str, text: str) -> str:
    if state == "missing":
        return "is not assigned anywhere: was its line deleted?"
    return f"{text}; a number is wanted" if state == "odd" else f"has no value: its code {text}"


def _first_of(words: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return one line with some of the names, or nothing."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return (f"{words}: {', '.join(names[:MAX_NAMES])}{more}",) if names else ()


def _task(text: str) -> str:
    if text not in TASKS:
        raise argparse.ArgumentTypeError(f"no task {text!r}; the tasks are {', '.join(TASKS)}")
    return text


def _check_setup(tasks: Iterable[str]) -> None:
    """Refuse to start where every task would fail for the same reason."""
    require("torch", "pytest")
    for task in tasks:
        file = HOME / "tests" / f"test_{task}.py"
        if not file.is_file():
            raise InputError(f"{file} is missing; get it again from where you got this folder")


def _with_outcome(tests: Iterable[Line], *outcomes: str) -> list[Line]:
    return [line for line in tests if line["outcome"] in outcomes]


def _functions_to_write(missing: Iterable[Line]) -> tuple[str, ...]:
    """Return one line with the functions that the stubs' messages name, or nothing."""
    names = [line["message"].split(": ")[-1].split(" in ")[0] for line in missing]
    return (f"Still to write: {', '.join(dict.fromkeys(names))}",) if names else ()


def _first_unwritten() -> str | None:
    """Return the first task, in the table's order, that has a stub left or cannot be read."""
    from nmt.submission import find_stubs  # which imports this module

    for task, file in TASKS.items():
        try:
            if find_stubs(file):
                return task
        except InputError:
            return task
    return None


def _print_result(result: Result) -> None:
    print(f"{_coloured(result.state)}{' ' * (9 - len(result.state))}{result.summary}")
    _print_details(result.details)


def _print_details(details: Iterable[str]) -> None:
    for detail in details:
        print(textwrap.fill(detail, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT + "  "))


def _coloured(state: str) -> str:
    """Colour a word on a terminal that is known to understand it."""
    understands = os.name != "nt" or "WT_SESSION" in os.environ  # Windows Terminal does
    if sys.stdout.isatty() and understands and "NO_COLOR" not in os.environ:
        return f"\033[{COLOURS[state]}m{state}\033[0m"
    return state


def _next_step(results: dict[str, Result]) -> str:
    """Count the tasks that are done and say how to go on."""
    count = sum(result.state == "done" for result in results.values())
    summary = f"{count} of {len(results)} tasks done."
    for task, result in results.items():
        if result.state != "done":
            return f"{summary} Next: {TASKS[task]}, then: python -m nmt check {task}"
    if len(results) < len(TASKS):
        if unwritten := _first_unwritten():
            summary += f" Next: {TASKS[unwritten]}, then: python -m nmt check {unwritten}."
        return f"{summary} All tasks: python -m nmt check"
    command = "submit" if CHECKPOINT.exists() else "train"
    return f"{summary} The hidden tests try more than these. Next: python -m nmt {command}"
