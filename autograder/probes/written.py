"""Run the notebook's cells in processes of their own, and say what numbers they gave.

Cells may loop where no signal reaches them, end Python, or change it. Whatever they do, what was
read before stays: a process says each answer as soon as there is one. The statement that ended it,
or at which it had to be ended, is left out, and the others are run again in a new process.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nmt.answers import LEAST_SHARE, STATEMENT_SHARE, STATES, Reading, Run, better
from nmt.statements import needed, parse

GRACE = 0.3  # seconds that a signal may take to end a statement, on half a core
PART = 1 << 16  # bytes, what a pipe holds
LONGEST_LINE = 1 << 13  # bytes of what a process says at a time; a reading has some hundred
MAX_DESCRIPTORS = 1 << 12  # a worker may open far fewer

Lost = dict[int, Reading]  # statements that are left out, and what that costs their answers


@dataclass
class Pass:
    """What one process has said so far."""

    readings: dict[str, Reading]
    deadline: float  # on the monotonic clock
    patience: float  # until when it must say that it is at the next statement
    at: int | None = None  # the statement that it runs
    text: str = ""  # of that statement
    slow: Lost = field(default_factory=dict)  # statements that it stopped by itself
    ended: bool = False

    def hear(self, line: bytes) -> None:
        """Take what a process says; it may be the notebook's invention.

        Raises:
            ValueError, RecursionError: it is nothing that `_work` says.
        """
        match json.loads(line):
            case ["at", int(index), str(text)]:
                self.at, self.text = index, text
                self._wait()
            case ["took", float(_), bool(stopped)]:
                if stopped and self.at is not None:
                    self.slow[self.at] = self.lost("slow", "did not end")
                self._wait()
            case ["answer", str(name), str(state), float(value), str(text), int(times)] if (
                name in self.readings and state in STATES
            ):
                self.readings[name] = Reading(state, value, text, times)
            case ["end"]:
                self.ended = True
            case _:
                raise ValueError

    def lost(self, state: str, how: str) -> Reading:
        """Say what the statement that runs costs its answers."""
        return Reading(state, text=f"{how} at `{self.text}`" if self.text else how)

    def _wait(self) -> None:
        now = time.monotonic()
        self.patience = now + max(self.deadline - now, 0) * STATEMENT_SHARE + GRACE


def read(cells: list[str], names: list[str], seconds: float, whole: bool) -> list[list[Any]]:
    """Return for each name what `nmt.answers.Reading` holds: state, value, text, times.

    All statements are run, or only those that the names depend on.
    """
    deadline = time.monotonic() + seconds
    found = {name: Reading("missing") for name in names}
    lost: Lost = {}
    while True:
        one, fault = _run(cells, names, whole, lost, deadline)
        found = {name: better(found[name], one.readings[name]) for name in names}
        if fault is None:
            break
        if one.at is None or one.at in lost or deadline - time.monotonic() < seconds * LEAST_SHARE:
            found = {name: better(fault, reading) for name, reading in found.items()}
            break
        lost = {**lost, **one.slow, one.at: fault}
    return [list(found[name]) for name in names]


def _run(
    cells: Sequence[str], names: Sequence[str], whole: bool, lost: Lost, deadline: float
) -> tuple[Pass, Reading | None]:
    """Run what is not lost in a new process; return what it said, and what ended it early."""
    one = Pass({name: Reading("missing") for name in names}, deadline, deadline)
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _work(theirs, cells, one, whole, lost)
    os.close(theirs)
    try:
        end = _follow(ours, one)
    finally:
        os.close(ours)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if end == "closed":
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return one, one.lost("crash", f"ended Python ({how})")
    if end == "broken":
        return one, one.lost("crash", "changed how the grader reads answers")
    return one, one.lost("slow", "did not end") if end == "late" else None


def _work(channel: int, cells: Sequence[str], one: Pass, whole: bool, lost: Lost) -> NoReturn:
    """Run statements, say what is found, and end without any of Python's last rites."""

    def tell(*event: object) -> None:
        os.write(channel, json.dumps(event).encode() + b"\n")

    try:
        os.setsid()
        # The connection to the grader is not for the cells.
        os.closerange(3, channel)
        os.closerange(channel + 1, MAX_DESCRIPTORS)
        names = list(one.readings)
        statements = parse(cells) if whole else needed(parse(cells), names)
        Run(statements, names, one.deadline - time.monotonic(), tell, lost).all()
        tell("end")
    finally:
        os._exit(0)


def _follow(channel: int, one: Pass) -> str:
    """Hear what a process says until it has `ended`, or is `late`, `closed` or `broken`."""
    rest = b""
    while not one.ended:
        remaining = min(one.patience, one.deadline) - time.monotonic()
        if remaining <= 0 or not select.select([channel], [], [], remaining)[0]:
            return "late"
        part = os.read(channel, PART)
        if not part:
            return "closed"
        *lines, rest = (rest + part).split(b"\n")
        try:
            for line in lines:
                one.hear(line)
        except (ValueError, RecursionError):
            return "broken"
        if len(rest) > LONGEST_LINE:
            return "broken"
    return "ended"
