"""Encoder, model and checkpoints."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from assignment import facts
from nmt.encoder import Encoder
from nmt.files import InputError
from nmt.masking import padding_mask
from nmt.model import ModelConfig, Seq2Seq, load_checkpoint, save_checkpoint

SOURCE = torch.tensor([[4, 5, 6, 7, 2], [8, 2, 0, 0, 0], [6, 4, 2, 0, 0]])
LENGTHS = torch.tensor([5, 2, 3])
TARGET = torch.tensor([[1, 4, 5, 6], [1, 7, 2, 0], [1, 2, 0, 0]])


@pytest.mark.parametrize("attention", [True, False])
def test_parameter_counts(attention: bool) -> None:
    """Has the model exactly the published number of parameters?"""
    sizes = facts.load().model
    model = Seq2Seq(ModelConfig(60, 36, attention=attention))
    expected = sizes.parameters_attention if attention else sizes.parameters_seq2seq
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


def test_encoder_is_torchs_bidirectional_lstm() -> None:
    """Does the encoder agree with torch's packed bidirectional LSTM?"""
    encoder = Encoder(3, 5, 7).double()
    lstm = nn.LSTM(3, 5, bidirectional=True, batch_first=True).double()
    for suffix, cell in (("", encoder.forward_cell), ("_reverse", encoder.backward_cell)):
        for name, parameter in cell.named_parameters():
            nn.init.normal_(parameter)
            getattr(
                lstm, f"{name.replace('_ih', '_ih_l0').replace('_hh', '_hh_l0')}{suffix}"
            ).data = parameter.data
    x = torch.randn(3, 5, 3, dtype=torch.float64)
    packed = nn.utils.rnn.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    expected, (h, c) = lstm(packed)
    expected = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)[0]

    mask = padding_mask(LENGTHS, 5)
    outputs, state = encoder(x, mask)
    torch.testing.assert_close(outputs[~mask], expected[~mask])
    torch.testing.assert_close(state[0], encoder.project_h(torch.cat([h[0], h[1]], 1)))
    torch.testing.assert_close(state[1], encoder.project_c(torch.cat([c[0], c[1]], 1)))


def test_padding_changes_nothing(model: Seq2Seq) -> None:
    """Does a short row beside a long one get the states and the attention it has alone?"""
    together, states = model.encode(SOURCE, LENGTHS)
    tokens = torch.tensor([1, 1, 1])
    logits, _, weights = model.step(tokens, states, together)
    assert weights[together.mask].count_nonzero() == 0
    for row, length in enumerate(LENGTHS.tolist()):
        memory, state = model.encode(SOURCE[row : row + 1, :length], LENGTHS[row : row + 1])
        alone, _, own = model.step(tokens[:1], state, memory)
        torch.testing.assert_close(together.values[row : row + 1, :length], memory.values)
        torch.testing.assert_close([part[row : row + 1] for part in states], list(state))
        torch.testing.assert_close(weights[row : row + 1, :length], own)
        torch.testing.assert_close(logits[row : row + 1], alone)


def test_training_sees_the_steps_of_decoding(model: Seq2Seq) -> None:
    """Does teacher forcing give the logits of single steps?"""
    logits = model(SOURCE, LENGTHS, TARGET)
    assert logits.shape == (3, 4, 8)
    memory, state = model.encode(SOURCE, LENGTHS)
    assert state[2].count_nonzero() == 0  # o_0
    for t in range(TARGET.shape[1]):
        step, state, _ = model.step(TARGET[:, t], state, memory)
        torch.testing.assert_close(logits[:, t], step)


def test_later_targets_do_not_change_earlier_scores(model: Seq2Seq) -> None:
    """Does no score depend on tokens that come later?"""
    changed = TARGET.clone()
    changed[:, 2] = 3
    before, after = model(SOURCE, LENGTHS, TARGET), model(SOURCE, LENGTHS, changed)
    torch.testing.assert_close(before[:, :2], after[:, :2], rtol=0, atol=0)
    assert (before[:, 2] != after[:, 2]).any()


def test_every_parameter_learns(model: Seq2Seq) -> None:
    """Does the gradient reach every parameter?"""
    model(SOURCE, LENGTHS, TARGET).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name


