"""Draw where the trained reference looks while it translates a sentence of the dev set."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from nmt.corpus import load_vocabularies
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
    """Return the figure; each large weight is written into its field."""
    found = translation(root)
    figure = Figure(figsize=(5.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    # pcolormesh, not imshow: fields are shapes then, not a picture inside of the drawing.
    axes.pcolormesh(
        found.weights.numpy(), cmap="Blues", vmin=0, vmax=1, edgecolors="#dddddd", linewidth=0.5
    )
    for row, weights in enumerate(found.weights.tolist()):
        for column, weight in enumerate(weights):
            if weight >= 0.1:
                color = "white" if weight > 0.65 else "#222222"
                text = f"{weight:.1f}".lstrip("0") if weight < 0.95 else "1"
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center",
                          color=color, fontsize=7.5)  # fmt: skip
    _name_axes(figure, found.source, found.target)
    return figure


def _name_axes(figure: Figure, source: list[str], target: list[str]) -> None:
    (axes,) = figure.axes
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xticks([i + 0.5 for i in range(len(source))], source, rotation=50, ha="left")
    axes.set_yticks([i + 0.5 for i in range(len(target))], target)
    axes.tick_params(length=0)
    axes.set_xlabel("English, read")
    axes.set_ylabel("Zhoric, written")
    for spine in axes.spines.values():
        spine.set_visible(False)
