"""Lab 6: why scores are divided by √d."""

import math
from itertools import pairwise

from matplotlib.figure import Figure

from labs.experiment import Claim, Experiment, Results, Row, Table, Work, cross

# --- 6.1 Inner products ---


def products_table(results: Results) -> Table:
    """Show both variances."""
    ours = [[figures[name] for figures in results.each()] for name in ("variance", "scaled")]
    return Table("variance", ["q · k", "q · k / 8"], [Row("d = 64", ours, ("64", "1"))], ".3g")


def products_plot(results: Results, figure: Figure) -> None:
    """Draw how the inner products are distributed, beside the normal density."""
    axes = figure.add_subplot()
    figures, size = results.first(), results.values("size")[0]
    edges, counts = figures["edges"], figures["counts"]
    axes.stairs(counts, edges, fill=True, alpha=0.5, label="10,000 draws")
    middles = [(left + right) / 2 for left, right in pairwise(edges)]
    scale = sum(counts) * (edges[1] - edges[0]) / math.sqrt(2 * math.pi * size)
    density = [scale * math.exp(-x * x / (2 * size)) for x in middles]
    axes.plot(middles, density, "black", label="normal, variance 64")
    axes.set(xlabel="q · k", ylabel="draws")
    axes.legend()


def variance_is_size(results: Results) -> bool:
    """Tell whether the variances are 64 and 1, to 10 %."""
    figures = results.first()
    plain, scaled = figures["variance"] / 64, figures["scaled"]
    return bool(abs(plain - 1) < 0.1 and abs(scaled - 1) < 0.1)


# --- 6.2 Softmax ---

WIDTHS = (1, 4, 16, 64, 256, 1024)


def sharpness_table(results: Results) -> Table:
    """Show the largest weight and slope, plain and scaled, for each width."""
    rows = [
        Row(
            f"{label}, {kind}",
            [[figures[kind][name] for figures in results.each(size=size)] for size in WIDTHS],
        )
        for name, label in (("largest", "largest weight"), ("slope", "largest slope"))
        for kind in ("plain", "scaled")
    ]
    return Table("mean of the", [f"d = {size}" for size in WIDTHS], rows, ".2f")


def sharpness_plot(results: Results, figure: Figure) -> None:
    """Draw the largest weight and the slope over the width."""
    panels = figure.subplots(1, 2)
    titles = {"largest": "largest weight", "slope": "largest slope w (1 − w)"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        for kind, label in (("plain", "q · k"), ("scaled", "q · k / √d")):
            means = [results.first(size=size)[kind][name] for size in WIDTHS]
            axes.plot(WIDTHS, means, ".-", label=label)
        axes.set(xscale="log", xlabel="d", ylabel=f"mean {title}", ylim=(0, None))
        axes.legend()


def saturates(results: Results) -> bool:
    """Tell whether plain scores saturate softmax as d grows, and scaled ones do not."""
    narrow, wide = results.first(size=WIDTHS[1]), results.first(size=WIDTHS[-1])
    change = abs(wide["scaled"]["largest"] - narrow["scaled"]["largest"])
    saturated = wide["plain"]["largest"] > 0.9 and wide["plain"]["slope"] < 0.1
    return bool(saturated and change < 0.1)


# --- 6.3 A soft look-up ---

LOUDNESS = (0, 1, 2, 4, 8, 16)


def look_up_table(results: Results) -> Table:
    """Show what is found, with all keys and without the last."""
    rows = [
        Row(
            "last key masked" if masked else "all five keys",
            [[found] for found in results.first(masked=masked)["contexts"]],
        )
        for masked in (False, True)
    ]
    return Table("value found", [f"query × {loudness}" for loudness in LOUDNESS], rows, ".2f")


def look_up_plot(results: Results, figure: Figure) -> None:
    """Draw the weights of the keys for each loudness."""
    axes = figure.add_subplot()
    weights = results.first(masked=False)["weights"]
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(5), labels=[f"key {k}\n→ {10 * k}" for k in range(1, 6)])
    axes.set_yticks(range(len(LOUDNESS)), labels=[f"× {loudness}" for loudness in LOUDNESS])
    axes.set_ylabel("query: key 2, times")
    figure.colorbar(image, ax=axes, label="weight")


def looks_up(results: Results) -> bool:
    """Tell whether the look-up goes from the mean of the unmasked values to the second value."""
    everything, without_last = (results.first(masked=m)["contexts"] for m in (False, True))
    starts = math.isclose(everything[0], 30) and math.isclose(without_last[0], 25)
    return starts and all(abs(found[-1] - 20) < 0.01 for found in (everything, without_last))


EXPERIMENTS = (
    Experiment(
        id="6.1",
        title="Inner products grow with d",
        about="10,000 inner products of two standard normal vectors, d = 64.",
        caption="The inner product of d pairs should have a variance of d, a standard deviation "
        "of 8 here. How often is it beyond ±16?",
        work=Work("scaling:products"),
        settings=[{"size": 64, "count": 10_000}],
        seeds=5,
        table=products_table,
        plot=products_plot,
        claims=(Claim("The variance is about 64; divided by 8, about 1.", variance_is_size),),
    ),
    Experiment(
        id="6.2",
        title="What softmax does with them",
        about="A query scores 10 keys, all standard normal, 1,000 times; softmax with and without "
        "the division by √d. The slope w (1 − w) is what a weight passes back to its score.",
        caption="Which line goes to 1 as d grows: a hard choice? And what becomes of its slope, "
        "and with it of the gradient?",
        work=Work("scaling:sharpness"),
        settings=cross(size=WIDTHS, keys=[10], count=[1000]),
        seeds=3,
        table=sharpness_table,
        plot=sharpness_plot,
        claims=(
            Claim(
                "Unscaled scores saturate softmax as d grows, scaled ones do not.",
                saturates,
            ),
        ),
    ),
    Experiment(
        id="6.3",
        title="A soft look-up",
        about="Attention in general: a query is compared with keys, and the answer is a mean of "
        "their values. Five one-hot keys hold the values 10, 20, 30, 40, 50; the query is the "
        "second key times a number. It runs on your dot_score and attend.",
        caption="A weak query gets the mean of all values, a loud one the value of its key: a "
        "look-up that one can differentiate.",
        work=Work("scaling:look_up", lambda settings: ("masking", "attention")),
        settings=cross(masked=[False, True], loudness=[list(LOUDNESS)]),
        table=look_up_table,
        plot=look_up_plot,
        claims=(
            Claim("From the mean of the values that are not masked to the second value.", looks_up),
        ),
    ),
)
