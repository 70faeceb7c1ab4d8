"""Run the student's `beam_search` on toy models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from . import common, toy

beam_search = common.find("beam_search", "beam_search")

# A search that runs its hypotheses one by one, from <s> on and for every extension, calls step less
# than V * T times a hypothesis and position; V and T are at most a few tens here.
CALLS_PER_POSITION = 50
FIELDS = ("tokens", "log_prob", "score")


def search(
    model: Mapping[str, Any], state: tuple[Tensor, ...], settings: dict[str, Any], times: int = 1
) -> list[dict[str, Any]]:
    """Search `times` times from the same state; report what came back, and the state after it."""
    max_calls = CALLS_PER_POSITION * (settings["max_length"] + 1) * (settings["beam_size"] + 1)
    reports = []
    for _ in range(times):
        step = toy.step_of(model, state, max_calls)
        result = beam_search(step, state, **settings)
        reports.append({"hypotheses": _fields(result), "state_after": list(state)})
    return reports


def _fields(result: Any) -> list[list[Any]]:
    if type(result) is not list:
        raise common.ContractError(
            "beam_search must return a list of Hypothesis, best first; "
            f"it returned a {type(result).__name__}."
        )
    for hypothesis in result:
        for name in FIELDS:
            if not hasattr(hypothesis, name):
                raise common.ContractError(
                    f"beam_search must return a list of Hypothesis; an item of its list is a "
                    f"{type(hypothesis).__name__} without `{name}`."
                )
    return [[getattr(hypothesis, name) for name in FIELDS] for hypothesis in result]
