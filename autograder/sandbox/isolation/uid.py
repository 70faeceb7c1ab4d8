"""Root's way to run workers: each has an unprivileged uid of its own, forked from one server."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from assignment.facts import Limits
from autograder.faults import GraderFault
from autograder.sandbox.isolation.base import (
    ENVIRONMENT,
    Process,
    interpreter,
    limit_command,
    rlimits,
    worker_arguments,
    worker_environment,
)
from autograder.sandbox.isolation.forked import ForkedProcess, ForkServer

# systemd sets this range apart for services without an account. The odd ones are for killing the
# processes of the even ones (`fork_server.kill_all`).
UIDS = range(61184, 65520, 2)
LOCKS = Path("/run/nmt-autograder")  # one file for each uid in use, so that graders do not share
KILL_SECONDS = 10.0
# What the fork server keeps, to give its workers another user; they lose these by that.
KEPT_CAPABILITIES = {"setgid": 6, "setuid": 7}  # with their numbers in the kernel's masks
# Where a process can leave files, if Landlock does not close them.
SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")


@dataclass
class UidIsolation:
    """A uid that nobody else has, no privilege, and no way back."""

    limits: Limits
    name: str = "unprivileged uid"
    layers: dict[str, str] = field(default_factory=dict)
    uid: int = -1
    lock: int = -1  # descriptor of the uid's lock
    server: ForkServer | None = None

    def prepare(self, folder: Path) -> None:
        """Own the folder as root with the worker's group: it may read all and write `scratch`."""
        self.take_uid()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 0, self.uid)
            path.chmod(0o750 if path.is_dir() else 0o640)
        os.chown(folder / "scratch", self.uid, self.uid)

    def take_uid(self) -> None:
        """Take a free uid, and hold its lock for as long as this grader lives."""
        LOCKS.mkdir(mode=0o700, exist_ok=True)
        while True:
            uid = free_uid()
            lock = os.open(LOCKS / str(uid), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # another grader's
                os.close(lock)
                continue
            if self.lock >= 0:
                os.close(self.lock)
            self.uid, self.lock = uid, lock
            return

    def start(self, folder: Path, descriptor: int, stderr: int) -> ForkedProcess:
        """Fork the worker from the server, which is started if need be."""
        request = {
            "program": str(folder / "worker.py"),
            "arguments": worker_arguments(self.limits),
            "cwd": str(folder / "scratch"),
            "environment": worker_environment(folder),
            "uid": self.uid,
            "processes": self.limits.processes,
        }
        return self.running().fork(request, descriptor, stderr)

    def running(self) -> ForkServer:
        """Return the server, a new one if there is none."""
        if self.server is None or not self.server.alive():
            self.server = ForkServer([*limit_command(self.limits), *server_command()])
        return self.server

    def verify(self, report: dict[str, Any]) -> None:
        """Check the uid, groups, capabilities and limits, and that no privilege can come back."""
        self.layers = {"groups, capabilities, no_new_privs, rlimits": "on", **report["layers"]}
        wanted = {
            "uids": [self.uid] * 3,
            "groups": [],
            "no_new_privs": "1",
            "capabilities": 0,
            "rlimits": {name: [value, value] for name, value in rlimits(self.limits).items()},
        }
        wrong = {key: report.get(key) for key in wanted if report.get(key) != wanted[key]}
        bounding = report.get("bounding")
        kept = sum(1 << number for number in KEPT_CAPABILITIES.values())
        if not isinstance(bounding, int) or bounding & ~kept:
            wrong["bounding"] = bounding
        if wrong:
            raise GraderFault(f"workers are not isolated as planned: {wrong}; nothing was graded")

    def kill(self, process: Process) -> None:
        """Kill all of the uid's processes, and remove what they may have left elsewhere."""
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            self.running().kill(self.uid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_SECONDS)
            if not uid_processes(self.uid):
                break
            if time.monotonic() > deadline:
                raise GraderFault(f"processes of uid {self.uid} are still alive after SIGKILL")
            time.sleep(0.01)
        if self.layers.get("landlock") != "on":
            folders = [folder for folder in SHARED_FOLDERS if Path(folder).is_dir()]
            run(["find", *folders, "-xdev", "-uid", str(self.uid), "-delete"])

    def close(self) -> None:
        """End the fork server and free the uid."""
        server, self.server = self.server, None
        if server is not None:
            server.close()
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def run(command: list[str]) -> None:
    """Run a command for its effect alone."""
    nowhere = subprocess.DEVNULL
    subprocess.run(
        command, stdin=nowhere, stdout=nowhere, stderr=nowhere, env=ENVIRONMENT, check=False
    )


def drop_command(uid: int) -> list[str]:
    """Return the `setpriv` prefix to a uid without groups, capabilities or a way back."""
    return [
        "setpriv",
        f"--reuid={uid}",
        f"--regid={uid}",
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
        "--bounding-set=-all",
        "--",
    ]


def server_command() -> list[str]:
    """Return the `setpriv` prefix of the fork server."""
    kept = ",".join(["-all", *(f"+{name}" for name in KEPT_CAPABILITIES)])
    return [
        "setpriv",
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
        f"--bounding-set={kept}",
        "--",
    ]


def uid_processes(uid: int) -> list[psutil.Process]:
    """List the live processes that have the uid in any role; zombies are dead.

    Our own killer is none of them: its real uid is the next one, which no worker can take.
    """
    found = []
    for process in psutil.process_iter(["uids", "status"]):
        uids, status = process.info["uids"], process.info["status"]
        if uids is None or uid not in tuple(uids) or status == psutil.STATUS_ZOMBIE:
            continue
        if uids.real != uid + 1:
            found.append(process)
    return found


def free_uid() -> int:
    """Draw a uid that no process has at the moment."""
    taken = {uid for process in psutil.process_iter(["uids"]) for uid in process.info["uids"] or ()}
    return random.SystemRandom().choice([uid for uid in UIDS if uid not in taken])


def check_tools() -> None:
    """Make sure that root's workers can be started at all.

    Raises:
        GraderFault: a tool is missing, or workers cannot run this environment's Python.
    """
    for tool in ("setpriv", "prlimit"):
        if shutil.which(tool) is None:
            raise GraderFault(f"{tool} is missing: install util-linux; workers cannot be isolated")
    done = subprocess.run(
        [*drop_command(free_uid()), str(interpreter()), "-I", "-c", ""],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        cwd="/",
        check=False,
    )
    if done.returncode != 0:
        reason = done.stderr.strip() or f"exit status {done.returncode}"
        raise GraderFault(
            f"a worker without privileges cannot run {interpreter()} ({reason}). It must lie "
            "in folders that every user may read, and be made from a Python that does too, such as "
            "/usr/bin/python3: remove .venv and run make again, with PYTHON=/usr/bin/python3."
        )
