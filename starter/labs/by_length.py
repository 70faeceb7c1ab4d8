"""Labs 4 and 5: declare translators, and show their scores by the number of phrases."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from labs.experiment import Row, Work
from labs.part import Figures, Settings

TRAINED_BY = ("attention", "feeding", "score", "reversed", "epochs", "sentences")
# 100 batches: enough for a BLEU that is not 0 everywhere, in some seconds.
QUICK = {"epochs": 1, "sentences": 12_800, "tested": 100}
COLUMNS = ("test", *(f"{number} phrase{'s' * (number != 1)}" for number in range(5)))

LINES = ("-", "--", ":", "-.", (0, (5, 1)))  # of a plot: curves may lie on each other

# The lecture's scores without attention: on the test set, and with 0 to 4 phrases.
BLEU_LECTURE = ("0.969", "1.000", "0.986", "0.981", "0.943", "0.689")
EXACT_LECTURE = ("94.4", "100", "97.0", "95.0", "82.3", "14.7")


def training_tasks(settings: Settings) -> tuple[str, ...]:
    """Need attention only where the model has it."""
    return ("lstm", "masking", "attention") if settings["attention"] else ("lstm", "masking")


def reading_tasks(settings: Settings) -> tuple[str, ...]:
    """Need what translates greedily, and what scores it."""
    return (*training_tasks(settings), "bleu")


TRAIN = Work("translators:train", training_tasks)
READ = Work("reading:by_phrases", reading_tasks, TRAIN, TRAINED_BY)


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
    found: Sequence[Figures], label: str, name: str, lecture: Sequence[str | None] = ()
) -> Row:
    """Return a row of one kind of score, seed by seed; exact sentences in percent."""
    factor = 100 if name == "exact" else 1
    ours = [[factor * sets(own)[column][name] for own in found] for column in range(len(COLUMNS))]
    return Row(label, ours, lecture, ".3f" if name == "bleu" else ".1f")


def score_plot(lines: Mapping[str, Sequence[Figures]], figure: Figure) -> None:
    """Draw BLEU and exact sentences over the number of phrases, lines by label."""
    panels = figure.subplots(1, 2)
    names = {"bleu": "BLEU", "exact": "exact sentences"}
    for axes, (name, unit) in zip(panels, names.items(), strict=True):
        for number, (label, found) in enumerate(lines.items()):
            for seed, own in enumerate(found):
                values = [group[name] for group in own["groups"]]
                (line,) = axes.plot(range(5), values, color=f"C{number}", alpha=0.7)
                line.set(marker=".", linestyle=LINES[number])
                line.set_label(label if seed == 0 else "_")  # named once
        axes.axvspan(3.5, 4.2, color="black", alpha=0.08, label="never seen in training")
        axes.set(xlabel="prepositional phrases", ylabel=f"{unit}, share of 1", ylim=(0, 1.03))
        axes.set_xticks(range(5))
    panels[0].legend()


def origin(figures: Figures) -> str:
    """Say which sentences were translated."""
    test, groups = figures["places"]
    return f"Test: {test}. By phrases: {groups}."
