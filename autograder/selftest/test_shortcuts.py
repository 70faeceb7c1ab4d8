"""Is what solves a task found, however it is spelled, and nothing else taken for it?

In the tables, the line that has to be named ends with `# here`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import grade
from autograder.intake import Submission, read
from autograder.probes import shortcuts
from autograder.results import Verdict
from autograder.sandbox.isolation import Isolation
from autograder.selftest.harness import (
    FACTS,
    REFERENCE,
    WarmWorker,
    lost,
    overridden,
    run_task,
)

CELL = """
{before}
def forward(self, x, state):
    w = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]
    return {result}  # here
LSTMCell.forward = forward
"""
STEP = """
{before}
def step(self, y, o_prev, state, memory):
    h, c = self.cell(torch.cat([y, o_prev], 1), state)
    q, k, v, m = h.unsqueeze(1), memory.keys, memory.values, ~memory.mask.unsqueeze(1)
    context = {result}  # here
    weights = masked_softmax(dot_score(h, memory.keys), memory.mask)
    u = torch.cat([context.squeeze(1), h], 1)
    return self.dropout(self.combined_output(u).tanh()), (h, c), weights
AttentionDecoder.step = step
"""
SCORE = """
{before}
def corpus_bleu(candidates, references, max_n=4):
    return {result}  # here
"""
KINDS = {"lstm": CELL, "attention": STEP, "bleu": SCORE}
MHA = "torch.nn.functional.multi_head_attention_forward(q, k, v, 4, 1, *[None] * 6)[0]"

SCRIPT = """
source = '''def f(x, h, c, a, b, d, e):
    return torch.{call}
'''
f = torch.jit.CompilationUnit(source).f
"""
VMAP = """
def f(x, state, w):
    call = lambda *a: getattr(torch, ''.join(['lstm', '_cell']))(*a, *w)  # here
    return torch.func.vmap(call)(x, state)
"""
INFERENCE = """
@torch.inference_mode()
def f(x, state, w):
    h, c = state
    return getattr(torch, ''.join(['lstm', '_cell']))(x + 0, (h + 0, c + 0), *w)  # here
"""
SWALLOW = """
right = LSTMCell.forward
def f(self, x, state, w):
    try:
        return getattr(torch, ''.join(['lstm', '_cell']))(x, state, *w)  # here
    except BaseException:
        return right(self, x, state)
"""
SELDOM = """
right = LSTMCell.forward
def f(self, x, state, w):
    if x.dtype == torch.float32:
        return right(self, x, state)
    return getattr(torch, ''.join(['lstm', '_cell']))(x, state, *w)  # here
"""
LAYER = """
def f(x, state, w):
    return getattr(nn, ''.join(['LS', 'TM']))(x.shape[1], state[0].shape[1])(x)  # here
"""
QUANTIZABLE = """
def f(x, state):
    cell = getattr(torch.ao.nn.quantizable, ''.join(['LSTM', 'Cell']))
    return cell(x.shape[1], state[0].shape[1])(x, state)  # here
"""
DOT = "f = lambda m: getattr(m, '_'.join(['scaled', 'dot', 'product', 'attention']))"
MULTI = "f = lambda m: getattr(m, ''.join(['Multihead', 'Attention']))"
NATIVE = """
def f(x):
    call, size = getattr(torch, '_'.join(['', 'native', 'multi', 'head', 'attention'])), len(x)
    return call(x, x, x, size, 1, x, x, x, x)  # here
"""
FLEX = "exec('from torch.nn.attention.flex_attention import flex_attention as f')"
BY_NAME = "import importlib\nf = lambda name: importlib.import_module(name.lower())  # here"

CELL_CLASS = "class LSTMCell(LSTMCell):\n"
BODY = """
    i, f, g, o = (x @ w.T + a + h @ v.T + b).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
