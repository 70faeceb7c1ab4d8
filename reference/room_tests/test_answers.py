"""Notebooks: cells of every version, answers in every style, and what is said of the others."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from nmt import statements
from nmt.answers import Reading, describe, evaluate, read_number
from nmt.files import InputError
from nmt.notebook import Cell, read_cells
from nmt.statements import needed


def read(*cells: str, seconds: float = math.inf) -> Reading:
    """Evaluate the answer `q`."""
    return evaluate(cells, [["q"]], (seconds, seconds))["q"]


RIGHT = {
    "a literal": ["q = 0.75"],
    "a fraction": ["q = 3 / 4"],
    "a function of math": ["q = math.cos(0) * 0.75"],
    "several lines": ["a = 3\nb = 4\nq = a / b"],
    "a helper in a cell above": ["def f(x):\n    return x / 4", "q = f(3)"],
    "a helper in a cell below": ["q = f(3)", "def f(x):\n    return x / n", "n = 4"],
    "an import in another cell": ["from fractions import Fraction as F", "q = F(3, 4)"],
    "all of a module": ["from fractions import *", "q = Fraction(3, 4)"],
    "decimals": ["from decimal import Decimal\nq = Decimal('0.75')"],
    "numpy": ["import numpy as np", "q = np.float32([0.5, 0.75]).max()"],
    "torch": ["import torch", "q = torch.tensor([0.75], requires_grad=True)"],
    "a text": ["q = '0.75'"],
    "a fraction as a text": ["q = ' 3/4 '"],
    "a minus sign that is no hyphen": ["q = '\u22123/-4'"],
    "an annotation": ["q: float = 0.75"],
    "a tuple of targets": ["p, q = 1, 0.75"],
    "a walrus": ["print(q := 0.75)"],
    "a loop": ["q = 0\nfor _ in range(3):\n    q += 0.25"],
    "a list that is filled": ["values = []", "values.append(0.75)", "q = values[0]"],
    "an item that is set": [
        "values = {}\nvalues['q'] = 0.5",
        "values['q'] += 0.25",
        "q = values['q']",
    ],
    "a condition": ["if True:\n    q = 0.75\nelse:\n    q = 1"],
    "await": ["async def f():\n    return 0.75", "q = await f()"],
    "exec": ["exec('q = 0.75')"],
    "the last one": ["q = 1", "q = 0.75"],
    "a copy below that is not filled in": ["q = 0.75", "q = ..."],
    "a copy above that is not filled in": ["q = ...", "q = 0.75"],
    "an error before": ["print(undefined)\nq = 0.75"],
    "an error behind": ["q = 0.75\nq = q / 0"],
    "a syntax error beside": ["p =\nq = 0.75"],
    "many syntax errors": ["p =\n" * 15 + "q = 0.75"],
    "a cell that is no Python": ["\0", "what? no!", "q = 0.75", "(" * 500, "q ="],
    "exit": ["raise SystemExit\nq = 0.75", "exit()"],
    "line magics": ["%matplotlib inline\n!pip install x\n?math\nmath.exp?\nfiles = !ls\nq = 0.75"],
    "a magic that runs a statement": ["%time q = 0.75"],
    "a cell magic for Python": ["%%time\nq = 0.75"],
    "cell magics for others": ["q = 0.75", "%%bash\nq=1\necho $q", "%%html\n<b>"],
    "a magic in a block": ["if True:\n    %matplotlib inline\n    q = 0.75"],
    "a text that looks like a magic": ["t = '''\n%x\n!y\n'''\nq = len(t) * 0.1 + 0.05", "%x"],
    "a text that looks like a magic beside one": [
        "%matplotlib inline\nt = '''\n%d\n!y\n'''\nif len(t) == 7:\n    q = 0.75"
    ],
    "many magics": ["!ls\n" * 50 + "q = 0.75"],
    "an indented first line": ["  a = 3\nq = a / 4"],
    "prompts": [">>> a = 3", "In [2]: q = a / 4", ">>> def f():\n...     return 0.75\nq = f()"],
    "a complex number that is real": ["q = (-0.75 + 0j) * -1"],
    "a remainder": ["q = (3.75\n% 3)"],
    "display": ["display(1)\nget_ipython().run_line_magic('x', '')\nq = 0.75"],
    "an indented cell": ["    q = 0.75"],
    "line ends of Windows": ["a = 3\r\nq = a / 4\r\n"],
    "line ends of old": ["\ra = 3\rq = a / 4\r", "\x0c\x0b\r", "q\r= 1"],
    "an answer of another question": ["p = 3", "q = p / 4"],
    "a name that is used again": ["x = 3\nq = x / 4", "x = 5\np = x"],
    "a change under another name": ["w = [0.]\nv = w", "v[0] = 0.75", "q = w[0]"],
    "a change by a function": ["def fill(a): a[0] = 0.75", "w = [0.]\nfill(w)\nq = w[0]"],
    "a change by numpy": [
        "import numpy as np\na = np.zeros(1)",
        "np.add(a, 0.75, out=a)\nq = float(a[0])",
    ],
    "a change by torch": [
        "import torch\nl = torch.nn.Linear(1, 1)",
        "torch.nn.init.constant_(l.weight, 0.75)\nq = l.weight.item()",
    ],
    "a change of itself": ["import numpy as np\nq = np.zeros(())", "q += 0.5", "q[()] += 0.25"],
    "a global": ["def f():\n    global y\n    y = 0.75", "y = 1\nf()\nq = y"],
    "a global that is the answer": ["q = ...", "def f():\n    global q\n    q = 0.75", "f()"],
    "globals": ["y = 1", "globals()['y'] = 0.75", "q = y"],
    "globals that are the answer": ["q = ...\nglobals()['q'] = 0.75"],
    "a loop that fails in the end": ["for q in (0.75, 1):\n    if q == 0.75: raise ValueError"],
}
LOOPS = {
    "around it": ["while True: pass", "q = 0.75", "while True: p = 1"],
    "in many places": [*["while True: pass"] * 20, "a = 3", "q = a / 4"],
    "behind it": ["q = 0.75", "while True: q = q"],
    "when it is read": [
        "class N:\n    def __float__(self):\n        while True: pass",
        "p = N()\nq = 0.75",
    ],
}


@pytest.mark.parametrize("cells", RIGHT.values(), ids=RIGHT)
def test_answer_is_read(cells: list[str]) -> None:
    """Is a number found, however and wherever in the notebook it is worked out?"""
    found = read(*cells)
    assert (found.state, round(found.value, 6)) == ("number", 0.75), found.text


@pytest.mark.parametrize("cells", LOOPS.values(), ids=LOOPS)
def test_loops_cost_no_other_answer(cells: list[str]) -> None:
    """Is an answer found, however much of the notebook does not end?"""
    found = evaluate(cells, [["p"], ["q"]], (0.5, 0.5))
    assert found["q"][:2] == ("number", 0.75)
    assert found["p"].state in ("missing", "slow")


OTHERS = {
    "dots": (["q = ..."], "open", ""),
    "nothing": (["p = 1"], "missing", ""),
    "an empty notebook": ([], "missing", ""),
    "no value": (["q ="], "error", "SyntaxError: invalid syntax at `q =`"),
    "a decimal comma": (["q = 0,75"], "odd", "a comma in the place of a point"),
    "a decimal comma in a text": (["q = '0,75'"], "odd", "a text that is no number"),
    "a text": (["q = 'three'"], "odd", "a text that is no number"),
    "a division by zero in a text": (["q = '1/0'"], "odd", "a text that is no number"),
    "digits without end in a text": (["q = '9' * 10**6"], "odd", "a text that is no number"),
    "None": (["q = None"], "odd", "is None"),
    "True": (["q = True"], "odd", "is True"),
    "numpy's True": (["import numpy", "q = numpy.bool_(True)"], "odd", "is True"),
    "a list": (["q = [0.75]"], "odd", "is a list"),
    "a function": (["def q():\n    return 1"], "odd", "is a function"),
    "two numbers": (["import numpy", "q = numpy.ones(2)"], "odd", "no number that can be read"),
    "a complex number": (["q = 1j"], "odd", "complex"),
    "NaN": (["q = float('nan')"], "odd", "is nan"),
    "infinity": (["q = 1e400"], "odd", "is inf"),
    "a huge integer": (["q = 10**400"], "odd", "too large"),
    "a name that is nowhere": (["q = w * 2"], "error", "NameError: name 'w' is not defined"),
    "an exception": (["q = 1 / 0"], "error", "ZeroDivisionError: division by zero at `q = 1 / 0`"),
    "a name that another statement should give": (
        ["import nowhere as n\nx = n.y", "q = x + 1"],
        "error",
        "NameError: name 'x' is not defined at `q = x + 1`, as it raised ModuleNotFoundError",
    ),
    "an end when it is read": (
        ["class N:\n    def __float__(self):\n        raise SystemExit", "q = N()"],
        "odd",
        "SystemExit",
    ),
    "a loop": (["while True:\n    q = 1"], "slow", "did not end at `while True:`"),
    "a lying number": (
        ["class N:\n    def __float__(self):\n        raise SystemError", "q = N()"],
        "odd",
        "SystemError",
    ),
}


@pytest.mark.parametrize("cells,state,words", OTHERS.values(), ids=OTHERS)
def test_other_answers_are_told(cells: list[str], state: str, words: str) -> None:
    """Is it said what stands in the place of a number, and where code failed?"""
    seconds = 0.4 if state == "slow" else math.inf
    found = read(*cells, seconds=seconds)
    assert found.state == state, found
    assert words in found.text


def test_one_answer_does_not_cost_the_others() -> None:
    """Is each answer of a cell read by itself, whatever is wrong with its neighbours?"""
    cell = "a = 1\nb = 1 / 0\nc =\nd = [\ne = 'x'\nf = 2"
    found = evaluate([cell], [list("abcdef")])
    states = {name: reading.state for name, reading in found.items()}
    assert states == dict(zip("abcdef", ("number", "error", "error", "error", "odd", "number")))


NEEDED = {
    "what it uses": (["a = 1", "b = a", "c = 2", "q = b"], ["a = 1", "b = a", "q = b"]),
    "what fills it": (
        ["r = []", "r.append(3)", "print(r)", "r[0] = 1", "s = [r]", "q = r[0]"],
        ["r = []", "r.append(3)", "r[0] = 1", "q = r[0]"],
    ),
    "not all that uses a module": (
        ["import numpy as n", "n.seterr()", "x = n.ones(1)", "q = n.pi"],
        ["import numpy as n", "q = n.pi"],
    ),
    "all of a module": (
        ["from math import *", "x = e", "q = pi"],
        ["from math import *", "q = pi"],
    ),
    "what a function uses": (["k = 1", "def f(): return k", "q = f()"], None),
}


@pytest.mark.parametrize("cells,expected", NEEDED.values(), ids=NEEDED)
def test_only_what_is_needed_runs(cells: list[str], expected: list[str] | None) -> None:
    """Does an answer depend on no more statements than it must, and on no fewer?"""
    assert [s.text for s in needed(statements.parse(cells), ["q"])] == (
        cells if expected is None else expected
    )


@pytest.mark.parametrize("broken", [RecursionError(), IndexError("list index out of range")])
def test_a_cell_costs_no_other(broken: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Does a cell that cannot be taken apart cost what it assigns alone?"""
    whole = statements.statements_of

    def fail(source: str) -> list[statements.Statement]:
        if "p" in source:
            raise broken
        return whole(source)

    monkeypatch.setattr(statements, "statements_of", fail)
    found = evaluate(["p = 1\npass", "q = 0.75"], [["p", "q"]])
    assert (found["q"].value, found["p"].state) == (0.75, "error")


