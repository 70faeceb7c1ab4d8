"""Put encoder and decoder together, with and without attention; save and load the weights."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from nmt.attention import AttentionDecoder, Memory
from nmt.encoder import Encoder
from nmt.files import InputError, write_atomically
from nmt.lstm import LSTMCell, State
from nmt.masking import padding_mask
from nmt.settings import ModelConfig as ModelConfig  # "as": part of this module's interface

DecoderState = tuple[Tensor, Tensor, Tensor]  # h, c and the last output o, each (B, H)


class PlainDecoder(nn.Module):
    """Decode without attention, behind the interface of AttentionDecoder."""

    def __init__(self, embedding_size: int, hidden_size: int, dropout: float = 0.0) -> None:
        """Create the cell."""
        super().__init__()
        self.cell = LSTMCell(embedding_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def step(
        self, y: Tensor, o_prev: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, State, Tensor]:
        """Decode one token from its embedding and the state alone; all weights are 0.

        Shapes as in AttentionDecoder.step; o_prev and the memory's contents are not used.
        """
        h, c = self.cell(y, state)
        return self.dropout(h), (h, c), y.new_zeros(memory.mask.shape)


class Seq2Seq(nn.Module):
    """Translate: an encoder, a decoder that runs a token at a time, and an output layer."""

    def __init__(self, config: ModelConfig) -> None:
        """Create the layers."""
        super().__init__()
        self.config = config
        embedding, hidden = config.embedding_size, config.decoder_size
        self.source_embedding = nn.Embedding(config.source_size, embedding)
        self.target_embedding = nn.Embedding(config.target_size, embedding)
        self.encoder = Encoder(embedding, config.encoder_size, hidden)
        self.decoder: AttentionDecoder | PlainDecoder = (
            AttentionDecoder(embedding, hidden, 2 * config.encoder_size, config.dropout)
            if config.attention
            else PlainDecoder(embedding, hidden, config.dropout)
        )
        self.output = nn.Linear(hidden, config.target_size)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Memory, DecoderState]:
        """Encode a batch of padded sources, and return where the decoder starts.

        source (B, S) int64, lengths (B,) int64 -> memory of B rows; (h, c, o), o being zeros.
        """
        mask = padding_mask(lengths, source.shape[1])
        values, (h, c) = self.encoder(self.source_embedding(source), mask)
        decoder = self.decoder
        keys = decoder.att_projection(values) if isinstance(decoder, AttentionDecoder) else values
        return Memory(values, keys, mask), (h, c, torch.zeros_like(h))

    def step(
        self, tokens: Tensor, state: DecoderState, memory: Memory
    ) -> tuple[Tensor, DecoderState, Tensor]:
        """Read one token a row and score what may come next.

        tokens (B,) int64 -> logits (B, V), the next state, attention weights (B, S).
        """
        h, c, o = state
        y = self.target_embedding(tokens)  # (B, E)
        o, (h, c), weights = self.decoder.step(y, o, (h, c), memory)
        return self.output(o), (h, c, o), weights

    def forward(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """Score every next token of given targets (teacher forcing).

        source (B, S) and target (B, T) int64, lengths (B,) -> logits (B, T, V): those at t have
        seen the target up to t.
        """
        memory, (h, c, o) = self.encode(source, lengths)
        outputs = []  # T times (B, H)
        for y in self.target_embedding(target.t()).unbind():  # T times (B, E)
            o, (h, c), _ = self.decoder.step(y, o, (h, c), memory)
            outputs.append(o)
        # One product for all steps: the output layer does not feed back.
        logits: Tensor = self.output(torch.stack(outputs, dim=1))
        return logits


def save_checkpoint(model: Seq2Seq, path: str | Path) -> None:
    """Write the weights as safetensors, with the sizes as JSON in its header."""
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    metadata = {"config": json.dumps(asdict(model.config))}
    write_atomically(Path(path), lambda temporary: save_file(tensors, temporary, metadata))


def load_checkpoint(path: str | Path) -> Seq2Seq:
    """Read a model from a checkpoint, in evaluation mode.

    Raises:
        InputError: if the file is missing, is no checkpoint, or does not fit the model.
    """
    if not Path(path).is_file():
        raise InputError(f"no checkpoint at {path}; train one with: python -m nmt train")
    try:
        with safe_open(path, framework="pt") as file:
            metadata, names = file.metadata() or {}, file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} is not a safetensors file, or is damaged: {error}") from error
    model = Seq2Seq(_read_config(metadata.get("config"), path))
    _check_shapes(model, tensors, path)
    model.load_state_dict(tensors)
    return model.eval()


def _read_config(text: str | None, path: str | Path) -> ModelConfig:
    """Return the sizes in a checkpoint's header."""
    try:
        values = json.loads(text or "")
        names = {field.name for field in fields(ModelConfig)}
        return ModelConfig(**{name: values[name] for name in names})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} does not say which model it belongs to; write it with: python -m nmt train"
        ) from error


def _check_shapes(model: Seq2Seq, tensors: dict[str, Tensor], path: str | Path) -> None:
    """Refuse tensors that are missing, unknown or of another shape than the model's."""
    expected = model.state_dict()
    for name in sorted(expected.keys() | tensors.keys()):
        want = tuple(expected[name].shape) if name in expected else "no such tensor"
        got = tuple(tensors[name].shape) if name in tensors else "no such tensor"
        if want != got:
            raise InputError(
                f"{path} does not fit: {name}: expected {want}, got {got}; train again"
            )
