"""Are the written questions graded fairly, whatever notebook they come in?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from assignment.written.questions import NUMERIC
from assignment.written.source import computed
from autograder import grade
from autograder.faults import StudentFault
from autograder.hidden_tests import test_written as hidden
from autograder.intake import Submission, read
from autograder.probes import written as probe
from autograder.results import Verdict
from autograder.sandbox.isolation import Isolation
from autograder.selftest.harness import (
    FACTS,
    Diagnoses,
    WarmWorker,
    reference_files,
    run_task,
)
from autograder.selftest.notebooks import (
    BLANK,
    KEEPS,
    SOLVED,
    Notebook,
    answers,
    cell,
    solved,
    with_more_cells,
)
from nmt.answers import Reading

TESTS = FACTS.tasks["written"].tests
FULL = FACTS.tasks["written"].points


def grading(
    warm: WarmWorker, notebook: Notebook | bytes, diagnoses: Diagnoses | None = None
) -> dict[str, Verdict]:
    """Grade a notebook, after what the intake does to it."""
    content = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    files = {**reference_files(), FACTS.notebook: content}
    return run_task(warm, "written", files, diagnoses=diagnoses)


def points(verdicts: dict[str, Verdict]) -> float:
    """Add up the points."""
    return round(sum(verdict.score for verdict in verdicts.values()), 6)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take less time for all that does not end."""
    limits = replace(FACTS.limits, notebook_seconds=2.0, answer_seconds=0.5)
    monkeypatch.setattr(hidden, "FACTS", replace(FACTS, limits=limits))


class Here:
    """Read in processes of this one's, which is quicker than in a worker's."""

    def __init__(self) -> None:
        self.memory: dict[str, Any] = {}

    def call(self, function: str, **inputs: Any) -> Any:
        """Do what the probe does."""
        return probe.read(**inputs)


def judged(notebook: Notebook | bytes) -> dict[str, list[hidden.Found]]:
    """Return what is found of each question's answers: id -> one of each."""
    content = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    cells = hidden.code_cells(Submission({FACTS.notebook: content}))
    here: Any = Here()
    return {q.id: hidden.ask(here, cells, q) for q in NUMERIC}


def wrong(notebook: Notebook | bytes) -> list[str]:
    """Say what is wrong with a notebook's answers; nothing, if all are right."""
    return [one.line for found in judged(notebook).values() for one in found if not one.right]


# --- Notebooks that keep every point ---


@pytest.mark.parametrize("alter", KEEPS.values(), ids=KEEPS)
def test_notebook_keeps_its_points(
    alter: Callable[[Notebook], None], tmp_path: Path, hasty: None
) -> None:
    """Does a solved notebook keep every point, whichever editor it went through?"""
    notebook = solved()
    alter(notebook)
    (tmp_path / FACTS.notebook).write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    taken = read(tmp_path, FACTS)
    assert FACTS.notebook not in taken.problems
    assert wrong(taken.files[FACTS.notebook]) == []


@pytest.mark.parametrize("version", [3, *(f"4.{minor}" for minor in range(6))])
def test_versions_of_the_format(version: int | str) -> None:
    """Is every version of the format read?"""
    notebook = nbformat.reads(SOLVED, as_version=4)  # type: ignore[no-untyped-call]
    if version == 3:
        notebook = nbformat.convert(notebook, 3)  # type: ignore[no-untyped-call]
    else:
        notebook.nbformat_minor = int(str(version)[-1])
        if notebook.nbformat_minor < 5:
            for one in notebook.cells:
                del one["id"]
        nbformat.validate(notebook)
    assert wrong(json.dumps(notebook).encode()) == []


