"""What a written question is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assignment.facts import load

TOLERANCE = load().tolerances.written


def computed(expression: str) -> float:
    """Return the value of an expression of ours, in which `math` is known."""
    value: Any = eval(expression, {"math": math})
    return float(value)


@dataclass(frozen=True)
class Slip:
    """A typical mistake: what it makes of an answer, and what to look at.

    `id` names the mistake within its question; answers that the same mistake spoils share it.
    """

    id: str
    value: str  # an expression
    hint: str  # for the student: it must not give the answer away


@dataclass(frozen=True)
class Answer:
    """A number that students work out and assign to a variable."""

    name: str
    wanted: str  # what it is, for the comment beside it
    value: str  # an expression, which the solved notebook shows
    slips: tuple[Slip, ...] = ()

    @property
    def question(self) -> str:
        """Return the question's id, with which the name begins."""
        return self.name.partition("_")[0]

    @cached_property
    def expected(self) -> float:
        """Return the right value."""
        return computed(self.value)

    def accepts(self, number: float) -> bool:
        """Tell whether a number is right, rounded to three digits or not at all."""
        return near(number, self.expected)

    def slip(self, number: float) -> Slip | None:
        """Return the mistake that gives a wrong number, if it is a known one."""
        return next((slip for slip in self.slips if near(number, computed(slip.value))), None)


def near(number: float, value: float) -> bool:
    """Tell whether a number is a value within the tolerance.

    Nobody needs to round a whole number: it has to be met, up to what floating point adds to a
    short computation.
    """
    if value == round(value):
        return abs(number - value) <= 1e-6 * max(1.0, abs(value))
    return abs(number - value) <= TOLERANCE * abs(value)


@dataclass(frozen=True)
class Reasoning:
    """A part that people grade: what to write, what a good text says, and what it is worth."""

    id: str
    prompt: str
    model: str
    rubric: tuple[str, str, str]  # what 2, 1 and 0 marks are for

    @property
    def levels(self) -> tuple[tuple[int, str], ...]:
        """Return the marks with their descriptions, the best first."""
        return tuple(zip(range(len(self.rubric) - 1, -1, -1), self.rubric))


@dataclass(frozen=True)
class Question:
    """One question: numbers that the grader checks, texts that people read, or both."""

    id: str
    title: str
    prompt: str
    answers: tuple[Answer, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()

    @property
    def number(self) -> str:
        """Return the number under which students know it."""
        return self.id.removeprefix("q")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the variables of its answers."""
        return tuple(answer.name for answer in self.answers)
