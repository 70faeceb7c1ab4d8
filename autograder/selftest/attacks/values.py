"""Return values, and raise exceptions, that are made to confuse whoever looks at them."""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, right, stub

LIES = """
import itertools, math
import numpy, torch
_shape = lambda state: state[0].shape
_lies = itertools.cycle([
    lambda s: (s[0] * math.nan, s[1] * math.nan),
    lambda s: (s[0] + math.inf, s[1] - math.inf),
    lambda s: (s[0].numpy(), s[1].numpy()),
    lambda s: (s[0].tolist(), s[1].tolist()),
    lambda s: (True, 10 ** 4000),
    lambda s: (s[0].bool(), s[1].bool()),
    lambda s: (s[0].to(torch.complex64), s[1].to(torch.complex64)),
    lambda s: (s[0].to_sparse(), s[1].to_sparse()),
    lambda s: (s[0].to("meta"), s[1].to("meta")),
    lambda s: (torch.empty(0, 2 ** 40), torch.empty([1] * 60)),
    lambda s: (s[0][:1].expand(*s[0].shape), -s[1] * 0.0),
    lambda s: {"value": s, "passed": True},
    lambda s: None,
    lambda s: float("nan"),
    lambda s: "\\ud800\\x1b[31m",
    lambda s: (torch.quantize_per_tensor(s[0].float(), 0.1, 0, torch.qint8), s[1]),
])
LSTMCell.forward = lambda self, x, state: next(_lies)(tuple(part.detach() for part in state))
"""
NUMBERS = """
import itertools, math
class Number(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __sub__ = __rsub__ = lambda self, other: 0.0
    __hash__ = None
_lies = itertools.cycle([
    Bleu(True, (True,), True, True, True),
    Bleu(math.nan, (math.nan,) * 4, math.nan, math.nan, math.nan),
    Bleu(math.inf, (math.inf,) * 4, math.inf, 10 ** 4000, -(10 ** 4000)),
    Bleu(Number(0), (Number(0),) * 4, Number(0), Number(0), Number(0)),
    Bleu(-0.0, (-0.0,) * 4, -0.0, -0, -0),
    Bleu("1.0", ["1.0"] * 4, "1", "1", "1"),
    Bleu([], {}, (), set(), None),
    Bleu(1e308, (1e308,) * 10_000, 5e-324, 2 ** 63, 2 ** 64),
])
def corpus_bleu(*arguments, **options):
    return next(_lies)
sentence_bleu = corpus_bleu
"""
# Exceptions whose text, name and class are hostile; one for each call.
EXCEPTIONS = """
import itertools
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
class NoName(Exception, metaclass=Meta):
    pass
class NoText(Exception):
    def __str__(self):
        raise SystemExit(0)
class OddText(Exception):
    class Text(str):
        def __getitem__(self, key):
            raise KeyboardInterrupt
    def __str__(self):
        return self.Text("odd")
class NoClass(Exception):
    __class__ = property(lambda self: 1 / 0)
class NoAttribute(Exception):
    def __getattribute__(self, name):
        raise BaseException(name)
class Syntax(SyntaxError):
    filename = lineno = property(lambda self: 3)
ANSI = "\\x1b[2J\\x1b[31m\\r\\x00\\u202e\\u2028\\ud800<script>alert(1)</script>{}%s"
_errors = itertools.cycle([
    NoName, NoText, OddText, NoClass, NoAttribute, Syntax, lambda: ValueError("x" * 10_000_000),
    lambda: type("N" * 1_000_000, (Exception,), {})(ANSI), lambda: ValueError(ANSI),
])
def padding_mask(lengths, max_length):
    raise next(_errors)()
masked_softmax = masked_cross_entropy = padding_mask
"""

ATTACKS = [
    Attack("returns-odd-tensors", stub("lstm", LIES), ("failed", "error")),
    Attack("returns-odd-numbers", stub("bleu", NUMBERS), ("failed",), task="bleu"),
    Attack("raises-odd-exceptions", right("masking", EXCEPTIONS), ("error",), task="masking"),
]
