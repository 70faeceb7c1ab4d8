"""Try the zip where it will run: in a fresh Debian root, with Docker's rights, on half a core.

The root is made by debootstrap. It takes the package mirrors, pip's settings and local wheels from
the machine it runs on, at run time. Needs root, debootstrap and cgroups of version 1 or 2.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from assignment.facts import load
from autograder.build_zip import PROJECT, TARGET

FACTS = load()
SUITE = "bookworm"
MEMORY_BYTES = 768 * 1024 * 1024
PERIOD, QUOTA = 100_000, 50_000  # microseconds: half a core
# What a container of Docker's has unless told otherwise.
CAPABILITIES = (
    *("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap"),
    *("net_bind_service", "net_raw", "sys_chroot", "mknod", "audit_write", "setfcap"),
)
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


class E2eError(Exception):
    """The trial has failed."""


class Unavailable(Exception):
    """This machine cannot make the trial."""


@dataclass(frozen=True)
class Trial:
    """One submission and what its result must be."""

    name: str
    files: dict[str, bytes]
    score: float
    outcomes: set[str]  # all of these occur


def main() -> int:
    """Make the root, set it up and grade all trials in it.

    Returns 0 if all went as it must, 1 if not, 4 if this machine cannot make the trial.
    """
    try:
        check_machine()
        if not TARGET.is_file():
            raise E2eError(f"{TARGET} is missing: make zip")
        with (
            tempfile.TemporaryDirectory(prefix="nmt-e2e-") as folder,
            fresh_root(Path(folder)) as root,
        ):
            for trial in trials():
                run(root, trial)
    except Unavailable as error:
        print(f"e2e: not tried on this machine: {error}", file=sys.stderr)
        return 4
    except (E2eError, subprocess.CalledProcessError) as error:
        print(f"e2e: {error}", file=sys.stderr)
        return 1
    print("e2e: all as it must be")
    return 0


def check_machine() -> None:
    """Make sure that the trial can be made here.

    Raises:
        Unavailable: something is missing, or forbidden.
    """
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise Unavailable("it needs root and debootstrap (apt-get install debootstrap)")
    with tempfile.TemporaryDirectory(prefix="nmt-e2e-") as folder:
        try:
            command(["mount", "--rbind", "--make-rslave", "/proc", folder])
            command(["umount", "--recursive", "--lazy", folder])
            with small_container():
                pass
        except (E2eError, OSError) as error:
            raise Unavailable(f"it needs mounts and control groups ({error})") from error


def trials() -> Iterator[Trial]:
    """Yield the reference, the starter and some that misbehave."""
    names = FACTS.task_files
    paths = [*names.values(), FACTS.notebook]
    reference = {path: (PROJECT / "reference" / path).read_bytes() for path in paths}
    model = {FACTS.checkpoint: (PROJECT / "reference" / FACTS.checkpoint).read_bytes()}
    starter = {path: (PROJECT / "starter" / path).read_bytes() for path in paths}
    bleu, points = FACTS.tasks["bleu"].points, FACTS.points

    def with_bleu(code: str) -> dict[str, bytes]:
        return {**reference, **model, names["bleu"]: code.encode()}

    yield Trial("reference", {**reference, **model}, points, {"passed"})
    yield Trial("starter", starter, 0, {"failed"})
    yield Trial("reads and writes", with_bleu(GREEDY), points - bleu, {"passed", "error"})
    yield Trial("floods the memory", with_bleu(FLOOD), points - bleu, {"crashed"})
    yield Trial("outlives its run", with_bleu(SURVIVOR), points - bleu, {"crashed"})


# Raises with the list of what it could do, which must be empty.
GREEDY = """
import glob, os, socket
done = []
for path in ("/autograder/source/assignment/assignment.toml", "/autograder/results/x", "/root/x"):
    for mode in ("r", "w"):
        try:
            open(path, mode)
            done.append((mode, path))
        except OSError:
            pass
try:
    socket.socket()
    done.append("socket")
except OSError:
    pass
raise RuntimeError(f"DONE {done}")
"""
# Sixteen processes of 200 MB each, which share nothing.
FLOOD = """
import os
for _ in range(4):
    os.fork()
waste = [bytearray(os.urandom(1 << 20)) * 20 for _ in range(10)]
os._exit(1)
"""
SURVIVOR = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
os._exit(0)
"""


@contextlib.contextmanager
def fresh_root(folder: Path) -> Iterator[Path]:
    """Yield a Debian root with the zip unpacked and set up in it."""
    root = folder / "root"
    say(f"debootstrap {SUITE} ...")
    command(["debootstrap", "--variant=minbase", SUITE, str(root), *mirror()])
    borrow_settings(root)
    with contextlib.ExitStack() as mounts:
        for source, target in [("/proc", "proc"), ("/dev", "dev"), ("/sys", "sys"), *wheels()]:
            (root / target).mkdir(parents=True, exist_ok=True)
            command(["mount", "--rbind", "--make-rslave", source, str(root / target)])
            mounts.callback(command, ["umount", "--recursive", "--lazy", str(root / target)])
        for name in ("source", "submission", "results"):
            (root / "autograder" / name).mkdir(parents=True)
        unpack(root / "autograder")
        say("setup.sh ...")
        settings = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
        settings |= {"PIP_CERT": "/opt/certificates.crt", "PATH": PATH, "HOME": "/root"}
        command(["chroot", str(root), "bash", "/autograder/source/setup.sh"], env=settings)
        yield root


