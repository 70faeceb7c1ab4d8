"""Training: reproducible, resumable, and keeping the best."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from torch import Tensor

from assignment import facts
from nmt import training
from nmt.corpus import make_batch
from nmt.files import InputError
from nmt.masking import masked_cross_entropy
from nmt.model import Seq2Seq, load_checkpoint
from nmt.settings import ModelConfig, SearchConfig, TrainingConfig
from nmt.translation import evaluating

# Five steps an epoch; the dropout makes the weights depend on the random state.
CONFIG = TrainingConfig(epochs=3, batch_size=8)
MODEL = ModelConfig(9, 8, embedding_size=3, encoder_size=5, decoder_size=7, dropout=0.2)
STEPS = 15


def _silent(_: str) -> None:
    pass


def _train(data: Path, output: Path, *, resume: bool = False) -> training.Run:
    loaded = training.load_data(data)
    examples = len(loaded.train)
    run = (
        training.load_state(training.state_path(output), examples)
        if resume
        else training.start(MODEL, CONFIG, examples)
    )
    training.train(run, loaded, output, _silent)
    return run


def _fit(model: Seq2Seq, data: training.Data) -> float:
    """Return a score that rises from epoch to epoch, as the BLEU of so small a model need not."""
    source, lengths, target = make_batch(data.train)
    with evaluating(model):
        loss = masked_cross_entropy(model(source, lengths, target[:, :-1]), target[:, 1:], 0)
    return 100 - loss.item()


def _interrupt(monkeypatch: pytest.MonkeyPatch, name: str, call: int) -> None:
    """Make a function of the module be interrupted when it is called for that time."""
    original: Callable[..., object] = getattr(training, name)
    calls = iter(range(1, 1000))

    def interrupted(*arguments: object) -> object:
        if next(calls) == call:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(training, name, interrupted)


def test_defaults_are_the_assignments() -> None:
    """Are the package's defaults the assignment's numbers?"""
    known = facts.load()
    assert {
        "epochs": known.training.epochs,
        "batch_size": known.training.batch_size,
        "max_learning_rate": known.training.max_learning_rate,
        "clip_norm": known.training.clip_norm,
        "seed": known.training.seed,
    } == asdict(TrainingConfig())
    sizes = ModelConfig(60, 36)
    assert sizes.attention
    assert (sizes.embedding_size, sizes.encoder_size, sizes.decoder_size) == (
        known.model.embedding_size,
        known.model.encoder_size,
        known.model.decoder_size,
    )
    search = known.translate
    assert SearchConfig() == SearchConfig(search.beam_size, search.max_length, search.alpha)


def test_the_seed_decides_the_weights(data: Path, tmp_path: Path) -> None:
    """Do equal seeds give equal weights, and others other weights?"""
    first = _train(data, tmp_path / "first.safetensors").model.state_dict()
    again = _train(data, tmp_path / "again.safetensors").model.state_dict()
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    loaded = training.load_data(data)
    seeded = training.start(MODEL, TrainingConfig(epochs=3, batch_size=8, seed=2), 40)
    training.train(seeded, loaded, tmp_path / "other.safetensors", _silent)
    assert (seeded.model.output.weight != first["output.weight"]).all()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("train_step", 5),  # in the first epoch, a step after a saved state
        ("train_step", 9),  # in the second epoch, some steps after a saved state
        ("masked_cross_entropy", 6),  # in the middle of a step
        ("dev_bleu", 3),  # between an epoch's last step, a third one, and its validation
        ("save_checkpoint", 1),
        ("save_state", 3),
        ("save_state", 6),  # after the last validation
    ],
)
def test_an_interrupted_training_ends_like_one_that_was_not(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: int
) -> None:
    """Does a resumed training end with the very weights of an uninterrupted one?"""
    monkeypatch.setattr(training, "SAVE_EVERY", 3)
    monkeypatch.setattr(training, "dev_bleu", _fit)
    whole, broken = tmp_path / "whole.safetensors", tmp_path / "broken.safetensors"
    expected = _train(data, whole)
    assert expected.best_bleu == _fit(expected.model, training.load_data(data))  # the last epoch's

    with monkeypatch.context() as context:
        _interrupt(context, name, call)
        with pytest.raises(KeyboardInterrupt):
            _train(data, broken)
    assert training.state_path(broken).exists()
    torch.manual_seed(99)
    resumed = _train(data, broken, resume=True)

    assert resumed.step == expected.step == STEPS
    assert resumed.best_bleu == expected.best_bleu
    torch.testing.assert_close(
        resumed.model.state_dict(), expected.model.state_dict(), rtol=0, atol=0
    )
    assert broken.read_bytes() == whole.read_bytes()
    assert not training.state_path(broken).exists()


def test_the_best_epoch_is_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does the checkpoint hold the epoch with the highest BLEU, not the last?"""
    seen: list[Tensor] = []

    def bleu(model: torch.nn.Module, _: training.Data) -> float:
        seen.append(model.state_dict()["output.bias"].clone())
        return [10.0, 30.0, 20.0][len(seen) - 1]

    monkeypatch.setattr(training, "dev_bleu", bleu)
    run = _train(data, tmp_path / "model.safetensors")
    kept = load_checkpoint(tmp_path / "model.safetensors").output.bias
    assert run.best_bleu == 30.0
    torch.testing.assert_close(kept.detach(), seen[1], rtol=0, atol=0)
    assert not torch.equal(seen[1], seen[2])


