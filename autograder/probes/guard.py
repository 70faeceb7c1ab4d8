"""Watch the student's code run: what it may not call, and what it may not draw."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.library import Library

from .shortcuts import PACKAGE, RULES, Rule, Shortcut

# Whoever calls, and from wherever (TorchScript, vmap), torch looks for a kernel under these keys.
KEYS = ("CPU", "AutogradCPU", "FuncTorchBatched")


class Watch:
    """Refuse what solves a task, and remember that it was called."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.found: Shortcut | None = None

    def refuse(self, what: str) -> None:
        """Stop the student's code.

        Raises:
            Shortcut: always.
        """
        self.found = self.found or Shortcut(what, *_place())
        raise self.found

    def kernels(self) -> Library:
        """Stand in the place of torch's kernels, until what this returns is deleted."""
        library = Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        for name in self.rule.kernels:
            for key in KEYS:
                kernel = self._kernel(name.split(".")[0])
                library.impl(name, kernel, key)  # type: ignore[no-untyped-call]
        return library

    def _kernel(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: self.refuse(f"torch's own {name}")

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Look at each function in Python that is called."""
        if event == "call" and self.rule.functions is not None:
            path = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
            if self.rule.functions.match(path):
                self.refuse(path)


def _place() -> tuple[str, int]:
    """Return module and line of the student's that are running."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent == PACKAGE:
            return path.stem, frame.f_lineno
        frame = frame.f_back
    return "?", 0


@contextmanager
def forbidding(task: str) -> Iterator[None]:
    """Refuse what solves the task while the context is entered.

    Raises:
        Shortcut: on leaving, if it was called, whatever the student's code made of the refusal.
    """
    guard = Watch(RULES[task])
    kernels = guard.kernels()
    sys.setprofile(guard.profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        del kernels
        if guard.found is not None:
            raise guard.found


def forbid(task: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, with what solves the task refused while it runs."""

    def guarded(*arguments: Any) -> Any:
        with forbidding(task):
            return function(*arguments)

    return guarded


def watch(function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Call the function on each list of arguments; report values, and whether it drew numbers."""
    before = torch.get_rng_state()
    values = [function(*arguments) for arguments in calls]
    return {"values": values, "random": not torch.equal(before, torch.get_rng_state())}