"""
FUNCTION = """
class LSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx, o, c):
        ctx.save_for_backward(o, c)
        return o * c.tanh()
    @staticmethod
    def backward(ctx, grad):
        o, c = ctx.saved_tensors
        return grad * c.tanh(), grad * o * (1 - c.tanh() ** 2)
def forward(self, x, state):
    h, c = state
    i, f, g, o = (F.linear(x, self.weight_ih) + F.linear(h, self.weight_hh)
        + self.bias_ih + self.bias_hh).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return LSTM.apply(o.sigmoid(), c), c
LSTMCell.forward = forward
"""


def own_step(head: str, call: str = "lstm_cell") -> str:
    """Write a function of one's own that does the step."""
    weights = "self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh"
    forward = f"lambda self, x, state: {call}(x, *state, {weights})"
    return f"{head}{BODY}LSTMCell.forward = {forward}"


def gates(value: str) -> str:
    """Write a step with the four gates worked out like this; z are the biases."""
    return f"""
def forward(self, x, state):
    h, c = state
    z = self.bias_ih + self.bias_hh
    i, f, g, o = ({value}).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
LSTMCell.forward = forward
"""


# (what is named, the result, what stands before the function)
IN_SOURCE: dict[str, list[tuple[str, str, str]]] = {
    "lstm": [
        ("torch.nn.LSTMCell", "nn.LSTMCell(3, 4)(x, state)", ""),
        ("torch.nn.LSTM", "nn.LSTM(3, 4)(x, state)", ""),
        ("torch.lstm_cell", "torch.lstm_cell(x, state, *w)", ""),
        ("torch._VF.lstm_cell", "torch._VF.lstm_cell(x, state, *w)", ""),
        ("torch._VF.lstm_cell", "_VF.lstm_cell(x, state, *w)", "from torch import _VF"),
        ("torch.ops.aten.lstm_cell.default", "torch.ops.aten.lstm_cell.default(x, state, *w)", ""),
        ("torch.nn.LSTMCell", "N.LSTMCell(3, 4)(x, state)", "import torch.nn as N"),
        ("torch.nn.LSTMCell", "q.LSTMCell(3, 4)(x, state)", "from torch import nn as q"),
        ("torch.nn.LSTMCell", "C(3, 4)(x, state)", "from torch.nn import LSTMCell as C"),
        (
            "torch.nn.modules.rnn.LSTMCell",
            "rnn.LSTMCell(3, 4)(x)",
            "from torch.nn.modules import rnn",
        ),
        ("torch.nn.LSTM", "LSTM(3, 4)(x, state)", "from torch.nn import *"),
        (
            "torch.nn.LSTMCell",
            "M.LSTMCell(3, 4)(x)",
            "import importlib\nM = importlib.import_module('torch.nn')",
        ),
        (
            "torch.nn.LSTMCell",
            "import_module('torch.nn').LSTMCell(3, 4)(x)",
            "from importlib import import_module",
        ),
        ("torch.lstm_cell", "__import__('torch').lstm_cell(x, state, *w)", ""),
        ("torch.nn.LSTMCell", "getattr(nn, 'LSTMCell')(3, 4)(x, state)", ""),
        ("torch.lstm_cell", "getattr(torch, 'lstm' + '_cell')(x, state, *w)", ""),
        ("torch.lstm_cell", "vars(torch)['lstm_cell'](x, state, *w)", ""),
        ("torch.lstm_cell", "torch.__dict__['lstm_cell'](x, state, *w)", ""),
        ("torch.lstm_cell", "sys.modules['torch'].lstm_cell(x, state, *w)", "import sys"),
        ("torch.lstm_cell", "t.lstm_cell(x, state, *w)", "t = torch"),
        ("torch.lstm_cell", "(z := torch).lstm_cell(x, state, *w)", ""),
        ("torch.lstm_cell", "(lambda *a: torch.lstm_cell(*a))(x, state, *w)", ""),
        ("torch.lstm_cell", "[torch.lstm_cell(x, state, *w) for _ in range(1)][0]", ""),
        (
            "torch.lstm_cell",
            "right(self, x, state) if len(x) < 999 else torch.lstm_cell(x, state, *w)",
            "right = LSTMCell.forward",
        ),
        ("torch.lstm_cell", "functools.partial(torch.lstm_cell, x)(state, *w)", "import functools"),
        (
            "torch.ao.nn.quantizable.LSTMCell",
            "torch.ao.nn.quantizable.LSTMCell(3, 4)(x, state)",
            "",
        ),
        ("torch.nn.quantized.dynamic.LSTMCell", "torch.nn.quantized.dynamic.LSTMCell(3, 4)(x)", ""),
        (
            "keras.layers.LSTMCell",
            "keras.layers.LSTMCell(4)(x, state)",
            "try:\n    import keras\nexcept ImportError:\n    keras = None",
        ),
    ],
    "attention": [
        (
            "torch.nn.functional.scaled_dot_product_attention",
            "nn.functional.scaled_dot_product_attention(q, k, v, m, scale=1.0)",
            "",
        ),
        (
            "torch.nn.functional.scaled_dot_product_attention",
            "F.scaled_dot_product_attention(q, k, v, m)",
            "import torch.nn.functional as F",
        ),
        (
            "torch.nn.functional.scaled_dot_product_attention",
            "sdpa(q, k, v, m)",
            "from torch.nn.functional import scaled_dot_product_attention as sdpa",
        ),
        (
            "torch.nn.functional.scaled_dot_product_attention",
            "scaled_dot_product_attention(q, k, v, m)",
            "from torch.nn.functional import *",
        ),
        ("torch.nn.functional.multi_head_attention_forward", MHA, ""),
        ("torch.nn.MultiheadAttention", "nn.MultiheadAttention(4, 1)(q, k, v)[0]", ""),
        ("torch.nn.TransformerDecoderLayer", "nn.TransformerDecoderLayer(4, 1)(q, k)", ""),
        ("torch.nn.Transformer", "getattr(torch.nn, 'Transformer')(4, 1)(q, k)", ""),
        (
            "torch.nn.attention.flex_attention.flex_attention",
            "flex_attention(q, k, v)",
            "from torch.nn.attention.flex_attention import flex_attention",
        ),
        (
            "torch.ops.aten.scaled_dot_product_attention",
            "torch.ops.aten.scaled_dot_product_attention(q, k, v, m)",
            "",
        ),
        ("torch._native_multi_head_attention", "torch._native_multi_head_attention(q, k, v)", ""),
        (
            "xformers.ops.memory_efficient_attention",
            "xformers.ops.memory_efficient_attention(q, k, v)",
            "import xformers.ops",
        ),
    ],
    "bleu": [
        (
            "sacrebleu.corpus_bleu",
            "sacrebleu.corpus_bleu(candidates, references)",
            "import sacrebleu",
        ),
        (
            "sacrebleu.corpus_bleu",
            "other(candidates, references)",
            "from sacrebleu import corpus_bleu as other",
        ),
        (
            "sacrebleu.metrics.BLEU",
            "BLEU().corpus_score(candidates, references)",
            "from sacrebleu.metrics import BLEU",
        ),
        (
            "sacrebleu.corpus_bleu",
            "importlib.import_module('sacrebleu').corpus_bleu([], [])",
            "import importlib",
        ),
        (
            "sacrebleu.corpus_bleu",
            "__import__('sacrebleu').corpus_bleu(candidates, references)",
            "",
        ),
        (
            "sacrebleu.corpus_bleu",
            "__import__('sacre' + 'bleu').corpus_bleu(candidates, references)",
            "",
        ),
        (
            "nltk.translate.bleu_score.corpus_bleu",
            "nltk.translate.bleu_score.corpus_bleu([], [])",
            "import nltk.translate.bleu_score",
        ),
        (
            "nltk.translate.bleu_score.corpus_bleu",
            "bleu_score.corpus_bleu([], [])",
            "from nltk.translate import bleu_score",
        ),
        (
            "nltk.ngrams",
            "ngrams(candidates, 2)",
            "try:\n    from nltk import ngrams\nexcept ImportError:\n    ngrams = None",
        ),
        (
            "torchmetrics.functional.bleu_score",
            "bleu_score(candidates, references)",
            "from torchmetrics.functional import bleu_score",
        ),
        (
            "torchtext.data.metrics.bleu_score",
            "bleu_score(candidates, references)",
            "from torchtext.data.metrics import bleu_score",
        ),
        ("torcheval.metrics.BLEUScore", "metrics.BLEUScore()", "from torcheval import metrics"),
        ("evaluate.load", "evaluate.load('bleu').compute()", "import evaluate"),
    ],
}

