"""Say what an experiment is: what it does, in which parts, how it is shown, what it should show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from labs.part import Figures, Part, Settings, Work


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
    lecture: Sequence[float | None] = ()  # column; none for a row that the lecture has not


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
    needs: tuple[str, ...] = ()  # tasks
    before: Work | None = None  # work that every part needs done first
    shared: tuple[str, ...] = ()  # the settings that this work has of the part's
    before_needs: tuple[str, ...] = ()
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
            self._part(settings, seed)
            for settings in (self.quick if quick and self.quick else self.settings)
            for seed in range(1, count + 1)
        ]

    def _part(self, settings: Settings, seed: int) -> Part:
        before = None
        if self.before:
            own = {name: settings[name] for name in self.shared}
            before = Part(self.before, own, seed, self.before_needs)
        return Part(self.work, settings, seed, self.needs, before)

    @property
    def tasks(self) -> tuple[str, ...]:
        """List the tasks without which it cannot run."""
        return tuple(dict.fromkeys((*self.before_needs, *self.needs)))


def cross(**choices: Iterable[Any]) -> list[Settings]:
    """Return every combination of some choices: cross(a=[1, 2], b=[3]) has two."""
    combined: list[Settings] = [{}]
    for name, values in choices.items():
        combined = [{**settings, name: value} for settings in combined for value in values]
    return combined
