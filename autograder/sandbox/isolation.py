"""Choose how workers are kept apart from the grader, and start and kill them that way.

As root: `UidIsolation`, an unprivileged uid of its own for each worker. Without root: bubblewrap
where it works, else a plain process. What is in force is found out by trying, and reported.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil

from assignment.facts import Limits
from autograder.faults import GraderFault

PROJECT = Path(__file__).resolve().parents[2]
UIDS = range(61184, 65520)  # systemd sets this range apart for services without an account
KILL_SECONDS = 10.0
LOCKS = Path("/run/nmt-autograder")  # one file for each uid in use, so that graders do not share
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class Isolation(Protocol):
    """One way to run workers."""

    name: str  # for the report
    layers: dict[str, str]  # what the last worker found enforced by the kernel, for staff

    def prepare(self, folder: Path) -> None:
        """Give a finished worker folder to the worker, read-only but for `scratch`."""

    def start(self, folder: Path, descriptor: int, stderr: int) -> subprocess.Popen[bytes]:
        """Start `folder/worker.py` on the channel `descriptor`."""

    def verify(self, report: dict[str, Any]) -> None:
        """Hold what a new worker says of its rights against the plan.

        Raises:
            GraderFault: it has more than it should.
        """

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End the worker and everything it has started."""


def interpreter() -> Path:
    """Return this environment's Python by its real path: `.venv` may link from a closed folder."""
    return Path(os.path.realpath(sys.prefix)) / "bin" / "python"


def worker_command(folder: Path, descriptor: int, limits: Limits) -> list[str]:
    """Return the command of a worker: isolated mode, no byte code."""
    arguments = [str(folder / "worker.py"), str(descriptor), str(limits.data_bytes)]
    return [str(interpreter()), "-I", "-B", *arguments]


def limit_command(limits: Limits) -> list[str]:
    """Return the `prlimit` prefix with a worker's limits; empty where there is no prlimit."""
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        return []
    return [
        prlimit,
        f"--as={limits.address_bytes}",
        f"--fsize={limits.file_bytes}",
        "--core=0",
        "--nofile=256",
        "--",
    ]


def describe(isolation: Isolation) -> str:
    """Return what is enforced, for staff."""
    layers = [f"{layer} {state}" for layer, state in isolation.layers.items()]
    return ", ".join([isolation.name, *layers])


def _spawn(
    command: Sequence[str], folder: Path, descriptor: int, stderr: int
) -> subprocess.Popen[bytes]:
    scratch = str(folder / "scratch")
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env={**ENVIRONMENT, "HOME": scratch, "TMPDIR": scratch},
        cwd=scratch,
        pass_fds=(descriptor,),
        start_new_session=True,
    )


