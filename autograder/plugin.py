"""Run the hidden tests under pytest: decorate them, call workers, collect verdicts."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, tags, visibility, weight

from assignment.facts import Facts, Task
from autograder.diagnosis import Diagnosis, Record
from autograder.faults import ForbiddenShortcut, GraderFault, NotRun, StudentError, StudentFault
from autograder.intake import Submission
from autograder.results import Verdict
from autograder.sandbox.session import TaskRunner

MakeRunner = Callable[[str], TaskRunner]


@dataclass
class HiddenTests:
    """The plugin of one grading run.

    `make_runner` gives a task's connection to its worker; `progress` hears of each verdict.
    """

    facts: Facts
    tasks: list[str]
    work: Submission
    seed: int
    make_runner: MakeRunner
    progress: Callable[[Verdict], None] = lambda result: None
    checkpoint: Callable[[], object] = lambda: None  # called whenever no worker is alive any more
    results: list[Verdict] = field(default_factory=list)
    leaderboard: dict[str, float] = field(default_factory=dict)
    fault: BaseException | None = None
    diagnosis: Diagnosis | None = None
    _pending: list[Verdict] = field(default_factory=list)  # of the task that runs
    _failures: list[Record] = field(default_factory=list)  # what they hang on
    _runner: TaskRunner | None = None
    _items: list[pytest.Item] = field(default_factory=list)

    # --- Collection: which tests, in which order, for how many points ---

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the one marker of hidden tests, and keep reports plain."""
        # Nobody reads pytest's own reports, and pretty ones take longer than the tests.
        config.option.tbstyle = "native"
        config.addinivalue_line("markers", "task(id): the task that a hidden test belongs to")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests of the wanted tasks, in the order of the facts, decorated from them."""
        found = {(task_of(item), item.name): item for item in items}
        wanted = {(task, name) for task in self.tasks for name in self.facts.tasks[task].tests}
        if set(found) != wanted and self.fault is None:
            differing = sorted(set(found) ^ wanted)
            self.fault = GraderFault(f"assignment.toml and hidden_tests/ differ: {differing}")
        if self.fault is not None:
            items.clear()
            return
        items.clear()
        for position, task in enumerate(self.facts.tasks.values(), start=1):
            if task.id not in self.tasks:
                continue
            for index, name in enumerate(task.tests, start=1):
                decorate(found[task.id, name], task, f"{position}.{index}")
                items.append(found[task.id, name])
        self._items = list(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Fail where a file of hidden tests cannot even be imported."""
        if report.failed:
            self.fault = GraderFault(f"{report.nodeid} cannot be collected: {report.longrepr}")

    # --- What a hidden test asks for ---

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> torch.Generator:
        """Return a generator that depends on the run's seed and the test's name alone."""
        seed = zlib.crc32(f"{self.seed}/{request.node.name}".encode())
        return torch.Generator().manual_seed(seed)

    @pytest.fixture
    def probe(self, request: pytest.FixtureRequest) -> TaskRunner:
        """Return the connection to the worker of the test's task.

        Raises:
            NotRun: the submission lacks the task's file.
            StudentError: it is there, and is not text.
        """
        task = task_of(request.node)
        file = self.facts.tasks[task].file
        if file is not None and file not in self.work.files:
            raise NotRun(f"Not run: {self.work.problems.get(file, f'{file} is missing.')}")
        if file is not None and file in self.work.problems:
            raise StudentError(self.work.problems[file])
        if self._runner is None or self._runner.task != task:
            self._close()
            self._runner = self.make_runner(task)
        self._runner.record = []
        return self._runner

    @pytest.fixture
    def submission(self) -> Submission:
        """Return the submission, for the tests of its checkpoint."""
        return self.work

    # --- Verdicts ---

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn what a test raised into a verdict, or into a fault of the grader."""
        error = call.excinfo.value if call.excinfo is not None else None
        if isinstance(error, StudentFault):
            self._record(item, error)
        elif error is not None:
            self.fault = error
            item.session.shouldstop = "the grader failed"
        elif call.when == "call":
            self._record(item, None)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Complete the verdicts of a task after its last test."""
        done = yield
        if nextitem is None or task_of(nextitem) != task_of(item):
            self._complete(task_of(item))
        return done

    def pytest_sessionfinish(self) -> None:
        """Bury the last worker before anything is written."""
        self._close()

    def pending(self) -> list[Verdict]:
        """List, as not run, the tests that have no verdict so far."""
        not_yet = NotRun("Not graded yet.")
        return [verdict_of(item, not_yet) for item in self._items[len(self.results) :]]

    def _record(self, item: pytest.Item, fault: StudentFault | None) -> None:
        function = function_of(item)
        result = verdict_of(item, fault)
        column = attribute(function, "__leaderboard_column__", None)
        value = attribute(function, "__leaderboard_value__", None)
        if column is not None and value is not None:
            self.leaderboard[column] = value
        if isinstance(fault, ForbiddenShortcut):  # it costs the whole task, also what is behind us
            self._pending = [without_points(earlier, fault) for earlier in self._pending]
        self._pending.append(result)
        if fault is not None and self._runner is not None and fault.tells:
            self._failures.append(Record((item.name,), tuple(self._runner.record)))

    def _complete(self, task: str) -> None:
        """Bury the task's worker, name the mistakes behind failed tests, and make results final."""
        verdicts, failures, shown = self._pending, self._failures, []
        self._pending, self._failures = [], []
        if self.diagnosis is not None and self._runner is not None and failures:
            shown = self.diagnosis.ask(task, self._runner)
        self._close()
        if self.diagnosis is not None and failures:
            verdicts = self.diagnosis.complete(task, verdicts, failures, shown)
        self.results += verdicts
        for verdict in verdicts:
            self.progress(verdict)
        self.checkpoint()

    def _close(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()


def verdict_of(item: pytest.Item, fault: StudentFault | None) -> Verdict:
    """Return the verdict on a test that ended with this fault, or with none."""
    function = function_of(item)
    maximum = float(attribute(function, "__weight__"))
    return Verdict(
        task=task_of(item),
        name=item.name,
        number=attribute(function, "__number__"),
        title=title_of(item),
        max_score=maximum,
        score=attribute(function, "__score__", maximum if fault is None else 0.0),
        outcome="passed" if fault is None else fault.outcome,
        message=str(fault) if fault is not None else "Passed.",
        visibility=attribute(function, "__visibility__"),
        misconception=fault.misconception if fault is not None else None,
    )


def without_points(verdict: Verdict, fault: StudentFault) -> Verdict:
    """Return a verdict with its points taken back for this reason."""
    return replace(verdict, score=0.0, outcome=fault.outcome, message=str(fault))


def task_of(item: pytest.Item) -> str:
    """Return the task that a test's module is marked with."""
    marker = item.get_closest_marker("task")
    if marker is None:
        raise GraderFault(f"{item.nodeid} has no task marker")
    return str(marker.args[0])


def function_of(item: pytest.Item) -> Any:
    """Return the function of a hidden test."""
    if not isinstance(item, pytest.Function):
        raise GraderFault(f"{item.nodeid} is not a function")
    return item.obj


def title_of(item: pytest.Item) -> str:
    """Return the question that a test's docstring asks."""
    return str(function_of(item).__doc__ or item.name).strip().splitlines()[0]


def decorate(item: pytest.Item, task: Task, place: str) -> None:
    """Put gradescope-utils' decorations on a test, and forget those of an earlier run."""
    function = function_of(item)
    for decorator in (
        weight(task.tests[item.name]),
        number(place),
        visibility(task.visibility),
        tags(task.id),
    ):
        decorator(function)
    while function is not None:
        for name in ("__score__", "__leaderboard_value__"):
            function.__dict__.pop(name, None)
        function = getattr(function, "__wrapped__", None)


def attribute(function: Any, name: str, *default: Any) -> Any:
    """Return a decoration, which may stand on any of the functions that decorators wrapped."""
    while function is not None:
        if name in function.__dict__:
            return function.__dict__[name]
        function = getattr(function, "__wrapped__", None)
    if default:
        return default[0]
    raise GraderFault(f"a hidden test has no {name}")
