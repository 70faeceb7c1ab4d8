"""Run the student's scores, `attend` and `AttentionDecoder`, on top of torch's cell and softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from . import common, guard, stand_ins

stand_ins.install()
common.load("attention")

StepInputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]  # y, o_prev, h, c, values, mask


def run(
    name: str, arguments: list[Tensor], cotangents: list[Tensor] | None = None
) -> dict[str, Any]:
    """Call one of the functions, with gradients if there are cotangents."""
    function = guard.forbid("attention", common.find("attention", name))
    return common.evaluate(function, arguments, cotangents=cotangents)


def twice(name: str, arguments: list[Tensor], grad: bool = True) -> dict[str, Any]:
    """Call one of the functions twice with the same arguments, and report those after it."""
    with torch.set_grad_enabled(grad):
        report = guard.watch(common.find("attention", name), [arguments, arguments])
    return {**report, "arguments_after": arguments}


def step(
    weights: Mapping[str, Tensor],
    inputs: StepInputs,
    training: bool,
    dropout: float = 0.0,
    cotangents: list[Tensor] | None = None,
) -> dict[str, Any]:
    """Run one step; the memory's keys are computed inside, so that gradients flow through them."""
    decoder = _decoder(weights, dropout).train(training)
    run_step = _step(decoder)
    return common.evaluate(run_step, list(inputs), cotangents=cotangents, module=decoder)


def steps(
    weights: Mapping[str, Tensor],
    calls: list[StepInputs],
    training: bool,
    dropout: float = 0.0,
) -> dict[str, Any]:
    """Run unrelated steps on one decoder, one after the other."""
    return guard.watch(_step(_decoder(weights, dropout).train(training)), calls)


def sequence(
    weights: Mapping[str, Tensor],
    ys: Tensor,
    o: Tensor,
    state: tuple[Tensor, Tensor],
    memory: tuple[Tensor, Tensor],
) -> list[Any]:
    """Run steps over ys (T, B, E), each from what the last one returned; memory is values, mask."""
    run_step, results = _step(_decoder(weights, 0.0)), []
    for y in ys:
        results.append(run_step(y, o, *state, *memory))
        o, state, _ = results[-1]
    return results


def memory_after(
    weights: Mapping[str, Tensor], inputs: StepInputs, training: bool = True, grad: bool = True
) -> dict[str, Any]:
    """Run one step, and report its arguments after it, the memory's keys before and after."""
    decoder = _decoder(weights, 0.0).train(training)
    y, o_prev, h, c, values, mask = inputs
    keys = decoder.att_projection(values).detach()
    before, memory = keys.clone(), common.find("attention", "Memory")(values, keys, mask)
    with torch.set_grad_enabled(grad):
        value = decoder.step(y, o_prev, (h, c), memory)
    return {"value": value, "arguments_after": list(inputs), "keys": [before, keys]}


def _decoder(weights: Mapping[str, Tensor], dropout: float) -> Any:
    hidden_size, memory_size = weights["att_projection.weight"].shape
    embedding_size = weights["cell.weight_ih"].shape[1] - hidden_size
    decoder_class = common.find("attention", "AttentionDecoder")
    decoder: nn.Module = decoder_class(embedding_size, hidden_size, memory_size, dropout=dropout)
    common.load_parameters(decoder, weights)
    return decoder


def _step(decoder: Any) -> Any:
    """Return the step as a function of plain tensors; a memory of one row is that of all rows."""
    memory_class = common.find("attention", "Memory")

    def run_step(y: Tensor, o: Tensor, h: Tensor, c: Tensor, values: Tensor, mask: Tensor) -> Any:
        parts = values, decoder.att_projection(values), mask
        memory = memory_class(*(part.expand(len(y), *part.shape[1:]) for part in parts))
        return guard.forbid("attention", decoder.step)(y, o, (h, c), memory)

    return run_step
