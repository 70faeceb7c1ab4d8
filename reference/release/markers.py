"""Find the solution blocks of a file."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

MARKER = re.compile(r"\s*# (BEGIN|END) SOLUTION (\w+)\s*")
# Anything that looks like a marker has to be one: a typo would release the solution.
LOOKALIKE = re.compile(r"\b(BEGIN|END)[\s_-]*SOLUTION\b|#\s*SOLUTION\b", re.IGNORECASE)


class ReleaseError(ValueError):
    """Say what in the reference cannot be released, and where."""


@dataclass(frozen=True)
class Block:
    """Hold where a solution block begins and ends: the numbers of its marker lines, from 1."""

    task: str
    begin: int
    end: int

    def __contains__(self, line: int) -> bool:
        """Tell whether a line lies between the markers."""
        return self.begin < line < self.end


def find_blocks(source: str, file: str, tasks: Collection[str]) -> list[Block]:
    """Return the solution blocks of a file, in order.

    tasks are the ids that a marker may name; there are none in a file that is given to students.

    Raises:
        ReleaseError: for a marker that is malformed, nested, unclosed, stray, mismatched or of a
            task that does not belong here.
    """
    blocks: list[Block] = []
    opened: tuple[str, int] | None = None
    for number, line in enumerate(source.split("\n"), start=1):
        if not LOOKALIKE.search(line):
            continue
        kind, task = _parse(line, f"{file}:{number}", tasks)
        if kind == "BEGIN":
            _check_begin(opened, f"{file}:{number}")
            opened = (task, number)
        else:
            begin = _check_end(opened, task, f"{file}:{number}")
            blocks.append(Block(task, begin, number))
            opened = None
    if opened is not None:
        raise ReleaseError(f"{file}:{opened[1]}: BEGIN SOLUTION {opened[0]} is never closed")
    return blocks


def _parse(line: str, place: str, tasks: Collection[str]) -> tuple[str, str]:
    """Return the two words of a marker."""
    match = MARKER.fullmatch(line)
    if match is None:
        raise ReleaseError(
            f"{place}: expected `# BEGIN SOLUTION <task>` or `# END SOLUTION <task>`, "
            f"alone on its line, got {line.strip()!r}"
        )
    kind, task = match.groups()
    if task not in tasks:
        allowed = f"only {', '.join(tasks)} can stand" if tasks else "no solution can stand"
        raise ReleaseError(f"{place}: a solution of task {task!r}; {allowed} in this file")
    return kind, task


def _check_begin(opened: tuple[str, int] | None, place: str) -> None:
    if opened is not None:
        raise ReleaseError(f"{place}: nested in the block that begins in line {opened[1]}")


def _check_end(opened: tuple[str, int] | None, task: str, place: str) -> int:
    if opened is None:
        raise ReleaseError(f"{place}: END SOLUTION {task} without a BEGIN")
    if task != opened[0]:
        raise ReleaseError(
            f"{place}: END SOLUTION {task}, but line {opened[1]} began one of task {opened[0]}"
        )
    return opened[1]
