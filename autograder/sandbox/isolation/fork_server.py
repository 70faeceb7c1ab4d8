"""Import Python's heavy libraries once, then fork a worker for each task: a process of its own.

The grader starts this file as a program of its own, with the right to change user and no other; it
imports nothing of the project and never runs a line of a student's. A worker is forked, becomes an
unprivileged user for good and only then runs `worker.py` of its folder. Workers live one at a time.

On the control socket comes one JSON message a worker, with two descriptors (channel, errors); back
go its process id and, in the end, its exit status. {"kill": uid} kills all that runs under a uid,
and has no answer. When the grader is gone, so is its worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import runpy
import select
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

MESSAGE_BYTES = 1 << 16


def main(control: socket.socket) -> None:
    """Serve until the grader closes its end."""
    preload()
    wake, notify = os.pipe()
    os.set_blocking(notify, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler, nothing would wake us
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 2)
        if not message:
            return
        request = json.loads(message)
        if "kill" in request:
            kill_all(request["kill"])
            continue
        pid = os.fork()
        if pid == 0:
            become_worker(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(json.dumps({"pid": pid}).encode())
        control.send(json.dumps({"status": wait(pid, request["uid"], control, wake)}).encode())


def preload() -> None:
    """Import what every worker needs; no threads, which a fork would lose."""
    import safetensors.torch  # noqa: F401
    import torch

    torch.set_num_threads(1)
    for layer in ("landlock", "pyseccomp"):
        with contextlib.suppress(ImportError, RuntimeError):  # `confine` says what is missing
            __import__(layer)


def wait(pid: int, uid: int, control: socket.socket, wake: int) -> int:
    """Return the worker's exit status; kill what its user runs if we are told to, or left alone."""
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        ready, _, _ = select.select([wake, control.fileno()], [], [])
        if wake in ready:
            os.read(wake, 512)
        if control.fileno() in ready:
            told = control.recv(MESSAGE_BYTES)  # a kill: nothing else comes before the status
            kill_all(uid)
            if not told:
                os._exit(0)


def kill_all(uid: int) -> None:
    """Kill all processes of a user at one stroke, so that none can fork out of it.

    The killer takes on the user's right to signal them, but not the uid that would let them signal
    it: its real and its saved uid are the next one, which nobody else has.
    """
    pid = os.fork()
    if pid == 0:
        drop(uid, real=uid + 1)
        os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(pid, 0)


def drop(uid: int, real: int | None = None) -> None:
    """Become an unprivileged user without groups; the kernel takes all capabilities with it.

    `real` is the real and the saved uid, if they are to be others than the one in effect.
    """
    own = uid if real is None else real
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(own, uid, own)


def become_worker(request: dict[str, Any], channel: int, errors: int) -> NoReturn:
    """Give up all that the server has, and run the worker; never return."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(errors, 2)
        os.closerange(3, channel)
        os.closerange(channel + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # if memory runs out, this process goes, not the grader
        resource.setrlimit(resource.RLIMIT_NPROC, (request["processes"],) * 2)
        os.environ.clear()
        os.environ.update(request["environment"])
        drop(request["uid"])
        os.chdir(request["cwd"])
        sys.argv = [request["program"], str(channel), *request["arguments"]]
        sys.path = [entry for entry in sys.path if entry]
        runpy.run_path(request["program"], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code & 255 if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
