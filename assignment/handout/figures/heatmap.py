"""Draw where the trained reference looks while it translates a sentence of the dev set."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from nmt.corpus import load_vocabularies
from nmt.heatmap import heatmap
from nmt.model import load_checkpoint
from nmt.settings import SearchConfig
from nmt.translation import Translation, translate_with_attention

SENTENCE = "the kings see the angry houses near a red horse"  # data/dev.tsv


def translation(root: Path) -> Translation:
    """Translate the sentence with the trained reference."""
    model = load_checkpoint(root / "reference/model.safetensors")
    vocabularies = load_vocabularies(root / "data")
    return translate_with_attention(model, *vocabularies, SENTENCE, SearchConfig())


def looks(root: Path) -> list[tuple[str, str, float]]:
    """Return each word written, the source word it looks at most, and the weight of that."""
    found = translation(root)
    weights, places = found.weights.max(dim=1)
    return [
        (word, found.source[place], weight)
        for word, place, weight in zip(found.target, places.tolist(), weights.tolist(), strict=True)
    ]


def describe(root: Path) -> str:
    """Describe the picture for who cannot see it."""
    parts = [f"{word} at {seen} with {weight:.2f}" for word, seen, weight in looks(root)]
    text = ", ".join(parts).replace("</s>", "end mark")
    return f"A table of attention weights for the sentence {SENTENCE}. Looking most: {text}."


def draw(root: Path) -> Figure:
    """Return the figure that students get by `python -m nmt heatmap`."""
    return heatmap(translation(root))
