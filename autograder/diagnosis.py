"""Name the mistake behind failed tests: the one known mistake that gives what was returned.

When a task is done and its worker is dead, each known mistake that would fail the same tests is
laid over the reference, in one worker of the grader's own, and gets the recorded calls. A mistake
is named where it alone explains what the student's code returned. Where several do, or none, or
where time runs out, nobody guesses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from pathlib import Path

from assignment.facts import load
from autograder import examples
from autograder.examples import Example
from autograder.faults import CallTimeout, GraderFault, StudentFault
from autograder.hidden_tests.compare import TOLERANCES
from autograder.likeness import Reply, same_reply
from autograder.misconceptions import TASKS, catalogue
from autograder.misconceptions.entry import Misconception
from autograder.results import Verdict
from autograder.sandbox.session import Call, TaskRunner, Worker

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
EXAMPLE_SECONDS = 2.0  # of the student's code on one example; a right answer takes far less
ENOUGH = 6  # wrong answers of one test; so many are the same by no chance
FILES = load().task_files
Start = Callable[[Mapping[str, bytes]], Worker]


class GivenUp(Exception):
    """The diagnosis has used up its time, or cannot be made."""


@dataclass(frozen=True)
class Record:
    """What the student's code returned: in one failed test, up to its failure, or on one example.

    `tests` are the hidden tests that it tells about; `exact`: the kinds of values count.
    """

    tests: tuple[str, ...]
    calls: tuple[Call, ...]
    failed: bool = True
    right: tuple[Reply, ...] = ()
    exact: bool = False


@dataclass(frozen=True)
class Shown:
    """A public example, and what the student's code returned on it."""

    example: Example
    call: Call

    @property
    def record(self) -> Record:
        """Return the call as evidence."""
        return Record(self.example.tests, (self.call,), failed=False)


class Finding(Enum):
    """How a known mistake stands to a record."""

    SAME = "it returns what the student's code returned"
    SILENT = "it returns what is right: the record is about something else"
    OTHER = "it returns something else"


@dataclass
class Bench:
    """Run the calls of records on the reference with something laid over it."""

    task: str
    start: Start
    deadline: float
    _worker: Worker | None = None

    def __post_init__(self) -> None:
        self.file = FILES[self.task]
        # Outside of BLEU, a Python float comes out of float32.
        self.relative = TOLERANCES.bleu if self.task == "bleu" else TOLERANCES.float32

    def load(self, override: str = "") -> bool:
        """Lay code over the reference, and tell whether that can be loaded."""
        if self._worker is None:
            self._remaining()
            try:
                self._worker = self.start({self.file: (REFERENCE / self.file).read_bytes()})
            except GraderFault:
                raise GivenUp from None
            self._ask({"load": self.task})
        reply = self._ask({"load": self.task, "file": self.file, "override": override})
        return reply is not None and "error" not in reply

    def replies(self, calls: Iterable[Call]) -> Iterable[Reply]:
        """Yield the replies to the calls, one after the other, and end where there is none."""
        for call in calls:
            reply = self._ask(call.message)
            if reply is None:
                return
            yield reply

    def _ask(self, message: dict[str, object]) -> Reply | None:
        seconds = self._remaining()
        if self._worker is None:
            return None
        try:
            return self._worker.request(message, seconds)
        except CallTimeout:  # what was not seen cannot be ruled out
            raise GivenUp from None
        except StudentFault:  # it ended: a mistake may do that
            self.close()
            return None

    def _remaining(self) -> float:
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise GivenUp
        return remaining

    def same(self, one: Reply, other: Reply, exact: bool) -> bool:
        """Compare two replies with the tolerance of the task."""
        return same_reply(one, other, relative=self.relative, exact=exact)

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def judge(self, record: Record) -> Finding:
        """Hold what is loaded against a record."""
        student = right = True
        number = 0
        for number, reply in enumerate(self.replies(record.calls), start=1):
            call, true = record.calls[number - 1], record.right[number - 1]
            student = student and self.same(reply, call.reply, record.exact)
            # On an example nothing else is in the way: what the entry gives, the student gives.
            right = right and record.failed and self.same(reply, true, record.exact)
            if not (student or right):
                return Finding.OTHER
        if number < len(record.calls):
            return Finding.OTHER
        return Finding.SILENT if right else Finding.SAME


