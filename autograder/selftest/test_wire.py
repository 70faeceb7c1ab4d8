"""Does the channel carry values faithfully, and refuse everything else?"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from typing import Any

import pytest
import torch

from autograder.sandbox import wire

LIMIT = 1 << 20


def cross(value: Any) -> Any:
    """Send a value through a channel."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=wire.send, args=(theirs, value))
        sender.start()
        received = wire.receive(ours, limit=LIMIT)
        sender.join()
    return received


def feed(data: bytes, *, close: bool = True) -> Any:
    """Receive from raw bytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        if close:
            theirs.shutdown(socket.SHUT_WR)
        return wire.receive(ours, limit=LIMIT, deadline=time.monotonic() + 0.2)


PLAIN: list[Any] = [
    None,
    True,
    3,
    10**30,
    1.5,
    float("inf"),
    "é\u0000",
    [1, (2, "x")],
    {"a": {"b": []}},
    (),
    {},
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_cross(value: Any) -> None:
    """Does a plain value arrive as it was, kind included?"""
    received = cross(value)
    assert received == value
    assert type(received) is type(value)


TENSORS = [
    torch.arange(6.0).reshape(2, 3).t(),
    torch.ones(3, dtype=torch.float64, requires_grad=True),
    torch.tensor([True, False]),
    torch.zeros(0, 4),
    torch.tensor(7),
    torch.ones(4)[::2],
]


@pytest.mark.parametrize("value", TENSORS, ids=lambda value: f"{value.dtype}{tuple(value.shape)}")
def test_tensors_cross(value: torch.Tensor) -> None:
    """Does a tensor arrive with its values, shape and dtype, whatever its memory layout?"""
    received = cross([value, value])
    for part in received:
        assert part.dtype == value.dtype
        assert torch.equal(part, value.detach())


def test_other_values_are_described() -> None:
    """Does a value that cannot cross arrive as a description?"""
    assert "type object" in cross(object()).description
    assert "sparse" in cross(torch.eye(2).to_sparse()).description
    assert "deeply" in repr(cross(nested(50)))


def nested(depth: int) -> Any:
    """Nest a list."""
    return [] if depth == 0 else [nested(depth - 1)]


def frame(text: bytes, blob: bytes = b"") -> bytes:
    """Make a frame by hand."""
    return struct.pack("!II", len(text), len(blob)) + text + blob


def named(shape: list[int], kind: str = "F32") -> bytes:
    """Make a frame of one tensor, whose header may claim anything; it has 4 bytes, or none."""
    size = 0 if 0 in shape else 4
    header = json.dumps({"t": {"dtype": kind, "shape": shape, "data_offsets": [0, size]}}).encode()
    return frame(b'{"tensor": "t"}', struct.pack("<Q", len(header)) + header + bytes(size))


MALFORMED = {
    "no JSON": frame(b"{"),
    "not UTF-8": frame(b"\xff\xfe"),
    "unknown kind": frame(b'{"pickle": "x"}'),
    "two kinds": frame(b'{"tuple": [], "dict": {}}'),
    "no such tensor": frame(b'{"tensor": "t9"}'),
    "tensor of no name": frame(b'{"tensor": {}}'),
    "damaged tensors": frame(b"1", b"\x00" * 40),
    "sizes that overflow": named([0, 1 << 62, 1 << 62]),
    "a size beyond torch's": named([0, (1 << 64) - 1]),
    "far too many dimensions": named([1] * 5000),
    "a kind of two numbers a byte": named([8], "F4"),
    "a kind that cannot be compared": named([2], "U16"),
    "too deep": frame(b"[" * 90 + b"]" * 90),
    "far too deep": frame(b"[" * 100_000 + b"]" * 100_000),
    "too large": struct.pack("!II", 1 << 31, 1 << 31),
    "a number too long": frame(b"1" * 10_000),
    "items of no list": frame(json.dumps({"tuple": 3}).encode()),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_messages_are_refused(data: bytes) -> None:
    """Is every malformed message one kind of error, and nothing else?"""
    with pytest.raises(wire.WireError):
        feed(data)


def test_cut_messages_are_noticed() -> None:
    """Is a message that ends early told from one that is late?"""
    with pytest.raises(wire.Closed):
        feed(frame(b"123")[:-1])
    with pytest.raises(TimeoutError):
        feed(frame(b"123")[:-1], close=False)