STYLES = {
    "fractions": ("q7", "from fractions import Fraction as F\nq7_p1 = F(5, 6); q7_p2 = F('2/5')"),
    "two or three digits": ("q6", "q6_short = -0.538\nq6_long = -.514\nq6_second = 0.252"),
    "numpy": (
        "q8",
        "import numpy as np\ne = np.exp(np.array([[1, 0], [0, 1], [1, 2]]) @ [2, -1])\n"
        "q8_weight_1, q8_weight_2, q8_weight_3 = e / e.sum()",
    ),
    "torch": (
        "q8",
        "import torch\nh = torch.tensor([[1., 0], [0, 1], [1, 2]])\n"
        "w = (h @ torch.tensor([2., -1])).softmax(0)\n"
        "q8_weight_1, q8_weight_2, q8_weight_3 = w\nq8_context_1, q8_context_2 = w @ h",
    ),
    "one's own files": (
        "q7",
        "from nmt.bleu import sentence_bleu, corpus_bleu\n"
        "c = 'the cat sees the the house'.split()\n"
        "r = ['the old cat sees the very red house'.split()]\n"
        "q7_smoothed = sentence_bleu(c, r).score\nb = corpus_bleu([c], [r])\n"
        "q7_plain = b.score; q7_bp = b.brevity_penalty; q7_p1, q7_p2, q7_p3, _ = b.precisions",
    ),
    "a cell of torch": (
        "q5",
        "from torch import nn\n"
        "count = lambda m: sum(p.numel() for p in m.parameters())\n"
        "q5_torch = count(nn.LSTMCell(50, 80))\n"
        "q5_lstm = q5_torch - 4 * 80; q5_gru = q5_lstm * 3 // 4; q5_rnn = q5_lstm / 4",
    ),
    # What a statement does under other names, or without any.
    "an alias": ("q2", "w = [0.]; v = w\nv[0] = 13\nq2_norm = w[0]"),
    "a function that fills": (
        "q2",
        "def fill(a): a[0] = 13\nw = [0.]\nfill(w)\nq2_norm = w[0]",
    ),
    "numpy's out": (
        "q2",
        "import numpy as np\na = np.zeros(1)\nnp.add(a, 13, out=a)\nq2_norm = float(a[0])",
    ),
    "torch's init": (
        "q2",
        "import torch\nl = torch.nn.Linear(1, 1)\n"
        "torch.nn.init.constant_(l.weight, 13.)\nq2_norm = l.weight.item()",
    ),
    "a global": ("q2", "y = 1\ndef f():\n    global y\n    y = 13\nf()\nq2_norm = y"),
    "globals": ("q2", "y = 1\nglobals()['y'] = 13\nq2_norm = y"),
    "whole numbers as floats": ("q2", "q2_norm = (5**2 + 12**2) ** 0.5\nq2_loose_1 = '-5'"),
}


@pytest.mark.parametrize("question,code", STYLES.values(), ids=STYLES)
def test_unusual_styles_are_right(question: str, code: str) -> None:
    """Does a right answer keep its point in other clothes, in place of the usual ones?"""
    notebook = solved()
    own = answers(notebook, question)
    lines = "".join(own["source"]).split("\n")
    kept = [line for line in lines if line.split(" =")[0] not in code]
    own["source"] = "\n".join([*kept, code])
    assert wrong(notebook) == []


# --- Notebooks that lose some ---


def test_blank_notebook_gets_nothing(warm: WarmWorker) -> None:
    """Does the untouched notebook get 0, each question saying what is not answered?"""
    for question, verdict in zip(NUMERIC, grading(warm, BLANK).values()):
        assert (verdict.score, verdict.outcome) == (0.0, "failed")
        assert verdict.message == f"Not answered yet: {', '.join(question.names)}."


SPOILT = {
    "a wrong value": ("q2_norm = 12.5", "failed", "q2_norm, norm of g: 12.5 is not right."),
    "the last of two": ("q2_norm = 13\nq2_norm = 1", "failed", "(the last of the 2 values"),
    "not answered": ("q2_norm = ...", "failed", "Not answered yet: q2_norm."),
    "deleted": ("", "failed", "the notebook came with): q2_norm."),
    "percent": ("q2_norm = 1300", "failed", "1300 is not right"),
    "a decimal comma": ("q2_norm = 13,0", "failed", "is a tuple (is there a comma"),
    "a text": ("q2_norm = 'thirteen'", "failed", "is a text that is no number; expected a number"),
    "NaN": ("q2_norm = math.nan", "failed", "q2_norm is nan; expected a number"),
    "an exception": ("q2_norm = [][0]", "error", "q2_norm: your code raised IndexError: list"),
    "no Python": ("q2_norm = 13 +", "error", "SyntaxError: invalid syntax at `q2_norm = 13 +`"),
}


