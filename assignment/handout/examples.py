"""Work the handout's examples out with the reference: no number in a chapter is typed by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import torch
from torch import Tensor

from labs.gradients import cliff_loss, clip
from nmt.attention import (
    AttentionDecoder,
    Memory,
    additive_score,
    attend,
    dot_score,
    multiplicative_score,
)
from nmt.bleu import corpus_bleu, sentence_bleu
from nmt.lstm import LSTMCell
from nmt.masking import masked_cross_entropy, masked_softmax, padding_mask

from .story import story

REFERENCES = ("the cat is on the mat", "there is a cat on the mat")
CANDIDATES = (
    "the cat is on the mat",
    "the cat sat on the mat",
    "mat the on is cat the",
    "the the the the the the the",
    "the cat",
    "a feline rests upon the rug",
)


def examples() -> SimpleNamespace:
    """Return the numbers of all worked examples, by the name of the chapter's part."""
    with torch.no_grad():
        return SimpleNamespace(
            gradient=gradient(),
            lstm=lstm(),
            masking=masking(),
            scores=scores(),
            attend=attention(),
            step=step(),
            story=story(),
            bleu=bleu(),
        )


def gradient() -> SimpleNamespace:
    """Return powers of three radii, the slope of the cliff, and clipped gradients."""
    steps = (1, 10, 20, 50, 100)
    start = 1.498  # on the edge of the cliff, see the figure
    loss, slope = cliff_loss(start)
    clipped = start - 0.1 * clip([slope], 1.0)[0]
    return SimpleNamespace(
        steps=steps,
        powers={radius: [radius**k for k in steps] for radius in (0.9, 1.0, 1.1)},
        start=start,
        loss=loss,
        slope=slope,
        unclipped=start - 0.1 * slope,
        unclipped_loss=cliff_loss(start - 0.1 * slope)[0],
        clipped=clipped,
        clipped_loss=cliff_loss(clipped)[0],
        short=clip([3.0, 4.0], 10.0),
        long=clip([3.0, 4.0], 1.0),
    )


def lstm() -> SimpleNamespace:
    """Return a step of a cell of one unit, without biases and from h = 0."""
    x, c, weights = 0.5, 2.0, (1.0, 2.0, 3.0, 4.0)  # rows i, f, g, o
    cell = LSTMCell(1, 1)
    for parameter in cell.parameters():
        parameter.zero_()
    cell.weight_ih.copy_(torch.tensor(weights).unsqueeze(1))
    new_h, new_c = cell(torch.tensor([[x]]), (torch.zeros(1, 1), torch.tensor([[c]])))
    i, f, o = (_sigmoid(weights[row] * x) for row in (0, 1, 3))
    g = math.tanh(weights[2] * x)
    assert math.isclose(f * c + i * g, new_c.item(), rel_tol=1e-6)
    return SimpleNamespace(x=x, c=c, i=i, f=f, g=g, o=o, new_c=new_c.item(), new_h=new_h.item())


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def masking() -> SimpleNamespace:
    """Return a mask, a softmax with one padded position, what slips give, and two losses."""
    scores = torch.tensor([[2.0, 1.0, -1.0]])
    mask = padding_mask(torch.tensor([2]), 3)
    return SimpleNamespace(
        mask=padding_mask(torch.tensor([2, 4, 1]), 5).int().tolist(),
        right=masked_softmax(scores, mask)[0].tolist(),
        unmasked=scores.softmax(dim=1)[0].tolist(),
        zero=scores.masked_fill(mask, 0.0).softmax(dim=1)[0].tolist(),
        loss=_loss([[4.0], [1.0, 1.0, 1.0]]),
        mean_of_means=(4.0 + 1.0) / 2,
        over_all=(4.0 + 3.0) / 6,
    )


