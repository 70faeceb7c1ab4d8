"""Say what an experiment is: what it does, in which parts, how it is shown, what it should show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from labs.part import Figures, Part, Settings


@dataclass(frozen=True)
class Outcome:
    """Hold what a part found."""

    settings: Settings
    seed: int
    figures: Figures


@dataclass(frozen=True)
class Results:
    """Hold what the parts of an experiment found."""

    outcomes: tuple[Outcome, ...]

    @property
    def seeds(self) -> list[int]:
        """List the seeds, in order."""
        return sorted({outcome.seed for outcome in self.outcomes})

    def by_seed(self) -> Iterator[Results]:
        """Yield the results of each seed alone."""
        for seed in self.seeds:
            yield Results(tuple(outcome for outcome in self.outcomes if outcome.seed == seed))

    def each(self, **wanted: Any) -> list[Figures]:
        """Return the figures of the parts with these settings, one a seed."""
        return [
            outcome.figures
            for outcome in self.outcomes
            if all(outcome.settings[name] == value for name, value in wanted.items())
        ]

    def first(self, **wanted: Any) -> Figures:
        """Return the figures of the first seed with these settings."""
        return self.each(**wanted)[0]

    def values(self, setting: str) -> list[Any]:
        """List the values that a setting takes, in the order of the parts."""
        return list(dict.fromkeys(outcome.settings[setting] for outcome in self.outcomes))


@dataclass(frozen=True)
class Row:
    """Hold a line of a table: what we measured, seed by seed, beside what the lecture has."""

    label: str
    ours: Sequence[Sequence[float]]  # column -> seed
    lecture: Sequence[str | None] = ()  # column, as printed there; none for a row that is not there
    form: str | Sequence[str] = ""  # of the numbers, where it is not the table's


@dataclass(frozen=True)
class Table:
    """Hold figures in rows and columns."""

    corner: str
    columns: Sequence[str]
    rows: Sequence[Row]
    form: str | Sequence[str] = ".3g"  # format of the numbers, or one a column
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """Hold a statement of the lecture and how to tell whether one seed's results bear it out."""

    text: str
    holds: Callable[[Results], bool]
    tried: str = ""  # what was done to find out why, shown where it does not hold


def nothing(settings: Settings) -> tuple[str, ...]:
    """Need no task."""
    return ()


@dataclass(frozen=True)
class Work:
    """Name a function that experiments run, and what it takes.

    It is named and not imported: a declaration must be readable whatever stands in a task's file.
    """

    name: str  # "memory:remember" is the function of that name in labs/memory.py
    needs: Callable[[Settings], tuple[str, ...]] = nothing  # the tasks, for some settings
    before: Work | None = None  # work whose figures it needs, which has none before it itself
    shared: tuple[str, ...] = ()  # the settings that the work before it has, too
    alone: bool = False  # it takes times: nothing else may run beside it

    def part(self, settings: Settings, seed: int) -> Part:
        """Return the part with some settings."""
        before = None
        if self.before:
            before = self.before.part({name: settings[name] for name in self.shared}, seed)
        return Part(self.name, settings, seed, self.needs(settings), before, self.alone)


@dataclass(frozen=True)
class Experiment:
    """Hold all there is to know about an experiment."""

    id: str  # lab and number: "2.3"
    title: str
    about: str  # what is done, in a sentence or two
    caption: str  # what to see in the plot
    work: Work
    table: Callable[[Results], Table]
    plot: Callable[[Results, Figure], None]
    settings: Sequence[Settings] = ({},)
    quick: Sequence[Settings] = ()  # the same, but faster; empty if it is fast enough as it is
    seeds: int = 0  # how many are tried; 0 if nothing is random
    claims: Sequence[Claim] = ()
    remark: Callable[[Results], str] = lambda results: ""  # what the numbers alone do not say

    @property
    def lab(self) -> str:
        """Name the lab it belongs to."""
        return f"lab{self.id.split('.')[0]}"

    def parts(self, quick: bool = False, seeds: int | None = None) -> list[Part]:
        """List what there is to run: each of the settings with each seed."""
        count = (seeds or (1 if quick else self.seeds)) if self.seeds else 1
        return [
            self.work.part(settings, seed)
            for settings in (self.quick if quick and self.quick else self.settings)
            for seed in range(1, count + 1)
        ]

    @property
    def tasks(self) -> tuple[str, ...]:
        """List the tasks without which it cannot run."""
        parts = self.parts(seeds=1)
        every = [*(part.before for part in parts if part.before), *parts]
        return tuple(dict.fromkeys(task for part in every for task in part.needs))


def cross(**choices: Iterable[Any]) -> list[Settings]:
    """Return every combination of some choices: cross(a=[1, 2], b=[3]) has two."""
    combined: list[Settings] = [{}]
    for name, values in choices.items():
        combined = [{**settings, name: value} for settings in combined for value in values]
    return combined
