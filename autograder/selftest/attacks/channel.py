"""Speak on the channel in the worker's place: too early, twice, too much, or nonsense."""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, right, stub

# The channel is a socket, and it is open: whoever looks for it finds it.
FIND = """
import os, socket, stat, sys, time
def _is_socket(number):
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False
channel = socket.socket(fileno=os.dup(next(filter(_is_socket, range(3, 256)))))
wire = sys.modules["wire"]
"""
EARLY = """
for _ in range(200):
    wire.send(channel, {"value": True})
"""
TWICE = """
_send = wire.send
def send(channel, value):
    _send(channel, value)
    _send(channel, value)
wire.send = send
"""
# Claims that a student's exception cannot make.
PRAISE = """
def send(channel, value, _send=wire.send):
    forged = {"score": 100, "outcome": "passed", "value": {"passed": True}, "status": "passed"}
    _send(channel, forged if "load" not in value else value)
wire.send = send
"""
# Describes an exception by values that have neither text nor truth.
ODD_ERRORS = """
import itertools, torch
_odd = itertools.cycle(
    [torch.zeros(2), torch.zeros(0), [[]], {"a": {}}, 1 << 62, None, [torch.zeros(1)] * 500]
)
_keys = ("type", "text", "file", "line", "code", "contract", "not_implemented")
def send(channel, value, _send=wire.send):
    loaded = value == {"value": None}
    _send(channel, value if loaded else {"error": dict.fromkeys(_keys, next(_odd))})
wire.send = send
"""
SLOWLY = """
channel.sendall(b"\\0\\0\\1\\0\\0\\0\\0\\0")
while True:
    channel.sendall(b" ")
    time.sleep(0.02)
"""
FLOOD = """
while True:
    channel.sendall(b"\\xff" * (1 << 20))
"""
# Takes the place of the worker, which ends: a child answers for it.
IMPOSTOR = """
if os.fork():
    os._exit(0)
while True:
    wire.send(channel, {"value": True})
"""

ATTACKS = [
    Attack("answers-before-it-is-asked", stub("lstm", FIND + EARLY), ("failed",)),
    Attack("answers-twice", right("lstm", FIND + TWICE), ("failed",)),
    Attack("answers-with-verdicts", right("lstm", FIND + PRAISE), ("failed",)),
    Attack("describes-odd-errors", right("lstm", FIND + ODD_ERRORS), ("error", "failed")),
    Attack("answers-a-byte-at-a-time", FIND + SLOWLY, ("timeout",)),
    Attack("floods-the-channel", FIND + FLOOD, ("crashed",), words="more than are allowed"),
    Attack(
        "closes-the-channel",
        f"{FIND}\nchannel.shutdown(2)\ntime.sleep(60)",
        ("crashed",),
        words="closed its connection",
    ),
    Attack("answers-from-a-child", FIND + IMPOSTOR, ("failed",)),
]
