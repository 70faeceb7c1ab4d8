"""The command line of the release: `python -m release`, see `--help`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from assignment.facts import FactsError, load

from .build import (
    differences,
    differing,
    instructors_files,
    released_files,
    write,
    write_zip,
)
from .markers import ReleaseError

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "starter"  # what instructors get beside it is generated with it


def main(arguments: list[str] | None = None) -> int:
    """Write the students' folder, or compare it; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--out", type=Path, default=STARTER, help="default: %(default)s")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; list what differs and exit with 1"
    )
    parser.add_argument("--zip", type=Path, help="write the folder as a zip too, for a course page")
    options = parser.parse_args(arguments)
    if options.check and options.zip is not None:
        parser.error("--check writes nothing, so --zip has no place beside it")
    try:
        files, ours = released_files(ROOT, load()), instructors_files(load())
        if not options.check:
            write(files, options.out.resolve())
            print(f"{options.out}: {len(files)} files")
            if options.zip is not None:
                write_zip(files, options.zip)
                print(f"{options.zip}: the same as a zip")
            for name, content in ours.items() if options.out.resolve() == STARTER else ():
                (ROOT / name).write_bytes(content)
            return 0
        lines = [*differences(files, options.out), *differing(ours, ROOT)]
    except (ReleaseError, FactsError, ImportError, OSError, SyntaxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for line in lines:  # on standard output, so that they can be piped; the advice is not
        print(line)
    if lines:
        print(f"{options.out} is not what the reference makes; run: make starter", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
