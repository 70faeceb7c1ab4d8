"""Does the real grader, isolation included, give every submission its due?"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from assignment.facts import Facts
from autograder import feedback, grade, results
from autograder.faults import GraderFault
from autograder.intake import Submission, read
from autograder.misconceptions import TASKS
from autograder.results import Results, Verdict
from autograder.sandbox.isolation import Isolation, UidIsolation, uid_processes
from autograder.selftest.harness import FACTS, REFERENCE

STARTER = REFERENCE.parent / "starter"
SEED = 3
TRANSLATE = ["translate"]


def submission(**changes: bytes | None) -> Submission:
    """Return the reference's files, some replaced (by task id or `checkpoint`) or left out."""
    files = dict(read(REFERENCE, FACTS).files)
    paths = {**FACTS.task_files, "checkpoint": FACTS.checkpoint}
    for name, content in changes.items():
        if content is None:
            del files[paths[name]]
        else:
            files[paths[name]] = content
    return Submission(files)


def run(
    work: Submission, isolation: Isolation, tasks: list[str] | None = None, facts: Facts = FACTS
) -> Results:
    """Grade for real."""
    wanted = tasks or list(facts.tasks)
    return grade.grade(work, facts, tasks=wanted, seed=SEED, isolation=isolation)


def points(graded: Results) -> dict[str, float]:
    """Add up the points of each task."""
    total: dict[str, float] = {}
    for test in graded.tests:
        total[test.task] = total.get(test.task, 0.0) + test.score
    return total


def full(*tasks: str) -> dict[str, float]:
    """Return the full points of some tasks."""
    return {task: FACTS.tasks[task].points for task in tasks}


def append(task: str, code: str) -> bytes:
    """Return the reference's file of a task with code after it."""
    return (REFERENCE / FACTS.task_files[task]).read_bytes() + f"\n\n{code}\n".encode()


def test_reference_gets_every_point(isolation: Isolation) -> None:
    """Does the reference get full points in every task, and a place on the leaderboard?"""
    graded = run(read(REFERENCE, FACTS), isolation)
    assert points(graded) == full(*FACTS.tasks)
    assert graded.leaderboard[FACTS.translate.leaderboard] >= 99


def test_starter_gets_nothing(isolation: Isolation) -> None:
    """Does the untouched starter get 0, each test saying that nothing has been done there?"""
    graded = run(read(STARTER, FACTS), isolation)
    assert graded.score == 0
    for test in graded.tests:
        words = "not answered yet" if test.task == "written" else "not implemented"
        assert words in test.message.lower()


BROKEN = {
    "syntax error": (b"def broken(:\n", "error", "SyntaxError"),
    "exception on import": (b"raise RuntimeError('no luck')\n", "error", "no luck"),
    "exit on import": (b"import sys\nsys.exit(0)\n", "error", "SystemExit"),
    "missing name": (b"x = 1\n", "failed", "keep the names that the starter gives"),
    "os._exit": (b"import os\nos._exit(0)\n", "crashed", "exit status 0"),
    "exit beside a child": (
        b"import os, time\nif os.fork() == 0:\n    time.sleep(600)\nos._exit(0)\n",
        "crashed",
        "exit status 0",
    ),
    "abort": (b"import os\nos.abort()\n", "crashed", "signal 6"),
    "not text": (b"x = '\xff\xfe'\n", "error", "SyntaxError"),
}


