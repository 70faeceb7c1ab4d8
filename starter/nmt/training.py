"""Train a model: an epoch at a time, keeping the best, and able to go on after an interruption."""

import math
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam
from torch.optim.lr_scheduler import OneCycleLR

from nmt.corpus import (
    Example,
    Pair,
    encode_pairs,
    load_vocabularies,
    make_batch,
    read_tsv,
    training_batches,
)
from nmt.files import InputError, write_atomically
from nmt.masking import masked_cross_entropy
from nmt.model import ModelConfig, Seq2Seq, save_checkpoint
from nmt.settings import SearchConfig, TrainingConfig
from nmt.translation import greedy
from nmt.vocabulary import PAD, Vocabulary

SAVE_EVERY = 25  # steps between two saved states: some seconds of work
# What reading a state raises if the file is not one, or is one of another version.
DAMAGE = (pickle.UnpicklingError, EOFError, RuntimeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Data:
    """Hold what a training reads."""

    english: Vocabulary
    zhoric: Vocabulary
    train: list[Example]
    dev: list[Pair]


@dataclass
class Run:
    """Hold everything that changes while a training runs."""

    model: Seq2Seq
    config: TrainingConfig
    optimizer: Adam
    scheduler: OneCycleLR
    steps_per_epoch: int
    step: int = 0  # batches done
    best_bleu: float = -1.0

    @property
    def total_steps(self) -> int:
        """Count the batches of the whole training."""
        return self.config.epochs * self.steps_per_epoch


def load_data(directory: Path) -> Data:
    """Read the vocabularies, the training pairs and the dev pairs."""
    english, zhoric = load_vocabularies(directory)
    train = encode_pairs(read_tsv(directory / "train.tsv"), english, zhoric)
    return Data(english, zhoric, train, read_tsv(directory / "dev.tsv"))


def start(model_config: ModelConfig, config: TrainingConfig, examples: int) -> Run:
    """Return a new training; the seed decides the weights."""
    torch.manual_seed(config.seed)  # of the weights here, and of the dropout later
    model = Seq2Seq(model_config)
    optimizer = Adam(model.parameters(), lr=config.max_learning_rate)
    steps = math.ceil(examples / config.batch_size)
    scheduler = OneCycleLR(
        optimizer, max_lr=config.max_learning_rate, total_steps=config.epochs * steps
    )
    return Run(model, config, optimizer, scheduler, steps)


def state_path(output: Path) -> Path:
    """Return where the state of an unfinished training is kept, beside its checkpoint."""
    return output.with_suffix(".training.pt")


def save_state(run: Run, path: Path) -> None:
    """Write all that a training needs to go on as if nothing had happened."""
    state = {
        "model_config": asdict(run.model.config),
        "config": asdict(run.config),
        "steps_per_epoch": run.steps_per_epoch,
        "step": run.step,
        "best_bleu": run.best_bleu,
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "scheduler": run.scheduler.state_dict(),
        "random": torch.get_rng_state(),  # for the dropout
    }
    write_atomically(path, lambda temporary: torch.save(state, temporary))


def load_state(path: Path, examples: int) -> Run:
    """Return a training as it was when its state was saved, settings included.

    Raises:
        InputError: if there is no state, it cannot be read, or it is of other data.
    """
    if not path.is_file():
        raise InputError(f"nothing to resume: no {path}; run the command without --resume")
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        run = start(
            ModelConfig(**state["model_config"]), TrainingConfig(**state["config"]), examples
        )
        run.model.load_state_dict(state["model"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.scheduler.load_state_dict(state["scheduler"])
        run.step, run.best_bleu = state["step"], state["best_bleu"]
        torch.set_rng_state(state["random"])
    except DAMAGE as error:
        raise InputError(f"{path} is damaged; run the command without --resume") from error
    if run.steps_per_epoch != state["steps_per_epoch"]:
        raise InputError(f"{path} belongs to other data; run the command without --resume")
    return run


def train(run: Run, data: Data, output: Path, report: Callable[[str], None] = print) -> float:
    """Train to the end of the last epoch; return the best BLEU on the dev set.

    After each epoch the dev set is translated, and the weights are written to output if they are
    the best so far. The state is saved beside it every SAVE_EVERY steps and removed at the end.
    """
    state = state_path(output)
    if run.step == 0:
        # Say now, not after some minutes, that one cannot write there; and drop an older training's
        # state, which must not be resumed in the place of this one.
        write_atomically(state, Path.touch)
        state.unlink()
        _keep_previous(output, report)
    while run.step < run.total_steps:
        epoch = run.step // run.steps_per_epoch + 1
        started = time.perf_counter()
        loss = train_epoch(run, data.train, state)
        bleu = dev_bleu(run.model, data)
        better = bleu > run.best_bleu or not output.exists()
        if better:
            run.best_bleu = bleu
            save_checkpoint(run.model, output)
        save_state(run, state)
        report(
            f"epoch {epoch}/{run.config.epochs}: loss {loss:.4f}, dev BLEU {bleu:.2f}, "
            f"{time.perf_counter() - started:.0f} s" + (f", saved {output.name}" if better else "")
        )
    state.unlink(missing_ok=True)
    return run.best_bleu


def previous_path(output: Path) -> Path:
    """Return where the weights of an older training are kept."""
    return output.with_suffix(".previous.safetensors")


def _keep_previous(output: Path, report: Callable[[str], None]) -> None:
    """Move an older training's weights aside: these may become worse."""
    if output.exists():
        previous = previous_path(output)
        output.replace(previous)
        report(f"the weights of the training before are kept in {previous.name}")


def train_epoch(run: Run, examples: Sequence[Example], state: Path) -> float:
    """Do the rest of the current epoch; return its mean loss a batch."""
    from tqdm import tqdm

    epoch, done = divmod(run.step, run.steps_per_epoch)
    # The order follows from seed and epoch alone, so a resumed epoch meets the same batches.
    generator = torch.Generator().manual_seed(1000 * run.config.seed + epoch)
    batches = training_batches(examples, run.config.batch_size, generator)
    losses = []
    bar = tqdm(
        batches[done:],
        initial=done,
        total=len(batches),
        desc=f"epoch {epoch + 1}",
        leave=False,
        disable=None,
    )
    with bar:
        for batch in bar:
            losses.append(train_step(run, [examples[index] for index in batch]))
            bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
            # The end of an epoch is saved after its validation, which a resumed run must not miss.
            if run.step % SAVE_EVERY == 0 and run.step % run.steps_per_epoch != 0:
                save_state(run, state)
    return sum(losses) / len(losses)


def train_step(run: Run, examples: Sequence[Example]) -> float:
    """Learn from one batch; return its loss.

    Raises:
        InputError: if the loss is not a number.
    """
    source, lengths, target = make_batch(examples)
    # The decoder reads the target without its last token and is to say it without the first.
    logits = run.model(source, lengths, target[:, :-1])
    loss: Tensor = masked_cross_entropy(logits, target[:, 1:], PAD)
    if not loss.isfinite():
        raise InputError(
            f"the loss is {loss.item()} at step {run.step + 1}: a task computes no finite number; "
            "find it with: python -m nmt check"
        )
    run.optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    clip_grad_norm_(run.model.parameters(), run.config.clip_norm)
    run.optimizer.step()
    run.scheduler.step()
    run.step += 1
    return loss.item()


def dev_bleu(model: Seq2Seq, data: Data) -> float:
    """Return the BLEU, 0 to 100, of greedy translations of the dev set."""
    # Not nmt.bleu: training must not depend on a task it does not need.
    from sacrebleu import corpus_bleu

    sources = [example.source for example in encode_pairs(data.dev, data.english, data.zhoric)]
    outputs = greedy(model, sources, SearchConfig.max_length)
    translations = [" ".join(data.zhoric.decode(output)) for output in outputs]
    references = [" ".join(pair.target) for pair in data.dev]
    return float(corpus_bleu(translations, [references], tokenize="none").score)
