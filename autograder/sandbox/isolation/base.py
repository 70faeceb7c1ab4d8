"""What every way to run workers shares: the protocol, the command, the limits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from assignment.facts import Limits

PROJECT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",  # there is no display
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class Process(Protocol):
    """A worker's process, as far as the grader looks at it; `subprocess.Popen` is one."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit status.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """


class Isolation(Protocol):
    """One way to run workers."""

    name: str  # for the report
    layers: dict[str, str]  # what the last worker found enforced by the kernel, for staff

    def prepare(self, folder: Path) -> None:
        """Give a finished worker folder to the worker, read-only but for `scratch`."""

    def start(self, folder: Path, descriptor: int, stderr: int) -> Process:
        """Start `folder/worker.py` on the channel `descriptor`."""

    def verify(self, report: dict[str, Any]) -> None:
        """Hold what a new worker says of its rights against the plan.

        Raises:
            GraderFault: it has more than it should.
        """

    def kill(self, process: Process) -> None:
        """End the worker and everything it has started."""

    def close(self) -> None:
        """Give back what is held between workers; a later `start` takes it again."""


def interpreter() -> Path:
    """Return this environment's Python by its real path: `.venv` may link from a closed folder."""
    return Path(os.path.realpath(sys.prefix)) / "bin" / "python"


def worker_arguments(limits: Limits) -> list[str]:
    """Return the arguments of `worker.py` after its channel."""
    return [str(limits.data_bytes)]


def worker_command(folder: Path, descriptor: int, limits: Limits) -> list[str]:
    """Return the command of a worker: isolated mode, no byte code."""
    program = str(folder / "worker.py")
    return [str(interpreter()), "-I", "-B", program, str(descriptor), *worker_arguments(limits)]


def worker_environment(folder: Path) -> dict[str, str]:
    """Return all that a worker's environment holds."""
    scratch = str(folder / "scratch")
    return {**ENVIRONMENT, "HOME": scratch, "TMPDIR": scratch}


def limit_command(limits: Limits) -> list[str]:
    """Return the `prlimit` prefix with a worker's limits; empty where there is no prlimit."""
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        return []
    values = {name: value for name, value in rlimits(limits).items() if name != "nproc"}
    return [prlimit, *(f"--{name}={value}" for name, value in values.items()), "--"]


def rlimits(limits: Limits) -> dict[str, int]:
    """Return a worker's resource limits by their names; `nproc` needs a uid of its own."""
    return {
        "as": limits.address_bytes,
        "fsize": limits.file_bytes,
        "core": 0,
        "nofile": 256,
        "nproc": limits.processes,
    }


def describe(isolation: Isolation) -> str:
    """Return what is enforced, for staff."""
    layers = [f"{layer} {state}" for layer, state in isolation.layers.items()]
    return ", ".join([isolation.name, *layers])


def spawn(
    command: Sequence[str], folder: Path, descriptor: int, stderr: int
) -> subprocess.Popen[bytes]:
    """Start a worker as a child of the grader, in a session of its own."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env=worker_environment(folder),
        cwd=folder / "scratch",
        pass_fds=(descriptor,),
        start_new_session=True,
    )
