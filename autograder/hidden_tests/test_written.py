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
from nmt.answers import STATES, Reading, settled, unsettled
from nmt.files import InputError
from nmt.notebook import read_cells

RUN = "notebook"  # what the worker said of the whole of it, for the tests that follow
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
    reading: Reading

    @property
    def state(self) -> str:
        """Return what kind of reading it is."""
        return self.reading.state

    @property
    def right(self) -> bool:
        """Tell whether it is the right number."""
        return self.state == "number" and self.answer.accepts(self.reading.value)

    @property
    def slip(self) -> str | None:
        """Return the id of the known mistake behind a wrong number."""
        if self.state != "number" or self.right:
            return None
        slip = self.answer.slip(self.reading.value)
        return f"written/{self.answer.question}-{slip.id}" if slip is not None else None

    @property
    def line(self) -> str:
        """Say what is wrong with it; never what would be right."""
        name, (_, value, text, times) = self.answer.name, self.reading
        if self.state == "odd":
            return f"{name} {text.rstrip('.')}; expected {WANTED}."
        again = f" (the last of the {times} values that you assign)" if times > 1 else ""
        slip = self.answer.slip(value)
        hint = f" Hint: {slip.hint}" if slip is not None else ""
        return f"{name}, {self.answer.wanted}: {value:.6g} is not right{again}.{hint}"


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
            raise fault(found, others(submission))

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
    """Let the worker run the notebook once, and then what lost answers of a question depend on."""
    if RUN not in probe.memory:
        probe.memory[RUN] = run_all(probe, cells)
    found = {name: probe.memory[RUN][name] for name in question.names}
    lost = unsettled(found, question.names)
    if lost:
        seconds = FACTS.limits.answer_seconds
        part = readings(probe, cells=cells, names=lost, seconds=seconds, whole=False)
        found.update({name: settled(found[name], part[name]) for name in lost})
    return [Found(answer, found[answer.name]) for answer in question.answers]


def run_all(probe: TaskRunner, cells: list[str]) -> dict[str, Reading]:
    """Let the worker run the whole notebook, as Jupyter's Run All does, for all questions."""
    names = [name for question in NUMERIC for name in question.names]
    seconds = FACTS.limits.notebook_seconds
    try:
        return readings(probe, cells=cells, names=names, seconds=seconds, whole=True)
    except StudentFault:  # which is no question's before it is known whose code it comes from
        return dict.fromkeys(names, Reading("missing"))


def readings(probe: TaskRunner, names: list[str], **inputs: Any) -> dict[str, Reading]:
    """Return what the worker says of some answers."""
    reply = answers.items(probe.call("read", names=names, **inputs), len(names))
    return {name: reading_of(value) for name, value in zip(names, reply)}


def reading_of(value: Any) -> Reading:
    """Take apart what a worker says of one answer; it may be the student's invention."""
    state, number, text, times = answers.items(value, 4)
    if state not in STATES or type(text) is not str or type(times) is not int:
        raise Mismatch(answers.MESSAGE)
    if type(number) is not float or not math.isfinite(number):
        raise Mismatch(answers.MESSAGE)
    return Reading(state, number, text, times)


def others(submission: Submission) -> str:
    """Point to notebooks that may be meant, for who has submitted the blank one, too."""
    stem, ending = FACTS.notebook.split(".")
    names = [n for n in submission.ignored if stem in n.casefold() and n.endswith(f".{ending}")]
    return f" {names[0]!r} is not read: is it the one you worked in?" if names else ""


def fault(found: list[Found], hint: str = "") -> StudentFault:
    """Return the fault of a question some of whose answers are not right.

    hint is for the case that nothing at all is answered.
    """
    lost = [one for one in found if not one.right]
    right = [one.answer.name for one in found if one.right]
    if all(one.state == "open" for one in found):
        return NotImplementedYet(
            f"Not answered yet: {', '.join(one.answer.name for one in found)}.{hint}"
        )
    lines = [one.line for one in lost if one.state in ("number", "odd")]
    lines += [*shared(lost), *untold(lost)]
    lines += [f"Right: {', '.join(right)}."] if right else []
    states = {one.state for one in lost}
    kind = next((kind for state, kind in FAULTS.items() if state in states), WrongAnswers)
    slips = [one.slip for one in lost if one.slip is not None]
    return kind("\n".join(lines), misconception=slips[0] if slips else None)


def shared(lost: list[Found]) -> list[str]:
    """Return a line for each thing that went wrong in code, with all the answers that it cost."""
    names: dict[str, list[str]] = {}
    for one in lost:
        if one.state in FAULTS:
            names.setdefault(one.reading.text.rstrip("."), []).append(one.answer.name)
    return [f"{', '.join(some)}: your code {text}." for text, some in names.items()]


def untold(lost: list[Found]) -> list[str]:
    """Return a line for the answers that are still dots, and one for those that are nowhere."""
    lines = []
    for state, words in UNTOLD.items():
        names = [one.answer.name for one in lost if one.state == state]
        lines += [f"{words}: {', '.join(names)}."] if names else []
    return lines


globals().update({f"test_{question.id}": make_test(question) for question in NUMERIC})
