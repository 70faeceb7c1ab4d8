"""Run the lecture's experiments: `python -m labs`, `python -m labs lab2`, `python -m labs 1.3`."""

from __future__ import annotations

import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.cli import Parser, guarded, note, positive
from nmt.files import HOME, InputError

if TYPE_CHECKING:
    from labs.experiment import Experiment

LABS = {
    "lab1": "vanishing and exploding gradients",
    "lab2": "LSTM and GRU",
    "lab3": "subject–verb agreement",
    "lab4": "seq2seq without attention, and BLEU by hand",
    "lab5": "attention",
    "lab6": "why scores are divided by √d",
}


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser(prog="python -m labs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="lab", help="lab1 … lab6, or 1.3 (all)")
    parser.add_argument("--quick", action="store_true", help="a fast look: short trainings")
    parser.add_argument("--seeds", type=positive, help="how many seeds to try (as in the text)")
    parser.add_argument(
        "--jobs",
        type=positive,
        default=min(2, os.cpu_count() or 1),
        help="parts to run at a time, each in one thread (%(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, default=HOME / "build/labs", help="folder for the page (%(default)s)"
    )
    parser.add_argument(
        "--record", type=Path, help="write figures and verdicts there as Markdown, too"
    )
    parser.add_argument(
        "--rewrite", type=Path, help="run nothing; write such Markdown anew from what is beside it"
    )
    return parser


def run(argv: Sequence[str]) -> int:
    """Run what is asked for; return 1 if a part of it needs a task that is not written yet."""
    arguments = build_parser().parse_args(argv)
    check_names(arguments.names)
    if arguments.quick and arguments.record:
        raise InputError("--record keeps the full figures: run it without --quick")
    # Imported here: they need torch, and wrong usage should be told at once.
    from labs import report, tasks

    if arguments.rewrite:
        report.rewrite([(e, e.parts()) for e in known()], arguments.rewrite)
        return 0
    experiments = chosen(arguments.names)
    lines = list(tasks.lacks(experiments))
    for line in lines:
        note(line)
    ready = [e for e in experiments if not any(map(tasks.missing, e.tasks))]
    if ready:
        run_and_show(ready, arguments, lines)
    return 1 if lines else 0


def run_and_show(ready: Sequence[Experiment], arguments: Namespace, lines: Sequence[str]) -> None:
    """Run experiments and show them, on the page beside those that were run before."""
    from labs import report, runner

    every = {e.id: e for e in (*ready, *known())}
    found = {name: e.parts(arguments.quick, arguments.seeds) for name, e in every.items()}
    try:
        parts = [part for e in ready for part in found[e.id]]
        runner.run(parts, arguments.out, arguments.jobs)
    except KeyboardInterrupt:
        note("\nwhat is finished is kept: the same command goes on from there")
        raise
    plans = [(every[name], found[name]) for name in sorted(every)]
    report.show(plans, arguments.out, [e.id for e in ready], lines)
    if arguments.record:
        report.record(plans, arguments.out, arguments.record)


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


def known() -> Iterator[Experiment]:
    """Yield the experiments of all labs, for the page; those that a task's fault closes are not."""
    for lab in LABS:
        try:
            yield from experiments_of(lab)
        except Exception:  # whatever a half-written file raises
            continue


if __name__ == "__main__":
    sys.exit(guarded(lambda: run(sys.argv[1:])))
