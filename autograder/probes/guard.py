"""Watch the student's code run: what it may not call, and what it may not draw."""

from __future__ import annotations

import importlib.abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .common import ContractError

# Parts of the names of torch's functions that solve a task. Modules call them in the end, so it
# does not matter whether a student uses `nn.LSTMCell`, `torch.lstm_cell` or `torch._VF.lstm_cell`.
FORBIDDEN = {
    "lstm": ("lstm",),
    "attention": ("scaled_dot_product", "multi_head_attention"),
}


class Forbid(TorchFunctionMode):
    """Refuse the forbidden functions of a task while the mode is entered."""

    def __init__(self, task: str) -> None:
        super().__init__()
        self.task = task

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Let a call of torch pass, unless it solves the task."""
        name = getattr(func, "__name__", "")
        if any(part in name for part in FORBIDDEN[self.task]):
            raise ContractError(
                f"torch's own `{name}` is not allowed in nmt/{self.task}.py, and neither are "
                "modules that call it: this task is to write it yourself."
            )
        return func(*args, **(kwargs or {}))


BLEU_LIBRARIES = {"sacrebleu", "nltk", "torchmetrics", "torchtext", "torcheval", "evaluate"}


class RefuseImports(importlib.abc.MetaPathFinder):
    """Refuse to import libraries that solve a task, whether they are installed or not."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Let the import system look elsewhere, unless the library is one of them."""
        if name.split(".")[0] in BLEU_LIBRARIES:
            raise ContractError(
                f"{name.split('.')[0]} is not allowed in nmt/bleu.py: this task is to write it "
                "yourself."
            )


def forbid(task: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, with the task's forbidden functions refused while it runs."""

    def guarded(*arguments: Any) -> Any:
        with Forbid(task):
            return function(*arguments)

    return guarded


def watch(function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Call the function on each list of arguments; report values, and whether it drew numbers."""
    before = torch.get_rng_state()
    values = [function(*arguments) for arguments in calls]
    return {"values": values, "random": not torch.equal(before, torch.get_rng_state())}
