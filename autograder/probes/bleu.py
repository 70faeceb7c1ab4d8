"""Run the student's `corpus_bleu` and `sentence_bleu`."""

from __future__ import annotations

from typing import Any

from . import common, guard
from .numbers_sent import all_sendable

FUNCTIONS = {
    name: guard.forbid("bleu", common.find("bleu", name))
    for name in ("corpus_bleu", "sentence_bleu")
}
FIELDS = ("score", "precisions", "brevity_penalty", "candidate_length", "reference_length")


def score(function: str, arguments: list[Any], times: int = 1) -> list[dict[str, Any]]:
    """Score the same candidates and references `times` times; report the arguments after it too.

    `arguments` are the candidate or candidates, the references and, or not, max_n.
    """
    return [
        {"bleu": _fields(function, FUNCTIONS[function](*arguments)), "arguments_after": arguments}
        for _ in range(times)
    ]


def refuses(function: str, arguments: list[Any]) -> bool:
    """Tell whether these arguments are answered with a ValueError."""
    try:
        FUNCTIONS[function](*arguments)
    except ValueError:
        return True
    return False


def _fields(function: str, result: Any) -> list[Any]:
    for name in FIELDS:
        if not hasattr(result, name):
            raise common.ContractError(
                f"{function} must return a Bleu; it returned a {type(result).__name__} without "
                f"`{name}`."
            )
    return [all_sendable(getattr(result, name)) for name in FIELDS]