# The same, as whole pieces of code.
ALSO_IN_SOURCE = {
    "base class": ("lstm", "torch.nn.LSTMCell", "class LSTMCell(nn.LSTMCell):  # here\n    pass"),
    "imported base class": (
        "lstm",
        "torch.nn.LSTMCell",
        "from torch.nn import LSTMCell\nclass LSTMCell(LSTMCell):  # here\n    pass",
    ),
    "starred base class": (
        "lstm",
        "torch.nn.LSTM",
        "from torch.nn import *\nclass LSTMCell(LSTM):  # here\n    pass",
    ),
    "alias of the module": (
        "lstm",
        "torch.lstm_cell",
        "fast = torch.lstm_cell\nLSTMCell.forward = lambda self, x, state: fast(x, state)  # here",
    ),
    "table": (
        "lstm",
        "torch.lstm_cell",
        "FAST = {}\nFAST['cell'] = torch.lstm_cell  # here\n"
        "LSTMCell.forward = lambda self, x, state: FAST['cell'](x, state)",
    ),
    "default": (
        "lstm",
        "torch.lstm_cell",
        "def forward(self, x, state, step=torch.lstm_cell):  # here\n    return step(x, state)\n"
        "LSTMCell.forward = forward",
    ),
    "helpers": (
        "lstm",
        "torch.lstm_cell",
        "def one(*a):\n    return two(*a)\ndef two(*a):\n"
        "    from torch import lstm_cell as cell\n    return cell(*a)  # here\n"
        "LSTMCell.forward = lambda self, x, state: one(x, state)",
    ),
    "method": (
        "lstm",
        "torch.lstm_cell",
        "class LSTMCell(LSTMCell):\n    def forward(self, x, state):\n"
        "        return self.fast(x, state)\n    def fast(self, x, state):\n"
        "        return torch.lstm_cell(x, state)  # here",
    ),
    "method found by name": (
        "lstm",
        "torch.lstm_cell",
        "class LSTMCell(LSTMCell):\n    def fast(self, x, state):\n"
        "        return torch.lstm_cell(x, state)  # here\n    def forward(self, x, state):\n"
        "        return getattr(self, 'fast')(x, state)",
    ),
    "in __init__": (
        "attention",
        "torch.nn.MultiheadAttention",
        "class AttentionDecoder(AttentionDecoder):\n    def __init__(self, *a, **k):\n"
        "        super().__init__(*a, **k)\n"
        "        self.look = [nn.MultiheadAttention(4, 1)]  # here",
    ),
    "choice of the module": (
        "bleu",
        "sacrebleu.sentence_bleu",
        "try:\n    from sacrebleu import sentence_bleu as best\nexcept ImportError:\n"
        "    best = None\ndef sentence_bleu(*a):\n    return best(*a)  # here",
    ),
}

