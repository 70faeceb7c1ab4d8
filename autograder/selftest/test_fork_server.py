"""Does the fork server give each worker its own process, and outlive neither its worker nor us?"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from autograder.faults import CallTimeout, WorkerCrashed
from autograder.sandbox.isolation import UidIsolation, uid_processes
from autograder.sandbox.isolation.uid import free_uid
from autograder.sandbox.session import Worker
from autograder.selftest.harness import FACTS, reference_files

SECONDS = 60.0


@pytest.fixture
def isolation() -> Iterator[UidIsolation]:
    """An isolation with a server of its own, since these tests break it."""
    with contextlib.closing(UidIsolation(FACTS.limits)) as own:
        yield own


def worker(isolation: UidIsolation, lstm: str = "") -> Worker:
    """Start a worker whose LSTM file is this code."""
    return Worker(isolation, {**reference_files(), "nmt/lstm.py": lstm.encode()}, FACTS.limits)


def server(isolation: UidIsolation) -> psutil.Process:
    """Return the server's process."""
    assert isolation.server is not None
    return psutil.Process(isolation.server._process.pid)


def eventually(condition: Callable[[], bool]) -> bool:
    """Tell whether a condition comes true within a minute."""
    deadline = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_workers_are_new_processes_under_new_uids(isolation: UidIsolation) -> None:
    """Does every task get another process and another uid, from one server?"""
    seen = set()
    for _ in range(3):
        one = worker(isolation)
        seen.add((one._process.pid, isolation.uid, server(isolation).pid))
        one.close()
    pids, uids, servers = (set(values) for values in zip(*seen))
    assert len(pids) == len(uids) == 3
    assert len(servers) == 1


def test_server_has_no_right_but_to_change_user(isolation: UidIsolation) -> None:
    """Does the server, too, run with the least it needs?"""
    worker(isolation).close()
    with open(f"/proc/{server(isolation).pid}/status") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == (1 << 6) | (1 << 7)
    assert status["NoNewPrivs"] == "1"


def test_worker_holds_none_of_the_servers_descriptors(isolation: UidIsolation) -> None:
    """Has a worker its channel alone, besides the standard descriptors?"""
    one = worker(isolation)
    one.request({"load": "masking"}, SECONDS)
    links = {
        int(fd): os.readlink(f"/proc/{one._process.pid}/fd/{fd}")
        for fd in os.listdir(f"/proc/{one._process.pid}/fd")
    }
    one.close()
    assert all(links[number] == "/dev/null" for number in (0, 1, 2))
    others = [link for number, link in links.items() if number > 2]
    assert len([link for link in others if link.startswith("socket:")]) == 1
    assert [
        link for link in others if not link.startswith(("socket:", "anon_inode:", "/dev/null"))
    ] == []


def test_worker_dies_with_the_grader(isolation: UidIsolation) -> None:
    """Is a worker killed, whatever it does, when the grader is gone without a word?"""
    one = worker(isolation, "while True: pass")
    with pytest.raises(CallTimeout):
        one.request({"load": "lstm"}, 0.2)
    assert uid_processes(isolation.uid)
    assert isolation.server is not None
    isolation.server._control.close()  # what the end of the grader does
    assert eventually(lambda: not uid_processes(isolation.uid))
    one.close()


def test_new_server_follows_one_that_died(isolation: UidIsolation) -> None:
    """Does the next worker start although the server was killed, by the kernel for example?"""
    one = worker(isolation)
    server(isolation).send_signal(signal.SIGKILL)
    assert isolation.server is not None
    isolation.server._process.wait()
    one.close()
    assert uid_processes(isolation.uid) == []
    worker(isolation).close()


@pytest.mark.parametrize(("step", "count"), [(1, 0), (0, 1)], ids=["killer", "worker"])
def test_killer_is_no_process_of_the_worker(step: int, count: int) -> None:
    """Is what kills a uid's processes, under a real uid of its own, not taken for one of them?"""
    uid = free_uid()
    own = uid + step
    sleeper = subprocess.Popen(["sleep", "60"], preexec_fn=lambda: os.setresuid(own, uid, own))
    try:
        assert len(uid_processes(uid)) == count
    finally:
        sleeper.kill()
        sleeper.wait()


def test_exit_status_is_told(isolation: UidIsolation) -> None:
    """Does the message name the status with which a student's code ended?"""
    one = worker(isolation, "import os\nos._exit(7)")
    with pytest.raises(WorkerCrashed, match="exit status 7"):
        one.request({"load": "lstm"}, SECONDS)
    one.close()
