"""Lab 1: vanishing and exploding gradients."""

from matplotlib.figure import Figure

from labs.experiment import Claim, Experiment, Results, Row, Table, Work, cross

# --- 1.1 Powers of a matrix ---

RADII = (0.9, 1.0, 1.1)
POWERS = (1, 10, 20, 50, 100)
POWERS_LECTURE = {
    0.9: ("0.89", "0.25", "0.058", "1.8e-3", "9.2e-6"),
    1.0: ("0.99", "0.71", "0.47", "0.36", "0.35"),
    1.1: ("1.09", "1.85", "3.18", "42", "4,790"),
}


def powers_table(results: Results) -> Table:
    """Show the length at some powers, a row a spectral radius."""
    rows = []
    for radius in RADII:
        lengths = [figures["lengths"] for figures in results.each(radius=radius)]
        ours = [[own[k - 1] for own in lengths] for k in POWERS]
        rows.append(Row(f"ρ = {radius}", ours, POWERS_LECTURE[radius]))
    return Table("", [f"k = {k}" for k in POWERS], rows, ".3g")


def powers_plot(results: Results, figure: Figure) -> None:
    """Draw the lengths over k, a line a seed."""
    axes = figure.add_subplot()
    for radius, style in zip(RADII, ("b:", "g-", "r--"), strict=True):
        for number, figures in enumerate(results.each(radius=radius)):
            label = f"ρ = {radius}" if number == 0 else None
            axes.plot(range(1, 101), figures["lengths"], style, alpha=0.6, label=label)
    axes.set(yscale="log", xlabel="k, times multiplied by W", ylabel="length of Wᵏv")
    axes.legend()


def last_lengths(results: Results) -> list[float]:
    """Return the lengths at the largest power, a number a radius."""
    return [results.first(radius=radius)["lengths"][POWERS[-1] - 1] for radius in RADII]


def trends(results: Results) -> bool:
    """Tell whether the length falls, stays (within a factor of 100), and rises."""
    fallen, stayed, risen = last_lengths(results)
    return fallen < 1e-3 and 1e-2 < stayed < 1e2 < risen


def near_power(results: Results) -> bool:
    """Tell whether the last lengths are as far apart as the powers of the radii are."""
    middle = last_lengths(results)[1]
    ratios = [
        length / (radius ** POWERS[-1] * middle)
        for radius, length in zip(RADII, last_lengths(results), strict=True)
    ]
    return all(0.1 < ratio < 10 for ratio in ratios)


# --- 1.2 Where the gradient comes from ---

DISTANCES = (10, 20)


def shares_table(results: Results) -> Table:
    """Show the share of the last five steps and of some distances, in percent."""
    shares = [figures["shares"] for figures in results.each()]
    ours = [[100 * sum(own[:5]) for own in shares]]
    ours += [[100 * own[distance] for own in shares] for distance in DISTANCES]
    columns = ["last 5 steps, %", *(f"distance {distance}, %" for distance in DISTANCES)]
    return Table("", columns, [Row("share of the gradient", ours, ("95.4", "0.06", "0"))], ".3g")


def shares_plot(results: Results, figure: Figure) -> None:
    """Draw the share over the distance."""
    axes = figure.add_subplot()
    for number, figures in enumerate(results.each(), start=1):
        shares = figures["shares"][:-1]  # at the first step h is 0, and so is the gradient
        axes.plot([100 * share for share in shares], ".-", label=f"seed {number}")
    axes.set(yscale="log", xlabel="distance to the last step, in steps", ylabel="share, %")
    axes.legend()


# --- 1.3 The cliff ---


