"""Does no hostile submission gain a point, harm another task, or leave anything behind?

Every attack goes through the whole `grade` command, with a task after it that must keep its points.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from autograder import grade
from autograder.sandbox.isolation import PROJECT, Isolation, UidIsolation, uid_processes
from autograder.selftest.attacks import catalogue
from autograder.selftest.attacks.entry import Attack
from autograder.selftest.harness import FACTS, REFERENCE, reference_files

CANARY = "canary-5d1c40"
CALL_SECONDS = 5.0  # many times what an honest call needs, and what an endless one costs us
SHARED = (tempfile.gettempdir(), "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", str(PROJECT))
IPC = Path("/proc/sysvipc")


@dataclass(frozen=True)
class Graded:
    """What is left of one run."""

    status: int
    tests: list[dict[str, Any]]  # of results.json
    text: str  # all that the run has written and printed
    uids: list[int]  # of its workers

    def points(self, task: str) -> float:
        """Add up a task's points."""
        return float(sum(t["score"] for t in self.tests if t["extra_data"]["task"] == task))

    def outcomes(self, task: str) -> set[str]:
        """Name what happened to a task's tests."""
        return {t["extra_data"]["outcome"] for t in self.tests if t["extra_data"]["task"] == task}

    def output(self, task: str) -> str:
        """Join what a task's tests say."""
        return "\n".join(t["output"] for t in self.tests if t["extra_data"]["task"] == task)


@pytest.fixture
def uids(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield a list that each uid which a worker gets is appended to.

    Their locks are held to the end of the test: another test beside it could otherwise draw the uid
    of a worker that is dead, and its files would be taken for this one's.
    """
    used: list[int] = []
    locks: list[int] = []

    def note(isolation: UidIsolation, name: str, value: Any) -> None:
        if name == "uid" and value > 0:
            used.append(value)
        if name == "lock" and value >= 0:
            locks.append(os.dup(value))
        object.__setattr__(isolation, name, value)

    monkeypatch.setattr(UidIsolation, "__setattr__", note, raising=False)
    yield used
    for lock in locks:
        os.close(lock)


def run(
    attack: Attack,
    folder: Path,
    isolation: Isolation,
    uids: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Graded:
    """Submit an attack to the command."""
    limits = replace(FACTS.limits, call_seconds=CALL_SECONDS, restarts=attack.restarts)
    monkeypatch.setattr(grade, "load", lambda: replace(FACTS, limits=limits))
    monkeypatch.setattr(grade, "choose", lambda limits: isolation)
    monkeypatch.setattr(UidIsolation, "close", lambda self: None)  # one server for all attacks
    monkeypatch.setenv("NMT_CANARY", CANARY)
    out, submission = folder / "out", folder / "submission"
    lay_out(attack, submission, out)
    names = ",".join(tasks(attack))
    status = grade.main(["--submission", str(submission), "--out", str(out), "--tasks", names])
    printed = "".join(capsys.readouterr())
    assert sorted(os.listdir(out)) == ["report.html", "results.json"], printed
    written = [(out / name).read_text(encoding="utf-8") for name in sorted(os.listdir(out))]
    document = json.loads(written[1], parse_constant=refuse)
    return Graded(status, document["tests"], "\n".join([printed, *written]), uids)


def lay_out(attack: Attack, submission: Path, out: Path) -> None:
    """Write the submission: the reference's files, and the attack's over them."""
    contents: dict[str, str | bytes] = {**reference_files(), **attack.more}
    contents.setdefault(FACTS.checkpoint, (REFERENCE / FACTS.checkpoint).read_bytes())
    own = FACTS.tasks[attack.task].file
    if own is not None:
        contents[own] = attack.code
    places = {"@PROJECT@": str(PROJECT), "@OUT@": str(out), "@GRADER@": str(os.getpid())}
    for name, content in contents.items():
        path = submission / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            for place, value in places.items():
                content = content.replace(place, value)
            content = content.encode()
        path.write_bytes(content)


def tasks(attack: Attack) -> list[str]:
    """Return the attacked tasks, and the witness."""
    attacked = [task for task, file in FACTS.task_files.items() if file in attack.more]
    if attack.task == "translate":
        attacked = []  # its tests use the others' files; theirs would only fail beside it
    return [*attacked, attack.task, witness(attack)]


def witness(attack: Attack) -> str:
    """Return a task that is graded after the attacked one, and must keep every point."""
    return "masking" if attack.task == "lstm" else "bleu" if attack.task != "bleu" else "masking"


def refuse(constant: str) -> NoReturn:
    """Refuse what JSON does not have."""
    raise AssertionError(f"{constant} in results.json")


@pytest.mark.parametrize("attack", catalogue(), ids=lambda attack: attack.id)
def test_attack(
    attack: Attack,
    tmp_path: Path,
    isolation: Isolation,
    uids: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Does the attack get its due, and does nothing of it remain?"""
    graded = run(attack, tmp_path, isolation, uids, monkeypatch, capsys)
    output = graded.output(attack.task)
    assert graded.status == 0
    assert graded.points(attack.task) == attack.points, output
    assert graded.outcomes(attack.task) == set(attack.outcomes), output
    assert attack.words in output
    assert graded.points(witness(attack)) == FACTS.tasks[witness(attack)].points
    assert kept_secrets(graded.text) == []
    assert graded.uids
    assert left_behind(graded.uids) == []


def kept_secrets(text: str) -> list[str]:
    """List what stands in a text and must not: held-out sentences, the environment, controls."""
    pairs = (PROJECT / "data" / "held_out" / "test.tsv").read_text(encoding="utf-8").splitlines()
    secrets = [CANARY, *(sentence for pair in pairs for sentence in pair.split("\t"))]
    found = [secret for secret in secrets if secret in text]
    return found + [repr(c) for c in set(text) if not c.isprintable() and c != "\n"]


def left_behind(uids: list[int]) -> list[str]:
    """List the processes, files and shared memory that belong to these uids."""
    alive = [str(process) for uid in uids for process in uid_processes(uid)]
    return [*alive, *(path for uid in uids for path in files_of(uid)), *shared(uids)]


def files_of(uid: int) -> list[str]:
    """List the files of a uid or its group, where all users may write and in the project."""
    owned = ["(", "-uid", str(uid), "-o", "-gid", str(uid), ")"]
    # Deeper down, a worker could write in folders of its own alone, which are found themselves.
    command = ["find", *filter(os.path.isdir, SHARED), "-maxdepth", "3", *owned]
    # Its status tells of other tests' files, which come and go.
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def shared(uids: list[int]) -> list[str]:
    """List the objects of System V that belong to one of the uids."""
    found = []
    for table in ("shm", "sem", "msg"):
        header, *rows = (line.split() for line in (IPC / table).read_text().splitlines())
        owner = header.index("uid")
        found += [f"{table} of uid {row[owner]}" for row in rows if int(row[owner]) in uids]
    return found
