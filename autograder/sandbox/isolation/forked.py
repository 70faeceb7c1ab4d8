"""The grader's side of the fork server: start it, ask it for workers, follow each to its end."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.faults import GraderFault
from autograder.sandbox.isolation.base import ENVIRONMENT, interpreter

PROGRAM = Path(__file__).with_name("fork_server.py")
ANSWER_BYTES = 1 << 12
ANSWER_SECONDS = 60.0  # its own start included: importing torch on half a core takes about 5


class ForkServer:
    """A running fork server; it ends when the grader does, and its worker with it."""

    def __init__(self, prefix: Sequence[str]) -> None:
        """Start the server; `prefix` is the command that limits its rights and resources."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = tempfile.TemporaryFile()
        # From stdin: root without all of its rights may be unable to read the project's folder.
        with theirs, PROGRAM.open("rb") as program:
            self._process = subprocess.Popen(
                [*prefix, str(interpreter()), "-I", "-B", "-", str(theirs.fileno())],
                stdin=program,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def fork(self, request: dict[str, Any], channel: int, errors: int) -> ForkedProcess:
        """Ask for a worker with these two descriptors."""
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], [channel, errors])
        except OSError:
            raise self._lost() from None
        return ForkedProcess(self, self.answer("pid", ANSWER_SECONDS))

    def kill(self, uid: int) -> None:
        """Kill all that runs under a uid."""
        try:
            self._control.send(json.dumps({"kill": uid}).encode())
        except OSError:  # it has ended; who looks whether anything is left asks a new one
            self.close()

    def answer(self, name: str, seconds: float | None) -> int:
        """Return the number that the server sends next.

        Raises:
            TimeoutError, BlockingIOError: it has not sent one by then.
            GraderFault: it has ended.
        """
        try:
            self._control.settimeout(seconds)
            text = self._control.recv(ANSWER_BYTES)
        except (TimeoutError, BlockingIOError):
            raise
        except OSError:
            text = b""
        if not text:
            raise self._lost()
        return int(json.loads(text)[name])

    def alive(self) -> bool:
        """Tell whether the server can be asked for a worker."""
        return self._control.fileno() >= 0

    def close(self) -> None:
        """End the server."""
        self._control.close()
        self._process.wait()
        self._errors.close()

    def _lost(self) -> GraderFault:
        lines = []
        if not self._errors.closed:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self.close()
        reason = lines[-1] if lines else "no reason given"
        return GraderFault(f"a worker did not start: the fork server has ended ({reason})")


@dataclass
class ForkedProcess:
    """A worker's process, which is the server's child, not ours."""

    server: ForkServer
    pid: int
    status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit status."""
        status = self._look(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"worker {self.pid}", timeout or 0.0)
        return status

    def _look(self, seconds: float | None) -> int | None:
        if self.status is None:
            try:
                self.status = self.server.answer("status", seconds)
            except (TimeoutError, BlockingIOError):
                return None
            except GraderFault:  # nobody knows; for the worker, which has no parent, it is the end
                self.status = -signal.SIGKILL
        return self.status
