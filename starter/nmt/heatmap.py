"""Draw where the decoder looked."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.files import write_atomically
from nmt.translation import Translation

WRITTEN = 0.1  # weights from here on are written into their fields
DARK = 0.65  # on fields of larger weights the ink is white


def draw_heatmap(translation: Translation, path: str | Path) -> None:
    """Write the attention weights of a translation as a PNG."""
    figure = heatmap(translation)
    write_atomically(Path(path), lambda place: figure.savefig(place, format="png", dpi=150))


def heatmap(translation: Translation) -> Figure:
    """Draw the attention weights of a translation: a row a target word.

    A figure made without pyplot needs no display and no choice of a backend.
    """
    columns, rows = len(translation.source), len(translation.target)
    figure = Figure(figsize=(1.4 + 0.4 * columns, 1.4 + 0.37 * rows), layout="constrained")
    axes = figure.add_subplot()
    # pcolormesh, not imshow: in the handout's SVG the fields are shapes then, not a picture.
    axes.pcolormesh(
        translation.weights.numpy(), cmap="Blues", vmin=0, vmax=1, edgecolors="#dddddd", lw=0.5
    )
    _write_weights(axes, translation.weights.tolist())
    _name_axes(axes, translation)
    return figure


def _write_weights(axes: Axes, weights: list[list[float]]) -> None:
    """Write each large weight into its field, `.7` for 0.7."""
    for row, values in enumerate(weights):
        for column, weight in enumerate(values):
            if weight >= WRITTEN:
                text = f"{weight:.1f}".lstrip("0") if weight < 0.95 else "1"
                ink = "white" if weight > DARK else "#222222"
                place = (column + 0.5, row + 0.5)
                axes.annotate(text, place, ha="center", va="center", color=ink, fontsize=7.5)


def _name_axes(axes: Axes, translation: Translation) -> None:
    """Put the words beside their rows and above their columns, the first row on top."""
    source, target = translation.source, translation.target
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xticks(
        [i + 0.5 for i in range(len(source))],
        source,
        rotation=50,
        ha="left",
        rotation_mode="anchor",
    )
    axes.set_yticks([i + 0.5 for i in range(len(target))], target)
    axes.tick_params(length=0, pad=6)
    axes.set_xlabel("English, read")
    axes.set_ylabel("Zhoric, written")
    axes.spines[:].set_visible(False)
