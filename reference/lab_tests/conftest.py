"""A small world for the tests of the labs: short data, and a run of everything, cut short."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from labs import language_model, memory
from labs.__main__ import experiments_of
from labs.experiment import Experiment, Results
from labs.names import LABS
from labs.part import Part
from labs.report import Plans
from labs.runner import run
from labs.store import results, stored

ROOT = Path(__file__).resolve().parents[2]
SHORT = {"steps": 2, "sentences": 128, "tested": 4, "counted": 2, "epochs": 1, "repeats": 1}
FAST = ("1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "4.3", "6.1", "6.2", "6.3")  # run in full

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def short_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the first of the public data, as students have them."""
    folder = tmp_path_factory.mktemp("data")
    for name, lines in (("train.tsv", 128), ("dev.tsv", 60), ("english.vocab", 99)):
        text = (ROOT / "data" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(text[:lines]), encoding="utf-8")
    (folder / "zhoric.vocab").write_bytes((ROOT / "data/zhoric.vocab").read_bytes())
    return folder


def cut(experiment: Experiment) -> Experiment:
    """Return an experiment that takes no time, if it is one of those that take some."""
    if experiment.id in FAST:
        return experiment
    settings = [
        {name: SHORT.get(name, value) for name, value in own.items()} for own in experiment.settings
    ]
    distinct = [own for place, own in enumerate(settings) if own not in settings[:place]]
    return replace(experiment, settings=distinct, quick=(), seeds=1)


@dataclass(frozen=True)
class World:
    """Hold what a run of everything has left."""

    folder: Path
    plans: Plans
    data: Path
    found: dict[str, Results]  # id of an experiment -> its results


@pytest.fixture(scope="session")
def run_of_everything(short_data: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Run every experiment, the slow ones cut short."""
    folder = tmp_path_factory.mktemp("labs")
    experiments = [cut(e) for lab in LABS for e in experiments_of(lab)]
    plans = [(e, e.parts(seeds=3 if e.id in FAST else 1)) for e in experiments]
    with pytest.MonkeyPatch.context() as patch:  # tests of other rooms come after this
        patch.setenv("NMT_DATA", str(short_data))
        for module, name in ((memory, "PROBED"), (memory, "TESTED"), (language_model, "TESTED")):
            patch.setattr(module, name, 50)
        run([part for _, parts in plans for part in parts], folder, jobs=1)
        found = {e.id: results(parts, lambda part: stored(part, folder)) for e, parts in plans}
    return World(folder, plans, short_data, {name: own for name, own in found.items() if own})


@pytest.fixture
def world(run_of_everything: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Plans]:
    """Return the folder of the run and what was run, with the data that decide its places."""
    monkeypatch.setenv("NMT_DATA", str(run_of_everything.data))
    return run_of_everything.folder, run_of_everything.plans


@pytest.fixture(scope="session")
def found(run_of_everything: World) -> dict[str, Results]:
    """Return the results of every experiment by its id."""
    return run_of_everything.found


@pytest.fixture(scope="session")
def experiments() -> dict[str, Experiment]:
    """Return the experiments by their id."""
    return {e.id: e for lab in LABS for e in experiments_of(lab)}


def part_of(experiment: Experiment, **wanted: Any) -> Part:
    """Return the first part of an experiment with some settings."""
    return next(
        part
        for part in experiment.parts()
        if all(part.settings[name] == value for name, value in wanted.items())
    )
