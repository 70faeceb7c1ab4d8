"""The claims that need no long training, and that a claim can fail."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from labs.experiment import Experiment, Results

from .conftest import FAST


@pytest.mark.parametrize("name", FAST)
def test_claims_hold(
    name: str, experiments: dict[str, Experiment], found: dict[str, Results]
) -> None:
    """Does each claim of a fast experiment hold, on each of three seeds?"""
    experiment = experiments[name]
    seeds = list(found[name].by_seed())
    assert len(seeds) == (3 if experiment.seeds else 1)
    assert experiment.claims
    for claim in experiment.claims:
        assert all(claim.holds(own) for own in seeds), claim.text


def test_cliff(found: dict[str, Results]) -> None:
    """Are loss and slope at the edge of the cliff the lecture's, to its digits?"""
    loss, slope = found["1.3"].first()["at"]
    assert (f"{loss:.3f}", f"{slope:,.0f}") == ("0.061", "1,723")


def test_descents(found: dict[str, Results]) -> None:
    """Do both descents pass through the lecture's points?"""
    free, clipped = (found["1.4"].first(clip=clip)["path"] for clip in (0, 1))
    assert [f"{w:.1f} {loss:.2f}" for w, loss in (free[0], free[-1])] == ["-170.8 3.24"] * 2
    assert [f"{w:.3f} {loss:.4f}" for w, loss in (clipped[0], clipped[-1])] == [
        "1.398 0.0093",
        "1.200 0.0011",
    ]
    assert found["1.4"].first(clip=5)["example"] == [3, 4]
    assert found["1.4"].first(clip=20)["example"] == [6, 8]


def test_parameters(found: dict[str, Results]) -> None:
    """Are the parameter counts the lecture's?"""
    counts = [found["2.1"].first(cell=kind)["parameters"] for kind in ("RNN", "GRU", "LSTM")]
    assert [own[0] for own in counts] == [44, 132, 176]
    assert [own[3] for own in counts] == [60_200, 180_600, 240_800]
    assert found["4.1"].first()["parameters"] == 675_364
    assert found["5.1"].first(attention=True)["parameters"] == 1_134_116


def test_bleu_table(found: dict[str, Results]) -> None:
    """Is a row of the BLEU table the lecture's?"""
    values = found["4.3"].first(candidate="the cat sat on the mat")["values"]
    assert [f"{value:.2f}" for value in values[:5]] == ["0.83", "0.60", "0.25", "0.00", "1.00"]
    assert f"{values[5]:.3f}" == "0.420"


# An experiment, the number of a claim, and figures that must not bear it out.
SPOILT: list[tuple[str, int, dict[str, Any], dict[str, Any]]] = [
    ("1.1", 0, {"radius": 1.0}, {"lengths": [1e-5] * 100}),
    ("1.1", 1, {"radius": 1.1}, {"lengths": [1.0] * 100}),
    ("1.2", 0, {}, {"shares": [0.025] * 40}),
    ("1.3", 0, {}, {"at": [0.061, 1724]}),
    ("1.3", 1, {}, {"away": 3.5}),
    ("1.4", 0, {"clip": 1}, {"path": [(1.398, 0.0093), (1.3, 0.0011)]}),
    ("1.4", 1, {"clip": 5}, {"example": [3, 4.1]}),
    ("2.1", 0, {"cell": "LSTM"}, {"error": 1e-3}),
    ("2.1", 1, {"cell": "GRU"}, {"parameters": [132, 120, 181_200, 180_000]}),
    ("2.2", 0, {"cell": "LSTM", "bias": 3.0}, {"norms": [0.5, 0.5, 0.5, 0.5, 1e-3]}),
    ("2.2", 1, {"cell": "LSTM", "bias": 1.0}, {"norms": [0.2, 0.08, 6e-3, 9e-5, 1e-10]}),
    ("2.3", 0, {"cell": "RNN", "length": 50}, {"accuracy": 0.4}),
    ("2.3", 1, {"cell": "LSTM", "bias": 3.0, "length": 50}, {"accuracy": 0.9}),
    ("2.3", 2, {"cell": "GRU", "length": 50}, {"accuracy": 0.9}),
    ("2.4", 0, {"cell": "LSTM"}, {"probe": [1.0] * 50 + [0.98]}),
    ("2.4", 1, {"cell": "RNN"}, {"probe": [1.0] * 51}),
    ("2.5", 0, {"batch": 96}, {"ours": 4.0, "theirs": 1.0}),
    ("3.1", 0, {"cell": "RNN"}, {"right": [1, 1, 1, 1.1, 1, 1]}),
    ("3.1", 1, {"cell": "RNN"}, {"perplexity": 99.0}),
    ("3.1", 2, {"cell": "RNN"}, {"distances": [3.7, 7.5, 11.2, 14.8, 22.3, 30.1]}),
    ("4.1", 0, {}, {"parameters": 1}),
    ("4.1", 1, {}, {"groups": [{"bleu": 1.0, "exact": 1.0}] * 5}),
    ("4.3", 0, {"candidate": "the cat"}, {"values": [1, 1, 0, 0, 0.14, 0.136]}),
    ("5.1", 0, {"attention": True}, {"parameters": 675_364}),
    ("5.1", 1, {"attention": True}, {"groups": [{"bleu": -1.0, "exact": 0.0}] * 5}),
    ("5.1", 2, {"attention": True}, {"groups": [{"bleu": 1.0, "exact": 1.0}] * 5}),
    ("5.1", 3, {"attention": True}, {"groups": [{"bleu": -1.0, "exact": 0.0}] * 5}),
    ("5.2", 0, {}, {"looks": {"rega": {"the": 1.0}}}),
    ("5.3", 0, {}, {"beams": [{"bleu": 1.0}, {"bleu": 0.9}, {"bleu": 1.0}]}),
    ("6.1", 0, {}, {"variance": 80.0}),
    ("6.2", 0, {"size": 1024}, {"plain": {"largest": 0.5, "slope": 0.2}}),
    ("6.3", 0, {"masked": True}, {"contexts": [30.0, 20.0]}),
]


def spoil(results: Results, settings: dict[str, Any], figures: dict[str, Any]) -> Results:
    """Return results with other figures where the settings are as given."""
    outcomes = copy.deepcopy(results.outcomes)
    return Results(
        tuple(
            replace(own, figures={**own.figures, **figures})
            if settings.items() <= own.settings.items()
            else own
            for own in outcomes
        )
    )


@pytest.mark.parametrize(("name", "number", "settings", "figures"), SPOILT)
def test_claims_can_fail(
    name: str,
    number: int,
    settings: dict[str, Any],
    figures: dict[str, Any],
    experiments: dict[str, Experiment],
    found: dict[str, Results],
) -> None:
    """Would each claim fail on other figures?"""
    spoilt = spoil(found[name], settings, figures)
    assert not experiments[name].claims[number].holds(spoilt)


def test_every_claim_is_spoilt(experiments: dict[str, Experiment]) -> None:
    """Is there a failing case for each claim?"""
    claims = {(e.id, number) for e in experiments.values() for number in range(len(e.claims))}
    assert claims == {(name, number) for name, number, _, _ in SPOILT}
