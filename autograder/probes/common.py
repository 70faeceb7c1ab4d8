"""What all probes share: find the student's function, call it, differentiate it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn


class ContractError(Exception):
    """The student's file lacks something that the contract names; the text is for the student."""

    breaks_contract = True


def load(module: str) -> None:
    """Import the student's module `nmt.<module>`: what fails there fails before any call."""
    importlib.import_module(f"nmt.{module}")


def find(module: str, name: str) -> Any:
    """Return `name` of the student's module `nmt.<module>`."""
    found = getattr(importlib.import_module(f"nmt.{module}"), name, None)
    if found is None:
        raise ContractError(
            f"nmt/{module}.py has no `{name}`: keep the names that the starter gives."
        )
    return found


def load_parameters(module: nn.Module, parameters: Mapping[str, Tensor]) -> None:
    """Give a module its parameters, in their dtype; names and shapes must be the contract's."""
    own = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    wanted = {name: tuple(value.shape) for name, value in parameters.items()}
    if own != wanted:
        raise ContractError(
            f"{type(module).__name__} has the parameters {own}, where the contract has {wanted}: "
            "keep `__init__` as the starter gives it."
        )
    for value in parameters.values():
        module.to(value.dtype)
    module.load_state_dict(dict(parameters))


def evaluate(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    *,
    cotangents: Sequence[Tensor] | None = None,
    module: nn.Module | None = None,
) -> dict[str, Any]:
    """Call `function` and report what it returned and what it did to its arguments.

    With `cotangents`, one tensor for each tensor returned (in order, nested tuples flattened), also
    the gradients of sum(output * cotangent) with respect to each float tensor among the arguments
    and each parameter of the module.
    """
    tensors = flatten(arguments)
    if cotangents is not None:
        for tensor in tensors:
            if tensor.is_floating_point():
                tensor.requires_grad_()
    value = function(*arguments)
    report = {"value": value, "arguments_after": list(tensors)}
    if cotangents is not None:
        parameters = dict(module.named_parameters()) if module is not None else {}
        inputs = [tensor for tensor in tensors if tensor.requires_grad]
        found = gradients(flatten([value]), cotangents, [*inputs, *parameters.values()])
        report["argument_gradients"] = found[: len(inputs)]
        report["parameter_gradients"] = dict(zip(parameters, found[len(inputs) :]))
    return report


def gradients(
    outputs: Sequence[Tensor], cotangents: Sequence[Tensor], inputs: Sequence[Tensor]
) -> list[Tensor | None]:
    """Return the gradients of sum(output * cotangent); None where the graph does not reach."""
    if [tuple(output.shape) for output in outputs] != [tuple(c.shape) for c in cotangents]:
        raise ContractError(
            f"the results are {_shapes(outputs)}; in the contract they are {_shapes(cotangents)}."
        )
    pairs = [(o, c) for o, c in zip(outputs, cotangents) if o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    total = torch.stack([(output * cotangent).sum() for output, cotangent in pairs]).sum()
    return list(torch.autograd.grad(total, list(inputs), allow_unused=True))


def _shapes(tensors: Sequence[Tensor]) -> str:
    shapes = [str(tuple(tensor.shape)) for tensor in tensors]
    return f"tensors of the shapes {', '.join(shapes)}" if shapes else "no tensors"


def flatten(value: Any) -> list[Tensor]:
    """List the tensors of nested tuples and lists, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in flatten(item)]
    return []