def test_target_rows_have_the_names_that_graders_permute(model: Seq2Seq) -> None:
    """Do the tensors with a row a target word have their agreed names?"""
    state = model.state_dict()
    assert state["target_embedding.weight"].shape[0] == model.config.target_size
    assert state["output.weight"].shape == (model.config.target_size, model.config.decoder_size)
    assert state["output.bias"].shape == (model.config.target_size,)


def test_checkpoint_brings_the_model_back(model: Seq2Seq, tmp_path: Path) -> None:
    """Are sizes and weights the same after saving and loading?"""
    model = model.float()
    save_checkpoint(model.train(), tmp_path / "new" / "model.safetensors")
    loaded = load_checkpoint(tmp_path / "new" / "model.safetensors")
    assert loaded.config == model.config
    assert not loaded.training
    torch.testing.assert_close(loaded.state_dict(), model.state_dict(), rtol=0, atol=0)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["model.safetensors"]


def test_checkpoint_is_as_readable_as_other_files(model: Seq2Seq, tmp_path: Path) -> None:
    """Has it the permissions of a file that Python makes?"""
    (tmp_path / "other").touch()
    save_checkpoint(model, tmp_path / "model.safetensors")
    modes = {path.name: path.stat().st_mode for path in tmp_path.iterdir()}
    assert modes["model.safetensors"] == modes["other"]


def _rewrite(path: Path, config: object, **changes: Tensor | None) -> None:
    tensors: dict[str, Tensor | None] = {**load_file(path), **changes}
    kept = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    save_file(kept, path, None if config is None else {"config": json.dumps(config)})


GOOD: dict[str, Any] = {
    "source_size": 9,
    "target_size": 8,
    "embedding_size": 3,
    "encoder_size": 5,
    "decoder_size": 7,
    "attention": True,
    "dropout": 0.0,
}
BIAS = "output.bias"


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        (None, {}, "does not say which model"),
        ([1], {}, "does not say which model"),
        ({"source_size": 9}, {}, "does not say which model"),
        ({**GOOD, "target_size": "8"}, {}, "target_size must be a whole number"),
        ({**GOOD, "encoder_size": 0}, {}, "encoder_size must be a whole number"),
        ({**GOOD, "decoder_size": 10**9}, {}, "decoder_size must be a whole number"),
        ({**GOOD, "attention": 1}, {}, "attention must be true or false"),
        ({**GOOD, "dropout": None}, {}, "dropout must be"),
        ({**GOOD, "decoder_size": 6}, {}, r"expected \(6, 10\), got \(7, 10\)"),
        (GOOD, {BIAS: torch.zeros(9)}, r"output.bias: expected \(8,\), got \(9,\)"),
        (GOOD, {BIAS: None}, r"output.bias: expected \(8,\), got no such tensor"),
        (GOOD, {"extra": torch.zeros(1)}, r"extra: expected no such tensor, got \(1,\)"),
    ],
)
def test_wrong_checkpoints(
    tmp_path: Path, config: object, changes: dict[str, Tensor | None], message: str
) -> None:
    """Is a checkpoint that does not fit refused in one line that says what differs?"""
    path = tmp_path / "model.safetensors"
    save_checkpoint(Seq2Seq(ModelConfig(**GOOD)), path)
    _rewrite(path, config, **changes)
    with pytest.raises(InputError, match=message) as caught:
        load_checkpoint(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint at all", b"\xff" * 100])
def test_damaged_checkpoints(tmp_path: Path, content: bytes) -> None:
    """Is a file that is no checkpoint refused?"""
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a safetensors file, or is damaged"):
        load_checkpoint(path)


def test_missing_checkpoint(tmp_path: Path) -> None:
    """Does the error say how to make a checkpoint?"""
    with pytest.raises(InputError, match="python -m nmt train"):
        load_checkpoint(tmp_path / "model.safetensors")


def test_interrupted_writing_leaves_the_old_checkpoint(
    model: Seq2Seq, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is the old file whole, and no other left, if writing is interrupted?"""
    path = tmp_path / "model.safetensors"
    save_checkpoint(model, path)
    before = path.read_bytes()

    def interrupted(tensors: object, place: Path, metadata: object) -> None:
        place.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("nmt.model.save_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(model, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_config_cannot_change(config: ModelConfig) -> None:
    """Is a changed configuration checked like a new one?"""
    with pytest.raises(InputError, match="dropout must be"):
        replace(config, dropout=1.0)
