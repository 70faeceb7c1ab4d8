"""The pieces that experiments are made of."""

import random
from pathlib import Path

import pytest
import torch
from torch import nn

from data import zhoric
from labs import agreement, by_length, cells, flow, lab5, memory, sentences, translators
from labs.part import Context
from nmt.attention import AttentionDecoder, Memory
from nmt.corpus import Example, Pair, read_tsv
from nmt.lstm import LSTMCell
from nmt.training import load_data

from .conftest import ROOT


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Give every test the same random numbers."""
    torch.manual_seed(1)


@pytest.mark.parametrize("kind", ["RNN", "GRU"])
def test_given_cells(kind: str) -> None:
    """Are the given cells torch's, in float64 to the last digits?"""
    theirs: nn.Module
    ours: nn.Module
    if kind == "GRU":
        theirs = nn.GRUCell(3, 5).double()
        ours = cells.GRUCell(3, 5).double()
        # Not gru_from_torch(): that one makes a cell in float32, which rounds the weights.
        ours.load_state_dict(theirs.state_dict())
        with torch.no_grad():
            for parameter in ours.parameters():
                parameter[5:10] *= -1  # the rows of u are those of torch's z, negated
    else:
        theirs, ours = nn.RNNCell(3, 5).double(), cells.RNNCell(3, 5).double()
        ours.load_state_dict(theirs.state_dict())
    inputs = torch.randn(6, 2, 3, dtype=torch.float64)
    difference = flow.our_states(ours, inputs) - flow.torch_states(theirs, inputs)
    assert difference.abs().max() < 1e-14


def test_gru_from_torch() -> None:
    """Is the GRU with torch's weights torch's?"""
    theirs = nn.GRUCell(3, 5)
    inputs = torch.randn(6, 2, 3)
    ours = flow.our_states(cells.gru_from_torch(theirs), inputs)
    assert (ours - flow.torch_states(theirs, inputs)).abs().max() < 1e-6


@pytest.mark.parametrize("bias", [0.0, 1.0, 3.0])
def test_forget_bias(bias: float) -> None:
    """Does a bias make the forget gate begin near its sigmoid?"""
    cell = cells.make("LSTM", bias, 4, 64)
    assert isinstance(cell, LSTMCell)
    gate = memory.forget_gate(cell, torch.randn(10, 16, 4))
    assert gate == pytest.approx(torch.tensor(bias).sigmoid().item(), abs=0.03)


@pytest.mark.parametrize("bias", [0.0, 3.0])
def test_update_bias(bias: float) -> None:
    """Does a bias make the GRU keep its sigmoid's share of the state?"""
    cell = cells.make("GRU", bias, 4, 64)
    zeros = torch.zeros(1, 4)
    (small,), (large,) = (cell(zeros, (torch.full((1, 64), value),)) for value in (0.0, 1e-3))
    kept = ((large - small) / 1e-3).mean().item()
    assert kept == pytest.approx(torch.tensor(bias).sigmoid().item(), abs=0.1)


def test_jacobian() -> None:
    """Is the norm that of the Jacobian as torch computes it entry by entry?"""
    settings = {"cell": "GRU", "bias": 3.0, "input": 3, "hidden": 4, "lengths": [2, 4]}
    torch.manual_seed(5)
    cell, inputs = cells.make("GRU", 3.0, 3, 4), torch.randn(4, 1, 3)

    def last(x: torch.Tensor) -> torch.Tensor:
        return cells.unroll(cell, [x, *inputs[1:]])[-1][0]

    whole = torch.func.jacrev(last)(inputs[0])
    expected = whole.norm().item()
    context = Context(lambda share: None, ROOT, {})
    assert flow.jacobian(settings, 5, context)["norms"][1] == pytest.approx(expected, rel=1e-4)


def test_probe_reads() -> None:
    """Does the least-squares map find a linear relation, and nothing where there is none?"""
    seen = torch.randn(200, 5, dtype=torch.float64)
    wanted = seen @ torch.randn(5, 3, dtype=torch.float64)
    assert (seen @ memory.ridge(seen, wanted) - wanted).abs().max() < 1e-4
    other = torch.randn(200, 3, dtype=torch.float64)
    assert (seen @ memory.ridge(seen, other) - other).abs().mean() > 0.5


# --- Lab 3's grammar ---


def test_grammar() -> None:
    """Do verbs agree with their subject, and distractors not?"""
    dice = random.Random(1)
    for _ in range(200):
        own = agreement.sentence(3, dice, distracting=True)
        numbers = [
            token >= agreement.NOUN + agreement.NOUNS
            for token in own.tokens
            if agreement.NOUN <= token < agreement.VERB
        ]
        assert numbers == [own.plural, *[not own.plural] * 3]
        verb = own.tokens[own.verb] - agreement.VERB
        assert (verb >= agreement.VERBS) == own.plural
        assert own.tokens[-2] == own.tokens[own.verb]


def test_grammar_repeats() -> None:
    """Are the sentences the same for the same seed?"""
    first, again = (agreement.sentence(2, random.Random(7), False) for _ in range(2))
    assert first == again


def test_distances() -> None:
    """Are the mean distances the lecture's, to 0.3 words?"""
    dice = random.Random(1)
    for modifiers, expected in zip(
        (1, 2, 3, 4, 6, 8), (3.7, 7.5, 11.2, 14.8, 22.3, 29.7), strict=True
    ):
        drawn = [agreement.sentence(modifiers, dice, True).distance for _ in range(2000)]
        assert sum(drawn) / len(drawn) == pytest.approx(expected, abs=0.3)


