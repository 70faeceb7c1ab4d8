"""Is a worker kept apart from the grader, bounded, and dead when its task is over?"""

from __future__ import annotations

import ast
import os
import textwrap
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import psutil
import pytest

from assignment.facts import Limits
from autograder.faults import GraderFault, NotRun, StudentError
from autograder.sandbox.isolation import (
    PROJECT,
    Isolation,
    PlainIsolation,
    UidIsolation,
    choose,
    uid_processes,
)
from autograder.sandbox.isolation.base import rlimits
from autograder.sandbox.session import TaskRunner, Worker
from autograder.selftest.harness import FACTS, reference_files


def observe(isolation: Isolation, code: str, limits: Limits = FACTS.limits) -> Any:
    """Run code in a worker as a student's file, and return its variable `seen`."""
    text = textwrap.dedent(code) + "\nraise RuntimeError('SEEN' + repr(seen))\n"
    files = {**reference_files(), "nmt/lstm.py": text.encode()}
    runner = TaskRunner("lstm", files, isolation, limits, 60.0)
    try:
        with pytest.raises(StudentError) as caught:
            runner.call("anything")
    finally:
        runner.close()
    return ast.literal_eval(str(caught.value).split("SEEN", 1)[1].split("\n")[0])


def test_worker_has_no_privilege(isolation: Isolation) -> None:
    """Does a worker run under another uid, without groups, and may it not become root again?"""
    seen = observe(
        isolation,
        """
        import os
        seen = [os.getresuid(), os.getgroups()]
        try:
            os.setuid(0)
            seen.append("root")
        except OSError:
            seen.append("no")
        """,
    )
    uids, groups, regained = seen
    if isinstance(isolation, UidIsolation):
        assert 0 not in uids
        assert groups == []
    assert regained == "no"


def test_worker_cannot_read_the_project(isolation: Isolation) -> None:
    """Are reference, hidden tests and held-out data closed to a worker?"""
    paths = [
        PROJECT,
        PROJECT / "reference" / "nmt" / "lstm.py",
        PROJECT / "autograder" / "hidden_tests" / "test_lstm.py",
        PROJECT / "data" / "held_out" / "test.tsv",
        f"/proc/{os.getpid()}/environ",
        f"/proc/{os.getpid()}/mem",
        f"/proc/{os.getpid()}/fd",
    ]
    seen = observe(
        isolation,
        f"""
        import os
        seen = []
        for path in {[str(path) for path in paths]}:
            try:
                os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
                seen.append(path)
            except OSError:
                pass
        """,
    )
    assert seen == []


def test_worker_has_an_empty_environment(isolation: Isolation) -> None:
    """Does nothing of the grader's environment reach a worker?"""
    seen = observe(isolation, "import os\nseen = sorted(os.environ)")
    allowed = {"PATH", "LANG", "HOME", "TMPDIR", "PWD", "LC_CTYPE", "MPLBACKEND"}
    assert {name for name in seen if not name.endswith("_NUM_THREADS")} <= allowed


def test_worker_cannot_change_its_own_code(isolation: Isolation) -> None:
    """Are the package and the probes read-only for a worker?"""
    seen = observe(
        isolation,
        """
        import os, probes
        folder = os.path.dirname(os.path.dirname(probes.__file__))
        seen = []
        for name in ("new.py", "nmt/new.py", "nmt/lstm.py", "probes/common.py", "worker.py"):
            try:
                open(os.path.join(folder, name), "a")
                seen.append(name)
            except OSError:
                pass
        """,
    )
    assert seen == []


def test_torch_runs_one_thread(isolation: Isolation) -> None:
    """Does torch use one thread, whatever the machine has?"""
    assert observe(isolation, "import torch\nseen = torch.get_num_threads()") == 1


def test_prints_go_nowhere(isolation: Isolation, capfd: pytest.CaptureFixture[str]) -> None:
    """Are a student's prints, to whatever descriptor, lost without harm?"""
    code = "import os\nprint('loud')\nos.write(1, b'loud')\nos.write(2, b'loud')\nseen = 1"
    assert observe(isolation, code) == 1
    assert "loud" not in "".join(capfd.readouterr())


LIMITED = {
    "a large file": "open('big', 'wb').write(b'x' * (1 << 30))",
    "much memory": "bytearray(4 << 30)",
    "a file of the system's": "open('/etc/outside-of-the-worker', 'w')",
}