@pytest.mark.parametrize("line,outcome,words", SPOILT.values(), ids=SPOILT)
def test_one_answer_is_told_and_costs_no_other(line: str, outcome: str, words: str) -> None:
    """Does one spoilt answer cost its share of its question, with a message that names it?"""
    notebook = solved()
    own = answers(notebook, "q2")
    own["source"] = [line + "\n" if "q2_norm" in text else text for text in own["source"]]
    found = judged(notebook)
    assert len(wrong(notebook)) == 1
    fault = hidden.fault(found["q2"])
    assert fault.outcome == outcome
    assert words in str(fault)
    assert str(fault).endswith("Right: q2_tight_1, q2_tight_2, q2_loose_1, q2_loose_2.")


def test_a_loop_costs_its_statement(warm: WarmWorker, hasty: None) -> None:
    """Does an endless loop cost one answer of five, and are those behind it read?"""
    notebook = solved()
    own = answers(notebook, "q2")
    own["source"] = [
        "while True: q2_norm = 13\n" if "q2_norm" in text else text for text in own["source"]
    ]
    verdicts = grading(warm, notebook)
    assert points(verdicts) == FULL - TESTS["test_q2"] / 5
    spoilt = verdicts["test_q2"]
    assert (spoilt.outcome, round(spoilt.score, 6)) == ("timeout", TESTS["test_q2"] * 0.8)
    assert "did not end at `while True: q2_norm = 13`" in spoilt.message


def test_cells_that_end_python_cost_no_question(warm: WarmWorker, hasty: None) -> None:
    """Does a notebook full of cells that end, loop and fail keep every point in the sandbox?"""
    notebook = solved()
    with_more_cells(notebook)
    assert points(grading(warm, notebook)) == FULL


BESIDE = {
    "two loops": ["while True: pass"] * 2,
    "two cells that take long": ["import time\ntime.sleep(0.8)"] * 2,
    "an end of Python": ["import os\nos._exit(0)"],
    "a loop that no signal reaches": ["sum(iter(int, 1))"],
    "a loop that catches everything": [
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ],
    "the parent's end": ["import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"],
    "all of them": [
        *("while True: pass", "import os\nos._exit(0)", "sum(iter(int, 1))"),
        *("os.abort()", "raise SystemExit"),
    ],
}


@pytest.mark.parametrize("cells", BESIDE.values(), ids=BESIDE)
def test_a_deleted_line_costs_itself_alone(
    isolation: Isolation, cells: list[str], hasty: None
) -> None:
    """Do answers that were read stay, if one is not there and other cells do their worst?"""
    notebook = solved()
    own = answers(notebook, "q2")
    own["source"] = [line for line in own["source"] if "q2_norm" not in line]
    for place, source in enumerate(cells):
        notebook["cells"].insert(1 + 20 * place, cell(source))
    work = Submission({FACTS.notebook: json.dumps(notebook).encode()})
    graded = grade.grade(work, FACTS, tasks=["written"], seed=1, isolation=isolation)
    assert graded.tests[1].message == (
        "Not assigned anywhere (keep the lines that the notebook came with): q2_norm.\n"
        "Right: q2_tight_1, q2_tight_2, q2_loose_1, q2_loose_2."
    )
    assert points({test.name: test for test in graded.tests}) == FULL - TESTS["test_q2"] / 5


ENDS = {
    "a loop that no signal reaches": ("sum(iter(int, 1))", "timeout", "did not end"),
    "a loop that catches everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "timeout",
        "did not end",
    ),
    "an end": ("__import__('os')._exit(3)", "crashed", "ended Python (exit status 3)"),
    "a signal": ("__import__('os').abort()", "crashed", "ended Python (signal 6)"),
    "a fork that lives on": (
        "import os, time\nif os.fork() == 0: time.sleep(60)\nos._exit(0)",
        "timeout",
        "did not end",
    ),
}


@pytest.mark.parametrize("code,outcome,words", ENDS.values(), ids=ENDS)
def test_what_ends_or_hangs_costs_its_statement(
    warm: WarmWorker, code: str, outcome: str, words: str, hasty: None
) -> None:
    """Does code that takes its process along lose what it would have assigned, and is it quoted?"""
    notebook = solved()
    body = code.replace("\n", "\n    ")
    answers(notebook, "q9")["source"] = (
        f"def f():\n    {body}\nq9_padding = q9_first = f()\nq9_sum = 0.898"
    )
    verdicts = grading(warm, notebook)
    assert points(verdicts) == round(FULL - TESTS["test_q9"] * 2 / 3, 6)
    assert verdicts["test_q9"].outcome == outcome
    assert verdicts["test_q9"].message == (
        f"q9_padding, q9_first: your code {words} at `q9_padding = q9_first = f()`.\nRight: q9_sum."
    )


