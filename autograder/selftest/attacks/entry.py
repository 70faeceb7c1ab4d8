"""What one attack is, and the ways to write one down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.selftest.harness import FACTS, REFERENCE

STARTER = REFERENCE.parent / "starter"


@dataclass(frozen=True)
class Attack:
    """One hostile submission: the reference's, with other content for some of its files.

    In `code`, @PROJECT@ stands for the project's folder, @OUT@ for that of the results, @GRADER@
    for the grader's process.
    """

    id: str  # what it does, as in "writes-results"
    code: str  # the file of `task`
    outcomes: tuple[str, ...]  # of the task's tests: all of these occur, and no others
    task: str = "lstm"
    points: float = 0.0  # of the task
    words: str = ""  # some message of the task holds them
    more: Mapping[str, str | bytes] = field(default_factory=dict)  # further files, by their path
    restarts: int = 0  # fresh workers for the task; each costs a second


def right(task: str, code: str) -> str:
    """Return the reference's file of a task with code after it."""
    return f"{(REFERENCE / FACTS.task_files[task]).read_text(encoding='utf-8')}\n\n{code}"


def stub(task: str, code: str) -> str:
    """Return the starter's file of a task with code after it."""
    return f"{(STARTER / FACTS.task_files[task]).read_text(encoding='utf-8')}\n\n{code}"


# Each line is one attempt, which the system must refuse. A slip of ours is no refusal: it ends the
# program before "DONE []", which `expect_nothing` waits for.
ATTEMPTS = """
import ctypes, gc, mmap, os, resource, signal, socket, subprocess, sys, threading
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file over the limit is then an OSError
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
done = []

def call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result

def kernel(number, *arguments):  # by the numbers of x86-64
    claim(os.uname().machine == "x86_64")
    return call("syscall", number, *arguments)

def claim(truth):
    if not truth:
        raise PermissionError

def refused(error):
    known = isinstance(error, (OSError, MemoryError, subprocess.CalledProcessError))
    return known or "maximum limit" in str(error)  # Python's text where a limit would be raised

for line in LINES:
    try:
        exec(line)
        done.append(line)
    except Exception as error:
        if not refused(error):
            raise
raise RuntimeError(f"DONE {done}")
"""


def attempts(id: str, *lines: str, setup: str = "") -> Attack:
    """Make an attack of many attempts, none of which may succeed."""
    code = f"{setup}\nLINES = {list(lines)!r}\n{ATTEMPTS}"
    return Attack(id, code, ("error",), words="DONE []")
