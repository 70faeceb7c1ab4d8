"""Lab 4: seq2seq without attention, and BLEU by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from labs import by_hand, reading, translators
from labs.experiment import Claim, Experiment, Results, Row, Table, cross
from labs.part import Figures, Settings

TRAINED_BY = ("attention", "feeding", "score", "reversed", "epochs", "sentences")
# 100 batches: enough for a BLEU that is not 0 everywhere, in some seconds.
QUICK = {"epochs": 1, "sentences": 12_800, "tested": 100}
COLUMNS = ("test", *(f"{number} phrases" for number in range(5)))


def translator(quick: bool = False, **choices: Any) -> Settings:
    """Return the settings of a translator, those of the lecture unless others are chosen."""
    settings = {
        "attention": False,
        "feeding": True,
        "score": "multiplicative",
        "reversed": False,
        "epochs": 10,  # the lecture's
        "sentences": 20_000,  # all
        "tested": 1000,
    }
    return settings | choices | (QUICK if quick else {})


def sets(figures: Figures) -> list[Figures]:
    """Return the scores on the test set and on each group."""
    return [figures["test"], *figures["groups"]]


def score_row(
    found: Sequence[Figures], label: str, name: str, lecture: Sequence[float | None] = ()
) -> Row:
    """Return a row of one kind of score, seed by seed; exact sentences in percent."""
    factor = 100 if name == "exact" else 1
    ours = [[factor * sets(own)[column][name] for own in found] for column in range(len(COLUMNS))]
    return Row(label, ours, lecture)


def score_plot(lines: Mapping[str, Sequence[Figures]], figure: Figure) -> None:
    """Draw BLEU and exact sentences over the number of phrases, lines by label."""
    panels = figure.subplots(1, 2)
    names = {"bleu": "BLEU", "exact": "exact sentences"}
    for axes, (name, unit) in zip(panels, names.items(), strict=True):
        for number, (label, found) in enumerate(lines.items()):
            for seed, own in enumerate(found):
                values = [group[name] for group in own["groups"]]
                (line,) = axes.plot(range(5), values, ".-", color=f"C{number}", alpha=0.7)
                line.set_label(label if seed == 0 else "_")  # named once
        axes.axvspan(3.5, 4.2, color="black", alpha=0.08, label="never seen in training")
        axes.set(xlabel="prepositional phrases", ylabel=f"{unit}, share of 1", ylim=(0, 1.03))
        axes.set_xticks(range(5))
    panels[0].legend()


# --- 4.1 By length ---

LENGTH_LECTURE = (None, 6.2, 9.6, 12.9, 16.1, 19.7)
BLEU_LECTURE = (0.969, 1.000, 0.986, 0.981, 0.943, 0.689)
EXACT_LECTURE = (94.4, 100, 97.0, 95.0, 82.3, 14.7)


def plain_table(results: Results) -> Table:
    """Show the scores on the test set and by the number of phrases."""
    found = results.each()
    rows = [
        score_row(found[:1], "source length, words", "length", LENGTH_LECTURE),
        score_row(found, "BLEU", "bleu", BLEU_LECTURE),
        score_row(found, "exact, %", "exact", EXACT_LECTURE),
    ]
    return Table("", COLUMNS, rows, ".3g", origin(found[0]))


def origin(figures: Figures) -> str:
    """Say which sentences were translated."""
    test, groups = figures["places"]
    return f"Test: {test}. By phrases: {groups}."


def plain_plot(results: Results, figure: Figure) -> None:
    """Draw the scores by the number of phrases."""
    score_plot({"without attention": results.each()}, figure)


def falls(results: Results) -> bool:
    """Tell whether BLEU is lowest, and fewer than half of the sentences are exact, at 4 phrases."""
    *seen, unseen = results.first()["groups"]
    return bool(unseen["bleu"] < min(group["bleu"] for group in seen) and unseen["exact"] < 0.5)


# --- 4.2 Reversed ---


def reversed_table(results: Results) -> Table:
    """Show BLEU with the source as it is, and reversed."""
    rows = [
        score_row(results.each(reversed=turned), label, "bleu")
        for turned, label in ((False, "as it is"), (True, "reversed"))
    ]
    return Table("BLEU", COLUMNS, rows, ".3f")


def reversed_plot(results: Results, figure: Figure) -> None:
    """Draw the scores of both."""
    lines = {
        "as it is": results.each(reversed=False),
        "source reversed": results.each(reversed=True),
    }
    score_plot(lines, figure)


def reversed_remark(results: Results) -> str:
    """Answer the question with the numbers."""
    plain, turned = (
        sum(figures["test"]["bleu"] for figures in found) / len(found)
        for found in (results.each(reversed=False), results.each(reversed=True))
    )
    return (
        f"Reversing the source changes the test BLEU by {turned - plain:+.3f}. The encoder reads "
        "in both directions, so reversing only swaps the roles of its two cells; what remains is "
        "the luck of another training. With an encoder of one direction it would bring the first "
        "words closer to the decoder."
    )


# --- 4.3 BLEU by hand ---

BLEU_ROWS = {
    "the cat is on the mat": ("1.00", "1.00", "1.00", "1.00", "1.00", "1.000"),
    "the cat sat on the mat": ("0.83", "0.60", "0.25", "0.00", "1.00", "0.420"),
    "mat the on is cat the": ("1.00", "0.00", "0.00", "0.00", "1.00", "0.302"),
    "the the the the the the the": ("0.29", "0.00", "0.00", "0.00", "1.00", "0.192"),
    "the cat": ("1.00", "1.00", "0.00", "0.00", "0.14", "0.135"),
    "a feline rests upon the rug": ("0.33", "0.00", "0.00", "0.00", "1.00", "0.230"),
}
BLEU_FORMS = (".2f",) * 5 + (".3f",)


def bleu_table(results: Results) -> Table:
    """Show the precisions, the penalty and the score of each candidate."""
    rows = [
        Row(
            candidate,
            [[value] for value in results.first(candidate=candidate)["values"]],
            [float(value) for value in lecture],
        )
        for candidate, lecture in BLEU_ROWS.items()
    ]
    return Table("candidate", ("p₁", "p₂", "p₃", "p₄", "BP", "BLEU"), rows, BLEU_FORMS)


def bleu_plot(results: Results, figure: Figure) -> None:
    """Draw the scores."""
    axes = figure.add_subplot()
    values = [results.first(candidate=candidate)["values"][-1] for candidate in BLEU_ROWS]
    bars = axes.barh(list(BLEU_ROWS), values)
    axes.bar_label(bars, fmt="%.3f")
    axes.invert_yaxis()
    axes.set(xlabel="smoothed BLEU", xlim=(0, 1.12))


def bleu_matches(results: Results) -> bool:
    """Compare each number with the lecture's, to the digits printed."""
    for candidate, lecture in BLEU_ROWS.items():
        values = results.first(candidate=candidate)["values"]
        written = tuple(map(format, values, BLEU_FORMS))
        if written != lecture:
            return False
    return True