@dataclass
class Diagnosis:
    """Name mistakes in one grading run, within `seconds` for all tasks together."""

    start: Start
    seconds: float

    def ask(self, task: str, runner: TaskRunner) -> list[Shown]:
        """Run the task's public examples in the student's worker, if that still lives."""
        started, shown = time.monotonic(), []
        for example in examples.EXAMPLES.get(task, ()):
            remaining = self.seconds - (time.monotonic() - started)
            call = None
            if remaining > 0:
                call = runner.ask(example.function, example.inputs, min(EXAMPLE_SECONDS, remaining))
            if call is None:
                break
            shown.append(Shown(example, call))
        self.seconds -= time.monotonic() - started
        return shown

    def complete(
        self, task: str, verdicts: Sequence[Verdict], failures: Sequence[Record], shown: list[Shown]
    ) -> list[Verdict]:
        """Add to each failed test the mistake behind it and an example, where there are any.

        Whatever goes wrong here costs a hint and nothing else.
        """
        failed = {verdict.name for verdict in verdicts if verdict.outcome != "passed"}
        try:
            named = self.name(task, failed, [*failures, *(item.record for item in shown)])
            return [
                told(verdict, named.get(verdict.name), shown) if verdict.name in failed else verdict
                for verdict in verdicts
            ]
        except GraderFault:  # the time of the whole run is over
            raise
        except Exception:
            return list(verdicts)

    def name(
        self, task: str, failed: set[str], records: Sequence[Record]
    ) -> dict[str, Misconception]:
        """Return the mistake of each failed test that has one: test -> entry of the catalogue."""
        if task not in TASKS:
            return {}
        candidates = [e for e in catalogue(task) if set(e.caught_by) <= failed]
        if not candidates or not any(record.failed for record in records):
            return {}
        started = time.monotonic()
        bench = Bench(task, self.start, started + self.seconds)
        try:
            records = informed(bench, records)
            found = {e.id: explained(bench, e, records) for e in candidates}
        except GivenUp:
            return {}
        finally:
            bench.close()
            self.seconds -= time.monotonic() - started
        return {
            test: entry
            for test in failed
            for entry in candidates
            if stands_out(entry.id, test, found)
        }


def informed(bench: Bench, records: Sequence[Record]) -> list[Record]:
    """Add what is right to the records, and leave out what tells nothing or nothing more."""
    if not bench.load():
        return []
    done = []
    for record in records:
        right, wrong, kinds = [], 0, False
        for call, reply in zip(record.calls, bench.replies(record.calls)):
            right.append(reply)
            wrong += not bench.same(reply, call.reply, exact=False)
            kinds |= not bench.same(reply, call.reply, exact=True)
            if wrong == ENOUGH:
                break
        # Kinds count only where nothing else is wrong, so that a list in the place of a tuple does
        # not hide another mistake.
        if wrong or kinds or not record.failed:
            calls = record.calls[: len(right)]
            exact = record.failed and not wrong
            done.append(replace(record, calls=calls, right=tuple(right), exact=exact))
    return done


def explained(bench: Bench, entry: Misconception, records: Sequence[Record]) -> set[str]:
    """Name the failed tests in which the student's code returned what the entry gives.

    None of them, if the entry contradicts a record of a test that it is known to fail.
    """
    own: list[Record] = []
    others: list[Record] = []
    for record in records:
        (own if set(record.tests) & set(entry.caught_by) else others).append(record)
    if not any(record.failed for record in own) or not bench.load(entry.override):
        return set()
    found: set[str] = set()
    for record in sorted(own, key=lambda record: record.failed):  # examples first: they are short
        finding = bench.judge(record)
        if finding is Finding.OTHER:
            return set()
        if finding is Finding.SAME and record.failed:
            found.update(record.tests)
    if found:
        failed = [record for record in others if record.failed]
        found.update(r.tests[0] for r in failed if bench.judge(r) is Finding.SAME)
    return found


def stands_out(entry: str, test: str, found: Mapping[str, set[str]]) -> bool:
    """Tell whether the entry explains a test, and more than every other entry that does."""
    return test in found[entry] and all(
        tests < found[entry] for other, tests in found.items() if test in tests and other != entry
    )


def told(verdict: Verdict, entry: Misconception | None, shown: Sequence[Shown]) -> Verdict:
    """Return the verdict with the mistake's belief and advice, and an example, in its message."""
    lines = [verdict.message]
    if entry is not None:
        lines += [f"This is what comes of the belief: {entry.belief}", f"Hint: {entry.advice}"]
    about = (item for item in shown if verdict.name in item.example.tests)
    texts = (text for item in about if (text := item.example.text(item.call)) is not None)
    lines += [f"Check by hand: {text}" for text in islice(texts, 1)]
    name = verdict.misconception if entry is None else entry.id
    return replace(verdict, message="\n".join(lines), misconception=name)
