"""Choose how workers are kept apart from the grader, and start and kill them that way.

As root: `UidIsolation`, an unprivileged uid of its own for each worker. Without root: bubblewrap
where it works, else a plain process. What is in force is found out by trying, and reported.
"""

from __future__ import annotations

import os

from assignment.facts import Limits
from autograder.sandbox.isolation.base import PROJECT, Isolation, Process, describe
from autograder.sandbox.isolation.uid import UidIsolation, check_tools, uid_processes
from autograder.sandbox.isolation.unprivileged import (
    BubblewrapIsolation,
    PlainIsolation,
    bubblewrap_works,
)

__all__ = [
    "PROJECT",
    "BubblewrapIsolation",
    "Isolation",
    "PlainIsolation",
    "Process",
    "UidIsolation",
    "choose",
    "close_project",
    "describe",
    "uid_processes",
]


def choose(limits: Limits) -> Isolation:
    """Return the strongest isolation that works here.

    Raises:
        GraderFault: as root, when workers cannot be kept apart; there is no silent second best.
    """
    if os.geteuid() == 0:
        close_project()
        check_tools()
        return UidIsolation(limits)
    return BubblewrapIsolation(limits) if bubblewrap_works() else PlainIsolation(limits)


def close_project() -> None:
    """Close the project's folder, and so the answers, to all but its owner."""
    mode = PROJECT.stat().st_mode
    if mode & 0o077:
        PROJECT.chmod(mode & 0o700)
        print(f"Closed {PROJECT} to other users: students' code must not read it.", flush=True)
