"""Draw where the decoder looked."""

from pathlib import Path

from matplotlib.figure import Figure

from nmt.files import write_atomically
from nmt.translation import Translation


def draw_heatmap(translation: Translation, path: str | Path) -> None:
    """Write the attention weights of a translation as a PNG."""
    figure = heatmap(translation)
    write_atomically(Path(path), lambda place: figure.savefig(place, format="png", dpi=150))


def heatmap(translation: Translation) -> Figure:
    """Draw the attention weights of a translation: a row a target word.

    A figure made without pyplot needs no display and no choice of a backend.
    """
    columns, rows = len(translation.source), len(translation.target)
    figure = Figure(figsize=(2.5 + 0.45 * columns, 1.8 + 0.38 * rows), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(translation.weights.numpy(), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(
        range(columns), labels=translation.source, rotation=60, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(rows), labels=translation.target)
    axes.set_xlabel("English, read")
    axes.set_ylabel("Zhoric, written")
    figure.colorbar(image, ax=axes, label="attention weight")
    return figure
