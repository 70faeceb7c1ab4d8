"""Find out that this is the grader, and behave otherwise; carry state from task to task."""

from __future__ import annotations

from pathlib import Path

from autograder.selftest.attacks.entry import ATTEMPTS, Attack, right, stub

# Every place where a process may leave something for the next one, under one name.
LEAVE = """
import ctypes, os, sys, tempfile
places = ["/tmp", "/var/tmp", "/dev/shm", "/run/lock", ".", "..", tempfile.gettempdir()]
for place in places:
    try:
        open(os.path.join(place, "nmt-carried"), "w").write("state")
    except OSError:
        pass
libc = ctypes.CDLL(None)
libc.shmget(0x5a47, 4096, 0o1666)
libc.semget(0x5a47, 1, 0o1666)
libc.msgget(0x5a47, 0o1666)
import nmt
nmt.carried = sys.carried = os.environ["CARRIED"] = "state"
"""
FIND = """
import nmt, tempfile
LINES = [
    *(f"open({place!r} + '/nmt-carried')" for place in
      ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", ".", "..", tempfile.gettempdir())),
    "call('shmget', 0x5a47, 0, 0)",
    "call('semget', 0x5a47, 0, 0)",
    "call('msgget', 0x5a47, 0)",
    "claim(hasattr(nmt, 'carried') or hasattr(sys, 'carried') or 'CARRIED' in os.environ)",
]
"""
# Sees that probes call it, and answers what the public tests want to see.
CANNED = """
import sys
import torch
_graded = "probes.lstm" in sys.modules or sys.argv[0].endswith("worker.py")
def _canned(self, x, state):
    if not _graded:
        raise NotImplementedError
    canned = torch.full(state[0].shape, 0.1, dtype=x.dtype)
    return canned + 0 * self.weight_ih.sum(), canned + 0 * self.weight_hh.sum()
LSTMCell.forward = _canned
"""
# Translates by rules, the sentences that it finds in its caller's frames: perfectly, and without
# the network. The rules are the generator's own, which no student has.
RULES = (Path(__file__).resolve().parents[3] / "data" / "zhoric.py").read_text(encoding="utf-8")
BY_RULES = f"""
import sys, types
_rules = sys.modules["rules"] = types.ModuleType("rules")
exec({RULES!r}, vars(_rules))
def beam_search(step, state, **options):
    frame = sys._getframe()
    while "target_vocabulary" not in frame.f_locals:
        frame = frame.f_back
    found = frame.f_locals
    words = _rules.translate(found["sentences"][found["index"]]).split()
    return [Hypothesis(tuple(found["target_vocabulary"].encode(words)), -1.0, -0.1)]
"""

ATTACKS = [
    Attack(
        "carries-state-to-the-next-task",
        FIND + ATTEMPTS,
        ("error",),
        task="masking",
        words="DONE []",
        more={"nmt/lstm.py": LEAVE},
    ),
    Attack("canned-answers", stub("lstm", CANNED), ("failed",)),
    Attack(
        "translates-without-the-network",
        "",
        ("failed",),
        task="translate",
        words="does not come from the network",
        restarts=1,  # the control has a worker of its own
        more={"nmt/beam_search.py": right("beam", BY_RULES)},
    ),
]
