"""Name everything that the handout is made from, and give it one number.

With that number in its first lines, a handout that lies somewhere can be told to be up to date
without making it again. It does not depend on the machine, as the last digits of a figure may.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from .measured import measured

OWN = (
    "*.py",
    "chapters/*.md",
    "figures/*.py",
    "page/*",
)
# What the contracts, the worked examples and the figures read or import.
OTHERS = (
    "assignment/assignment.toml",
    "assignment/facts.py",
    "data/dev.tsv",
    "data/train.tsv",
    "data/english.vocab",
    "data/zhoric.vocab",
    "reference/labs/gradients.py",
    "reference/labs/part.py",
    "reference/model.safetensors",
    "reference/nmt/attention.py",
    "reference/nmt/beam_search.py",
    "reference/nmt/bleu.py",
    "reference/nmt/corpus.py",
    "reference/nmt/encoder.py",
    "reference/nmt/files.py",
    "reference/nmt/heatmap.py",
    "reference/nmt/lstm.py",
    "reference/nmt/masking.py",
    "reference/nmt/model.py",
    "reference/nmt/settings.py",
    "reference/nmt/translation.py",
    "reference/nmt/vocabulary.py",
    "reference/release/markers.py",
    "reference/release/strip.py",
)


def inputs(root: Path) -> list[Path]:
    """Return the files that decide what the handout says, in order."""
    own = [path for pattern in OWN for path in (root / "assignment/handout").glob(pattern)]
    return sorted([*own, *(root / name for name in OTHERS)])


def digest(root: Path) -> str:
    """Return one number, in hexadecimal digits, for all inputs as they are now."""
    whole = hashlib.sha256(repr(measured(root)).encode())
    for path in inputs(root):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(root).as_posix()
        whole.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()
