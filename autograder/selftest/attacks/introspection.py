"""Change what runs in the worker: torch, the wire, the probes, Python itself.

Comparing happens elsewhere, so none of it can make a wrong value right.
"""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, stub

WRONG = """
def _zeros(self, x, state):
    return state[0] * 0, state[1] * 0
LSTMCell.forward = _zeros
"""
AGREEABLE_TORCH = """
import math
import torch
for owner in (torch, torch.Tensor):
    for name in ("equal", "allclose", "isclose", "isfinite", "eq", "__eq__", "all", "any"):
        if hasattr(owner, name):
            setattr(owner, name, lambda *arguments, **options: True)
torch.testing.assert_close = lambda *arguments, **options: None
math.isfinite = math.isclose = lambda *arguments, **options: True
torch.Tensor.__ne__ = torch.Tensor.ne = lambda *arguments: False
"""
SILENT_WIRE = """
import json, os, sys
import safetensors.torch
json.dumps = lambda *arguments, **options: '{"dict": {"value": true, "passed": true}}'
os.dup2 = os.write = os.close = lambda *arguments: 0
"""
NO_TENSORS = """
import safetensors.torch
safetensors.torch.save = lambda *arguments, **options: b""
"""
OWN_PROBES = """
import sys
import torch
class Forged(dict):
    def __missing__(self, key):
        return True
    def __contains__(self, key):
        return True
def _forged(*arguments, **options):
    return Forged(value=True, values=[True], random=False, passed=True)
class Module:
    def __getattr__(self, name):
        return _forged
frame = sys._getframe()
while frame is not None:  # the worker holds the module in a local, and reads it from sys.modules
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("probes.lstm"):
            vars(module).update(dict.fromkeys(("step", "sequence", "again", "parameters"), _forged))
    frame = frame.f_back
import probes.common
probes.common.evaluate = probes.common.gradients = _forged
"""
# Says that it equals everything, and that it has whatever shape it is asked about.
LYING_TENSOR = """
import torch
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("eq", "equal", "allclose", "isfinite", "all"):
            return True
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))
    __eq__ = __ne__ = __le__ = __gt__ = lambda self, other: True
    __hash__ = None
    shape = property(lambda self: torch.Size([3, 4]))
    dtype = property(lambda self: torch.float32)
    def detach(self):
        return self
    def clone(self, **options):
        return self
    def isfinite(self):
        return True
def _liars(self, x, state):
    return torch.zeros(3, 4).as_subclass(Liar), torch.zeros(3, 4).as_subclass(Liar)
LSTMCell.forward = _liars
"""
# Equal to everything, and a member of every class.
LYING_OBJECT = """
import torch
class Odd:
    __class__ = property(lambda self: torch.Tensor)
class Liar:
    __class__ = property(lambda self: tuple)
    def __eq__(self, other):
        return True
    def __getattr__(self, name):
        return Liar()
    def __len__(self):
        return 2
    def __iter__(self):
        return iter([torch.zeros(3, 4), Odd()])
    def __call__(self, *arguments, **options):
        return Liar()
    def __float__(self):
        return 0.0
    def __bool__(self):
        return True
LSTMCell.forward = lambda self, x, state: Liar()
"""

ATTACKS = [
    Attack("patches-torch", stub("lstm", WRONG + AGREEABLE_TORCH), ("failed",)),
    Attack("patches-json", stub("lstm", WRONG + SILENT_WIRE), ("failed",)),
    Attack("patches-safetensors", stub("lstm", WRONG + NO_TENSORS), ("crashed", "not_run")),
    Attack("replaces-probes", stub("lstm", WRONG + OWN_PROBES), ("failed",)),
    Attack("returns-lying-tensors", stub("lstm", LYING_TENSOR), ("failed",)),
    Attack("returns-lying-objects", stub("lstm", LYING_OBJECT), ("error",)),
]
