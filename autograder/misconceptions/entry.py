"""What one known mistake is."""

from __future__ import annotations

from dataclasses import dataclass

# Why a mistake is not named that uses what solves the task.
SHORTCUT = "the message names what may not be used"


@dataclass(frozen=True)
class Misconception:
    """A wrong implementation, with what to say to a student who wrote it.

    `override` is Python code that stands after the reference's file and replaces a symbol of it.
    """

    id: str  # unique, and starts with the task's id
    task: str
    belief: str  # what the student thinks: "Padding gets weight 0 when its score is 0."
    advice: str  # the idea to look at, never the code
    override: str
    caught_by: tuple[str, ...]  # the hidden tests that must fail, by name
    unnamed: str = ""  # why no diagnosis can name it; empty: it is named


class CatalogueError(ValueError):
    """Two entries share an id, or an entry is not well formed."""
