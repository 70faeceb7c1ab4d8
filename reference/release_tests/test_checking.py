"""Tests of `python -m nmt check`, as a student runs it."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from release.build import Files

from nmt import checking, worker

TASKS = list(worker.TASKS)


def check(
    folder: Path, python: list[str], *tasks: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    # No path of this project: the starter has to stand alone.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [*python, "-m", "nmt", "check", *tasks],
        cwd=folder,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1", **(variables or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def states(output: str) -> dict[str, str]:
    """Return the second word of each task's line."""
    words = [line.split() for line in output.splitlines() if not line.startswith(" ")]
    return {line[0]: line[1] for line in words if line and line[0] in TASKS}


def edit(folder: Path, file: str, old: str, new: str) -> None:
    """Change a file in one place."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_untouched(starter: Path, python: list[str]) -> None:
    """Are all five tasks of an untouched starter missing, with the names of what to write?"""
    result = check(starter, python)
    assert states(result.stdout) == dict.fromkeys(TASKS, "missing")
    assert result.returncode == 1
    assert "Still to write: padding_mask, masked_softmax, masked_cross_entropy" in result.stdout
    assert "Next: nmt/lstm.py, then: python -m nmt check lstm" in result.stdout
    assert result.stderr == ""


def test_solved(solved: Path, python: list[str]) -> None:
    """Are all five done with the reference's files, and is the missing model mentioned?"""
    result = check(solved, python)
    assert states(result.stdout) == dict.fromkeys(TASKS, "done"), result.stdout
    assert result.returncode == 0
    assert "no model.safetensors yet" in result.stdout
    told = "written    0 of 46 numbers of written.ipynb are filled in, 0 of 16 texts written"
    assert told in result.stdout
    assert "Next: python -m nmt train" in result.stdout


def test_one_task_done(solved: Path, files: Files, python: list[str]) -> None:
    """Is the next task named that is not written, whichever one is done?"""
    assert check(solved, python, "bleu").stdout.endswith("done. All tasks: python -m nmt check\n")
    (solved / "nmt/attention.py").write_bytes(files["nmt/attention.py"])
    following = "Next: nmt/attention.py, then: python -m nmt check attention."
    assert following in check(solved, python, "bleu").stdout
    (solved / "nmt/masking.py").write_text("def f(:\n", encoding="utf-8")
    assert "Next: nmt/masking.py" in check(solved, python, "bleu").stdout


# One mistake a task, all at once: that each is named also shows that none spills over.
MISTAKES = {
    "nmt/lstm.py": ("i, f, g, o = gates", "i, f, o, g = gates", "with the gates in the order"),
    "nmt/masking.py": ('float("-inf")', "0.0", "when padded scores become 0"),
    "nmt/attention.py": ("torch.cat([context, h]", "torch.cat([h, context]", "it is [a; h']"),
    "nmt/beam_search.py": ("total / length**alpha", "total / (length + 1)**alpha", "but not <s>"),
    "nmt/bleu.py": ("limits |= _ngrams", "limits += _ngrams", "the reference that has the n-gram"),
}


def test_wrong(solved: Path, python: list[str]) -> None:
    """Is a known mistake in each task found and named?"""
    for file, (old, new, _) in MISTAKES.items():
        edit(solved, file, old, new)
    result = check(solved, python)
    assert states(result.stdout) == dict.fromkeys(TASKS, "wrong"), result.stdout
    text = " ".join(result.stdout.split())
    assert [said for _, _, said in MISTAKES.values() if said not in text] == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(:\n", "SyntaxError: invalid syntax (lstm.py, line 1)"),
        ("import sys; sys.exit(3)\n", "SystemExit: 3 (nmt/lstm.py, line 1)"),
        ("import os; os._exit(0)\n", "Python ended in the middle of it, with status 0"),
        ("import nonsense\n", "No module named 'nonsense' (nmt/lstm.py, line 1)"),
        ("", "has no attribute 'LSTMCell'"),
    ],
)
def test_broken_file(code: str, message: str, solved: Path, python: list[str]) -> None:
    """Is a file that cannot be imported wrong, with the reason in one sentence?"""
    (solved / "nmt/lstm.py").write_text(code, encoding="utf-8")
    result = check(solved, python, "lstm")
    assert states(result.stdout) == {"lstm": "wrong"}
    assert message in " ".join(result.stdout.split())
    assert "Does a cell of one unit give what one works out by hand?" in result.stdout


def test_broken_file_of_another_task(solved: Path, python: list[str]) -> None:
    """Does a broken file cost its own task only, not the one that imports it?"""
    for file in ("nmt/lstm.py", "nmt/masking.py"):
        (solved / file).write_text("def f(:\n", encoding="utf-8")
    assert states(check(solved, python, "attention").stdout) == {"attention": "done"}


def test_trained_model(solved: Path, python: list[str], root: Path) -> None:
    """Is a trained model said to load, with its number of parameters?"""
    shutil.copy(root / "reference/model.safetensors", solved)
    assert "model.safetensors loads, 1,134,116 parameters" in check(solved, python).stdout


