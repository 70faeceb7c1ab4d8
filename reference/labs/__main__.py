"""Run the lecture's experiments: `python -m labs`, `python -m labs lab2`, `python -m labs 1.3`."""

from __future__ import annotations

import importlib
import os
import sys
from argparse import SUPPRESS, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labs.names import LABS
from nmt.checking import make_output_tolerant
from nmt.cli import Parser, guarded, note, positive
from nmt.files import HOME, InputError

if TYPE_CHECKING:
    from labs.experiment import Experiment
    from labs.runner import Failure

MOST_SEEDS = 100  # a page of so many takes a day


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser(prog="python -m labs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="lab", help="lab1 … lab6, or 1.3 (all)")
    parser.add_argument("--quick", action="store_true", help="a fast look: short trainings")
    parser.add_argument("--seeds", type=some, help="how many seeds to try (as in the text)")
    parser.add_argument(
        "--jobs",
        type=positive,
        default=min(2, os.cpu_count() or 1),
        help="parts to run at a time, each in one thread (%(default)s)",
    )
    parser.add_argument(
        "--out", type=place, default=HOME / "build/labs", help="folder for the page (%(default)s)"
    )
    # For the project's own record: see CONTRIBUTING.md there.
    parser.add_argument("--record", type=Path, help=SUPPRESS)
    parser.add_argument("--rewrite", type=Path, help=SUPPRESS)
    return parser


def run(argv: Sequence[str]) -> int:
    """Run what is asked for; return 1 if a part of it cannot run, or failed."""
    make_output_tolerant()
    arguments = build_parser().parse_args(argv)
    arguments.names = [own for name in arguments.names for own in normal(name)]
    check_names(arguments.names)
    if arguments.record and (arguments.quick or arguments.names or arguments.seeds):
        raise InputError("--record keeps the figures of all labs in full: give nothing else")
    for path in filter(None, (arguments.record, arguments.rewrite)):
        if path.suffix != ".md":  # beside it are the figures, with .json in its place
            raise InputError(f"expected a Markdown file, such as LABS.md, got {path}")
    # Imported here: they need torch, and wrong usage should be told at once.
    from labs import report, store, tasks

    experiments = chosen(arguments.names)
    if arguments.rewrite:
        report.rewrite([(e, e.parts()) for e in experiments], arguments.rewrite)
        return 0
    lines = list(tasks.lacks(experiments))
    for line in lines:
        note(line)
    if arguments.seeds and (fixed := [e.id for e in experiments if not e.seeds]):
        note(f"--seeds has no effect where nothing is random: {', '.join(fixed)}")
    ready = [e for e in experiments if not any(map(tasks.fault, e.tasks))]
    if ready:
        store.check_writable(arguments.out)
        lines += run_and_show(ready, arguments, lines)
    return 1 if lines else 0


def run_and_show(
    ready: Sequence[Experiment], arguments: Namespace, lines: Sequence[str]
) -> list[str]:
    """Run experiments and show them, on the page beside all that was run before.

    Return a line for each reason for which parts failed.
    """
    from labs import report, runner

    wanted = {e.id: e.parts(arguments.quick, arguments.seeds) for e in ready}
    failed: list[str] = []
    try:
        parts = [part for own in wanted.values() for part in own]
        failed = told(runner.run(parts, arguments.out, arguments.jobs))
    except KeyboardInterrupt:
        note("\nwhat is finished is kept: the same command goes on from there")
        raise
    finally:  # what is finished is shown, however the rest ended
        for line in failed:
            note(line)
        plans = report.plans(chosen(()), wanted, arguments.out)
        report.show(plans, arguments.out, list(wanted), [*lines, *failed])
    if arguments.record:
        if failed or lines:
            raise InputError(f"{arguments.record} is left as it was: not all has been run")
        report.record(plans, arguments.out, arguments.record)
    return failed


def told(failures: Sequence[Failure]) -> list[str]:
    """Write failures in lines, one for each reason: a fault in a file fails many parts alike."""
    lines = []
    for reason in dict.fromkeys(failure.reason for failure in failures):
        names = [failure.part.name for failure in failures if failure.reason == reason]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"{names[0]}{more}: {reason}")
    return lines


def some(text: str) -> int:
    """Read how many seeds to try."""
    count = positive(text)
    if count > MOST_SEEDS:
        raise ArgumentTypeError(f"expected at most {MOST_SEEDS}, got {text}")
    return count


def place(text: str) -> Path:
    """Read a folder's name."""
    if not text:
        raise ArgumentTypeError("expected a folder, got nothing")
    return Path(text)


def normal(name: str) -> list[str]:
    """Return the names that are meant: of LAB1, lab2.1 and lab1,2.1 the usual ones."""
    names = name.lower().replace(",", " ").split()
    return [own.removeprefix("lab") if "." in own else own for own in names]


def check_names(names: Sequence[str]) -> None:
    """Refuse names of no lab.

    Raises:
        InputError: listing the labs.
    """
    for name in names:
        if name not in LABS and f"lab{name.split('.')[0]}" not in LABS:
            listed = "\n".join(f"  {lab}  {title}" for lab, title in LABS.items())
            raise InputError(f"no lab {name!r}; the labs are:\n{listed}")


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments that the names stand for, each once; all of them for no name.

    Raises:
        InputError: if a lab has no experiment of that number.
    """
    wanted: dict[str, Experiment] = {}
    for name in names or LABS:
        lab = name if name in LABS else f"lab{name.split('.')[0]}"
        own = experiments_of(lab)
        found = {e.id: e for e in own if name in (lab, e.id)}
        if not found:
            listed = ", ".join(e.id for e in own)
            raise InputError(f"{lab} has no experiment {name!r}; it has {listed}")
        wanted |= found
    return list(wanted.values())


def experiments_of(lab: str) -> Sequence[Experiment]:
    """Return the experiments of a lab."""
    experiments: Sequence[Experiment] = importlib.import_module(f"labs.{lab}").EXPERIMENTS
    return experiments


if __name__ == "__main__":
    sys.exit(guarded(lambda: run(sys.argv[1:])))
