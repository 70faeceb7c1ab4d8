"""Lab 4: seq2seq without attention, and BLEU by hand."""

from matplotlib.figure import Figure

from labs.by_length import (
    BLEU_LECTURE,
    COLUMNS,
    EXACT_LECTURE,
    READ,
    origin,
    score_plot,
    score_row,
    translator,
)
from labs.experiment import Claim, Experiment, Results, Row, Table, Work, cross

# --- 4.1 By length ---

LENGTH_LECTURE = (None, "6.2", "9.6", "12.9", "16.1", "19.7")


def plain_table(results: Results) -> Table:
    """Show the scores on the test set and by the number of phrases."""
    found = results.each()
    rows = [
        score_row(found[:1], "source length, words", "length", LENGTH_LECTURE),
        score_row(found, "BLEU", "bleu", BLEU_LECTURE),
        score_row(found, "exact, %", "exact", EXACT_LECTURE),
    ]
    return Table("", COLUMNS, rows, note=origin(found[0]))


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
    return Table("BLEU", COLUMNS, rows)


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
            lecture,
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
        caption="The longer the sentence, the more has to fit into one vector. What does that cost "
        "up to 3 phrases, and what with 4, one more than the model ever saw?",
        work=READ,
        settings=[translator()],
        quick=[translator(quick=True)],
        seeds=3,
        table=plain_table,
        plot=plain_plot,
        claims=(
            Claim(
                "675,364 parameters.",
                lambda results: results.first()["parameters"] == 675_364,
            ),
            Claim(
                "BLEU is lowest at 4 phrases, and most sentences there have a mistake (as in the "
                "lecture's table).",
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
        work=READ,
        settings=[translator(), translator(reversed=True)],
        quick=[translator(quick=True), translator(quick=True, reversed=True)],
        seeds=1,
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
        caption="What does one wrong word cost? And where is the sentence that only rephrases, "
        "beside the scrambled one? BLEU knows words, not meanings.",
        work=Work("by_hand:bleu", lambda settings: ("bleu",)),
        settings=cross(candidate=BLEU_ROWS),
        table=bleu_table,
        plot=bleu_plot,
        claims=(Claim("The lecture's table, to its digits.", bleu_matches),),
    ),
)
