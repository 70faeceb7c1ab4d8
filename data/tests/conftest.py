"""Read what is on disk once for all tests."""

from __future__ import annotations

import pytest

from data.describe import ROOM, read_pairs
from data.generate import CORPORA, Pair


@pytest.fixture(scope="session")
def corpora() -> dict[str, list[Pair]]:
    """Give the pairs of every corpus by file name."""
    return {corpus.file: read_pairs(ROOM / corpus.file) for corpus in CORPORA}
