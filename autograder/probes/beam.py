"""Run the student's `beam_search` on toy models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from . import common, toy

beam_search = common.find("beam_search", "beam_search")

FIELDS = ("tokens", "log_prob", "score")


def search(
    model: Mapping[str, Any], state: tuple[Tensor, ...], settings: dict[str, Any], times: int = 1
) -> list[dict[str, Any]]:
    """Search `times` times from the same state; report what came back, and the state after it."""
    # Even a search that runs every extension of every hypothesis from <s> on calls it less often.
    length, vocabulary = settings["max_length"] + 1, len(model["bias"])
    max_calls = (settings["beam_size"] + 1) * (vocabulary + 1) * length**2
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
