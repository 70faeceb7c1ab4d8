"""Pretend that there is a second device, as where there is a GPU and a tensor lies on it.

A tensor `Elsewhere` has its numbers in the same memory as all others, and says that its device is
`DEVICE`. While the mode `TwoDevices` is entered, what is computed from it is elsewhere too, and an
operation on tensors of both devices is refused, as torch refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from .common import ContractError

CPU, DEVICE = torch.device("cpu"), torch.device("cuda", 0)  # neither is used: no GPU is needed
# What a tensor says about its place: (of one on the CPU, of one elsewhere).
PLACES: dict[Any, tuple[Any, Any]] = {
    getattr(Tensor, name).__get__: places
    for name, places in {
        "device": (CPU, DEVICE),
        "is_cpu": (True, False),
        "is_cuda": (False, True),
    }.items()
} | {Tensor.get_device: (-1, 0)}
# These may see tensors of both devices, and the result is where
BY_NUMBER = ("to", "cuda")  # these take a device's number, too.
MOVING = ("to", "type_as")  # the last of them is,
MIXING = ("copy_", "__getitem__", "__setitem__", "index_put_")  # the first of them is.


class Elsewhere(Tensor):
    """Stand for a tensor on the other device."""


class Here(Tensor):
    """Stand for a tensor that was made on the CPU while the mode was entered."""


class TwoDevices(TorchFunctionMode):
    """Keep account of which tensors are on the other device.

    `sure` tells whether that worked: inside `torch.vmap` it does not. What TorchScript returns has
    not been followed either, and is of neither class.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sure = True

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a call of torch on this memory, and say where its result lies."""
        given = (tuple(args), dict(kwargs or {}))
        tensors = [leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)]
        self.sure &= not any(is_functorch_wrapped_tensor(tensor) for tensor in tensors)
        if func is torch.device:
            return torch.device(*given[0], **given[1])
        if func in PLACES:
            return PLACES[func][isinstance(tensors[0], Elsewhere)]
        name = getattr(func, "__name__", "")
        far, moves = _is_far(name, tensors, tree_leaves(given)), name in BY_NUMBER
        args, kwargs = tree_map(
            lambda leaf: CPU if _is_device(leaf) or (moves and type(leaf) is int) else leaf, given
        )
        with torch._C.DisableTorchFunctionSubclass():
            return tree_map(lambda leaf: _place(leaf, far), func(*args, **kwargs))


def _is_far(name: str, tensors: Sequence[Tensor], leaves: Sequence[Any]) -> bool:
    """Tell whether the result of a call is elsewhere.

    Raises:
        ContractError: torch would refuse the call.
    """
    numbered = name in BY_NUMBER and any(type(leaf) is int for leaf in leaves)
    asked = [torch.device(leaf) for leaf in leaves if _is_device(leaf)] + [DEVICE] * numbered
    if asked or name == "cpu":
        return bool(asked) and asked[0].type == DEVICE.type
    # A tensor without dimensions counts as a number, wherever it is.
    far = [isinstance(tensor, Elsewhere) for tensor in tensors if tensor.dim() > 0]
    if not far:
        return any(isinstance(tensor, Elsewhere) for tensor in tensors)
    if name in MOVING + MIXING:
        return far[-1] if name in MOVING else far[0]
    if len(set(far)) > 1:
        raise ContractError(
            f"`{name}` gets a tensor on the device of lengths and one on the CPU: on a computer "
            "with a GPU this stops with an error. Make every new tensor on lengths.device."
        )
    return far[0]


def _is_device(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("cpu", "cuda", str(DEVICE))
    return isinstance(value, torch.device)


def _place(value: Any, far: bool) -> Any:
    return value.as_subclass(Elsewhere if far else Here) if isinstance(value, Tensor) else value
