"""Run the student's `beam_search` on toy models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from . import common, toy
from .numbers_sent import all_sendable

beam_search = common.find("beam_search", "beam_search")

FIELDS = ("tokens", "log_prob", "score")


def search(
    model: Mapping[str, Any], state: tuple[Tensor, ...], settings: dict[str, Any], times: int = 1
) -> list[dict[str, Any]]:
    """Search `times` times from the same state; report what came back, and what it changed.

    "random" tells whether torch's random numbers are others after it, "gradients" whether
    gradients are still computed.
    """
    # Even a search that runs every extension of every hypothesis from <s> on calls it less often.
    length, vocabulary = settings["max_length"] + 1, len(model["bias"])
    max_calls = (settings["beam_size"] + 1) * (vocabulary + 1) * length**2
    reports = []
    for _ in range(times):
        step = toy.step_of(model, state, max_calls)
        result, random, gradients = _watched(step, state, settings)
        report = {"hypotheses": _fields(result), "state_after": list(state)}
        reports.append({**report, "random": random, "gradients": gradients})
    return reports


def _watched(
    step: toy.Step, state: tuple[Tensor, ...], settings: dict[str, Any]
) -> tuple[Any, bool, bool]:
    torch.rand(1)  # so that the state is not the first one of a seed that is set again
    before = torch.get_rng_state()
    try:
        result = beam_search(step, state, **settings)
        random = not torch.equal(before, torch.get_rng_state())
        return result, random, torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)  # the next search starts as this one did


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
    return [[all_sendable(getattr(hypothesis, name)) for name in FIELDS] for hypothesis in result]
