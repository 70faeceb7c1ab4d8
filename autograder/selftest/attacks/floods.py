"""Take more than there is: memory, processes, disk, output, time, the grader's patience."""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, attempts, right, stub

NOISE = """
import os, sys
_real = LSTMCell.forward
def _forward(self, x, state):
    print("noise " * 100_000)
    sys.stderr.write("\\x1b[31m noise" * 100_000)
    os.write(1, b"noise" * 100_000)
    return _real(self, x, state)
LSTMCell.forward = _forward
"""
LITTER = """
import os
for number in range(2000):
    open(f"file-{number}", "wb").close()
for number in range(20):
    with open(f"sparse-{number}", "wb") as file:
        file.truncate(16_000_000)
"""
FORKS = """
import os, time
children = 0
try:
    while True:
        if os.fork() == 0:
            while True:
                time.sleep(60)
        children += 1
except OSError:
    pass
raise RuntimeError(f"DONE {[] if children < 16 else children}")
"""
HUGE = """
def padding_mask(lengths, max_length):
    return torch.zeros(10_000_000)
def masked_softmax(scores, mask):
    return [0.5] * 1_000_000
def masked_cross_entropy(logits, targets, pad_id):
    return "x" * 20_000_000
"""
NESTED = """
def padding_mask(lengths, max_length):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested
def masked_softmax(scores, mask):
    return masked_softmax(scores, mask)
def masked_cross_entropy(logits, targets, pad_id):
    loop = []
    loop.append(loop)
    return loop
"""
# One step of the regular expression never ends, and no thread of Python's runs meanwhile.
STUCK = """
import re
def _forward(self, x, state):
    re.match("(a*)*b", "a" * 60)
LSTMCell.forward = _forward
"""

ATTACKS = [
    attempts(
        "takes-memory",
        "bytearray(1 << 30)",
        "mmap.mmap(-1, 1 << 30)",  # shared, which no limit of the system counts as private
        "mmap.mmap(-1, 1 << 20)",
        "os.memfd_create('memory')",
        "call('shmget', 0x5a48, 1 << 20, 0o1666)",  # these three would outlive the process
        "call('semget', 0x5a48, 1, 0o1666)",
        "call('msgget', 0x5a48, 0o1666)",
        "call('mq_open', b'/nmt-queue', os.O_CREAT | os.O_RDWR, 0o666, None)",
        "open('/dev/shm/nmt-memory', 'wb')",
        "open('large', 'wb').write(bytes(17_000_000))",
        "os.truncate('large', 17_000_000)",
        "[open('large') for _ in range(300)]",
    ),
    Attack("takes-processes", FORKS, ("error",), words="DONE []"),
    Attack("prints-without-end", right("lstm", NOISE), ("passed",), points=20),
    Attack("litters", right("lstm", LITTER), ("passed",), points=20),
    Attack("answers-too-much", right("masking", HUGE), ("crashed", "not_run"), task="masking"),
    Attack("answers-too-deep", right("masking", NESTED), ("failed", "error"), task="masking"),
    Attack("hangs-outside-of-python", stub("lstm", STUCK), ("timeout", "not_run")),
]