@pytest.mark.parametrize("code", LIMITED.values(), ids=LIMITED)
def test_limits_hold(isolation: Isolation, code: str) -> None:
    """Are large files, much memory and files of the system's refused?"""
    seen = observe(
        isolation,
        f"""
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            {code}
            seen = "allowed"
        except (OSError, MemoryError):
            seen = "refused"
        """,
    )
    assert seen == "refused"


CLOSED = {
    "landlock": [
        "open('/tmp/outside-of-the-worker', 'w')",
        "open('/dev/shm/outside-of-the-worker', 'w')",
        "os.listdir('/home')",
        "open('/proc/1/cmdline')",
        "os.link('/etc/hostname', 'here')",
    ],
    "seccomp": [
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "os.unshare(os.CLONE_NEWUSER)" if hasattr(os, "unshare") else "socket.socket()",
    ],
}


@pytest.mark.parametrize("layer", CLOSED)
def test_layers_hold(isolation: Isolation, layer: str) -> None:
    """Does the kernel refuse what a layer closes, where the worker says that it is on?"""
    seen = observe(
        isolation,
        f"""
        import os, socket
        seen = []
        for code in {CLOSED[layer]}:
            try:
                exec(code)
                seen.append(code)
            except OSError:
                pass
        """,
    )
    assert isolation.layers[layer] == "on"
    assert seen == []


def test_more_rights_than_planned_stop_the_grading() -> None:
    """Is a worker refused that reports another uid, a group, a capability, or a way back?"""
    isolation = UidIsolation(FACTS.limits, uid=61200)
    limits = {name: [value, value] for name, value in rlimits(FACTS.limits).items()}
    right: dict[str, Any] = {"layers": {}, "uids": [61200] * 3, "groups": [], "rlimits": limits}
    right |= {"no_new_privs": "1", "capabilities": 0, "bounding": 0}
    isolation.verify(right)
    changes: list[dict[str, Any]] = [{"uids": [61200, 0, 61200]}, {"groups": [0]}]
    changes += [{"no_new_privs": "0"}, {"capabilities": 1}, {"bounding": 1}]
    for change in (*changes, {"rlimits": {**limits, "nproc": [-1, -1]}}):
        with pytest.raises(GraderFault, match="not isolated as planned"):
            isolation.verify({**right, **change})


def test_processes_die_with_their_worker(isolation: Isolation) -> None:
    """Is a process dead that left its session and its parent, once the task is over?"""
    pid = observe(
        isolation,
        """
        import os, time
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(writer, str(os.getpid()).encode())
                time.sleep(600)
            os._exit(0)
        os.wait()
        seen = int(os.read(reader, 20))
        """,
    )
    if not isinstance(isolation, PlainIsolation):
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"
    if isinstance(isolation, UidIsolation):
        assert uid_processes(isolation.uid) == []


@pytest.fixture
def worker(isolation: Isolation) -> Iterator[Worker]:
    """A worker that has loaded nothing yet."""
    made = Worker(isolation, reference_files(), FACTS.limits)
    yield made
    made.close()


def test_worker_folder_is_removed(worker: Worker) -> None:
    """Is nothing of a worker's folder left?"""
    assert worker.folder.is_dir()
    worker.close()
    assert not worker.folder.parent.exists()


def test_worker_that_cannot_start_is_the_graders_fault(isolation: Isolation) -> None:
    """Is a worker without room for torch a fault of the grader, not of the student?"""
    if not isinstance(isolation, UidIsolation):
        isolation = choose(FACTS.limits)
    narrow = replace(FACTS.limits, address_bytes=50_000_000)
    isolation = type(isolation)(narrow)  # type: ignore[call-arg]
    with closing(isolation), pytest.raises(GraderFault, match="a worker did not start"):
        Worker(isolation, reference_files(), narrow)


def test_call_after_the_budget_is_not_run(isolation: Isolation) -> None:
    """Does a task that used up its time leave the rest `not_run` at once?"""
    runner = TaskRunner("lstm", reference_files(), isolation, FACTS.limits, 0.0)
    with pytest.raises(NotRun, match="used up its"):
        runner.call("anything")
    assert runner.calls == 0