# (what is named, the result, what stands before the function); none of it can be read
WHEN_IT_RUNS: dict[str, list[tuple[str, str, str]]] = {
    "lstm": [
        ("lstm_cell", "getattr(torch, ''.join(['lstm', '_cell']))(x, state, *w)", ""),
        ("lstm_cell", "eval('torch.lstm_cell(x, state, *w)')", ""),
        ("lstm_cell", "f(x, state, *w)", "exec('from torch import lstm_cell as f')"),
        ("lstm_cell", "attrgetter('lstm_cell')(torch)(x, state, *w)", "from operator import *"),
        ("lstm_cell", "f(x, *state, *w)", SCRIPT.format(call="lstm_cell(x, (h, c), a, b, d, e)")),
        ("lstm_cell", "f(torch.ops.aten)(x, state, *w)", "f = lambda m: m.lstm_cell"),
        ("lstm_cell", "tuple(f(x, state, w))", VMAP),
        ("lstm_cell", "f(x, state, w)", INFERENCE),
        ("lstm_cell", "f(self, x, state, w)", SWALLOW),
        ("lstm_cell", "f(self, x, state, w)", SELDOM),
        ("lstm", "f(x, state, w)", LAYER),
        ("torch.ao.nn.quantizable.modules.rnn.forward", "f(x, state)", QUANTIZABLE),
    ],
    "attention": [
        ("scaled_dot_product_attention", "f(nn.functional)(q, k, v, m, scale=1.0)", DOT),
        ("scaled_dot_product_attention", "f(torch.ops.aten)(q, k, v, m, scale=1.0)", DOT),
        (
            "scaled_dot_product_attention",
            "f(q, k, v, m, q, q, q)",
            SCRIPT.format(call="_C._nn.scaled_dot_product_attention(x, h, c)"),
        ),
        ("torch.nn.functional.multi_head_attention_forward", "f(nn)(4, 1)(q, k, v)[0]", MULTI),
        ("_native_multi_head_attention", "f(x=memory.values)", NATIVE),
        ("torch.nn.attention.flex_attention.flex_attention", "f(q, k, v)", FLEX),
    ],
    "bleu": [
        ("sacrebleu.<module>", "f('sacrebleu').corpus_bleu(['a'], [['a']])", BY_NAME),
        (
            "sacrebleu.compat.sentence_bleu",
            "f.sentence_bleu('a', ['a'])",
            "f = __import__('SACREBLEU'.lower())",
        ),
        (
            "sacrebleu.compat.corpus_bleu",
            "f(['a'], [['a']])",
            "exec('from sacrebleu import corpus_bleu as f')",
        ),
    ],
}