def test_perplexity_of_the_grammar() -> None:
    """Is the best perplexity near the lecture's 5.3?"""
    assert agreement.best_perplexity() == pytest.approx(5.3, abs=0.1)


# --- Labs 4 and 5 ---


def memory_of(decoder: AttentionDecoder, rows: int) -> Memory:
    """Return a random memory of four positions, the last one padding in the first row."""
    values = torch.randn(rows, 4, 6, dtype=torch.float64)
    mask = torch.zeros(rows, 4, dtype=torch.bool)
    mask[0, 3] = True
    return Memory(values, decoder.att_projection(values), mask)


def test_scored_decoder() -> None:
    """Is the detour over a memory of one position the step itself, for the step's own score?"""
    plain = AttentionDecoder(3, 5, 6).double()
    scored = translators.Scored("multiplicative", 3, 5, 6).double()
    scored.load_state_dict(plain.state_dict())
    y, o, h, c = (torch.randn(2, n, dtype=torch.float64) for n in (3, 5, 5, 5))
    own = memory_of(plain, 2)
    expected, found = plain.step(y, o, (h, c), own), scored.step(y, o, (h, c), own)
    for ours, theirs in zip(
        (found[0], *found[1], found[2]), (expected[0], *expected[1], expected[2]), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("score", "memory_size"), [("dot", 5), ("additive", 6)])
def test_other_scores(score: str, memory_size: int) -> None:
    """Do the other scores give other weights, 0 at padding, and learn all their parameters?"""
    scored = translators.Scored(score, 3, 5, memory_size).double()
    values = torch.randn(2, 4, memory_size, dtype=torch.float64)
    mask = torch.tensor([[False, False, False, True], [False] * 4])
    y, o, h, c = (torch.randn(2, n, dtype=torch.float64) for n in (3, 5, 5, 5))
    out, _, weights = scored.step(y, o, (h, c), Memory(values, scored.att_projection(values), mask))
    plain = AttentionDecoder.step(
        scored, y, o, (h, c), Memory(values, scored.att_projection(values), mask)
    )
    assert weights[0, 3] == 0
    assert not torch.allclose(weights, plain[2])
    out.square().sum().backward()  # type: ignore[no-untyped-call]
    still = {name for name, p in scored.named_parameters() if p.grad is None or not p.grad.any()}
    assert still == {"att_projection.weight"}


def test_idle_parameters(short_data: Path) -> None:
    """Are as many parameters without effect as the remark of 5.4 says?"""
    data, idle = load_data(short_data), {}
    for label in lab5.IDLE:
        settings = by_length.translator(attention=True, **lab5.VARIATIONS[label])
        model = translators.build(settings, data)
        own = model.decoder
        fed = model.config.decoder_size  # the last columns of the cell's inputs
        idle[label] = (
            own.cell.weight_ih[:, -fed:].numel()
            if isinstance(own, translators.WithoutFeeding)
            else own.get_parameter("att_projection.weight").numel()
        )
    assert idle == lab5.IDLE


def test_without_feeding() -> None:
    """Does the decoder without input feeding not look at the last output?"""
    decoder = translators.WithoutFeeding(3, 5, 6).double()
    y, o, h, c = (torch.randn(2, n, dtype=torch.float64) for n in (3, 5, 5, 5))
    own = memory_of(decoder, 2)
    first, again = (decoder.step(y, last, (h, c), own)[0] for last in (o, o + 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, AttentionDecoder.step(decoder, y, o, (h, c), own)[0])


def test_reverse() -> None:
    """Is the source turned around, and `</s>` still the last?"""
    assert translators.reverse(Example([5, 6, 7, 2], [1, 9, 2])) == Example([7, 6, 5, 2], [1, 9, 2])


def test_lengthened() -> None:
    """Are the sentences with one phrase more right, as the generator translates them?"""
    dev = [pair for pair in read_tsv(ROOT / "data/dev.tsv") if sentences.phrases(pair) == 3]
    longer = sentences.lengthened(dev)
    assert {sentences.phrases(pair) for pair in longer} == {4}
    for pair in longer:
        assert zhoric.translate(" ".join(pair.source)) == " ".join(pair.target)
    assert sum(len(pair.source) for pair in longer) / len(longer) == pytest.approx(19.7, abs=0.3)


def test_sets() -> None:
    """Do staff get the held-out sets, and students groups of the dev set?"""
    place, groups = sentences.groups(ROOT / "data")
    assert "held-out" in place
    assert [len(group) for group in groups] == [300] * 5
    assert [sentences.phrases(group[0]) for group in groups] == [0, 1, 2, 3, 4]
    place, groups = sentences.groups(ROOT / "starter/data")
    assert "dev" in place
    assert [{sentences.phrases(pair) for pair in group} for group in groups] == [
        {number} for number in range(5)
    ]


def test_pair_words() -> None:
    """Are prepositions and postpositions those of the language?"""
    assert set(zhoric.PREPOSITIONS) == sentences.PREPOSITIONS
    assert set(zhoric.PREPOSITIONS.values()) == sentences.POSTPOSITIONS
    assert {own: set(words) for own, words in lab5.NOUNS.items()} == {
        own: {singular, plural} for singular, (plural, own) in zhoric.NOUNS.items()
    }
    assert {words[0]: own for own, words in lab5.ADJECTIVES.items()} == zhoric.ADJECTIVES
    assert {words[0]: own for own, words in lab5.POSTPOSITIONS.items()} == zhoric.PREPOSITIONS
    assert set(lab5.VERBS) == {own for _, own in zhoric.VERBS.values()}
    assert set(lab5.ENGLISH_PREPOSITIONS) == set(zhoric.PREPOSITIONS)
    assert sentences.phrases(Pair(["in", "near"], ["x"])) == 2
