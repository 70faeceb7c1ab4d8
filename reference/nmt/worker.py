"""Run the five files in a process of their own: they may loop, crash or exit, the caller goes on.

The process writes a report, one JSON object a line, so that what was done before a crash is known.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt.files import CHECKPOINT, HOME, NOTEBOOK

if TYPE_CHECKING:
    import pytest

TASKS = {
    "lstm": "nmt/lstm.py",
    "masking": "nmt/masking.py",
    "attention": "nmt/attention.py",
    "beam": "nmt/beam_search.py",
    "bleu": "nmt/bleu.py",
}
# A job takes some seconds, most of them the import of torch; a cold disk can make that a minute.
TIMEOUT = 120.0  # seconds
# For the whole notebook, a statement of which may import torch, and for each question after it.
WRITTEN_SECONDS = (40.0, 5.0)
# One run takes less even on a slow machine; another one follows if a statement stops it.
WRITTEN_TIMEOUTS = (100.0, 30.0, 30.0)
SLOW_SECONDS = 1.0  # of a statement; the grader has half a core, and some seconds for everything
LONGEST_MESSAGE = 600  # characters
# The grader has the packages of the assignment loaded already.
IMPORT = re.compile(r"(import|from)\b[^;]*")
NOT_IMPLEMENTED = "is not implemented yet"  # in the text of every stub

Line = dict[str, Any]
Write = Callable[[Line], None]


@dataclass(frozen=True)
class Report:
    """Hold what a job wrote, and how its process ended if it did not reach its end."""

    lines: list[Line]
    fault: str | None


def run(job: str, *arguments: str, timeout: float = TIMEOUT) -> Report:
    """Run a job (`tests TASK`, `imports`, `model` or `written`) and wait for it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report")
        command = [sys.executable, "-m", "nmt.worker", str(path), job, *arguments]
        # Plugins and options of other projects must not decide how these tests run.
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUTF8": "1"}
        environment.pop("PYTEST_ADDOPTS", None)
        try:
            status = subprocess.run(
                command,
                cwd=HOME,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=timeout,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            fault = f"it was stopped after {timeout:g} seconds: is there an endless loop?"
            return Report(_read(path), fault)
        lines = _read(path)
        ended = bool(lines) and "end" in lines.pop()
        return Report(lines, None) if ended else Report(_read(path), _describe_status(status))


def _read(path: Path) -> list[Line]:
    """Return the lines of a report; the last may be cut off."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _describe_status(status: int) -> str:
    if status < 0:
        return f"Python was ended by {signal.Signals(-status).name}: is memory short?"
    return f"Python ended in the middle of it, with status {status}: is there a call of exit()?"


# --- In the process ---


def main(arguments: list[str]) -> None:
    """Do one job."""
    path, job, *rest = arguments
    with open(path, "w", encoding="utf-8") as file:

        def write(line: Line) -> None:
            print(json.dumps(line), file=file, flush=True)

        JOBS[job](write, *rest)
        write({"end": True})


def run_imports(write: Write) -> None:
    """Import the five modules one by one, up to the first that fails."""
    for file in TASKS.values():
        write({"file": file})
        try:
            importlib.import_module(file.removesuffix(".py").replace("/", "."))
        except BaseException as error:  # SystemExit, too
            write({"file": file, "error": describe(error)})
            return


def run_model(write: Write) -> None:
    """Load the checkpoint."""
    try:
        from nmt.model import load_checkpoint

        model = load_checkpoint(CHECKPOINT)
    except BaseException as error:
        write({"error": describe(error)})
    else:
        parameters = sum(parameter.numel() for parameter in model.parameters())
        write({"attention": model.config.attention, "parameters": parameters})


def run_written(write: Write, *left_out: str) -> None:
    """Run the cells of the notebook, and report each statement, what took long, and each answer.

    left_out are the numbers of statements that have ended or stopped this process before.
    """
    from nmt.answers import ANSWERS, Reading, evaluate
    from nmt.notebook import read_cells, written_texts

    try:
        cells = read_cells(NOTEBOOK.read_bytes())
    except (OSError, ValueError) as error:
        write({"error": str(error)})
        return

    text = ""

    def tell(event: str, *details: Any) -> None:
        nonlocal text
        if event == "at":
            text = details[1]
            write({"at": details})
        elif event == "took" and details[0] > SLOW_SECONDS and not IMPORT.fullmatch(text):
            write({"slow": {text: details[0]}})
        elif event == "answer":
            write({"answers": {details[0]: [details[1], details[3]]}})

    write({"texts": dict.fromkeys(written_texts(cells), True)})
    sources = [cell.source for cell in cells if cell.is_code]
    lost = {int(index): Reading("crash", text="did not come to its end") for index in left_out}
    readings = evaluate(sources, ANSWERS.values(), WRITTEN_SECONDS, tell, lost)
    write({"answers": {name: [r.state, r.text] for name, r in readings.items()}})


def run_tests(write: Write, task: str) -> None:
    """Run the tests of one task."""
    import pytest

    # An empty settings file of its own: those of a folder further up are not meant for these tests.
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "pytest.ini")
        settings.touch()
        options = ["-q", "-p", "no:cacheprovider", "-c", str(settings), f"--rootdir={HOME}"]
        test = HOME / "tests" / f"test_{task}.py"
        pytest.main([*options, str(test)], plugins=[Recorder(write)])


class Recorder:
    """Report each test when it starts and when it ends."""

    def __init__(self, write: Write) -> None:
        """Keep where to report to."""
        self.write = write

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Report how many tests there are."""
        self.write({"collected": len(session.items)})

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Report that a test starts: if nothing else follows, it never ended."""
        self._report(item, "started")

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Report how a test ended."""
        if call.excinfo is not None:
            missing = call.excinfo.errisinstance(NotImplementedError) and (
                NOT_IMPLEMENTED in str(call.excinfo.value)
            )
            outcome = "missing" if missing else "failed"
            self._report(item, outcome, describe(call.excinfo.value))
        elif call.when == "call":
            self._report(item, "passed")

    def _report(self, item: pytest.Item, outcome: str, message: str = "") -> None:
        documentation: str = getattr(getattr(item, "obj", None), "__doc__", None) or item.name
        question = documentation.splitlines()[0]
        self.write(
            {"test": item.name, "question": question, "outcome": outcome, "message": message}
        )


def describe(error: BaseException) -> str:
    """Return one line on an exception: what a test has to say, or what failed and where."""
    if isinstance(error, AssertionError) and str(error) and not str(error).startswith("assert "):
        text = str(error).split("\nassert ")[0]  # without what pytest adds
        text += _where(error.__cause__) if error.__cause__ else ""
    else:
        text = f"{type(error).__name__}: {error}{_where(error)}"
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else line[:LONGEST_MESSAGE] + " ..."


def _where(error: BaseException) -> str:
    """Name the last line of the package that an exception went through."""
    place, traceback = "", error.__traceback__
    while traceback is not None and not isinstance(error, SyntaxError):  # which says it itself
        file = Path(traceback.tb_frame.f_code.co_filename)
        if file.parent == HOME / "nmt" and file.name != Path(__file__).name:
            place = f" (nmt/{file.name}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place


JOBS: dict[str, Callable[..., None]] = {
    "tests": run_tests,
    "imports": run_imports,
    "model": run_model,
    "written": run_written,
}

if __name__ == "__main__":
    main(sys.argv[1:])