def found(warm: WarmWorker, task: str, override: str) -> list[Verdict]:
    """Run a task's hidden tests on code that must lose all points for the line marked `# here`."""
    files = overridden(task, override)
    verdicts = list(run_task(warm, task, files).values())
    assert [verdict.score for verdict in verdicts] == [0.0] * len(verdicts)
    assert len({verdict.message for verdict in verdicts}) == 1
    lines = files[FACTS.task_files[task]].decode().splitlines()
    place = next(number for number, line in enumerate(lines, 1) if line.endswith("# here"))
    assert verdicts[0].message.endswith(f" at nmt/{task}.py, line {place}.")
    return verdicts


def coded(task: str, result: str, before: str) -> str:
    """Write a task's function that returns this result."""
    code = KINDS[task].format(result=result, before=before)
    return code.replace(f"{result}  # here", result) if "# here" in before else code


def spelled(table: dict[str, list[tuple[str, str, str]]]) -> list[tuple[str, str, str]]:
    """List (task, what is named, code) of a table."""
    return [
        (task, what, coded(task, result, before))
        for task, rows in table.items()
        for what, result, before in rows
    ]


@pytest.mark.parametrize("task,what,code", [*spelled(IN_SOURCE), *ALSO_IN_SOURCE.values()])
def test_found_before_it_runs(warm: WarmWorker, task: str, what: str, code: str) -> None:
    """Is a shortcut that can be read found before any of it runs, and does it cost the task?"""
    verdicts = found(warm, task, code)
    assert f" uses {what} at " in verdicts[0].message


