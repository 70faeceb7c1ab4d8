"""The ways to run workers without root: bubblewrap where it works, else a plain process."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from assignment.facts import Limits
from autograder.sandbox.isolation.base import (
    ENVIRONMENT,
    Process,
    interpreter,
    limit_command,
    spawn,
    worker_command,
)


@dataclass
class SameUser:
    """What both ways share: the worker's files stay the grader's own, and nothing is promised."""

    limits: Limits
    layers: dict[str, str] = field(default_factory=dict, kw_only=True)

    def prepare(self, folder: Path) -> None:
        """Leave the folder as it is: the worker runs as the same user."""

    def verify(self, report: dict[str, Any]) -> None:
        """Take note of the layers; there is no promise to keep."""
        self.layers = report["layers"]

    def close(self) -> None:
        """Hold nothing between workers."""


@dataclass
class PlainIsolation(SameUser):
    """The last resort without root: a process with the limits that the platform has."""

    name: str = "plain process, same user"

    def start(self, folder: Path, descriptor: int, stderr: int) -> Process:
        """Start the worker as a plain process."""
        command = [*limit_command(self.limits), *worker_command(folder, descriptor, self.limits)]
        return spawn(command, folder, descriptor, stderr)

    def kill(self, process: Process) -> None:
        """Kill the worker and the descendants that are still linked to it."""
        try:
            family = psutil.Process(process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            family = []
        # The session of the worker, whose number is its own, and children that have left it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        process.wait()


@dataclass
class BubblewrapIsolation(SameUser):
    """Without root, where user namespaces are allowed: a namespace of its own, without network.

    It binds the worker's folder read-only but for `scratch`.
    """

    name: str = "bubblewrap (own namespaces, no network, project invisible)"

    def start(self, folder: Path, descriptor: int, stderr: int) -> Process:
        """Start the worker in namespaces that hold the system, this Python and its folder alone."""
        return spawn(
            [
                *limit_command(self.limits),
                *bubblewrap_command(folder),
                *worker_command(folder, descriptor, self.limits),
            ],
            folder,
            descriptor,
            stderr,
        )

    def kill(self, process: Process) -> None:
        """Kill bubblewrap: its process namespace dies with it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()


def bubblewrap_command(folder: Path) -> list[str]:
    """Return the `bwrap` prefix that shows the system's libraries, this Python and one folder."""
    shown = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", sys.base_prefix]
    shown.append(sysconfig.get_path("stdlib"))
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for path in [*shown, os.path.realpath(sys.prefix), str(folder)]:
        command += ["--ro-bind-try", path, path]
    scratch = str(folder / "scratch")
    return [*command, "--bind", scratch, scratch, "--chdir", scratch, "--"]


def bubblewrap_works() -> bool:
    """Try to run this environment's Python under bubblewrap."""
    if shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory(prefix="nmt-worker-") as folder:
        (Path(folder) / "scratch").mkdir()
        return _runs([*bubblewrap_command(Path(folder)), str(interpreter()), "-I", "-c", ""])


def _runs(command: list[str]) -> bool:
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=False, cwd="/")
    return done.returncode == 0
