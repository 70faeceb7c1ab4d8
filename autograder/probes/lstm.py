"""Run the student's `LSTMCell`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from . import common, guard

LSTMCell = common.find("lstm", "LSTMCell")


def parameters(input_size: int, hidden_size: int) -> dict[str, Any]:
    """Return the parameters of a new cell, and which of them are registered as such."""
    cell = LSTMCell(input_size, hidden_size)
    return {
        "state": dict(cell.state_dict()),
        "registered": [name for name, _ in cell.named_parameters()],
    }


def step(
    weights: Mapping[str, Tensor],
    x: Tensor,
    state: tuple[Tensor, Tensor],
    cotangents: list[Tensor] | None = None,
    training: bool = True,
    grad: bool = True,
) -> dict[str, Any]:
    """Run one step, with gradients if there are cotangents; without `grad`, under no_grad."""
    cell = _cell(weights).train(training)
    run = guard.forbid("lstm", cell)
    with torch.set_grad_enabled(grad):
        return common.evaluate(run, [x, state], cotangents=cotangents, module=cell)


def sequence(
    weights: Mapping[str, Tensor], xs: Tensor, state: tuple[Tensor, Tensor]
) -> list[tuple[Tensor, Tensor]]:
    """Run the same cell over xs (T, B, I), each step from the state that the last one returned."""
    run = guard.forbid("lstm", _cell(weights))
    states = []
    for x in xs:
        state = run(x, state)
        states.append(state)
    return states


def again(
    weights: Mapping[str, Tensor],
    later: Mapping[str, Tensor],
    calls: list[tuple[Tensor, tuple[Tensor, Tensor]]],
    training: bool,
) -> dict[str, Any]:
    """Run one cell on unrelated inputs of different batch sizes, and again with other weights."""
    cell = _cell(weights).train(training)
    run = guard.forbid("lstm", cell)
    first = guard.watch(run, calls)
    common.load_parameters(cell, later)
    second = guard.watch(run, calls)
    return {
        "values": [*first["values"], *second["values"]],
        "random": first["random"] or second["random"],
    }


def _cell(weights: Mapping[str, Tensor]) -> nn.Module:
    hidden_size = weights["bias_ih"].shape[0] // 4
    cell: nn.Module = LSTMCell(weights["weight_ih"].shape[1], hidden_size)
    common.load_parameters(cell, weights)
    return cell