@dataclass
class UidIsolation:
    """Root's way: each worker has a uid that nobody else has, and no privilege."""

    limits: Limits
    name: str = "unprivileged uid"
    layers: dict[str, str] = field(default_factory=dict)
    uid: int = -1
    lock: int = -1  # descriptor of the uid's lock

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

    def command(self) -> list[str]:
        """Return the prefix that drops to the worker's uid, for good."""
        limits = limit_command(self.limits)
        limits[1:1] = [f"--nproc={self.limits.processes}"]
        return [*limits, *drop_command(self.uid)]

    def start(self, folder: Path, descriptor: int, stderr: int) -> subprocess.Popen[bytes]:
        """Start the worker under its uid."""
        return _spawn(
            [*self.command(), *worker_command(folder, descriptor, self.limits)],
            folder,
            descriptor,
            stderr,
        )

    def verify(self, report: dict[str, Any]) -> None:
        """Check the uid, the groups, the capabilities and that no privilege can come back."""
        self.layers = report["layers"]
        wanted = {
            "uids": [self.uid] * 3,
            "groups": [],
            "no_new_privs": "1",
            "capabilities": 0,
        }
        wrong = {key: report.get(key) for key in wanted if report.get(key) != wanted[key]}
        if wrong:
            raise GraderFault(f"workers are not isolated as planned: {wrong}; nothing was graded")

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill all of the uid's processes, from the inside and so at one stroke."""
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            subprocess.run(
                [*drop_command(self.uid), "/bin/sh", "-c", "kill -KILL -1"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                check=False,
            )
            process.poll()
            if not uid_processes(self.uid):
                process.wait()
                return
            if time.monotonic() > deadline:
                raise GraderFault(f"processes of uid {self.uid} are still alive after SIGKILL")
            time.sleep(0.01)


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


def uid_processes(uid: int) -> list[psutil.Process]:
    """List the live processes that have the uid in any role; zombies are dead."""
    found = []
    for process in psutil.process_iter(["uids", "status"]):
        uids, status = process.info["uids"], process.info["status"]
        if uids is not None and uid in tuple(uids) and status != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def free_uid() -> int:
    """Draw a uid that no process has at the moment."""
    taken = {uid for process in psutil.process_iter(["uids"]) for uid in process.info["uids"] or ()}
    return random.SystemRandom().choice([uid for uid in UIDS if uid not in taken])


@dataclass
class PlainIsolation:
    """The last resort without root: a process with the limits that the platform has."""

    limits: Limits
    name: str = "plain process, same user"
    layers: dict[str, str] = field(default_factory=dict)

    def prepare(self, folder: Path) -> None:
        """Leave the folder as it is: the worker runs as the same user."""

    def start(self, folder: Path, descriptor: int, stderr: int) -> subprocess.Popen[bytes]:
        """Start the worker as a plain process."""
        command = [*limit_command(self.limits), *worker_command(folder, descriptor, self.limits)]
        return _spawn(command, folder, descriptor, stderr)

    def verify(self, report: dict[str, Any]) -> None:
        """Take note of the layers; there is no promise to keep."""
        self.layers = report["layers"]

    def kill(self, process: subprocess.Popen[bytes]) -> None:
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
class BubblewrapIsolation:
    """Without root, where user namespaces are allowed: a namespace of its own, without network."""

    limits: Limits
    name: str = "bubblewrap (own namespaces, no network, project invisible)"
    layers: dict[str, str] = field(default_factory=dict)

    def prepare(self, folder: Path) -> None:
        """Leave the folder as it is: bubblewrap binds it read-only but for `scratch`."""

    def start(self, folder: Path, descriptor: int, stderr: int) -> subprocess.Popen[bytes]:
        """Start the worker in namespaces that hold the system, this Python and its folder alone."""
        return _spawn(
            [
                *limit_command(self.limits),
                *bubblewrap_command(folder),
                *worker_command(folder, descriptor, self.limits),
            ],
            folder,
            descriptor,
            stderr,
        )

    def verify(self, report: dict[str, Any]) -> None:
        """Take note of the layers; there is no promise to keep."""
        self.layers = report["layers"]

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill bubblewrap: its process namespace dies with it."""
        process.kill()
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


def choose(limits: Limits) -> Isolation:
    """Return the strongest isolation that works here.

    Raises:
        GraderFault: as root, when workers cannot be kept apart; there is no silent second best.
    """
    if os.geteuid() == 0:
        close_project()
        check_tools()
        return UidIsolation(limits)
    return BubblewrapIsolation(limits) if bubblewrap_works() else PlainIsolation(limits)


def bubblewrap_works() -> bool:
    """Try to run this environment's Python under bubblewrap."""
    if shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory(prefix="nmt-worker-") as folder:
        (Path(folder) / "scratch").mkdir()
        return _runs([*bubblewrap_command(Path(folder)), str(interpreter()), "-I", "-c", ""])


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


def close_project() -> None:
    """Close the project's folder, and so the answers, to all but its owner."""
    mode = PROJECT.stat().st_mode
    if mode & 0o077:
        PROJECT.chmod(mode & 0o700)
        print(f"Closed {PROJECT} to other users: students' code must not read it.", flush=True)


def _runs(command: list[str]) -> bool:
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=False, cwd="/")
    return done.returncode == 0
