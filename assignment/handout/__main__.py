"""The command line: `python -m assignment.handout [--out DIR]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .build import html_and_pdf
from .errors import HandoutError

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Write handout.html and handout.pdf; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m assignment.handout", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="default: %(default)s")
    out: Path = parser.parse_args(arguments).out
    try:
        html, pdf = html_and_pdf(ROOT)
    except HandoutError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    for name, content in (("handout.html", html), ("handout.pdf", pdf)):
        (out / name).write_bytes(content)
        print(f"{out / name}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
