"""Turn our own Markdown, of questions, model answers and rubrics, into HTML with its formulas."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pypandoc

COMMAND = ("--from=gfm+tex_math_dollars", "--to=html5", "--mathml", "--wrap=preserve")
BORDER = "<!-- the next text -->"  # goes through pandoc as it is


class RenderingError(Exception):
    """Pandoc does not take the texts."""


def rendered(texts: Sequence[str]) -> list[str]:
    """Return each text as HTML, all by one call of pandoc.

    Raises:
        RenderingError: one of them holds what pandoc cannot read, such as a wrong formula.
    """
    result = subprocess.run(
        [pypandoc.get_pandoc_path(), *COMMAND, "--fail-if-warnings"],
        input=f"\n\n{BORDER}\n\n".join(texts).encode(),
        capture_output=True,
        check=False,
    )
    if result.returncode:
        raise RenderingError(f"pandoc: {result.stderr.decode(errors='replace').strip()}")
    return [part.strip() for part in result.stdout.decode().split(BORDER)]
