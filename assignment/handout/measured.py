"""Quote what was measured from the one place where it is written down: the README's table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import HandoutError


@dataclass(frozen=True)
class Measured:
    """Hold what the README says about the reference, on a server's core."""

    train_seconds: int
    dev_bleu: str
    grade_seconds: int
    held_out_bleu: str


def measured(root: Path) -> Measured:
    """Read the figures.

    Raises:
        HandoutError: if the README's table has no such row any more.
    """
    text = (root / "README.md").read_text(encoding="utf-8")
    dev_bleu, train = _row(text, r"train the reference to dev BLEU ([\d.]+)[^|]*\| (\d+) s")
    (grade,) = _row(text, r"half a core and 768 MB \| (\d+) s")
    (held_out,) = _row(text, r"held-out BLEU of the reference[^|]*\| ([\d.]+)")
    return Measured(int(train), dev_bleu, int(grade), held_out)


def _row(text: str, pattern: str) -> tuple[str, ...]:
    match = re.search(pattern, text)
    if match is None:
        raise HandoutError(f"README.md has no row that fits {pattern!r}; the handout quotes it")
    return match.groups()
