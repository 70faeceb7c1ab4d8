"""Read `assignment.toml`: the only module that does."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

if sys.version_info >= (3, 11):
    import tomllib
else:  # Gradescope's image has Python 3.10
    import tomli as tomllib

PATH = Path(__file__).with_name("assignment.toml")
VISIBILITIES = ("visible", "hidden", "after_due_date", "after_published")
T = TypeVar("T")


class FactsError(ValueError):
    """A setting in `assignment.toml` is missing, unknown or makes no sense."""


@dataclass(frozen=True)
class Task:
    """One graded task."""

    id: str
    title: str
    points: float
    visibility: str
    tests: dict[str, float]  # name of the hidden test -> its weight, in the order of the report
    # The student's Python file, relative to the submission; `translate` and `written` have none.
    file: str | None = None


@dataclass(frozen=True)
class Model:
    """Sizes of the assignment's model, and the parameters they add up to."""

    embedding_size: int
    encoder_size: int
    decoder_size: int
    parameters_seq2seq: int
    parameters_attention: int


@dataclass(frozen=True)
class Training:
    """The training run that the reference's weights come from, and the students' default."""

    epochs: int
    batch_size: int
    max_learning_rate: float
    clip_norm: float
    seed: int


@dataclass(frozen=True)
class Translate:
    """How the held-out sentences are translated and scored; BLEU from 0 to 100."""

    full_bleu: float
    zero_bleu: float
    beam_size: int
    max_length: int
    alpha: float
    control_sentences: int
    control_agreement: float
    leaderboard: str


@dataclass(frozen=True)
class Tolerances:
    """Largest allowed differences, relative to the largest expected entry."""

    float32: float
    float64: float
    bleu: float
    log_prob: float
    written: float


@dataclass(frozen=True)
class Limits:
    """Limits of the sandbox, in seconds and bytes."""

    call_seconds: float
    start_seconds: float
    task_seconds: float
    translate_seconds: float
    notebook_seconds: float
    answer_seconds: float
    total_seconds: float
    diagnosis_seconds: float
    stop_seconds: float
    restarts: int
    address_bytes: int
    data_bytes: int
    file_bytes: int
    processes: int
    message_bytes: int
    source_bytes: int
    upload_bytes: int
    notebook_bytes: int
    notebook_text_bytes: int


@dataclass(frozen=True)
class Facts:
    """All of `assignment.toml`."""

    title: str
    checkpoint: str
    notebook: str
    total_points: float
    tasks: dict[str, Task]
    model: Model
    training: Training
    translate: Translate
    tolerances: Tolerances
    limits: Limits

    @property
    def points(self) -> float:
        """Return the sum of all tasks' points."""
        return sum(task.points for task in self.tasks.values())

    @property
    def task_files(self) -> dict[str, str]:
        """Return the students' files: task id -> path inside the submission."""
        return {task.id: task.file for task in self.tasks.values() if task.file is not None}


@cache
def load(path: Path = PATH) -> Facts:
    """Read and check the settings.

    Raises:
        FactsError: naming the section and the key that is wrong.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FactsError(f"{path.name} is not valid TOML: {error}") from error
    tasks = {name: _task(name, table) for name, table in raw.pop("tasks", {}).items()}
    sections = {
        "model": Model,
        "training": Training,
        "translate": Translate,
        "tolerances": Tolerances,
        "limits": Limits,
    }
    built: dict[str, Any] = {
        name: _build(kind, raw.pop(name, {}), name) for name, kind in sections.items()
    }
    facts = _build(Facts, {**raw, **built, "tasks": tasks}, "top level")
    for limit in fields(facts.limits):
        if limit.name != "restarts" and not getattr(facts.limits, limit.name) > 0:
            raise FactsError(f"[limits] {limit.name} must be above 0")
    if abs(facts.points - facts.total_points) > 1e-9:
        raise FactsError(
            f"the tasks' points add up to {facts.points:g}, not total_points = "
            f"{facts.total_points:g}"
        )
    if not facts.translate.zero_bleu < facts.translate.full_bleu <= 100:
        raise FactsError("[translate] must have zero_bleu < full_bleu <= 100")
    return facts


def _task(name: str, table: dict[str, Any]) -> Task:
    task = _build(Task, {"id": name, **table}, f"tasks.{name}")
    if task.visibility not in VISIBILITIES:
        raise FactsError(
            f"[tasks.{name}] visibility is {task.visibility!r}; it must be one of {VISIBILITIES}"
        )
    for test, weight in task.tests.items():
        _check_kind(f"[tasks.{name}.tests] {test}", weight, float)
    total = sum(task.tests.values())
    if abs(total - task.points) > 1e-9:
        raise FactsError(f"[tasks.{name}] the tests' weights add up to {total}, not {task.points}")
    return task


def _build(kind: type[T], table: dict[str, Any], where: str) -> T:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            raise FactsError(f"[{where}] has the unknown key {key!r}")
    for key, value in table.items():
        _check_kind(f"[{where}] {key}", value, get_type_hints(kind)[key])
    try:
        return kind(**table)
    except TypeError as error:  # a missing key: the message of the constructor names it
        raise FactsError(f"[{where}] {str(error).split('() ')[-1]}") from error


def _check_kind(what: str, value: Any, kind: Any) -> None:
    """Refuse a text where a number is due, and numbers that are negative, NaN or infinite."""
    if kind not in (int, float):
        return
    wanted = (int,) if kind is int else (int, float)
    if type(value) not in wanted or not 0 <= value < math.inf:
        raise FactsError(f"{what} is {value!r}; it must be a number, finite and not negative")


if __name__ == "__main__":  # before anything else is made: one line in the place of a traceback
    try:
        load()
    except FactsError as wrong:
        sys.exit(f"assignment/{PATH.name}: {wrong}")
