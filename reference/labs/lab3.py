"""Lab 3: subject–verb agreement."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from labs import agreement
from labs.agreement import MODIFIERS
from labs.experiment import Claim, Experiment, Results, Row, Table, Work, cross
from labs.part import Figures, Settings

KINDS = ("RNN", "GRU", "LSTM")
DISTANCE_LECTURE = ("3.7", "7.5", "11.2", "14.8", "22.3", "29.7")
RIGHT_LECTURE = {
    "RNN": ("100", "99.0", "96.2", "92.6", "85.1", "80.8"),
    "GRU": ("100", "100", "99.4", "96.6", "88.6", "83.5"),
    "LSTM": ("100", "100", "100", "100", "99.9", "100"),
}
PERPLEXITY_LECTURE = {"RNN": "5.35", "GRU": "5.25", "LSTM": "5.27"}


def cell_and_loss(settings: Settings) -> tuple[str, ...]:
    """Need the masked loss, and the LSTM where the cell is one."""
    return ("lstm", "masking") if settings["cell"] == "LSTM" else ("masking",)


def agreement_table(results: Results) -> Table:
    """Show the share of right verbs by the number of modifiers, and the perplexity."""
    distances = [figures["distances"] for figures in results.each(cell=KINDS[0])]
    rows = [
        Row("mean distance, words", [*zip(*distances, strict=True), ()], (*DISTANCE_LECTURE, None))
    ]
    for kind in KINDS:
        found = results.each(cell=kind)
        perplexities = [own["perplexity"] for own in found]
        lecture = (*RIGHT_LECTURE[kind], PERPLEXITY_LECTURE[kind])
        rows.append(
            Row(f"{kind}, right verbs, %", [*percent(found, "right"), perplexities], lecture)
        )
        rows.append(Row(f"{kind}, nouns of either number, %", [*percent(found, "drawn"), ()]))
    columns = [f"{count} modifiers" for count in MODIFIERS]
    return Table(
        "",
        [*columns, "test perplexity"],
        rows,
        (*[".1f"] * len(MODIFIERS), ".2f"),
        f"A model that knows the grammar has a perplexity of {agreement.best_perplexity():.2f}. "
        "The corpus is ours. All nouns of the modifiers have the other number than the subject, "
        "which is harder than nouns whose number is drawn, as in training; “nouns of either "
        "number” has these.",
    )


def percent(found: Sequence[Figures], name: str) -> list[list[float]]:
    """Return shares in percent, modifier by modifier and seed by seed."""
    return [[100 * own[name][column] for own in found] for column in range(len(MODIFIERS))]


def agreement_plot(results: Results, figure: Figure) -> None:
    """Draw the share of right verbs over the distance."""
    axes = figure.add_subplot()
    for number, kind in enumerate(KINDS):
        for seed, own in enumerate(results.each(cell=kind)):
            values = [100 * share for share in own["right"]]
            (line,) = axes.plot(own["distances"], values, ".-", color=f"C{number}", alpha=0.7)
            line.set_label(kind if seed == 0 else "_")  # named once
    axes.axhline(50, color="black", linestyle=":", label="chance")
    axes.axvspan(0, 5, color="black", alpha=0.08, label="about the length of training")
    axes.set(xlabel="words between subject and verb", ylabel="verbs of the right number, %")
    axes.legend()


def lstm_is_better(results: Results) -> bool:
    """Compare LSTM and RNN from 4 modifiers on."""
    first = MODIFIERS.index(4)
    lstm, rnn = (results.first(cell=kind)["right"][first:] for kind in ("LSTM", "RNN"))
    return all(ours >= theirs for ours, theirs in zip(lstm, rnn, strict=True))


def perplexities_agree(results: Results) -> bool:
    """Tell whether the perplexities are within 5 % of each other."""
    values = [results.first(cell=kind)["perplexity"] for kind in KINDS]
    return bool(max(values) <= 1.05 * min(values))


def distances_match(results: Results) -> bool:
    """Tell whether the mean distances are the lecture's, to 0.3 words."""
    ours = results.first(cell=KINDS[0])["distances"]
    pairs = zip(ours, DISTANCE_LECTURE, strict=True)
    return all(abs(own - float(their)) <= 0.3 for own, their in pairs)


EXPERIMENTS = (
    Experiment(
        id="3.1",
        title="Subject–verb agreement",
        about="Language models are trained on sentences like “the KING near the old DOGS SEES”, "
        "with no or one modifier between subject and verb, and tested with more: are the verb's "
        "forms of the subject's number together likelier than the others? The grammar is in "
        "labs/agreement.py. 64 units, 1,500 steps of Adam with 64 fresh sentences; the LSTM "
        "begins with a forget bias of 1. The perplexity is that of sentences as in training.",
        caption="The perplexities say how well each knows the grammar. How far does it carry the "
        "subject's number beyond the distances of training, in gray?",
        work=Work("language_model:agree", cell_and_loss),
        settings=cross(cell=KINDS, steps=[1500]),
        quick=cross(cell=KINDS, steps=[100]),
        seeds=3,
        table=agreement_table,
        plot=agreement_plot,
        claims=(
            Claim("LSTM ≥ RNN at every distance from 4 modifiers on.", lstm_is_better),
            Claim("The perplexities are within 5 % of each other.", perplexities_agree),
            Claim("The mean distances are the lecture's, to 0.3 words.", distances_match),
        ),
    ),
)
