"""Run the notebook's cells for one question, in a process of its own.

Cells may loop where no signal reaches them, end Python, or change it: whatever they do costs the
question that they belong to, and the next one finds this process as it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from nmt.answers import Reading, evaluate

STATEMENT_SHARE = 0.5  # of the time, for one statement: those behind an endless one are read, too
MAX_BYTES = 1 << 16  # of what the child says; a reading has some hundred
MAX_DESCRIPTORS = 1 << 12  # a worker may open far fewer


def read(cells: list[str], names: list[str], seconds: float) -> list[list[Any]]:
    """Return for each name what `nmt.answers.Reading` holds: state, value, text, times."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(theirs, cells, names, seconds * STATEMENT_SHARE)
    os.close(theirs)
    try:
        text, ended = _receive(ours, time.monotonic() + seconds)
    finally:
        os.close(ours)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    readings = _readings(text, len(names))
    return readings or [list(_lost(ended, os.waitstatus_to_exitcode(status)))] * len(names)


def _answer(channel: int, cells: Sequence[str], names: Sequence[str], seconds: float) -> NoReturn:
    """Evaluate, say what was found, and end without any of Python's last rites."""
    try:
        os.setsid()
        # The connection to the grader is not for the cells.
        os.closerange(3, channel)
        os.closerange(channel + 1, MAX_DESCRIPTORS)
        found = evaluate(cells, names, seconds)
        content = json.dumps([list(found[name]) for name in names]).encode()
        with open(channel, "wb", closefd=False) as file:
            file.write(content)
    finally:
        os._exit(0)


def _receive(channel: int, deadline: float) -> tuple[bytes, bool]:
    """Return what comes, and whether it came to its end before the deadline."""
    parts: list[bytes] = []
    while sum(map(len, parts)) <= MAX_BYTES:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([channel], [], [], remaining)[0]:
            return b"".join(parts), False
        part = os.read(channel, MAX_BYTES)
        if not part:
            return b"".join(parts), True
        parts.append(part)
    return b"", True


def _readings(text: bytes, count: int) -> list[list[Any]] | None:
    """Return the readings, if they are what the child sends when it comes to its end."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and len(found) == count else None


def _lost(ended: bool, status: int) -> Reading:
    """Say why a child said nothing."""
    if not ended:
        return Reading("slow", text="did not end")
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return Reading("crash", text=f"ended Python ({how})")