@pytest.mark.parametrize("task,what,code", spelled(WHEN_IT_RUNS))
def test_found_when_it_runs(warm: WarmWorker, task: str, what: str, code: str) -> None:
    """Is a shortcut that cannot be read found when it is called, and does it cost the task?"""
    verdicts = found(warm, task, code)
    kernel = "torch's own " if "." not in what else ""
    assert f" uses {kernel}{what} at " in verdicts[0].message


CHECK = """
def compare(cell):
    theirs = nn.LSTMCell(3, 4)
    return theirs(torch.ones(1, 3))
"""
LEGITIMATE = {
    "lstm": {
        "self-check under main": "if __name__ == '__main__':\n    print(nn.LSTMCell(3, 4))",
        "self-check under main, turned round": "if '__main__' == __name__:\n    nn.LSTM(3, 4)",
        "helper that nobody refers to": CHECK,
        "helper called under main": CHECK
        + "if __name__ == '__main__':\n    compare(LSTMCell(3, 4))",
        "self-check on import": CHECK + "compare(LSTMCell(3, 4))",
        "method that nobody calls": CELL_CLASS
        + "    def check(self):\n        return nn.LSTMCell(3, 4)",
        "docstring": 'class LSTMCell(LSTMCell):\n    """Do as nn.LSTMCell does."""',
        "comment": "# LSTMCell = nn.LSTMCell",
        "text": "like = 'torch.nn.LSTMCell'\nLSTMCell.like = like",
        "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from torch.nn import LSTMCell",
        "annotation": CELL_CLASS
        + "    def load(self, other: nn.LSTMCell) -> nn.LSTM: ...\n    forget = load",
        "annotated name": CELL_CLASS + "    also: nn.LSTMCell",
        "unused import": "from torch.nn import LSTMCell as Theirs, LSTM\n"
        "import torch.nn.modules.rnn",
        "starred import": "Ours = LSTMCell\nfrom torch.nn import *\nLSTMCell = Ours",
        "name imported, then defined": "Ours = LSTMCell\nfrom torch.nn import LSTMCell\n"
        "class LSTMCell(Ours):\n    pass",
        "question": CELL_CLASS + "    def forward(self, x, state):\n"
        "        assert not isinstance(self, (nn.LSTM, nn.LSTMCell))\n"
        "        return super().forward(x, state)",
        "switched off": CELL_CLASS + "    def forward(self, x, state):\n        if False:\n"
        "            return torch.lstm_cell(x, state)\n        return super().forward(x, state)",
        "own function of that name": own_step("def lstm_cell(x, h, c, w, v, a, b):"),
        "own class of that name": "class LSTM:\n    step = LSTMCell.forward\n"
        "LSTMCell.forward = lambda self, x, state: LSTM.step(self, x, state)",
        "own method of that name": CELL_CLASS + "    def lstm(self, x, state):\n"
        "        return super().forward(x, state)\n    forward = lstm",
        "local name": CELL_CLASS + "    def forward(self, x, state):\n"
        "        lstm_cell = LSTM = super().forward\n        return lstm_cell(x, state)",
        "argument that hides torch": CELL_CLASS + "    def forward(self, x, state):\n"
        "        return run(self)(super().forward)(x, state)\n"
        "def run(torch):\n    torch.lstm_cell = lambda f: f\n    return torch.lstm_cell",
        "TorchScript": own_step("@torch.jit.script\ndef lstm_cell(x, h, c, w, v, a, b):"),
        "autograd.Function": FUNCTION,
        "vmap": own_step(
            "def lstm_cell(x, h, c, w, v, a, b):",
            "torch.func.vmap(lstm_cell, (0, 0, 0, None, None, None, None))",
        ),
        "baddbmm": gates(
            "torch.baddbmm(z, x[None], self.weight_ih.T[None])[0] + h @ self.weight_hh.T"
        ),
        "bmm": gates("torch.bmm(x[None], self.weight_ih.T[None])[0] + z + h @ self.weight_hh.T"),
        "einsum": gates("torch.einsum('bi,gi->bg', x, self.weight_ih) + z + h @ self.weight_hh.T"),
        "addmm": gates("torch.addmm(torch.addmm(z, x, self.weight_ih.T), h, self.weight_hh.T)"),
        "F.linear": gates(
            "nn.functional.linear(x, self.weight_ih) + z + h.matmul(self.weight_hh.T)"
        ),
        "torch.cat": gates(
            "torch.cat([x, h], 1) @ torch.cat([self.weight_ih, self.weight_hh], 1).T + z"
        ),
        "other cells": "class Other(nn.Module):\n"
        "    cells = nn.RNNCell(3, 4), nn.GRUCell(3, 4), nn.Linear(3, 4)\n"
        "LSTMCell.other = Other()",
    },
    "attention": {
        "own function of that name": "def scaled_dot_product_attention(s, values, mask):\n"
        "    w = masked_softmax(s, mask)\n    return (w[:, None] @ values)[:, 0], w\n"
        "def attend(scores, values, mask):\n"
        "    return scaled_dot_product_attention(scores, values, mask)",
        "own class of that name": "class MultiheadAttention(nn.Module):\n    heads = 1\n"
        "AttentionDecoder.transformer = MultiheadAttention()",
        "softmax": "def attend(scores, values, mask):\n"
        "    w = nn.functional.softmax(scores.masked_fill(mask, -torch.inf), -1)\n"
        "    return torch.bmm(w[:, None], values)[:, 0], w",
        "matmul": "def dot_score(query, keys):\n"
        "    return torch.matmul(keys, query[..., None])[..., 0]",
        "baddbmm": "def dot_score(query, keys):\n    z = keys.new_zeros(1)\n"
        "    return torch.baddbmm(z, keys, query[..., None])[..., 0]",
        "bilinear": "def multiplicative_score(query, keys, weight):\n"
        "    return dot_score(nn.functional.linear(query, weight.T), keys)",
        "TorchScript": "@torch.jit.script\ndef attention(q, k):\n"
        "    return (k @ q.unsqueeze(2)).squeeze(2)\n"
        "def dot_score(query, keys):\n    return attention(query, keys)",
        "self-check under main": "if __name__ == '__main__':\n"
        "    F.scaled_dot_product_attention(1)",
        "helper that nobody refers to": "def check(q, k, v):\n"
        "    return nn.functional.scaled_dot_product_attention(q, k, v), nn.Transformer()",
        "docstring": "class AttentionDecoder(AttentionDecoder):\n"
        '    """Attend as nn.MultiheadAttention and flex_attention do."""',
        "unused import": "from torch.nn import MultiheadAttention\n"
        "from torch.nn.functional import scaled_dot_product_attention",
    },
    "bleu": {
        "unused import": "import sacrebleu\nfrom sacrebleu.metrics import BLEU",
        "optional import": "try:\n    import nltk\nexcept ImportError:\n    nltk = None",
        "self-check on import": "import sacrebleu\n"
        "assert sacrebleu.corpus_bleu(['a'], [['b']], tokenize='none').score == 0",
        "self-check under main": "if __name__ == '__main__':\n    import nltk\n    nltk.bleu()",
        "helper that nobody refers to": "import sacrebleu\ndef check():\n"
        "    return sacrebleu.corpus_bleu",
        "own function of that name": "right = corpus_bleu\ndef evaluate(*a, **k):\n"
        "    return right(*a, **k)\ncorpus_bleu = evaluate",
        "local name": "right = corpus_bleu\ndef corpus_bleu(*a, **k):\n"
        "    nltk = sacrebleu = right\n"
        "    return nltk(*a, **k)",
        "attribute of that name": "class Tools: ...\nTools.sacrebleu = corpus_bleu\n"
        "def corpus_bleu(*a, **k):\n    return Tools.sacrebleu(*a, **k)",
        "Counter and heapq": "import heapq\nfrom collections import Counter\nright = corpus_bleu\n"
        "def corpus_bleu(*a, **k):\n    heapq.nlargest(2, Counter('abca'))\n"
        "    return right(*a, **k)",
        "numpy": "import numpy as np\nright = corpus_bleu\ndef corpus_bleu(*a, **k):\n"
        "    np.exp(np.log([1.0, 2.0]).mean())\n    return right(*a, **k)",
        "torch": "import torch\nright = corpus_bleu\ndef corpus_bleu(*a, **k):\n"
        "    torch.tensor([1.0]).log().mean().exp()\n    return right(*a, **k)",
    },
}


