"""Task `written`: are the numbers right that the notebook's cells give?

One test a question of `assignment/written/` that has numbers. The cells run in the worker, which
only sends what they gave; what is right, and which mistake gives what, is known here alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from gradescope_utils.autograder_utils.decorators import partial_credit

from assignment.facts import load
from assignment.written.questions import NUMERIC
from assignment.written.source import Answer, Question
from autograder.faults import (
    CallTimeout,
    Mismatch,
    NotImplementedYet,
    NotRun,
    StudentError,
    StudentFault,
    WorkerCrashed,
)
from autograder.hidden_tests import answers
from autograder.intake import Submission
from autograder.sandbox.session import TaskRunner
from nmt.files import InputError
from nmt.notebook import read_cells

pytestmark = pytest.mark.task("written")

FACTS = load()
CODE_BYTES = 300_000  # of the code cells as JSON; a message to a worker may have half a million
FAULTS: dict[str, type[StudentFault]] = {  # what one answer can be a fault of, the gravest first
    "slow": CallTimeout,
    "crash": WorkerCrashed,
    "error": StudentError,
}
# What needs no line of its own for each answer.
UNTOLD = {
    "open": "Not answered yet",
    "missing": "Not assigned anywhere (keep the lines that the notebook came with)",
}
WANTED = "a number, rounded to three digits or not at all, or an expression that gives it"


@dataclass(frozen=True)
class Found:
    """What became of one answer, as the worker says."""

    answer: Answer
    state: str
    value: float
    text: str
    times: int

    @property
    def right(self) -> bool:
        """Tell whether it is the right number."""
        return self.state == "number" and self.answer.accepts(self.value)

    @property
    def slip(self) -> str | None:
        """Return the id of the known mistake behind a wrong number."""
        slip = self.answer.slip(self.value) if self.state == "number" and not self.right else None
        return f"written/{self.answer.question}-{slip.id}" if slip is not None else None

    @property
    def line(self) -> str:
        """Say what is wrong with it; never what would be right."""
        name, text = self.answer.name, self.text.rstrip(".")
        if self.state == "odd":
            return f"{name} {text}; expected {WANTED}."
        if self.state != "number":
            return f"{name}: your code {text}."
        again = f" (the last of the {self.times} values that you assign)" if self.times > 1 else ""
        slip = self.answer.slip(self.value)
        hint = f" Hint: {slip.hint}" if slip is not None else ""
        return f"{name}, {self.answer.wanted}: {self.value:.6g} is not right{again}.{hint}"


class WrongAnswers(Mismatch):
    """Some answers of a question are wrong; the first known mistake among them is named."""

    tells = False  # the diagnosis of the other tasks has nothing to add


def make_test(question: Question) -> Callable[..., None]:
    """Return the hidden test of a question."""

    @partial_credit(FACTS.tasks["written"].tests[f"test_{question.id}"])
    def test(
        probe: TaskRunner,
        submission: Submission,
        set_score: Callable[[float], None] = lambda score: None,
    ) -> None:
        found = ask(probe, code_cells(submission), question)
        right = sum(one.right for one in found)
        set_score(FACTS.tasks["written"].tests[f"test_{question.id}"] * right / len(found))
        if right < len(found):
            raise fault(found)

    test.__doc__ = f"Written question {question.number}, {question.title}: are its numbers right?"
    made: Callable[..., None] = test
    return made


def code_cells(submission: Submission) -> list[str]:
    """Return the sources of the notebook's code cells, in order.

    Raises:
        StudentFault: it is missing, or cannot be read.
    """
    name = FACTS.notebook
    problem = submission.problems.get(name, f"{name} is missing.")
    if name not in submission.files:
        raise NotRun(f"Not run: {problem}")
    if name in submission.problems:
        raise StudentError(problem)
    try:
        cells = read_cells(submission.files[name])
    except InputError as error:
        raise StudentError(f"{error}.") from None
    code = [cell.source for cell in cells if cell.is_code]
    if len(json.dumps(code)) > CODE_BYTES:
        raise StudentError(
            f"The code cells of {name} have more than {CODE_BYTES:,} characters: take out those "
            "that are not part of your answers."
        )
    return code


def ask(probe: TaskRunner, cells: list[str], question: Question) -> list[Found]:
    """Let the worker run what the question's answers depend on."""
    reply = probe.call(
        "read", cells=cells, names=list(question.names), seconds=FACTS.limits.answer_seconds
    )
    values = answers.items(reply, len(question.answers))
    return [found_of(answer, value) for answer, value in zip(question.answers, values)]


def found_of(answer: Answer, value: Any) -> Found:
    """Take apart what a worker says of one answer; it may be the student's invention."""
    state, number, text, times = answers.items(value, 4)
    known = (*FAULTS, "number", "open", "missing", "odd")
    if state not in known or type(text) is not str or type(times) is not int:
        raise Mismatch(answers.MESSAGE)
    if type(number) is not float or not math.isfinite(number):
        raise Mismatch(answers.MESSAGE)
    return Found(answer, state, number, text, times)


def fault(found: list[Found]) -> StudentFault:
    """Return the fault of a question some of whose answers are not right."""
    lost = [one for one in found if not one.right]
    right = [one.answer.name for one in found if one.right]
    if all(one.state == "open" for one in found):
        return NotImplementedYet(
            f"Not answered yet: {', '.join(one.answer.name for one in found)}."
        )
    lines = [*(one.line for one in lost if one.state not in UNTOLD), *untold(lost)]
    lines += [f"Right: {', '.join(right)}."] if right else []
    states = {one.state for one in lost}
    kind = next((kind for state, kind in FAULTS.items() if state in states), WrongAnswers)
    slips = [one.slip for one in lost if one.slip is not None]
    wrong = kind("\n".join(lines))
    wrong.misconception = slips[0] if slips else None
    return wrong


def untold(lost: list[Found]) -> list[str]:
    """Return a line for the answers that are still dots, and one for those that are nowhere."""
    lines = []
    for state, words in UNTOLD.items():
        names = [one.answer.name for one in lost if one.state == state]
        lines += [f"{words}: {', '.join(names)}."] if names else []
    return lines


globals().update({f"test_{question.id}": make_test(question) for question in NUMERIC})