def cliff_table(results: Results) -> Table:
    """Show loss and slope at the edge, and the steepest slope."""
    figures = results.first()
    loss, slope = figures["at"]
    _, steepest = figures["steepest"]
    return Table(
        "",
        ["L at w = 1.498", "dL/dw at w = 1.498", "steepest |dL/dw|", "|dL/dw| elsewhere, at most"],
        [
            Row(
                "the cliff",
                [[loss], [slope], [steepest], [figures["away"]]],
                ("0.061", "1,723", "4,500", "3"),
            )
        ],
        (".3f", ",.0f", ",.0f", ".1f"),
        f"The wall stands at w = {figures['steepest'][0]:.4f}, found in steps of 10⁻⁶; "
        "elsewhere is 0.1 or more away from it.",
    )


def cliff_plot(results: Results, figure: Figure) -> None:
    """Draw loss and slope over w."""
    figures = results.first()
    upper, lower = figure.subplots(2, sharex=True)
    upper.plot(figures["w"], figures["loss"])
    upper.set(ylabel="loss L")
    lower.plot(figures["w"], figures["slope"], "tab:red")
    w, steepest = figures["steepest"]  # between two of the steps that the line is drawn in
    lower.plot(w, steepest, "kv")
    lower.annotate(f"{steepest:,.0f}", (w, steepest), (8, -4), textcoords="offset points")
    lower.set(yscale="log", ylim=(1e-3, 3e4), ylabel="|dL/dw|", xlabel="w")


def at_the_edge(results: Results) -> bool:
    """Compare loss and slope at w = 1.498 with the lecture's digits."""
    loss, slope = results.first()["at"]
    return (f"{loss:.3f}", f"{slope:.0f}") == ("0.061", "1723")


def is_a_cliff(results: Results) -> bool:
    """Tell whether the loss is small before the wall, large after, and steep on it alone."""
    figures = results.first()
    _, steepest = figures["steepest"]
    sides = list(zip(figures["w"], figures["loss"], strict=True))
    before = max(loss for w, loss in sides if w < 1.498)
    after = min(loss for w, loss in sides if w >= 1.5)  # 1.88 at 1.499, still on the wall
    return bool(before < 0.1 and after > 2 and 4000 < steepest < 5000 and figures["away"] < 3)


# --- 1.4 Clipping ---

DESCENTS = {0: "unclipped", 1: "clipped to norm 1"}
DESCENTS_LECTURE = {
    0: ("-170.8", "3.24", "-170.8", "3.24"),
    1: ("1.398", "0.0093", "1.200", "0.0011"),
}
DESCENT_FORMS = {
    0: (".1f", ".2f") * 2,
    1: (".3f", ".4f") * 2,
}  # as many digits as the lecture prints


def descent_table(results: Results) -> Table:
    """Show where the first and the last step lead."""
    rows = []
    for clip, label in DESCENTS.items():
        path = results.first(clip=clip)["path"]
        ours = [[value] for value in (*path[0], *path[-1])]
        rows.append(Row(label, ours, DESCENTS_LECTURE[clip], DESCENT_FORMS[clip]))
    examples = [results.first(clip=limit)["example"] for limit in (5, 20)]
    clipped, whole = (f"({x:g}, {y:g})" for x, y in examples)
    return Table(
        "",
        ["w after step 1", "L after step 1", "w after step 50", "L after step 50"],
        rows,
        note=f"In general: (6, 8) clipped to 5 is {clipped}, clipped to 20 it is {whole}.",
    )


def descent_plot(results: Results, figure: Figure) -> None:
    """Draw the loss over the steps."""
    axes = figure.add_subplot()
    for clip, label in DESCENTS.items():
        losses = [loss for _, loss in results.first(clip=clip)["path"]]
        axes.plot(range(1, len(losses) + 1), losses, label=label)
    axes.set(yscale="log", xlabel="step", ylabel="loss L")
    axes.legend()


def descents_match(results: Results) -> bool:
    """Compare the descents with the lecture's digits."""
    for clip, forms in DESCENT_FORMS.items():
        path = results.first(clip=clip)["path"]
        if tuple(map(format, (*path[0], *path[-1]), forms)) != DESCENTS_LECTURE[clip]:
            return False
    return True


