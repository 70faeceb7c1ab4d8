"""Labs 4 and 5: train a translator, the assignment's own or a variation of it."""

import math
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Adam
from torch.optim.lr_scheduler import OneCycleLR

from labs.part import Context, Figures, Settings
from nmt.attention import (
    AttentionDecoder,
    Memory,
    State,
    additive_score,
    attend,
    dot_score,
    multiplicative_score,
)
from nmt.corpus import Example, data_directory, training_batches
from nmt.model import Seq2Seq
from nmt.settings import ModelConfig, TrainingConfig
from nmt.training import Data, Run, load_data, train_step


class WithoutFeeding(AttentionDecoder):
    """Decode as ever, but never look at the last step's output."""

    def step(
        self, y: Tensor, o_prev: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, State, Tensor]:
        """Decode one token; shapes as in AttentionDecoder.step."""
        return super().step(y, torch.zeros_like(o_prev), state, memory)


class Scored(AttentionDecoder):
    """Decode with another score, without knowing how the decoder's own step is written.

    A memory of one position gets all the attention, whatever its score. So the step is taken twice:
    the first time only for the new h', which does not depend on the memory; then with a memory
    that consists of the context that the other score chooses for this h'.
    """

    def __init__(self, score: str, embedding_size: int, hidden_size: int, memory_size: int) -> None:
        """Create the layers; the additive score has some of its own."""
        super().__init__(embedding_size, hidden_size, memory_size)
        self.score = score
        if score == "additive":
            self.query = nn.Linear(hidden_size, hidden_size, bias=False)
            self.key = nn.Linear(memory_size, hidden_size, bias=False)
            self.v = nn.Parameter(torch.randn(hidden_size) / math.sqrt(hidden_size))

    def step(
        self, y: Tensor, o_prev: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, State, Tensor]:
        """Decode one token; shapes as in AttentionDecoder.step."""
        _, (h, _), _ = super().step(y, o_prev, state, self._only(memory.values[:, 0]))
        context, weights = attend(self._scores(h, memory.values), memory.values, memory.mask)
        o, state, _ = super().step(y, o_prev, state, self._only(context))
        return o, state, weights

    def _scores(self, h: Tensor, values: Tensor) -> Tensor:
        if self.score == "additive":
            return additive_score(h, values, self.query.weight, self.key.weight, self.v)
        if self.score == "multiplicative":
            return multiplicative_score(h, values, self.att_projection.weight)
        return dot_score(h, values)

    def _only(self, value: Tensor) -> Memory:
        """Return a memory of one position, with one value (B, D)."""
        mask = value.new_zeros(len(value), 1, dtype=torch.bool)
        return Memory(value.unsqueeze(1), self.att_projection(value).unsqueeze(1), mask)


def build(settings: Settings, data: Data) -> Seq2Seq:
    """Return an untrained model."""
    sizes = ModelConfig(len(data.english), len(data.zhoric), attention=settings["attention"])
    model = Seq2Seq(sizes)
    widths = sizes.embedding_size, sizes.decoder_size, 2 * sizes.encoder_size
    if settings["attention"] and not settings["feeding"]:
        model.decoder = WithoutFeeding(*widths)
    elif settings["attention"] and settings["score"] != "multiplicative":
        model.decoder = Scored(settings["score"], *widths)
    return model


def start(settings: Settings, seed: int, data: Data, examples: int) -> Run:
    """Return a training with the settings of `python -m nmt train`, but for the epochs."""
    torch.manual_seed(seed)
    config = TrainingConfig(epochs=settings["epochs"], seed=seed)
    model = build(settings, data)
    optimizer = Adam(model.parameters(), lr=config.max_learning_rate)
    steps = math.ceil(examples / config.batch_size)
    scheduler = OneCycleLR(
        optimizer, max_lr=config.max_learning_rate, total_steps=config.epochs * steps
    )
    return Run(model, config, optimizer, scheduler, steps)


def train(settings: Settings, seed: int, context: Context) -> Figures:
    """Train a translator and keep its weights."""
    data = load_data(data_directory())
    examples = [reverse(e) if settings["reversed"] else e for e in data.train]
    examples = examples[: settings["sentences"]]
    run = start(settings, seed, data, len(examples))
    losses = []
    for epoch in range(run.config.epochs):
        generator = torch.Generator().manual_seed(1000 * seed + epoch)
        total = 0.0
        for batch in training_batches(examples, run.config.batch_size, generator):
            total += train_step(run, [examples[index] for index in batch])
            context.progress(run.step / run.total_steps)
        losses.append(total / run.steps_per_epoch)
    path = context.file.with_suffix(".safetensors")
    save_file(run.model.state_dict(), path)
    count = sum(parameter.numel() for parameter in run.model.parameters())
    return {"weights": path.name, "losses": losses, "parameters": count}


def load(settings: Settings, path: Path, data: Data) -> Seq2Seq:
    """Return a trained translator."""
    model = build(settings, data)
    model.load_state_dict(load_file(path))
    return model.eval()


def reverse(example: Example) -> Example:
    """Turn the source around; `</s>` stays the last."""
    return Example(turned(example.source), example.target)


def turned(source: list[int]) -> list[int]:
    """Turn ids around, without the `</s>` at their end."""
    return [*source[-2::-1], source[-1]]
