"""Hold one task's worker on the trusted side: start it, call it, bound it, bury it."""

from __future__ import annotations

import math
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from assignment.facts import Limits
from autograder.faults import (
    CallTimeout,
    ForbiddenShortcut,
    GraderFault,
    NotRun,
    StudentFault,
    WorkerCrashed,
)
from autograder.sandbox import wire
from autograder.sandbox.errors import student_error
from autograder.sandbox.isolation import Isolation
from autograder.sandbox.workspace import workspace

STDERR_BYTES = 2000  # of a worker that does not start, for staff
POLL_SECONDS = 0.1  # between two looks at whether a silent worker is still there


def start_worker(isolation: Isolation, files: Mapping[str, bytes], limits: Limits) -> Worker:
    """Start a worker, and once more if it fails: a busy machine must not cost anybody a result."""
    try:
        return Worker(isolation, files, limits)
    except GraderFault:
        return Worker(isolation, files, limits)


def probe(isolation: Isolation, limits: Limits) -> None:
    """Start a worker without a submission, which tells what is enforced here.

    Raises:
        GraderFault: less than must be.
    """
    start_worker(isolation, {}, limits).close()


class Worker:
    """One live worker process and its channel."""

    def __init__(self, isolation: Isolation, files: Mapping[str, bytes], limits: Limits) -> None:
        self.isolation, self.limits = isolation, limits
        with ExitStack() as stack:  # undone if the worker does not start
            self.folder = folder = stack.enter_context(workspace(files))
            isolation.prepare(folder)
            stderr = stack.enter_context(tempfile.TemporaryFile())
            self._channel, theirs = socket.socketpair()
            stack.callback(self._channel.close)
            with theirs:
                self._process = isolation.start(folder, theirs.fileno(), stderr.fileno())
            stack.callback(isolation.kill, self._process)
            try:
                # No line of the student's has run yet: this can be trusted, and is no one's fault.
                isolation.verify(self._receive(limits.start_seconds))
            except StudentFault as fault:
                stderr.seek(0)
                text = stderr.read(STDERR_BYTES).decode(errors="replace").strip()
                reason = text or f"no answer within {limits.start_seconds:.0f} s, or an early end"
                raise GraderFault(f"a worker did not start: {reason}") from fault
            self._stack = stack.pop_all()

    def request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and return the answer.

        Raises:
            CallTimeout, WorkerCrashed: the worker is of no more use and must be closed.
        """
        try:
            self._channel.settimeout(seconds)
            wire.send(self._channel, message)
        except TimeoutError:
            raise _timeout(seconds) from None
        except OSError:
            raise self._crash() from None
        answer = self._receive(seconds)
        if not isinstance(answer, dict) or not {"value", "error"} & set(answer):
            raise WorkerCrashed("Your code broke the connection to the grader.")
        return answer

    def _receive(self, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        self._wait(deadline, seconds)
        try:
            return wire.receive(self._channel, limit=self.limits.message_bytes, deadline=deadline)
        except TimeoutError:
            raise _timeout(seconds) from None
        except (wire.Closed, OSError):
            raise self._crash() from None
        except wire.WireError as error:
            raise WorkerCrashed(f"Your code's answer could not be read: {error}.") from None

    def _wait(self, deadline: float, seconds: float) -> None:
        """Wait for an answer to begin, and notice when the worker has ended without one.

        The channel alone does not tell: a child of the worker may hold it open.
        """
        while not select.select([self._channel], [], [], POLL_SECONDS)[0]:
            if self._process.poll() is not None:
                raise self._crash()
            if time.monotonic() > deadline:
                raise _timeout(seconds)

    def _crash(self) -> WorkerCrashed:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return WorkerCrashed("Your code closed its connection to the grader.")
        if code < 0:
            return WorkerCrashed(
                f"The process of your code was killed by signal {-code} (out of memory, a limit of "
                "the sandbox, or a call such as os.abort)."
            )
        return WorkerCrashed(
            f"The process of your code ended with exit status {code} in the middle of a call. "
            "Remove calls such as sys.exit or os._exit."
        )

    def close(self) -> None:
        """Kill the worker and all its processes, and remove its folder."""
        self._stack.close()

    def alive(self) -> bool:
        """Tell whether the worker's process still runs."""
        return self._process.poll() is None

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Lay other files into the folder; they count from the next `load` on."""
        for name, content in files.items():
            (self.folder / name).write_bytes(content)


def _timeout(seconds: float) -> CallTimeout:
    return CallTimeout(
        f"Your code did not answer within {seconds:.0f} seconds, many times what the reference "
        "needs. Look for an endless loop."
    )


@dataclass(frozen=True)
class Call:
    """One call of a probe and the worker's reply: {"value": ...} or {"error": ...}."""

    function: str
    inputs: Mapping[str, Any] = field(repr=False)
    seed: int
    reply: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def message(self) -> dict[str, Any]:
        """Return what a worker is asked."""
        return {"call": self.function, "inputs": self.inputs, "seed": self.seed}