@pytest.mark.parametrize("content,outcome,words", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("task", TASKS)
def test_broken_file_costs_its_own_task_only(
    isolation: Isolation, task: str, content: bytes, outcome: str, words: str
) -> None:
    """Does a broken file lose its own task, with one clear line, and no other one?"""
    others = [name for name in TASKS if name != task][:2]
    graded = run(submission(**{task: content}), isolation, [task, *others])
    assert points(graded) == {**full(*others), task: 0.0}
    for test in graded.tests:
        if test.task == task:
            assert test.outcome == outcome
            assert words in test.message


NO_TEXT = {"not UTF-8": b"x = 1\ny = '\xff'\n", "NUL": b"x = 1\n\0\n", "empty": b""}


@pytest.mark.parametrize("content", NO_TEXT.values(), ids=NO_TEXT)
def test_file_that_is_no_text_costs_its_own_task_only(
    isolation: Isolation, tmp_path: Path, content: bytes
) -> None:
    """Is a file that is no text an error that says so, and are the others graded in full?"""
    work = read(folder(tmp_path, submission(masking=content).files), FACTS)
    graded = run(work, isolation, ["masking", "attention"])
    assert points(graded) == {**full("attention"), "masking": 0.0}
    for test in graded.tests[: len(FACTS.tasks["masking"].tests)]:
        assert (test.outcome, test.message) == ("error", work.problems["nmt/masking.py"])
    assert work.problems["nmt/masking.py"] in graded.output


def folder(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


TAKEN = f"nly {', '.join(FACTS.task_files.values())} are taken from a submission"
MOVE = f"{TAKEN}: move what you need into nmt/bleu.py."
IMPORTS = {
    "helper": ("from helpers import x", "\nhelpers.py is in your submission, and was ignored. O"),
    "helper in the package": ("from nmt.utils import y", "\nnmt/utils.py is in your submission"),
    "relative": ("from .utils import y", "\nnmt/utils.py is in your submission, and was ignored"),
    "package": ("import mylib.core", "\nmylib/core.py is in your submission, and was ignored"),
    "when called": ("def corpus_bleu(*a, **b):\n    import helpers", "\nhelpers.py is in your"),
    "library": ("import pandas_of_mine", "\n`pandas_of_mine` is not there where your code is"),
    "addition to the package": ("from nmt import utils", "\n`nmt` is here as it was given to you"),
    "changed module": ("from nmt.model import z", "\n`nmt.model` is here as it was given to you"),
}


@pytest.mark.parametrize("code,words", IMPORTS.values(), ids=IMPORTS)
def test_import_of_what_is_not_taken_is_explained(
    isolation: Isolation, tmp_path: Path, code: str, words: str
) -> None:
    """Does a message say which file imports what, why it is not there, and what to do?"""
    names = ("helpers.py", "nmt/utils.py", "mylib/core.py", "mylib/__init__.py")
    files = {**submission(bleu=append("bleu", code)).files, **dict.fromkeys(names, b"x = y = 1\n")}
    graded = run(read(folder(tmp_path, files), FACTS), isolation, ["bleu", "masking"])
    assert points(graded)["masking"] == FACTS.tasks["masking"].points
    message = next(test.message for test in graded.tests if test.task == "bleu" and not test.score)
    assert "Your code raised " in message
    assert " at nmt/bleu.py, line " in message
    assert words in message
    assert MOVE in message
    assert "helpers.py, mylib/core.py, nmt/utils.py." in graded.output


NO_ADVICE = {
    "name that a library lacks": "from torch import klingon",
    "name that is none": "raise ModuleNotFoundError('no', name='a sentence, not a name')",
    "name that is no text": "raise ModuleNotFoundError('no', name=['torch'])",
    "hostile exception": "raise type('E', (ImportError,), {'name': property(lambda s: 1 / 0)})()",
}


@pytest.mark.parametrize("code", NO_ADVICE.values(), ids=NO_ADVICE)
def test_other_failing_imports_are_only_told(isolation: Isolation, code: str) -> None:
    """Is no advice given that would be wrong, whatever the student's exception claims?"""
    graded = run(submission(bleu=append("bleu", code)), isolation, ["bleu"])
    assert {test.outcome for test in graded.tests} == {"error"}
    assert "Your code raised " in graded.tests[0].message
    assert "taken from a submission" not in graded.tests[0].message


def test_file_that_translate_lacks_is_named(isolation: Isolation) -> None:
    """Does `translate` say which of the five files it could not do without?"""
    graded = run(submission(attention=None), isolation, TRANSLATE)
    assert points(graded) == {"translate": 0.0}
    assert graded.tests[0].message.endswith("nmt/attention.py was not found in your submission.")


@pytest.mark.parametrize("task", TASKS)
def test_missing_file_is_named(isolation: Isolation, task: str) -> None:
    """Does a submission without a file lose that task, and is the file named?"""
    graded = run(submission(**{task: None}), isolation, [task])
    name = Path(FACTS.task_files[task]).name
    assert points(graded) == {task: 0.0}
    assert all(name in test.message and test.outcome == "not_run" for test in graded.tests)


def test_broken_bleu_costs_nothing_in_translate(isolation: Isolation) -> None:
    """Does `translate` do without the student's BLEU?"""
    graded = run(submission(bleu=b"def broken(:\n"), isolation, TRANSLATE)
    assert points(graded) == full("translate")


def test_endless_loop_is_a_timeout(isolation: Isolation) -> None:
    """Is an endless loop told as such, while the other tasks are graded in full?"""
    loop = append("bleu", "def corpus_bleu(*arguments, **options):\n    while True: pass")
    quick = replace(FACTS, limits=replace(FACTS.limits, call_seconds=2.0))
    graded = run(submission(bleu=loop), isolation, ["bleu", "masking"], quick)
    outcomes = {test.outcome for test in graded.tests if test.task == "bleu"}
    assert points(graded)["masking"] == FACTS.tasks["masking"].points
    assert "timeout" in outcomes
    assert outcomes <= {"timeout", "not_run", "passed"}


CHECKPOINTS = {
    "missing": (None, "model.safetensors"),
    "empty": (b"", "not a readable safetensors file"),
    "corrupt": (b"\xff" * 100, "not a readable safetensors file"),
    "another model": (safetensors.torch.save({"a": torch.zeros(1)}), "unknown parameter a"),
}


@pytest.mark.parametrize("content,words", CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_bad_checkpoint_is_one_clear_line(
    isolation: Isolation, content: bytes | None, words: str
) -> None:
    """Does a bad checkpoint lose `translate` alone, and does the message say what to do?"""
    graded = run(submission(checkpoint=content), isolation, ["translate", "bleu"])
    assert points(graded) == {**full("bleu"), "translate": 0.0}
    assert words in graded.tests[-1].message


def altered(name: str, change: str) -> bytes:
    """Return the reference's checkpoint with one tensor altered."""
    weights = safetensors.torch.load(submission().files[FACTS.checkpoint])
    value = weights[name]
    altered_values = {
        "shape": value[:-1].clone(),
        "dtype": value.double(),
        "nan": value * float("nan"),
    }
    return safetensors.torch.save({**weights, name: altered_values[change]})


@pytest.mark.parametrize(
    "change,words", [("shape", "has the shape"), ("dtype", "float64"), ("nan", "NaN")]
)
def test_wrong_tensor_is_named(isolation: Isolation, change: str, words: str) -> None:
    """Does a checkpoint with a wrong tensor name it?"""
    graded = run(submission(checkpoint=altered("output.weight", change)), isolation, TRANSLATE)
    assert points(graded) == {"translate": 0.0}
    assert "output.weight" in graded.tests[0].message
    assert words in graded.tests[0].message


def test_untrained_weights_get_nothing(isolation: Isolation) -> None:
    """Do weights that translate nothing score 0, with the BLEU in the message?"""
    weights = safetensors.torch.load(submission().files[FACTS.checkpoint])
    noise = {name: torch.randn_like(value) * 0.1 for name, value in weights.items()}
    graded = run(submission(checkpoint=safetensors.torch.save(noise)), isolation, TRANSLATE)
    assert points(graded) == {"translate": 0.0}
    assert "BLEU" in graded.tests[0].message


INVERTED_MASK = """
_right_mask = padding_mask
def padding_mask(lengths, max_length):
    return ~_right_mask(lengths, max_length)
"""


def test_broken_arithmetic_is_not_taken_for_a_cheat(isolation: Isolation) -> None:
    """Does a student whose model cannot work read of the BLEU, and not of an honesty control?"""
    graded = run(submission(masking=append("masking", INVERTED_MASK)), isolation, TRANSLATE)
    assert points(graded) == {"translate": 0.0}
    assert "BLEU" in graded.tests[0].message
    assert "network" not in graded.tests[0].message
    assert FACTS.translate.leaderboard in graded.leaderboard


LEAK = """
def beam_search(step, state, **options):
    raise ValueError("".join(["sec", "ret"]) + str(float(state[0].sum())))
"""


def test_text_of_an_exception_on_public_sentences_is_shown(isolation: Isolation) -> None:
    """Is the student told what the code raised?"""
    graded = run(submission(beam=append("beam", LEAK)), isolation, TRANSLATE)
    assert graded.tests[0].outcome == "error"
    assert "secret" in graded.tests[0].message


WAYS_OUT = {
    "text": "raise ValueError(secret)",
    "stub": "raise NotImplementedError('not implemented ' + secret)",
    "contract": "raise type('E', (Exception,), {'breaks_contract': True})(secret)",
    "name of a module": "raise ModuleNotFoundError('no module', name='nmt.' + secret)",
    "name of the class": "raise type(secret, (Exception,), {})()",
    "name of the file": "exec(compile('raise ValueError', 'nmt/' + secret + '.py', 'exec'))",
}


@pytest.mark.parametrize("way", WAYS_OUT.values(), ids=WAYS_OUT)
def test_nothing_said_of_held_out_sentences_is_shown(isolation: Isolation, way: str) -> None:
    """Is what an exception says kept back where it could quote held-out sentences?"""
    code = f"""
_real, _calls = beam_search, []
def beam_search(step, state, **options):
    _calls.append(1)
    secret = "".join(["sec", "ret"])
    if len(_calls) > 5:
        {way}
    return _real(step, state, **options)
"""
    graded = run(submission(beam=append("beam", code)), isolation, TRANSLATE)
    assert points(graded) == {"translate": 0.0}
    assert "On a held-out sentence" in graded.tests[0].message
    assert "secret" not in graded.tests[0].message


def test_results_file_is_valid(isolation: Isolation, tmp_path: Path) -> None:
    """Does the written file follow the platform's rules?"""
    graded = run(read(REFERENCE, FACTS), isolation, ["bleu"])
    document = json.loads(results.write(graded, tmp_path).read_text(encoding="utf-8"))
    assert document["score"] == FACTS.tasks["bleu"].points
    for test in document["tests"]:
        assert test["status"] in ("passed", "failed")
        assert isinstance(test["number"], str)
        assert test["extra_data"]["task"] == "bleu"
        assert test["extra_data"]["outcome"] in results.OUTCOMES
        assert test["extra_data"]["misconception"] is None


COMMANDS = {
    "unknown task": (["--tasks", "lstn"], "unknown task 'lstn'"),
    "no submission": (["--submission", "/no/such/folder"], "does not exist"),
    "not a zip": (["--submission", __file__], "neither a folder nor a zip"),
}


@pytest.mark.parametrize("arguments,words", COMMANDS.values(), ids=COMMANDS)
def test_wrong_usage_is_one_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Does wrong usage give one line and a non-zero status?"""
    assert grade.main([*arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_state_is_saved_while_grading_goes_on(isolation: Isolation, tmp_path: Path) -> None:
    """Is there a valid file after each task, which lists what is not graded yet?"""
    states = []

    def save(partial: Results) -> None:
        content = json.loads(results.write(partial, tmp_path).read_text(encoding="utf-8"))
        assert not isinstance(isolation, UidIsolation) or uid_processes(isolation.uid) == []
        states.append(content)

    tasks = ["lstm", "masking"]
    grade.grade(submission(), FACTS, tasks=tasks, seed=SEED, isolation=isolation, save=save)
    first, last = states[0], states[-1]
    assert first["score"] == FACTS.tasks["lstm"].points
    assert last["score"] == first["score"] + FACTS.tasks["masking"].points
    open_tests = [test for test in first["tests"] if test["extra_data"]["outcome"] == "not_run"]
    assert {test["extra_data"]["task"] for test in open_tests} == {"masking"}
    assert len(first["tests"]) == len(last["tests"])
    assert results.UNFINISHED in first["output"]


def test_the_whole_run_has_a_deadline(isolation: Isolation) -> None:
    """Is the rest `not_run` when the time of the whole run is over, and is there a result?"""
    limits = replace(FACTS.limits, total_seconds=0.0)
    graded = run(submission(), isolation, ["masking", "bleu"], replace(FACTS, limits=limits))
    assert {test.outcome for test in graded.tests} == {"not_run"}
    assert len(graded.tests) == len(FACTS.tasks["masking"].tests) + len(FACTS.tasks["bleu"].tests)


FAULTS = {
    "an exception": RuntimeError("a bug of ours"),
    "a fault that is known": GraderFault("no more disk"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_fault_of_the_grader_is_no_result(
    fault: Exception,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Is there a message for staff and no score at all when the grader breaks in the middle?"""

    def breaks(*_: object) -> str:
        raise fault

    monkeypatch.setattr(feedback, "verdict", breaks)
    (tmp_path / "results.json").write_text("{}")
    arguments = ["--tasks", "masking", "--out", str(tmp_path)]
    assert grade.main(arguments) == 3
    assert str(fault) in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_grading_that_hangs_is_ended() -> None:
    """Does a grading that does not come to its end become a fault of the grader?"""
    with pytest.raises(GraderFault, match="was not over"), grade.stop_after(0.1):
        time.sleep(60)


def test_grading_is_ended_also_where_a_fault_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Does the call to stop come again if something took it for a failed start?"""
    monkeypatch.setattr(grade, "AGAIN_SECONDS", 0.1)

    def try_twice() -> None:
        with contextlib.suppress(GraderFault):
            time.sleep(5)
        time.sleep(5)

    with pytest.raises(GraderFault, match="was not over"), grade.stop_after(0.1):
        try_twice()


def test_interrupt_leaves_what_was_graded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does Ctrl-C stop at once, in one line, and keep the tasks that were over?"""

    def interrupts(verdict: Verdict, _: object) -> str:
        if verdict.task == "bleu":
            raise KeyboardInterrupt
        return ""

    monkeypatch.setattr(feedback, "verdict", interrupts)
    assert grade.main(["--tasks", "masking,bleu", "--out", str(tmp_path)]) == 130
    assert "stopped" in capsys.readouterr().err
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert kept["score"] >= FACTS.tasks["masking"].points
    assert results.UNFINISHED in kept["output"]