def test_loops_in_every_question_leave_each_its_message(
    warm: WarmWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is every question named, and its fault said once, where all hang as hard as they can?"""
    limits = replace(FACTS.limits, notebook_seconds=0.2, answer_seconds=0.1)
    monkeypatch.setattr(hidden, "FACTS", replace(FACTS, limits=limits))
    lines = [f"{' = '.join(question.names)} = sum(iter(int, 1))" for question in NUMERIC]
    verdicts = grading(warm, {"cells": [cell("\n".join(lines))]})
    for question, line, verdict in zip(NUMERIC, lines, verdicts.values()):
        assert (verdict.score, verdict.outcome) == (0.0, "timeout")
        said = f"{', '.join(question.names)}: your code did not end at `{line[:80].rstrip()}"
        assert verdict.message.startswith(said)


@pytest.mark.parametrize("question", NUMERIC, ids=lambda question: question.id)
def test_slips_are_named(question: Any) -> None:
    """Does each known mistake lose its answer, with its hint and its id, and never the value?"""
    for answer in question.answers:
        for slip in answer.slips:
            others = [
                hidden.Found(other, Reading("number", other.expected))
                for other in question.answers
                if other is not answer
            ]
            wrong = hidden.Found(answer, Reading("number", computed(slip.value)))
            assert not wrong.right
            fault = hidden.fault([*others, wrong])
            assert f"Hint: {slip.hint}" in str(fault)
            assert fault.misconception == f"written/{question.id}-{slip.id}"
            # Nothing else is in the message but the student's own number and the hint.
            without = str(fault).replace(f"{computed(slip.value):.6g} is not right", "")
            assert without == "\n".join(
                [
                    f"{answer.name}, {answer.wanted}: . Hint: {slip.hint}",
                    *([f"Right: {', '.join(o.answer.name for o in others)}."] if others else []),
                ]
            )


def test_mistake_reaches_the_result(warm: WarmWorker, diagnoses: Diagnoses) -> None:
    """Is the id of a mistake in the verdict, also beside an error that the diagnosis is told of?"""
    notebook = solved()
    answers(notebook, "q5")["source"] += "\nq5_lstm = 4 * 80 * (50 + 80 + 2)"
    answers(notebook, "q6")["source"] = "q6_long = 1 / 0"
    answers(notebook, "q7")["source"] += "\nq7_bp = math.exp(1 - 6 / 8)"
    verdicts = grading(warm, notebook, diagnoses)
    assert verdicts["test_q5"].misconception == "written/q5-two-biases"
    assert verdicts["test_q7"].misconception == "written/q7-lengths-swapped"
    assert (verdicts["test_q6"].outcome, verdicts["test_q6"].misconception) == ("error", None)


# --- What is no notebook, and what a worker may say ---

PROBLEMS: dict[str, tuple[dict[str, bytes], str, str]] = {
    "missing": ({}, "not_run", "written.ipynb is missing: submit it at the top"),
    "renamed": ({"written (1).ipynb": SOLVED}, "not_run", "Rename 'written (1).ipynb'?"),
    "two": ({"a/written.ipynb": SOLVED, "b/written.ipynb": BLANK}, "not_run", "more than once"),
    "empty": ({"written.ipynb": b""}, "error", "written.ipynb is not a readable notebook"),
    "no JSON": ({"written.ipynb": b"# Notes\n"}, "error", "open it in Jupyter or VS Code"),
    "no text": ({"written.ipynb": b"\xff\xfe\xff"}, "error", "written.ipynb is no text"),
    "no cells": ({"written.ipynb": b"{}"}, "error", "it has no cells"),
    "nested": ({"written.ipynb": b"[" * 500_000}, "error", "not a readable notebook"),
    "too much of it": (
        {"written.ipynb": b'{"cells": [' + b"[]," * 1_000_000},
        "error",
        "more than 1,000,000 bytes without its outputs",
    ),
    "too much code": (
        {"written.ipynb": json.dumps({"cells": [cell(["a = 1\n"] * 60_000)]}).encode()},
        "error",
        "code cells of written.ipynb have more than 300,000 characters",
    ),
}


@pytest.mark.parametrize("files,outcome,words", PROBLEMS.values(), ids=PROBLEMS)
def test_problems_are_told(
    isolation: Isolation, tmp_path: Path, files: dict[str, bytes], outcome: str, words: str
) -> None:
    """Does what is no notebook get 0, with one message in the tests, and others their points?"""
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    graded = grade.grade(
        read(tmp_path, FACTS), FACTS, tasks=["written"], seed=1, isolation=isolation
    )
    assert {(test.outcome, test.score) for test in graded.tests} == {(outcome, 0.0)}
    assert all(words in test.message for test in graded.tests)
    told_above = outcome == "not_run" or "bytes without" in words or "no text" in words
    assert (words in graded.output) == told_above


def test_blank_notebook_beside_another_is_told(tmp_path: Path) -> None:
    """Is a notebook pointed to that stands beside a blank one, and may be meant?"""
    (tmp_path / "written.ipynb").write_bytes(BLANK)
    (tmp_path / "Written (1).ipynb").write_bytes(SOLVED)
    taken = read(tmp_path, FACTS)
    assert hidden.others(taken) == (
        " 'Written (1).ipynb' is not read: is it the one you worked in?"
    )
    assert hidden.others(Submission({})) == ""


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Is a notebook that is a link missing, and is it said what it is?"""
    (tmp_path / "elsewhere").write_bytes(SOLVED)
    (tmp_path / FACTS.notebook).symlink_to(tmp_path / "elsewhere")
    taken = read(tmp_path, FACTS)
    assert FACTS.notebook not in taken.files
    assert "does not count: it is a link" in taken.problems[FACTS.notebook]


LIES = {
    "nothing": None,
    "a number": 1.0,
    "too few": [["number", 1.0, "", 1]] * 2,
    "no reading": [1.0] * 3,
    "a short reading": [["number", 1.0]] * 3,
    "another state": [["right", 1.0, "", 1]] * 3,
    "an unhashable state": [[{}, 1.0, "", 1]] * 3,
    "NaN": [["number", float("nan"), "", 1]] * 3,
    "infinity": [["number", float("inf"), "", 1]] * 3,
    "an integer": [["number", 1, "", 1]] * 3,
    "a text": [["number", "1.0", "", 1]] * 3,
    "a text that is none": [["odd", 0.0, None, 1]] * 3,
    "a count that is none": [["number", 1.0, "", True]] * 3,
}


@pytest.mark.parametrize("reply", LIES.values(), ids=LIES)
def test_whatever_the_worker_says_is_a_verdict(reply: Any) -> None:
    """Is an answer that no probe gives the student's fault, and never the grader's?"""

    class Liar(Here):
        def call(self, function: str, **inputs: Any) -> Any:
            return reply

    with pytest.raises(StudentFault, match="changed how the grader calls it"):
        hidden.ask(Liar(), [], NUMERIC[8])  # type: ignore[arg-type]


FORGED = {
    "nothing": b"\n",
    "no JSON": b"x\n",
    "another thing": b"[1]\n",
    "depth without end": b"[" * 5_000 + b"\n",
    "an object": b"{}\n",
    "a line without end": b"x" * 10_000,
    "another state": b'["answer", "q", "right", 1.0, "", 1]\n',
    "an integer": b'["answer", "q", "number", 1, "", 1]\n',
    "a statement that is none": b'["at", "q", ""]\n',
    "an answer that was not asked for": b'["answer", "p", "number", 1.0, "", 1]\n',
}


@pytest.mark.parametrize("said", FORGED.values(), ids=FORGED)
def test_forged_readings_are_none(said: bytes) -> None:
    """Does what a cell writes in the place of readings cost its answers, and give no number?"""
    attack = (
        "import os, stat\nfor n in range(3, 256):\n    try:\n"
        f"        if stat.S_ISFIFO(os.fstat(n).st_mode): os.write(n, {said!r})\n"
        "    except OSError: pass\nq = 1"
    )
    ((state, value, text, _),) = probe.read([attack], ["q"], 1.0, whole=True)
    assert (state, value) in (("crash", 0.0), ("number", 1.0))
    assert "changed how the grader reads answers" in text or state == "number"


def test_notebook_that_is_missing_does_not_start_a_worker() -> None:
    """Is the notebook looked at before anything of the student's runs?"""
    with pytest.raises(StudentFault, match="is missing"):
        hidden.code_cells(Submission({}))