@dataclass
class TaskRunner:
    """Call one task's probes in its worker, and start a fresh one after a crash or timeout.

    `record` holds the calls that were answered since it was last emptied.
    """

    task: str
    files: Mapping[str, bytes] = field(
        repr=False
    )  # what the worker's folder gets from the submission
    isolation: Isolation
    limits: Limits
    seconds: float  # for all calls together
    deadline: float = math.inf  # on the monotonic clock, for whatever the time goes into
    ignored: Sequence[str] = ()  # files of the submission that the worker's folder does not get
    calls: int = 0
    record: list[Call] = field(default_factory=list, repr=False)
    memory: dict[str, Any] = field(default_factory=dict, repr=False)  # from a test to later ones
    _worker: Worker | None = None
    _unloadable: StudentFault | None = None
    _starts: int = 0
    _spent: float = field(default=0.0)

    def call(self, function: str, /, **inputs: Any) -> Any:
        """Call the probe's `function` on the inputs and return what the student's code gave.

        Raises:
            StudentFault: of the kind that says what went wrong.
        """
        worker = self._ready()
        self.calls += 1
        # Not the run's seed: who knows that one can draw all later inputs.
        call = Call(function, inputs, self.calls)
        answer = self._request(worker, call.message)
        self.record.append(replace(call, reply=answer))
        return self._value(answer)

    def ask(self, function: str, inputs: Mapping[str, Any], seconds: float) -> Call | None:
        """Call what lives, off the record; None if nothing does, or does not answer in time."""
        if self._worker is None or self._unloadable is not None:
            return None
        call = Call(function, inputs, seed=0)
        try:
            return replace(call, reply=self._worker.request(call.message, seconds))
        except StudentFault:
            self.close()
            return None

    def adopt(self, worker: Worker) -> None:
        """Load the task in a worker that lives already; it stays somebody else's to close."""
        self._worker = worker
        self._starts = self.limits.restarts + 1
        self._load(worker)

    def close(self) -> None:
        """End the worker, if there is one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _ready(self) -> Worker:
        if self._unloadable is not None:
            raise self._unloadable.with_traceback(None)  # or it would grow from test to test
        if self._remaining() <= 0:
            raise NotRun("Not run: earlier tests of this task used up its time.")
        if self._worker is None:
            if self._starts > self.limits.restarts:
                raise NotRun(
                    "Not run: your code ended or hung in several earlier tests of this task."
                )
            self._starts += 1
            self._worker = start_worker(self.isolation, self.files, self.limits)
            self._load(self._worker)
        return self._worker

    def _load(self, worker: Worker) -> None:
        try:
            self._value(self._request(worker, {"load": self.task}))
        except StudentFault as fault:
            self._unloadable = fault  # loading again would end the same way
            raise

    def _request(self, worker: Worker, message: dict[str, Any]) -> dict[str, Any]:
        started = time.monotonic()
        try:
            return worker.request(message, min(self.limits.call_seconds, self._remaining()))
        except StudentFault:
            self.close()
            raise
        finally:
            self._spent += time.monotonic() - started

    def _value(self, answer: Mapping[str, Any]) -> Any:
        """Return what the student's code returned, or raise what it raised."""
        if "error" not in answer:
            return answer["value"]
        fault = student_error(answer["error"], self.ignored)
        if isinstance(fault, ForbiddenShortcut):
            self._unloadable = fault  # it costs the whole task, so nothing more needs to run
        raise fault

    def _remaining(self) -> float:
        return min(self.seconds - self._spent, self.deadline - time.monotonic())