def _loss(losses: list[list[float]]) -> float:
    """Return the masked loss of sentences whose tokens have these negative log-likelihoods."""
    width = max(map(len, losses))
    chances = torch.full((len(losses), width, 3), 1 / 3)
    targets = torch.zeros(len(losses), width, dtype=torch.long)  # 0 is padding
    for row, sentence in enumerate(losses):
        for position, value in enumerate(sentence):
            chance = math.exp(-value)
            chances[row, position] = torch.tensor([(1 - chance) / 2, chance, (1 - chance) / 2])
            targets[row, position] = 1
    return masked_cross_entropy(chances.log(), targets, 0).item()


def scores() -> SimpleNamespace:
    """Return the scores of two keys by a matrix in between, and by a small network."""
    weight = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])
    keys = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]])
    query = torch.tensor([[1.0, 2.0]])
    additive = additive_score(
        torch.tensor([[1.0, -1.0]]),
        torch.tensor([[[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]]),
        torch.tensor([[0.5, 0.0]]),
        torch.tensor([[1.0, -0.5, -1.0]]),
        torch.tensor([2.0]),
    )
    return SimpleNamespace(
        projected=(query @ weight)[0].int().tolist(),
        multiplicative=multiplicative_score(query, keys, weight)[0].int().tolist(),
        additive=additive[0].tolist(),
    )


def attention() -> SimpleNamespace:
    """Return scores, weights and context of a query that looks at three keys."""
    keys = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    scores = dot_score(torch.tensor([[2.0, 0.0]]), keys)
    context, weights = attend(scores, keys, torch.zeros(1, 3, dtype=torch.bool))
    return SimpleNamespace(
        scores=scores[0].int().tolist(), weights=weights[0].tolist(), context=context[0].tolist()
    )


def step() -> SimpleNamespace:
    """Return a step of a decoder with E = H = 1, D = 2: the one of the public test."""
    decoder = AttentionDecoder(1, 1, 2).eval()
    weights: dict[str, list[list[float]] | list[float]] = {
        "cell.weight_ih": [[0.5, -1.0], [1.0, 0.5], [2.0, 1.0], [-0.5, 1.5]],
        "cell.weight_hh": [[1.0], [-0.5], [0.8], [0.3]],
        "cell.bias_ih": [0.1, 0.2, -0.3, 0.4],
        "cell.bias_hh": [0.2, -0.1, 0.1, 0.3],
        "att_projection.weight": [[2.0, -1.0]],
        "combined_output.weight": [[0.6, -0.4, 0.9]],
    }
    decoder.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    values = torch.tensor([[[1.0, 0.5], [-1.0, 2.0], [3.0, 3.0]]])
    memory = Memory(values, decoder.att_projection(values), padding_mask(torch.tensor([2]), 3))
    state = torch.tensor([[-0.9]]), torch.tensor([[0.7]])
    o, (h, c), alpha = decoder.step(torch.tensor([[1.0]]), torch.tensor([[0.5]]), state, memory)
    context = (alpha.unsqueeze(2) * values).sum(dim=1)[0]
    return SimpleNamespace(
        keys=_plain(memory.keys[0]),
        h=h.item(),
        c=c.item(),
        scores=_plain(dot_score(h, memory.keys)[0]),
        alpha=_plain(alpha[0]),
        context=_plain(context),
        combined=decoder.combined_output(torch.cat([context, h[0]])).item(),
        o=o.item(),
    )


def _plain(tensor: Tensor) -> list[float]:
    values: list[float] = tensor.tolist()
    return values


def bleu() -> SimpleNamespace:
    """Return the table of six candidates, and of the second one how p_1 to p_4 come about."""
    references = [reference.split() for reference in REFERENCES]
    whole = list("abcdefgh")
    rows = []
    for text in CANDIDATES:
        plain = corpus_bleu([text.split()], [references])
        smoothed = sentence_bleu(text.split(), references)
        rows.append(SimpleNamespace(text=text, plain=plain, smoothed=smoothed))
    return SimpleNamespace(
        references=REFERENCES,
        rows=rows,
        pooled=corpus_bleu([list("abxy"), whole], [[list("abcd")], [whole]], 2).score,
        averaged=(corpus_bleu([list("abxy")], [[list("abcd")]], 2).score + 1) / 2,
    )