@pytest.fixture
def notebook(solved: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the blank notebook that is looked at."""
    monkeypatch.setattr(worker, "HOME", solved)
    for module in (worker, checking):
        monkeypatch.setattr(module, "NOTEBOOK", solved / "written.ipynb")
    return solved


def test_numbers_and_texts_of_the_notebook(notebook: Path) -> None:
    """Is it said which answers are none, without a word on which ones are right?"""
    for old, new in (
        ("q2_norm = ...", "q2_norm = 1,5"),
        ("q3_c1 = ...", "q3_c1 = 1 / 0"),
        ("q4_bias = ...", "q4_bias = 99"),
        ("q12_scaled = ...", "pass"),
        ("*Your text (q1_why):*", "*Your text (q1_why):*\\n\\nBy the chain rule."),
    ):
        edit(notebook, "written.ipynb", old, new)
    result = checking.judge_written()
    assert result.state == "wrong"
    assert result.summary.startswith("1 of 46 numbers")
    assert result.summary.endswith(", 1 of 16 texts written")
    tuple_, error, missing, answer, write = result.details
    assert tuple_.startswith("q2_norm is a tuple")
    assert error.startswith("q3_c1 has no value: its code raised ZeroDivisionError")
    assert missing.startswith("q12_scaled is not assigned anywhere")
    assert answer.startswith("Still to answer: q1_slope, ")
    assert answer.endswith(" and 36 more")
    assert write.startswith("Still to write: q2_why, q3_gates, ")


def test_complete_notebook(notebook: Path, root: Path) -> None:
    """Is a notebook done that has all numbers and texts?"""
    shutil.copy(root / "reference/written.ipynb", notebook)
    result = checking.judge_written()
    assert (result.state, result.details) == ("done", ())
    assert result.summary.startswith("46 of 46 numbers")
    assert result.summary.endswith(", 16 of 16 texts written")


def test_slow_statements_of_the_notebook(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is it said what may be too slow for the grader, though it ends here?"""
    slow = "import time; time.sleep(1.2)\\nq2_norm = 1"
    edit(notebook, "written.ipynb", "q2_norm = ...", slow)
    result = checking.judge_written()
    assert result.state == "wrong"
    assert result.details[0].startswith(
        "`import time; time.sleep(1.2)` takes 1.2 seconds: that may"
    )


def test_notebook_that_never_ends(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is the statement quoted at which the cells were stopped, and does the rest stay as it was?"""
    edit(notebook, "written.ipynb", "q3_c1 = ...", "q3_c1 = sum(iter(int, 1))")
    edit(notebook, "written.ipynb", "q2_norm = ...", "q2_norm = 1")
    edit(notebook, "written.ipynb", "q9_sum = ...", "q9_sum = 1")
    monkeypatch.setattr(worker, "WRITTEN_TIMEOUTS", (3.0, 30.0))
    result = checking.judge_written()
    assert result.state == "wrong"
    assert result.summary.startswith("2 of 46 numbers")
    assert result.details[1].startswith("q3_c1 has no value: its code did not come to its end")
    assert result.details[0] == (
        "the notebook, at `q3_c1 = sum(iter(int, 1))  # cell after step 1`: it was stopped after 3 "
        "seconds: is there an endless loop?"
    )


def test_endless_loop(solved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a task that never ends stopped, and the test named in which it was?"""
    edit(solved, "nmt/beam_search.py", "if len(finished) >= beam_size or not live:", "while True:")
    edit(solved, "nmt/beam_search.py", "            break\n", "            pass\n")
    monkeypatch.setattr(worker, "HOME", solved)
    result = checking.judge(worker.run("tests", "beam", timeout=10.0))
    assert result.state == "wrong"
    assert result.details[0] == "Does a beam of 2 find `aab` before `b`, with the right scores?"
    assert result.details[1].endswith("seconds: is there an endless loop?")


def test_one_function_of_three(starter: Path, python: list[str]) -> None:
    """If one function is right and two are not written yet, is the task missing, not wrong?"""
    stub = (
        'raise NotImplementedError("Task masking is not implemented yet: '
        'padding_mask in nmt/masking.py")'
    )
    code = """if lengths.min() < 1 or lengths.max() > max_length:
        raise ValueError
    return torch.arange(max_length) >= lengths[:, None]"""
    edit(starter, "nmt/masking.py", stub, code)
    result = check(starter, python, "masking")
    assert states(result.stdout) == {"masking": "missing"}
    assert "5 of 14 tests pass" in result.stdout
    assert "Still to write: masked_softmax, masked_cross_entropy" in result.stdout


def test_narrow_console(solved: Path, python: list[str]) -> None:
    """Does a console that knows no Greek get question marks, not a crash?"""
    edit(solved, "nmt/lstm.py", "* g.tanh()", "* g")
    console = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = check(solved, python, "lstm", variables=console)
    assert result.stdout.isascii()
    assert "without tanh on the candidate g" in " ".join(result.stdout.split())
    assert result.stderr == ""


def test_foreign_settings(solved: Path, python: list[str]) -> None:
    """Do pytest settings of a folder further up, or of the environment, change nothing?"""
    (solved.parent / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    (solved / "pyproject.toml").unlink()
    result = check(solved, python, "bleu", variables={"PYTEST_ADDOPTS": "--nonsense"})
    assert states(result.stdout) == {"bleu": "done"}


def test_public_tests_from_another_folder(solved: Path, python: list[str]) -> None:
    """Do the public tests run with plain pytest, from any folder?"""
    options = ["-q", "-p", "no:cacheprovider", "-W", "error", str(solved / "tests")]
    result = subprocess.run(
        [*python, "-m", "pytest", *options],
        cwd=solved.parent,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lstn"], "no task 'lstn'; the tasks are lstm, masking, attention, beam, bleu"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, starter: Path, python: list[str]) -> None:
    """Is wrong usage one line, and not exit status 0?"""
    result = check(starter, python, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_missing_test_file(starter: Path, python: list[str]) -> None:
    """Is a test file that was deleted one clear line?"""
    (starter / "tests/test_bleu.py").unlink()
    result = check(starter, python, "bleu")
    assert result.returncode == 1
    assert "test_bleu.py is missing" in result.stderr


def test_colours(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Are there colours on a terminal only, and none if they are not wanted?"""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert checking._coloured("done") == "done"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert checking._coloured("done") == "\033[32mdone\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert checking._coloured("done") == "done"
