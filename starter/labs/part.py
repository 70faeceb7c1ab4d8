"""Say what work is: a function of plain settings and a seed that returns plain figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Settings = dict[str, Any]  # plain values, as JSON has them
Figures = dict[str, Any]  # likewise


@dataclass(frozen=True)
class Context:
    """Hold what a piece of work gets beside its settings and its seed."""

    progress: Callable[[float], None]  # to be told the share that is done, 0 to 1
    file: Path  # a place for a file of its own, without suffix
    given: Figures  # what the part before it found


Work = Callable[[Settings, int, Context], Figures]


@dataclass(frozen=True)
class Part:
    """Hold the smallest piece that is run and stored: one work, with its settings and its seed."""

    work: Work
    settings: Settings
    seed: int
    needs: tuple[str, ...] = ()  # tasks
    before: Part | None = None  # the part whose figures it needs

    @property
    def name(self) -> str:
        """Describe the part in one line."""
        values = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.work.__name__}({values}) seed {self.seed}"
