"""Lab 3's work: train language models on short sentences, test their verbs on longer ones."""

import math
import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pad_sequence

from labs import agreement, cells
from labs.agreement import MODIFIERS, Sentence
from labs.part import Context, Figures, Settings
from nmt.masking import masked_cross_entropy

EMBEDDING, HIDDEN, BATCH = 32, 64, 64
RATE, CLIP = 3e-3, 1.0
TESTED = 1000  # sentences for each number of modifiers, and for the perplexity


class LanguageModel(nn.Module):
    """Score the next word after each word of a sentence."""

    def __init__(self, kind: str) -> None:
        """Create the layers."""
        super().__init__()
        self.embedding = nn.Embedding(agreement.SIZE, EMBEDDING)
        self.cell = cells.make(kind, 1.0 if kind == "LSTM" else None, EMBEDDING, HIDDEN)
        self.output = nn.Linear(HIDDEN, agreement.SIZE)

    def forward(self, tokens: Tensor) -> Tensor:
        """Score what follows each token; tokens (T, B) -> (T, B, V)."""
        states = cells.unroll(self.cell, self.embedding(tokens).unbind())
        scores: Tensor = self.output(torch.stack([state[0] for state in states]))
        return scores


def pad(sentences: Sequence[Sentence]) -> Tensor:
    """Return the ids (T, B) of sentences, padded at the end."""
    return pad_sequence([torch.tensor(s.tokens) for s in sentences], padding_value=agreement.PAD)


def short(count: int, dice: random.Random) -> list[Sentence]:
    """Draw sentences as in training: 0 or 1 modifiers."""
    return [agreement.sentence(dice.randrange(2), dice, distracting=False) for _ in range(count)]


def loss_of(model: LanguageModel, sentences: Sequence[Sentence]) -> Tensor:
    """Return the mean negative log-likelihood of a word."""
    tokens = pad(sentences)
    scores = model(tokens[:-1])
    # Time first, as the cell reads it: your loss is a mean over tokens, in whatever order they are.
    return masked_cross_entropy(scores, tokens[1:], agreement.PAD)


def agree(settings: Settings, seed: int, context: Context) -> Figures:
    """Train a model, and test it: perplexity, and the number of the verb after more modifiers."""
    torch.manual_seed(seed)
    dice = random.Random(seed)
    model = LanguageModel(settings["cell"])
    train(model, settings["steps"], dice, context)
    right, drawn, distances = [], [], []
    with torch.no_grad():
        perplexity = math.exp(loss_of(model, short(TESTED, dice)).item())
        for modifiers in MODIFIERS:
            tested = [agreement.sentence(modifiers, dice, True) for _ in range(TESTED)]
            right.append(share_right(model, tested))
            milder = [agreement.sentence(modifiers, dice, False) for _ in range(TESTED)]
            drawn.append(share_right(model, milder))
            distances.append(sum(s.distance for s in tested) / len(tested))
    return {"perplexity": perplexity, "right": right, "drawn": drawn, "distances": distances}


def train(model: LanguageModel, steps: int, dice: random.Random, context: Context) -> None:
    """Train a model on fresh short sentences; the rate falls to 0 in a line."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for step in range(steps):
        loss = loss_of(model, short(BATCH, dice))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        scheduler.step()
        context.progress((step + 1) / steps)


def share_right(model: LanguageModel, sentences: Sequence[Sentence]) -> float:
    """Return how often the verbs of the right number are together likelier than the others."""
    scores = model(pad([s._replace(tokens=s.tokens[: s.verb]) for s in sentences]))
    last = torch.tensor([s.verb - 1 for s in sentences])
    verbs = scores[last, torch.arange(len(sentences)), agreement.VERB : agreement.PREPOSITION]
    singular, plural = verbs.view(-1, 2, agreement.VERBS).logsumexp(dim=2).unbind(dim=1)
    wanted = torch.tensor([s.plural for s in sentences])
    return float(((plural > singular) == wanted).double().mean())
