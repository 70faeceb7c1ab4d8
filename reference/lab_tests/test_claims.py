"""The claims that need no long training, and that a claim can fail."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from labs import by_length, lab2, lab3, lab5
from labs.experiment import Experiment, Outcome, Results

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
    ("1.3", 1, {}, {"loss": [0.06] * 498 + [1.9] * 503}),
    ("1.4", 0, {"clip": 1}, {"path": [(1.398, 0.0093), (1.3, 0.0011)]}),
    ("1.4", 1, {"clip": 5}, {"example": [3, 4.1]}),
    ("2.1", 0, {"cell": "LSTM"}, {"error": 1e-3}),
    ("2.1", 1, {"cell": "GRU"}, {"parameters": [132, 120, 181_200, 180_000]}),
    ("2.2", 0, {"cell": "LSTM", "bias": 3.0}, {"norms": [0.5, 0.5, 0.5, 0.5, 1e-3]}),
    ("2.2", 1, {"cell": "LSTM", "bias": 1.0}, {"norms": [0.2, 0.08, 6e-3, 9e-5, 1e-10]}),
    ("2.2", 1, {"cell": "RNN"}, {"norms": [0.1, 6e-3, 4e-7, 1e-10, 0.0]}),
    ("2.3", 0, {"cell": "RNN", "length": 50}, {"accuracy": 0.18}),
    ("2.3", 1, {"cell": "LSTM", "bias": 3.0, "length": 50}, {"accuracy": 0.9}),
    ("2.3", 2, {"cell": "GRU", "length": 50}, {"accuracy": 0.9}),
    ("2.4", 0, {"cell": "LSTM"}, {"probe": [1.0] * 50 + [0.98]}),
    ("2.4", 1, {"cell": "RNN"}, {"probe": [1.0] * 20 + [0.18] * 31}),
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
    ("5.3", 1, {}, {"beams": [{"seconds": 1.0}, {"seconds": 1.7}, {"seconds": 2.4}]}),
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


# --- What the lecture published ---

Found = tuple[dict[str, Any], dict[str, Any]]  # settings of a part and its figures


def numbers(texts: Sequence[str | None]) -> list[float]:
    """Read what a row of the lecture prints."""
    return [float((text or "nan").replace(",", "")) for text in texts]


def memory_found() -> list[Found]:
    """Return the lecture's accuracies of 2.3."""
    return [
        ({"cell": kind, "bias": bias, "length": length}, {"accuracy": share / 100})
        for kind, bias in lab2.MEMORY_CELLS
        for length, share in zip(
            lab2.DISTANCES, numbers(lab2.MEMORY_LECTURE[lab2.cell_name(kind, bias)]), strict=True
        )
    ]


def probe_found() -> list[Found]:
    """Return what the lecture's probe reads, each step like the last one that is printed."""
    found: list[Found] = []
    for kind, _ in lab2.PROBE_CELLS:
        printed = dict(zip(lab2.PROBED_STEPS, numbers(lab2.PROBE_LECTURE[kind]), strict=True))
        shares = [printed[max([1, *(k for k in printed if k <= step)])] for step in range(51)]
        found.append(({"cell": kind}, {"probe": [share / 100 for share in shares]}))
    return found


def agreement_found() -> list[Found]:
    """Return the lecture's shares and perplexities of 3.1."""
    return [
        (
            {"cell": kind},
            {
                "right": numbers(lab3.RIGHT_LECTURE[kind]),
                "perplexity": float(lab3.PERPLEXITY_LECTURE[kind]),
                "distances": numbers(lab3.DISTANCE_LECTURE),
            },
        )
        for kind in lab3.KINDS
    ]


def translated(bleu: Sequence[str], exact: Sequence[str], parameters: int) -> dict[str, Any]:
    """Return the lecture's scores of a translator."""
    shares = [share / 100 for share in numbers(exact)]
    sets = [{"bleu": b, "exact": e} for b, e in zip(numbers(bleu), shares, strict=True)]
    return {"test": sets[0], "groups": sets[1:], "parameters": parameters}


PLAIN = translated(by_length.BLEU_LECTURE, by_length.EXACT_LECTURE, 675_364)
ATTENTIVE = translated(lab5.ATTENTION_BLEU_LECTURE, lab5.ATTENTION_EXACT_LECTURE, 1_134_116)
PUBLISHED: dict[str, list[Found]] = {
    "2.2": [
        ({"cell": kind, "bias": bias}, {"norms": numbers(lab2.FLOW_LECTURE[name])})
        for kind, bias in lab2.FLOW_CELLS
        if (name := lab2.cell_name(kind, bias))
    ],
    "2.3": memory_found(),
    "2.4": probe_found(),
    "2.5": [({"batch": 96}, {"ours": 3.0, "theirs": 1.0})],
    "3.1": agreement_found(),
    "4.1": [({}, PLAIN)],
    "5.1": [({"attention": False}, PLAIN), ({"attention": True}, ATTENTIVE)],
    # The lecture has no shares: its rega → kings, miro → cats, gron → old, half of the time.
    "5.2": [({}, {"looks": {"rega": {"kings": 0.6}, "miro": {"cats": 0.5}, "gron": {"old": 0.6}}})],
    "5.3": [({}, {"beams": [{"bleu": 1.0, "seconds": 2.0 * k} for k in lab5.BEAMS]})],
}


def test_all_slow_claims_are_tried(experiments: dict[str, Experiment]) -> None:
    """Is there a case for every claim that no quick run shows to hold?"""
    assert {e.id for e in experiments.values() if e.claims} == {*FAST, *PUBLISHED}


@pytest.mark.parametrize("name", PUBLISHED)
def test_claims_hold_of_the_lecture(name: str, experiments: dict[str, Experiment]) -> None:
    """Would each claim hold on the figures that it was made from?"""
    results = Results(tuple(Outcome(settings, 1, own) for settings, own in PUBLISHED[name]))
    failing = [claim.text for claim in experiments[name].claims if not claim.holds(results)]
    assert failing == []
