"""Is a worker kept apart from the grader, bounded, and dead when its task is over?"""

from __future__ import annotations

import ast
import os
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

from assignment.facts import Limits
from autograder.faults import GraderFault, StudentError
from autograder.sandbox.isolation import PROJECT, Isolation, UidIsolation, choose, uid_processes
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
        seen = [p for p in {[str(path) for path in paths]} if os.access(p, os.R_OK)]
        """,
    )
    assert seen == []


def test_worker_has_an_empty_environment(isolation: Isolation) -> None:
    """Does nothing of the grader's environment reach a worker?"""
    seen = observe(isolation, "import os\nseen = sorted(os.environ)")
    allowed = {"PATH", "LANG", "HOME", "TMPDIR", "PWD", "LC_CTYPE"}
    assert {name for name in seen if not name.endswith("_NUM_THREADS")} <= allowed


def test_worker_cannot_change_its_own_code(isolation: Isolation) -> None:
    """Are the package and the probes read-only for a worker?"""
    seen = observe(
        isolation,
        """
        import os, probes
        folder = os.path.dirname(os.path.dirname(probes.__file__))
        seen = [n for n in ("", "nmt", "nmt/lstm.py", "probes/common.py", "worker.py")
                if os.access(os.path.join(folder, n), os.W_OK)]
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
    if isinstance(isolation, UidIsolation):
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"
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
    with pytest.raises(GraderFault, match="a worker did not start"):
        Worker(isolation, reference_files(), narrow)


def test_call_after_the_budget_is_not_run(isolation: Isolation) -> None:
    """Does a task that used up its time leave the rest `not_run` at once?"""
    started = time.monotonic()
    runner = TaskRunner("lstm", reference_files(), isolation, FACTS.limits, 0.0)
    with pytest.raises(Exception, match="used up its"):
        runner.call("anything")
    assert time.monotonic() - started < FACTS.limits.start_seconds