def examples_match(results: Results) -> bool:
    """Compare the clipped example with the lecture's."""
    short, long = (results.first(clip=limit)["example"] for limit in (5, 20))
    return bool(short == [3, 4] and long == [6, 8])


EXPERIMENTS = (
    Experiment(
        id="1.1",
        title="Powers of a matrix",
        about="A random 64 × 64 matrix W, scaled to spectral radius ρ, is applied k times to a "
        "unit vector v. The same W and v serve for each ρ, so the rows differ by ρᵏ alone.",
        caption="The scale is logarithmic, so a straight line is a constant factor a step. Which "
        "lines fall, which rise, and which do neither?",
        work=Work("gradients:powers"),
        settings=cross(radius=RADII, size=[64], steps=[100]),
        seeds=5,
        table=powers_table,
        plot=powers_plot,
        claims=(
            Claim("The log of the length falls, stays, rises.", trends),
            Claim(
                "At k = 100 within a factor 10 of ρ¹⁰⁰ times the ρ = 1 row (here by construction: "
                "the rows have the same W and v).",
                near_power,
            ),
        ),
    ),
    Experiment(
        id="1.2",
        title="Where the gradient comes from",
        about="An RNN of 64 units with spectral radius 0.9 reads 40 normal inputs; the loss looks "
        "at the last state. The gradient of W_h is a sum over the steps: how long is each step's "
        "term, as a share of all lengths? The matrices alone would let 0.9⁵ = 59 % pass over "
        "five steps; inputs of this size also drive tanh to where its slope is small.",
        caption="How much less does a step count that is one further away? On a logarithmic scale "
        "a constant factor is a straight line.",
        work=Work("gradients:shares"),
        settings=[{"radius": 0.9, "size": 64, "steps": 40, "input_scale": 1.0}],
        seeds=5,
        table=shares_table,
        plot=shares_plot,
        claims=(
            Claim(
                "The last five steps hold over 90 %.",
                lambda results: sum(results.first()["shares"][:5]) > 0.9,
            ),
        ),
    ),
    Experiment(
        id="1.3",
        title="A cliff",
        about="h_t = tanh(w h_{t−1} − 0.2) from h_0 = 0.5, 40 steps, L = (h_40 + 0.8)².",
        caption="Look at w ≈ 1.498, where the loss jumps, and compare the slope there (the "
        "triangle is its top) with the slope on both sides.",
        work=Work("gradients:cliff"),
        settings=[{"w": 1.498, "wall": 0.1}],
        table=cliff_table,
        plot=cliff_plot,
        claims=(
            Claim("At w = 1.498, L = 0.061 and dL/dw ≈ 1,723.", at_the_edge),
            Claim(
                "For w < 1.498 the loss is small, from w = 1.5 on it is above 2; |dL/dw| reaches "
                "about 4,500 on the wall, and is under 3 elsewhere.",
                is_a_cliff,
            ),
        ),
    ),
    Experiment(
        id="1.4",
        title="Clipping",
        about="Gradient descent from the edge of that cliff, w = 1.498, with a rate of 0.1.",
        caption="Where does the first step lead? A line that stays level has come to where the "
        "slope is 0, and nothing moves any more.",
        work=Work("gradients:descend"),
        settings=cross(clip=[0, 1, 5, 20], w=[1.498], rate=[0.1], steps=[50]),
        table=descent_table,
        plot=descent_plot,
        claims=(
            Claim(
                "Unclipped: step 1 goes to w = −170.8, L = 3.24, and stays there. Clipped to norm "
                "1: w = 1.398, L = 0.0093; after step 50 w = 1.200, L = 0.0011.",
                descents_match,
            ),
            Claim("(6, 8) clipped to 5 is (3, 4), to 20 unchanged.", examples_match),
        ),
    ),
)
