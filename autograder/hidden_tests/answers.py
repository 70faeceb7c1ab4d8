"""Take a probe's answer apart, without trusting that a probe sent it.

A student's code may have got hold of the worker and answer anything. Such an answer is wrong; it is
never an error of the grader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.faults import Mismatch

MESSAGE = "Your code changed how the grader calls it: the answer is not of the form of its probe's."


def fields(answer: Any, *names: str) -> tuple[Any, ...]:
    """Return the named values of a report."""
    if not isinstance(answer, dict) or any(name not in answer for name in names):
        raise Mismatch(MESSAGE)
    return tuple(answer[name] for name in names)


def items(answer: Any, count: int) -> list[Any]:
    """Return a list of values, of the length that the probe gives it."""
    if not isinstance(answer, (list, tuple)) or len(answer) != count:
        raise Mismatch(MESSAGE)
    return list(answer)


def reports(answer: Any, count: int, names: set[str]) -> list[Mapping[str, Any]]:
    """Return a list of reports, each with the named values and no others."""
    if not isinstance(answer, list):
        raise Mismatch(MESSAGE)
    found = items(answer, count)
    if any(not isinstance(report, dict) or set(report) != names for report in found):
        raise Mismatch(MESSAGE)
    return found


def named(answer: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a list of values as a dict, one value a name."""
    return dict(zip(names, items(answer, len(names))))


def mapping(answer: Any) -> dict[str, Any]:
    """Return a dict."""
    if not isinstance(answer, dict):
        raise Mismatch(MESSAGE)
    return answer


def draws_nothing(what: str, random: Any) -> None:
    """Check what a probe says about the state of torch's random numbers."""
    if random is not False:
        raise Mismatch(
            f"{what} draws or seeds torch's random numbers, where nothing is random: that changes "
            "the numbers that everything after it gets."
        )


def keeps_gradients(what: str, enabled: Any) -> None:
    """Check what a probe says about torch's gradient mode after a call."""
    if enabled is not True:
        raise Mismatch(
            f"{what} leaves torch's gradients switched off, so that nothing trains after it: use "
            "`with torch.no_grad():` or the decorator, which switch them on again."
        )