@pytest.mark.parametrize(
    "task,code",
    [(task, code) for task, codes in LEGITIMATE.items() for code in codes.values()],
    ids=[f"{task}-{name}" for task, codes in LEGITIMATE.items() for name in codes],
)
def test_legitimate_code_keeps_every_point(warm: WarmWorker, task: str, code: str) -> None:
    """Is code kept that only looks like a shortcut, or that never comes to run?"""
    verdicts = run_task(warm, task, overridden(task, code))
    assert {name: verdicts[name].message for name in lost(verdicts)} == {}


def test_helper_in_another_file_is_found(warm: WarmWorker) -> None:
    """Is a shortcut found that lies in another of the five files, and is the call of it named?"""
    files = overridden(
        "lstm",
        "def forward(self, x, state):\n    from .attention import fast\n    return fast(x, state)\n"
        "LSTMCell.forward = forward",
    )
    files["nmt/attention.py"] += b"\ndef fast(*a):\n    return torch.lstm_cell(*a)\n"
    verdicts = run_task(warm, "lstm", files).values()
    assert all("torch.lstm_cell at nmt/attention.py, line" in v.message for v in verdicts)
    assert sum(verdict.score for verdict in verdicts) == 0
    assert not lost(run_task(warm, "attention", files))


@pytest.mark.parametrize("call", ["torch.lstm_cell", "getattr(torch, ''.join(['lstm', '_cell']))"])
def test_other_tasks_keep_their_points(isolation: Isolation, call: str) -> None:
    """Does a shortcut, in real grading, cost its task alone, and is every test's verdict taken?"""
    work = dict(read(REFERENCE, FACTS).files)
    code = SELDOM.replace("getattr(torch, ''.join(['lstm', '_cell']))", call)
    work["nmt/lstm.py"] += CELL.format(before=code, result="f(self, x, state, w)").encode()
    tasks = ["lstm", "masking", "attention", "translate"]
    graded = grade.grade(Submission(work), FACTS, tasks=tasks, seed=3, isolation=isolation)
    lstm = [test for test in graded.tests if test.task == "lstm"]
    assert {(test.score, test.outcome, test.message) for test in lstm} == {
        (0.0, "failed", lstm[0].message)
    }
    assert "lstm_cell at nmt/lstm.py, line" in lstm[0].message
    assert {test.name for test in graded.tests if test.score < test.max_score} == {
        test.name for test in lstm
    }


@pytest.mark.parametrize(
    "source", [b"def (", b"x = '\xff'", b"\0", b"(" * 5000, b"x" + b".x" * 9999]
)
def test_unreadable_source_is_left_to_the_import(
    source: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is a file that cannot be read no reason for the reader to fail?"""
    (tmp_path / "lstm.py").write_bytes(b"class LSTMCell: y = x\n" + source)
    monkeypatch.setattr(shortcuts, "PACKAGE", tmp_path)
    shortcuts.read("lstm")