def test_it_learns(data: Path, tmp_path: Path) -> None:
    """Does training learn a few sentences by heart?"""
    pairs = (data / "train.tsv").read_text(encoding="utf-8")
    (data / "dev.tsv").write_text(pairs, encoding="utf-8")
    loaded = training.load_data(data)
    model = ModelConfig(9, 8, embedding_size=8, encoder_size=16, decoder_size=32)
    config = TrainingConfig(epochs=40, batch_size=8, max_learning_rate=0.01)
    run = training.start(model, config, len(loaded.train))
    best = training.train(run, loaded, tmp_path / "model.safetensors", _silent)
    assert best > 80  # 40 pairs, learned by heart; an untrained model is below 20


def test_dev_bleu_of_a_model_that_says_nothing(data: Path) -> None:
    """Is BLEU 0 for empty translations, and the model left in training mode?"""
    loaded = training.load_data(data)
    run = training.start(MODEL, CONFIG, len(loaded.train))
    with torch.no_grad():
        run.model.output.bias[2] = 1000.0  # </s> at once
    assert training.dev_bleu(run.model, loaded) == 0.0
    assert run.model.training  # the mode is put back


def test_a_loss_that_is_no_number_is_reported(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does training stop at the first step whose loss is not finite?"""
    monkeypatch.setattr(training, "masked_cross_entropy", lambda *_: torch.tensor(torch.nan))
    with pytest.raises(InputError, match="the loss is nan at step 1"):
        _train(data, tmp_path / "model.safetensors")


def test_nothing_to_resume(tmp_path: Path) -> None:
    """Is it an error to resume what never started?"""
    with pytest.raises(InputError, match="nothing to resume"):
        training.load_state(tmp_path / "model.training.pt", 40)


@pytest.mark.parametrize("content", [b"", b"not a state", b"PK\x03\x04 and no more"])
def test_damaged_state(tmp_path: Path, content: bytes) -> None:
    """Is a damaged state refused in one line?"""
    path = tmp_path / "model.training.pt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        training.load_state(path, 40)


def test_state_of_other_data(tmp_path: Path) -> None:
    """Is a state refused that belongs to a corpus of another size?"""
    path = tmp_path / "model.training.pt"
    training.save_state(training.start(MODEL, CONFIG, 40), path)
    with pytest.raises(InputError, match="belongs to other data"):
        training.load_state(path, 80)
