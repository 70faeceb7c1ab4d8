"""Tell the worked example of beam search in words and tables."""

from __future__ import annotations

import math
from types import SimpleNamespace

from .beam import BEAM, END, TABLE, Extension, Walk, beam


def story() -> SimpleNamespace:
    """Return what the chapter says about the walk, from the walk itself."""
    walk = beam()
    return SimpleNamespace(
        size=BEAM,
        table={_spaced(prefix): chances for prefix, chances in TABLE.items()},
        steps=[_step(extensions) for extensions in walk.steps],
        rows=_rows(walk),
        alt=_alt(walk),
    )


def _spaced(prefix: str) -> str:
    """Return a prefix as the handout writes it."""
    return {"": "`<s>`", "else": "anything else"}.get(prefix) or f"`{' '.join(prefix)}`"


def _named(extension: Extension) -> str:
    return f"`{extension.text}` {extension.total:.4g}"


def _step(extensions: list[Extension]) -> str:
    """Say how many extensions a step has, and what becomes of the best."""
    kept = sorted((e for e in extensions if e.kept), key=lambda e: -e.total)
    ended = [f"`{e.text}`" for e in kept if e.finished]
    live = [f"`{e.text}`" for e in kept if not e.finished]
    words = f"{len(extensions)} extensions. The best are {' and '.join(map(_named, kept))}."
    if ended:
        words += f" {' and '.join(ended)} {'has' if len(ended) == 1 else 'have'} finished."
    return f"{words} Live: {' and '.join(live) or 'none'}."


def _rows(walk: Walk) -> list[SimpleNamespace]:
    """Return the finished sentences, best score first."""
    finished = [e for extensions in walk.steps for e in extensions if e.finished]
    rows = [
        SimpleNamespace(
            text=f"`{e.text}`",
            chance=e.total,
            log_prob=math.log(e.total),
            length=len(e.prefix) + 1,
            score=math.log(e.total) / (len(e.prefix) + 1),
        )
        for e in finished
    ]
    rows.sort(key=lambda row: -row.score)
    for row, hypothesis in zip(rows, walk.result, strict=False):
        assert math.isclose(row.score, hypothesis.score, rel_tol=1e-5)
    return rows


def _alt(walk: Walk) -> str:
    """Describe the picture for who cannot see it."""
    parts = [
        f"Step {number} keeps "
        + " and ".join(
            f"{e.text.replace(END, 'end mark')} with {e.total:.3f}" for e in extensions if e.kept
        )
        for number, extensions in enumerate(walk.steps, start=1)
    ]
    return "A tree that grows from the start mark to the right. " + ". ".join(parts) + "."
