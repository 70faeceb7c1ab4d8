"""Run in the worker, before any code of the student's: give up what no probe needs.

Landlock closes the file system but for Python, torch and the worker's own folder; seccomp closes
sockets, tracing and other ways to reach processes and kernel. Both hold for all descendants and
cannot be undone. Where the kernel or a library lacks one, it is left out, and `confine` says so.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# What Python, torch and the C library read while they run.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/sys/devices/system", "/dev")
PROCESS = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm")
# Calls that reach other processes, networks or rarely tried parts of the kernel.
CLOSED_CALLS = (
    *("socket", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *("io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key"),
    *("request_key", "unshare", "setns", "mount", "umount2", "open_by_handle_at", "syslog"),
    # What these make outlives the worker, or takes memory that no limit counts.
    *("shmget", "semget", "msgget", "mq_open", "memfd_create", "memfd_secret"),
)
# Namespaces that `clone` makes as `unshare` does: cgroup, uts, ipc, user, pid, net, mount.
NAMESPACES = (1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30, 1 << 17)


def confine(folder: Path) -> dict[str, str]:
    """Enforce what is there: layer -> "on", or the reason why it is off."""
    return {"landlock": _try(lambda: _landlock(folder)), "seccomp": _try(_seccomp)}


def volunteer() -> None:
    """Let the kernel choose this process, not the grader, when memory runs out."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def limit_memory(extra: int) -> None:
    """Allow `extra` bytes of private memory beyond what Python and torch take, for good.

    Builds of torch differ by hundreds of megabytes, so a limit from outside would fit one of them.
    """
    if sys.platform.startswith("linux"):
        limit = int(_status()["VmData"].split()[0]) * 1024 + extra
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _status() -> dict[str, str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def identity() -> dict[str, object]:
    """Return what the kernel says of this process's rights."""
    if not sys.platform.startswith("linux"):
        return {}
    status = _status()
    return {
        "uids": list(os.getresuid()),
        "groups": os.getgroups(),
        "no_new_privs": status.get("NoNewPrivs", "?"),
        "capabilities": int(status["CapEff"], 16) | int(status["CapPrm"], 16),
        "bounding": int(status["CapBnd"], 16) | int(status["CapInh"], 16),
        "rlimits": {
            name: list(resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}")))
            for name in ("as", "fsize", "core", "nofile", "nproc")
        },
    }


def _try(layer: Callable[[], None]) -> str:
    try:
        layer()
    except Exception as error:  # a missing library, an older kernel, a platform's own filter
        return f"off: {type(error).__name__}: {error}".splitlines()[0]
    return "on"


def _landlock(folder: Path) -> None:
    from landlock import FSAccess, Ruleset

    rules = Ruleset()
    reading = FSAccess.READ_FILE | FSAccess.READ_DIR | FSAccess.EXECUTE
    readable = (*SYSTEM, sys.prefix, sys.base_prefix, str(folder))
    rules.allow(*filter(os.path.isdir, (*readable, *PROCESS)), rules=reading)
    files = filter(os.path.isfile, PROCESS)
    rules.allow(*files, rules=FSAccess.READ_FILE)
    rules.allow(str(folder / "scratch"))
    rules.allow(os.devnull, rules=FSAccess.READ_FILE | FSAccess.WRITE_FILE)
    rules.apply()


def _seccomp() -> None:
    import pyseccomp

    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for code, name, *bits in _closed():
        # Each of (position, bits): closed only where that argument has all of these bits.
        arguments = [pyseccomp.Arg(at, pyseccomp.MASKED_EQ, flags, flags) for at, flags in bits]
        try:
            calls.add_rule(pyseccomp.ERRNO(code), name, *arguments)
        except (OSError, ValueError, RuntimeError):
            continue  # this kernel or processor has no such call
    calls.load()


def _closed() -> Iterator[tuple[Any, ...]]:
    """Yield what is closed: the error it meets, the call's name, and conditions."""
    for name in CLOSED_CALLS:
        yield errno.EPERM, name
    for flag in NAMESPACES:
        yield errno.EPERM, "clone", (0, flag)
    yield errno.ENOSYS, "clone3"  # its flags lie in memory; the C library falls back to `clone`
    # Shared memory without a file: RLIMIT_DATA counts private memory alone.
    yield errno.ENOMEM, "mmap", (3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
