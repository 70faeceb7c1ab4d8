"""Put into the cells of the notebook what is made to gain points, or to do harm."""

from __future__ import annotations

import json

from assignment.written.questions import NUMERIC
from autograder.selftest.attacks.entry import Attack
from autograder.selftest.harness import FACTS

NAMES = [name for question in NUMERIC for name in question.names]

# What a cell can reach: the grader's modules and frames, its files, the channel, the parent.
SEARCH = """
import functools, gc, os, stat, sys
@functools.cache
def search():
    found = [n for n in sys.modules if n.split(".")[0] in ("autograder", "assignment", "pytest")]
    found += [path for path in sys.path if path.startswith("@PROJECT@")]
    for number in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                found.append("the channel to the grader")
        except OSError:
            pass
    for path in ("@PROJECT@/assignment/written/ANSWERS.md", "@PROJECT@/reference/written.ipynb",
                 "@PROJECT@/assignment/written/questions/search.py", "/proc/%d/mem" % os.getppid()):
        try:
            found.append(open(path, "rb").read(1))
        except OSError:
            pass
    texts = [t for t in gc.get_objects() if type(t) is dict and "slips" in t]
    return found + texts
def attack():
    raise RuntimeError(f"DONE {search()}")
"""
# Writes readings into the pipe, in the place of what its cells give, and is gone.
FORGED = """
import json, os, stat
def attack():
    lines = [["answer", name, "number", -77.0, "", 1 << 62] for name in @NAMES@]
    said = "".join(json.dumps(line) + "\\n" for line in [*lines, ["end"]])
    for number in range(3, 256):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, said.encode())
        except OSError:
            pass
    os._exit(0)
"""
# Numbers that equal everything, change when they are looked at, and are of no class.
LIES = """
import itertools, math
class Number(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __sub__ = __rsub__ = __abs__ = lambda *_: 0.0
    __hash__ = None
class Other:
    __class__ = property(lambda self: float)
    size = 1
    def item(self):
        return Number(-77)
class Odd:
    def __float__(self):
        return Number(-77)
    def __getattr__(self, name):
        return self
    def __call__(self, *_):
        return self
_lies = itertools.cycle([Number(-77), Other(), Odd(), True, "\\ud800", -77j, {"number": 1.0}])
def attack():
    return next(_lies)
"""
PATCHES = """
import json, math, nmt.answers
def attack():
    nmt.answers.read_number = lambda value: nmt.answers.Reading("number", -77.0)
    math.isfinite = lambda value: True
    json.loads = json.JSONEncoder.default = lambda *_, **__: [True] * 6
    return float("nan")
"""
TEXTS = """
class Text(Exception):
    def __str__(self):
        return "\\x1b[2J\\x00\\u202e\\u2028\\ud800<script>alert(1)</script>{}%s" + "x" * 1_000_000
def attack():
    raise Text
"""
KILLS = """
import os, signal
def attack():
    os.kill(os.getppid(), signal.SIGKILL)
"""
TAKES = """
import os, threading
print("x" * 5_000_000)
open("a file", "wb").write(bytes(10_000_000))
def attack():
    return [bytes(10**9) for _ in range(10)]
"""


def cells(code: str) -> str:
    """Return a notebook that answers every question with what `attack()` gives."""
    lines = [code.replace("@NAMES@", repr(NAMES)), *(f"{name} = attack()" for name in NAMES)]
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "\n".join(lines)}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})


def attack(id: str, code: str, *outcomes: str, words: str = "", restarts: int = 0) -> Attack:
    """Make an attack of the cells."""
    more = {FACTS.notebook: cells(code)}
    return Attack(id, "", outcomes, "written", words=words, more=more, restarts=restarts)


ATTACKS = [
    attack("cells-search-for-answers", SEARCH, "error", words="RuntimeError: DONE [] at"),
    attack("cells-forge-readings", FORGED, "failed", words="-77 is not right"),
    attack("cells-give-lying-numbers", LIES, "failed", words="-77 is not right"),
    attack("cells-patch-the-reader", PATCHES, "failed", words="-77 is not right"),
    attack("cells-raise-odd-texts", TEXTS, "error"),
    # The first worker runs the whole notebook, the second one a question.
    attack("cells-kill-their-parent", KILLS, "crashed", "not_run", words="signal 9", restarts=1),
    attack("cells-take-memory", TAKES, "error", words="MemoryError"),
]
