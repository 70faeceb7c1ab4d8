"""Is whatever a worker may answer a verdict on the student, never a fault of the grader?

The answers that the reference gives are recorded, and each part of them in turn is replaced by
something else: what crosses the wire may be anything, once a student's code has taken the worker.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from autograder.faults import StudentFault
from autograder.misconceptions import TASKS
from autograder.sandbox import wire
from autograder.sandbox.session import TaskRunner
from autograder.selftest.harness import FACTS, WarmWorker, reference_files

LIES: list[Any] = [
    *(None, 3, 10**400, -0.0, float("nan"), float("inf"), "x\ud800", wire.Other("odd" * 60)),
    *([], (), {}, [[[[[[[[]]]]]]]], {"value": None, "values": [None], "random": torch.zeros(2)}),
    *(torch.zeros(2), torch.zeros(0), torch.tensor(1.0), torch.tensor([True, False])),
    *(torch.zeros(3, 4, dtype=torch.int64), torch.zeros(2, dtype=torch.float16)),
    *(torch.full((2,), float("nan")), torch.empty(0, 2**40)),
]
Path = tuple[Any, ...]  # keys and positions, from the answer down to one part of it


@dataclass
class Recorder:
    """Pass calls on, and keep the answers."""

    runner: TaskRunner
    answers: list[Any] = field(default_factory=list)

    def call(self, function: str, /, **inputs: Any) -> Any:
        """Call the probe."""
        self.answers.append(self.runner.call(function, **inputs))
        return self.answers[-1]


@dataclass
class Liar:
    """Give recorded answers, in order."""

    answers: Iterator[Any]

    def call(self, function: str, /, **inputs: Any) -> Any:
        """Return the next one."""
        return next(self.answers)


def parts(answer: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the way to each part of an answer, the whole of it first."""
    yield path
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield from parts(value, (*path, key))
    elif isinstance(answer, (list, tuple)):
        for position, value in enumerate(answer):
            yield from parts(value, (*path, position))


def replaced(answer: Any, path: Path, lie: Any) -> Any:
    """Return the answer with one part of it replaced."""
    if not path:
        return lie
    if isinstance(answer, dict):
        return {**answer, path[0]: replaced(answer[path[0]], path[1:], lie)}
    items = list(answer)
    items[path[0]] = replaced(items[path[0]], path[1:], lie)
    return type(answer)(items)


def lies(answers: list[Any]) -> Iterator[tuple[Path, Any, list[Any]]]:
    """Yield answers with one lie in them, and where it is.

    Of parts that differ by their positions alone, the first one stands for all. The whole answer
    gets every lie, a part of it every third one: searches to compare with take their time.
    """
    seen = set()
    for index, answer in enumerate(answers):
        for path in parts(answer):
            place = (*(key for key in path if isinstance(key, str)), len(path))
            if place not in seen:
                seen.add(place)
                for lie in LIES[len(seen) % 3 :: 3] if path else LIES:
                    changed = [*answers[:index], replaced(answer, path, lie), *answers[index + 1 :]]
                    yield path, lie, changed


@pytest.mark.parametrize(
    "task,name", [(task, name) for task in TASKS for name in FACTS.tasks[task].tests]
)
def test_no_answer_breaks_a_hidden_test(warm: WarmWorker, task: str, name: str) -> None:
    """Is every lie a fault of the student's, and every lie in place of a whole answer found?"""
    test = getattr(importlib.import_module(f"autograder.hidden_tests.test_{task}"), name)
    recorder = Recorder(warm.serve(task, reference_files()))

    def run(probe: Recorder | Liar) -> None:
        test(probe, torch.Generator().manual_seed(zlib.crc32(f"0/{name}".encode())))

    run(recorder)
    for path, lie, answers in lies(recorder.answers):
        try:
            run(Liar(iter(answers)))
            believed = not path
        except StudentFault:
            believed = False
        assert not believed, f"{lie!r} passes for an answer"