def test_long_cells_are_read() -> None:
    """Is a cell of many lines read, each of which needs the one above?"""
    lines = [f"a{number} = a{number - 1}" for number in range(1, 5001)]
    cells = ["a0 = 0.75", "\n".join(lines), "q = a5000"]
    assert read(*cells).value == 0.75
    assert len(needed(statements.parse(cells), ["q"])) == 5002


def test_assignments_are_counted() -> None:
    """Is it known how often an answer was given, dots left out?"""
    assert read("q = ...", "q = 1", "q = 2").times == 2


def test_exceptions_that_cannot_be_described() -> None:
    """Is there a text for an exception whose own methods fail, and is a long one cut?"""
    hostile = type("E", (Exception,), {"__str__": lambda self: 1 / 0})()
    assert "no readable text" in describe(hostile)
    assert len(describe(ValueError("x" * 10**6))) < 300


def test_number_keeps_its_value() -> None:
    """Is nothing rounded on the way?"""
    assert read_number(math.pi).value == math.pi


# --- Cells ---

CODE = {"cell_type": "code", "metadata": {"tags": ["t", 3]}, "source": ["a = 1\n", "b = 2"]}
TEXT = {"cell_type": "markdown", "metadata": {}, "source": "text", "id": "own"}
EXPECTED = [Cell(True, "a = 1\nb = 2", "", ("t",)), Cell(False, "text", "own", ())]
OLD_CODE = {"cell_type": "code", "input": ["a = 1\n", "b = 2"], "metadata": {"tags": ["t"]}}
DOCUMENTS: dict[str, Any] = {
    "version 4": {"nbformat": 4, "cells": [CODE, TEXT]},
    "no version": {"cells": [CODE, TEXT]},
    "version 3": {"nbformat": 3, "worksheets": [{"cells": [OLD_CODE]}, {"cells": [TEXT]}]},
    "odd things between": {
        "cells": [None, 3, "x", [], {}, {"cell_type": 5}, CODE, {"cell_type": []}, TEXT],
        "worksheets": [None, {"cells": 3}, 5],
    },
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_cells_are_read(document: Any) -> None:
    """Are the cells found in every version, and malformed ones left out?"""
    assert read_cells(json.dumps(document).encode()) == EXPECTED


def test_integers_without_end() -> None:
    """Is a number of many digits, which would take long to convert, no reason to give up?"""
    cells = json.dumps([CODE, TEXT]).encode()
    content = b'{"nbformat": ' + b"9" * 100_000 + b', "cells": ' + cells + b"}"
    assert read_cells(content) == EXPECTED


ODD_FIELDS = {"source": 5, "metadata": [], "id": {}, "cell_type": "code"}


def test_odd_fields_are_empty() -> None:
    """Does a cell with fields of other kinds count as an empty one?"""
    documents = [{"cells": [ODD_FIELDS]}, {"cells": [{**ODD_FIELDS, "source": [1, None, "a"]}]}]
    cells = [read_cells(json.dumps(document).encode()) for document in documents]
    assert [cell for (cell,) in cells] == [Cell(True, "", "", ()), Cell(True, "a", "", ())]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings(encoding: str) -> None:
    """Is a notebook read in each encoding that JSON may have?"""
    content = json.dumps({"cells": [CODE, TEXT]}).encode(encoding)
    assert read_cells(content) == EXPECTED


BROKEN = {
    "nothing": b"",
    "no text": b"\x80\x81",
    "half a notebook": b'{"cells": [',
    "a list": b"[]",
    "no cells": b"{}",
    "cells that are none": b'{"cells": [1, 2]}',
    "nested without end": b"[" * 100_000,
    "an integer without end": b'{"cells": ' + b"9" * 1_000_000 + b"}",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_broken_notebooks_are_one_line(content: bytes) -> None:
    """Is what is no notebook one line that says so?"""
    with pytest.raises(InputError, match=r"written\.ipynb is not a") as caught:
        read_cells(content)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