EXPERIMENTS = (
    Experiment(
        id="4.1",
        title="Translating without attention, by length",
        about="The assignment's model without attention, trained for 10 epochs with the settings "
        "of `python -m nmt train`, translates greedily. BLEU is your corpus_bleu.",
        caption="The longer the sentence, the more has to fit into one vector. With 4 phrases, one "
        "more than it ever saw, the model fails.",
        work=reading.by_phrases,
        settings=[translator()],
        quick=[translator(quick=True)],
        seeds=3,
        needs=("lstm", "masking", "bleu"),
        before=translators.train,
        shared=TRAINED_BY,
        before_needs=("lstm", "masking"),
        table=plain_table,
        plot=plain_plot,
        claims=(
            Claim(
                "675,364 parameters.",
                lambda results: results.first()["parameters"] == 675_364,
            ),
            Claim(
                "BLEU is lowest at 4 phrases, and most sentences there have a mistake.",
                falls,
            ),
        ),
    ),
    Experiment(
        id="4.2",
        title="The source reversed",
        about="The same with the words of the source in the opposite order: does BLEU change?",
        caption="If the lines lie closer together than those of two seeds in 4.1, the order does "
        "not matter.",
        work=reading.by_phrases,
        settings=[translator(), translator(reversed=True)],
        quick=[translator(quick=True), translator(quick=True, reversed=True)],
        seeds=1,
        needs=("lstm", "masking", "bleu"),
        before=translators.train,
        shared=TRAINED_BY,
        before_needs=("lstm", "masking"),
        table=reversed_table,
        plot=reversed_plot,
        remark=reversed_remark,
    ),
    Experiment(
        id="4.3",
        title="BLEU by hand",
        about="Six candidates against the references “the cat is on the mat” and “there is a cat "
        "on the mat”: plain precisions and brevity penalty of corpus_bleu, and the smoothed BLEU "
        "of sentence_bleu.",
        caption="One wrong word costs more than half. BLEU knows words, not meanings: the sentence "
        "that only rephrases is near the scrambled one.",
        work=by_hand.bleu,
        settings=cross(candidate=BLEU_ROWS),
        needs=("bleu",),
        table=bleu_table,
        plot=bleu_plot,
        claims=(Claim("The lecture's table, to its digits.", bleu_matches),),
    ),
)
