"""Say what is run and stored: a function of plain settings and a seed that returns figures."""

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


Function = Callable[[Settings, int, Context], Figures]


@dataclass(frozen=True)
class Part:
    """Hold the smallest piece that is run and stored: one work, with its settings and its seed."""

    work: str  # "memory:remember" is the function of that name in labs/memory.py
    settings: Settings
    seed: int
    needs: tuple[str, ...] = ()  # tasks
    before: Part | None = None  # the part whose figures it needs; that one has none before it
    alone: bool = False  # nothing else may run beside it

    @property
    def module(self) -> str:
        """Name the module with the work's function."""
        return f"labs.{self.work.split(':')[0]}"

    @property
    def function(self) -> str:
        """Name the work's function."""
        return self.work.split(":")[1]

    @property
    def name(self) -> str:
        """Describe the part in one line."""
        values = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.function}({values}) seed {self.seed}"