def unpack(base: Path) -> None:
    """Unpack the zip as the platform does, run bits kept, and copy `run_autograder`."""
    with zipfile.ZipFile(TARGET) as archive:
        for info in archive.infolist():
            path = Path(archive.extract(info, base / "source"))
            path.chmod((info.external_attr >> 16) & 0o777)
    shutil.copy2(base / "source" / "run_autograder", base / "run_autograder")


def mirror() -> list[str]:
    """Return the machine's own Debian mirror, for debootstrap; nothing where it has none."""
    for path in [*Path("/etc/apt/sources.list.d").glob("debian*"), Path("/etc/apt/sources.list")]:
        for line in path.read_text().splitlines() if path.is_file() else ():
            words = line.split()
            if words[:1] in (["URIs:"], ["deb"]):
                return [next(word for word in words if "://" in word)]
    return []


def wheels() -> list[tuple[str, str]]:
    """Return local folders that pip's settings on this machine name, as mounts."""
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    words = (
        shown.replace("'", " ").replace("\\n", " ").split()
        + os.environ.get("PIP_FIND_LINKS", "").split()
    )
    paths = [
        Path(word.removeprefix("file://")) for word in words if word.startswith(("/", "file:"))
    ]
    tops = {Path(*path.parts[:3]) for path in paths if path.is_dir()}
    return [(str(path), str(path).lstrip("/")) for path in sorted(tops)]


def borrow_settings(root: Path) -> None:
    """Give the root this machine's settings of apt and pip, and its certificates."""
    for name in ("/etc/apt/sources.list.d", "/etc/apt/apt.conf.d", "/etc/apt/auth.conf.d"):
        if Path(name).is_dir():
            shutil.copytree(name, root / name.lstrip("/"), dirs_exist_ok=True)
    if any((root / "etc/apt/sources.list.d").iterdir()):
        (root / "etc/apt/sources.list").unlink(missing_ok=True)
    home = Path.home()
    for source in (Path("/etc/pip.conf"), home / ".config/pip/pip.conf", home / ".pip/pip.conf"):
        if source.is_file():
            target = root / str(source).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copyfile(CERTIFICATES, root / "opt/certificates.crt")


def run(root: Path, trial: Trial) -> None:
    """Grade one submission in the root and check the result.

    Raises:
        E2eError: it is not what it must be.
    """
    base = root / "autograder"
    shutil.rmtree(base / "submission")
    for name, content in trial.files.items():
        (base / "submission" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "submission" / name).write_bytes(content)
    (base / "submission_metadata.json").write_text(json.dumps({"id": 1, "users": []}))
    started = time.monotonic()
    with small_container() as enter:
        bounding = ",".join(["-all", *(f"+{name}" for name in CAPABILITIES)])
        done = subprocess.run(
            [
                *("setpriv", f"--bounding-set={bounding}", "chroot", str(root)),
                *("env", "-i", f"PATH={PATH}", "HOME=/root", "/autograder/run_autograder"),
            ],
            preexec_fn=enter,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise E2eError(f"{trial.name}: run_autograder ended with {done.returncode}: {done.stderr}")
    if left := processes_in(root):
        raise E2eError(f"{trial.name}: processes have outlived the run: {left}")
    check(trial, json.loads((base / "results" / "results.json").read_text(encoding="utf-8")))
    say(
        f"{trial.name}: {trial.score:g} points in {time.monotonic() - started:.0f} s, as it must be"
    )


def check(trial: Trial, result: dict[str, Any]) -> None:
    """Hold a result against the trial."""
    outcomes = {test["extra_data"]["outcome"] for test in result["tests"]}
    texts = " ".join(test["output"] for test in result["tests"])
    if result["score"] != trial.score or not trial.outcomes <= outcomes:
        raise E2eError(
            f"{trial.name}: {result['score']} points, outcomes {sorted(outcomes)}: {texts}"
        )
    if "DONE" in texts and "DONE []" not in texts:
        raise E2eError(f"{trial.name}: the sandbox let it do something: {texts}")


def processes_in(root: Path) -> list[int]:
    """List the processes that live in the root."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError):  # it has just ended
            if os.readlink(f"/proc/{process.pid}/root") == str(root):
                found.append(process.pid)
    return found


@contextlib.contextmanager
def small_container() -> Iterator[Callable[[], None]]:
    """Yield what a process calls to enter a group of half a core and 768 MB."""
    top = Path("/sys/fs/cgroup")
    if (top / "cgroup.controllers").is_file():
        limits = {"cpu.max": f"{QUOTA} {PERIOD}", "memory.max": str(MEMORY_BYTES)}
        groups = {top / "nmt-e2e": limits}
    else:
        cpu = {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(QUOTA)}
        memory = {"memory.limit_in_bytes": str(MEMORY_BYTES)}
        groups = {top / "cpu" / "nmt-e2e": cpu, top / "memory" / "nmt-e2e": memory}
    for group, limits in groups.items():
        group.mkdir(exist_ok=True)
        for name, value in limits.items():
            (group / name).write_text(value)

    def enter() -> None:
        for group in groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    yield enter
    for group in groups:
        group.rmdir()


def command(words: list[str], env: dict[str, str] | None = None) -> None:
    """Run a command quietly; what it printed is shown if it fails."""
    done = subprocess.run(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-20:])
        raise E2eError(f"{words[0]} ended with {done.returncode}:\n{tail}")


def say(text: str) -> None:
    """Print as the trial goes on."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
