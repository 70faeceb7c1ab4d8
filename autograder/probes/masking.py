"""Run the student's functions of `nmt.masking`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import common, elsewhere, guard

common.load("masking")


def run(name: str, arguments: list[Any], cotangents: list[Tensor] | None = None) -> dict[str, Any]:
    """Call one of the functions, with gradients if there are cotangents."""
    return common.evaluate(common.find("masking", name), arguments, cotangents=cotangents)


def twice(name: str, arguments: list[Any], grad: bool = True) -> dict[str, Any]:
    """Call one of the functions twice with the same arguments, and report those after it."""
    with torch.set_grad_enabled(grad):
        report = guard.watch(common.find("masking", name), [arguments, arguments])
    return {**report, "arguments_after": common.flatten(arguments)}


def refusal(lengths: Tensor, max_length: int) -> str:
    """Return what `padding_mask` raises, by name; "nothing" if it returns."""
    padding_mask = common.find("masking", "padding_mask")
    try:
        padding_mask(lengths, max_length)
    except NotImplementedError:
        raise
    except ValueError:  # or a subclass of it
        return "ValueError"
    except Exception as error:
        return f"{type(error).__name__}"
    return "nothing"


def on_cpu(lengths: Tensor, max_length: int) -> bool:
    """Tell whether `padding_mask` gives a mask on the CPU for lengths on another device."""
    padding_mask, devices = common.find("masking", "padding_mask"), elsewhere.TwoDevices()
    try:
        with devices:
            mask = padding_mask(lengths.as_subclass(elsewhere.Elsewhere), max_length)
    except (common.ContractError, NotImplementedError):
        raise
    except Exception:  # something that the pretence does not carry: no evidence
        return False
    return devices.sure and isinstance(mask, elsewhere.Here)
