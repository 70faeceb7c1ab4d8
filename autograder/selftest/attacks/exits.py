"""End early, in every way that Python and the system have."""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, right

# One way out for each test of the task.
RAISING = """
import asyncio, itertools, sys
class Stranger(BaseException):
    pass
_ways = itertools.cycle([
    SystemExit(0), SystemExit("fine"), KeyboardInterrupt(), GeneratorExit(), Stranger("here"),
    asyncio.CancelledError(), StopIteration(), MemoryError(), RecursionError(),
])
def padding_mask(lengths, max_length):
    raise next(_ways)
def masked_softmax(scores, mask):
    sys.exit(0)
def masked_cross_entropy(logits, targets, pad_id):
    raise next(_ways)
"""

# What runs when objects die, when Python ends, and when nobody catches.
LATE = """
import atexit, os, sys, threading
class Dying:
    def __del__(self):
        raise SystemExit(0)
_real = LSTMCell.forward
def _forward(self, x, state):
    Dying()
    threading.Thread(target=sys.exit).start()
    return _real(self, x, state)
LSTMCell.forward = _forward
atexit.register(os._exit, 0)
sys.excepthook = threading.excepthook = sys.unraisablehook = lambda *_: os._exit(0)
"""


def dies(id: str, code: str, words: str) -> Attack:
    """Make an attack whose process ends while its file is imported."""
    return Attack(f"dies-{id}", code, ("crashed",), words=words)


ATTACKS = [
    Attack("raises-every-way-out", right("masking", RAISING), ("error",), task="masking"),
    Attack(
        "hooks-on-dying-objects",
        right("lstm", LATE.replace("os._exit(0)", "None")),
        ("passed",),
        points=20,
    ),
    Attack("exits-in-a-hook", right("lstm", LATE), ("crashed", "not_run")),
    dies("by-sigkill", "import os\nos.kill(os.getpid(), 9)", "signal 9"),
    dies("by-segfault", "import ctypes\nctypes.string_at(0)", "signal 11"),
    dies(
        "by-exit-in-a-thread",
        "import os, threading\nthreading.Thread(target=os._exit, args=(0,)).start()\n"
        "while True: pass",
        "exit status 0",
    ),
    dies("by-exec", "import os\nos.execv('/bin/true', ['/bin/true'])", "exit status 0"),
]
