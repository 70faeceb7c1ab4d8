"""Messages between grader and worker: one JSON document, and the tensors it names.

This file runs on both sides of the boundary, so it imports nothing of the project. A message is

    8 bytes   two big-endian uint32: the lengths of the two parts
    part 1    JSON; a tensor stands there as {"tensor": name}, a tuple as {"tuple": [...]},
              a dict as {"dict": {...}}, anything else that JSON has not as {"other": description}
    part 2    the named tensors, as safetensors

Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

import safetensors.torch
import torch

HEADER = struct.Struct("!II")
CHUNK = 1 << 16
# What decoding costs is bounded by these: each list or tensor takes far more memory than its text.
MAX_TEXT = 1 << 19  # bytes of JSON; the largest honest one has some tens of thousands
MAX_TENSOR_HEADER = 1 << 16  # bytes; about 100 a tensor, and the model has 22
MAX_NESTING = 20  # far more than any probe's answer has
MAX_DIMENSIONS = (
    8  # of a tensor; torch prints no more than some hundred, and no task has more than 3
)
DTYPES = (
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
)


class WireError(Exception):
    """A message is malformed or larger than allowed."""


class Closed(Exception):
    """The other side has closed the channel."""


class Other:
    """Stand for a value that cannot cross, such as an object of a student's class."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return self.description


def send(channel: socket.socket, value: Any) -> None:
    """Send one value; the socket's timeout bounds the whole of it."""
    tensors: dict[str, torch.Tensor] = {}
    text = json.dumps(_encode(value, tensors, 0)).encode()
    blob = safetensors.torch.save(tensors) if tensors else b""
    channel.sendall(HEADER.pack(len(text), len(blob)) + text + blob)


def receive(channel: socket.socket, *, limit: int, deadline: float | None = None) -> Any:
    """Receive one value of at most `limit` bytes, until `deadline` on the monotonic clock.

    Raises:
        WireError: the message is malformed or too large.
        Closed: the channel ended before or within the message.
        TimeoutError: the deadline passed.
    """
    sizes = HEADER.unpack(_read(channel, HEADER.size, deadline))
    if sum(sizes) > limit or sizes[0] > MAX_TEXT:
        raise WireError(f"a message of {sum(sizes):,} bytes, more than are allowed")
    text, blob = (_read(channel, size, deadline) for size in sizes)
    try:
        return _decode(json.loads(text), load_tensors(blob) if blob else {}, 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WireError(f"malformed message: {type(error).__name__}") from error
    except safetensors.SafetensorError as error:
        raise WireError("malformed tensors in a message") from error


def load_tensors(blob: bytes) -> dict[str, torch.Tensor]:
    """Read safetensors of a plausible number of tensors, and of kinds that can be compared.

    Raises:
        ValueError, safetensors.SafetensorError: they are not.
    """
    if len(blob) < 8 or int.from_bytes(blob[:8], "little") > MAX_TENSOR_HEADER:
        raise ValueError("the header is cut off, or names far too many tensors")
    try:
        tensors = safetensors.torch.load(blob)
    except (RuntimeError, TypeError, KeyError) as error:  # sizes that overflow, unknown kinds
        raise ValueError("a tensor of a size or kind that torch does not have") from error
    odd = {str(tensor.dtype) for tensor in tensors.values() if tensor.dtype not in DTYPES}
    if odd:
        raise ValueError(f"tensors of kind {', '.join(sorted(odd))}")
    if any(tensor.dim() > MAX_DIMENSIONS for tensor in tensors.values()):
        raise ValueError(f"a tensor of more than {MAX_DIMENSIONS} dimensions")
    return tensors


def _read(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = []
    while size:
        if deadline is not None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            channel.settimeout(remaining)
        part = channel.recv(min(size, CHUNK))
        if not part:
            raise Closed
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _encode(value: Any, tensors: dict[str, torch.Tensor], depth: int) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return float(value)  # also numpy's float64, which is one
    if depth > MAX_NESTING:
        return {"other": "a value nested too deeply"}
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value, tensors)
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, tensors, depth + 1) for item in value]}
    if isinstance(value, list):
        return [_encode(item, tensors, depth + 1) for item in value]
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {"dict": {key: _encode(item, tensors, depth + 1) for key, item in value.items()}}
    return {"other": f"a value of type {type(value).__qualname__}"}


def _encode_tensor(value: torch.Tensor, tensors: dict[str, torch.Tensor]) -> Any:
    if value.layout is not torch.strided or value.dtype not in DTYPES:
        return {"other": f"a tensor of {value.dtype} and layout {value.layout}"}
    if value.device.type != "cpu":
        return {"other": f"a tensor on device {value.device}"}
    name = f"t{len(tensors)}"
    # A copy of its own: safetensors refuses tensors that share memory.
    tensors[name] = value.detach().resolve_neg().clone(memory_format=torch.contiguous_format)
    return {"tensor": name}


def _decode(value: Any, tensors: dict[str, torch.Tensor], depth: int) -> Any:
    if depth > 2 * MAX_NESTING:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_decode(item, tensors, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "tuple":
        return tuple(_decode(item, tensors, depth + 1) for item in content)
    if kind == "dict":
        return {str(key): _decode(item, tensors, depth + 1) for key, item in content.items()}
    if kind == "other":
        return Other(str(content)[:200])
    raise ValueError(f"unknown kind {kind!r}")
