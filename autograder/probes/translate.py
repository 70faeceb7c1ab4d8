"""Translate with the student's code and weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from nmt.model import ModelConfig, Seq2Seq
from nmt.translation import translate as translate_all
from nmt.vocabulary import Vocabulary

DATA = Path(__file__).resolve().parents[1] / "data"
ENGLISH = Vocabulary.load(DATA / "english.vocab")
ZHORIC = Vocabulary.load(DATA / "zhoric.vocab")

_models: list[Seq2Seq] = []


def load(weights: Mapping[str, Tensor]) -> None:
    """Make a model of these weights; later calls translate with it."""
    model = Seq2Seq(ModelConfig(source_size=len(ENGLISH), target_size=len(ZHORIC), attention=True))
    model.load_state_dict(dict(weights))
    _models[:] = [model.eval()]


def translate(sentences: list[str], beam_size: int, max_length: int, alpha: float) -> list[str]:
    """Translate English sentences."""
    return translate_all(
        _models[0],
        ENGLISH,
        ZHORIC,
        sentences,
        beam_size=beam_size,
        max_length=max_length,
        alpha=alpha,
    )
