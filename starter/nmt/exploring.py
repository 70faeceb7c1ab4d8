"""Get the notebook explore.ipynb going: look whether all that it needs is there, and show figures.

torch, matplotlib and the tasks are imported once it is clear that they are there.
"""

from __future__ import annotations

import base64
import io
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt.files import CHECKPOINT, HOME, InputError
from nmt.submission import find_stubs
from nmt.worker import TASKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt.corpus import Pair
    from nmt.model import Seq2Seq
    from nmt.vocabulary import Vocabulary

TRIAL = "the kings see the cats"
COLOURS = ("#0072B2", "#E69F00")  # Okabe and Ito's (2008), apart in all kinds of colour vision
PIXELS = 96  # of a screen to an inch; pictures have twice as many, for fine screens

KINDS = {
    "determiner": "a an the",
    "preposition": "behind in near under",
    "adjective": "angry old red small tall",
    "verb": "call calls find finds follow follows hear hears help helps know knows love loves "
    "see sees",
    "noun, singular": "bird cat child city dog forest garden horse house island king owl river "
    "wolf",
    "noun, plural": "birds cats children cities dogs forests gardens horses houses islands kings "
    "owls rivers wolves",
    "</s>": "</s>",
    "other": "",  # such as `<unk>`
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}


class NotReady(InputError):
    """Say what the notebook still needs; Jupyter shows the text without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in the place of a traceback."""
        return [f"This notebook cannot start yet.\n{self}"]


class Start(NamedTuple):
    """Hold what all cells work with."""

    model: Seq2Seq
    english: Vocabulary
    zhoric: Vocabulary
    dev: list[Pair]


def start() -> Start:
    """Load your trained model, the vocabularies and the dev set, and try your five files.

    Raises:
        NotReady: if something is missing; it says what, and what to do.
    """
    _check_packages()
    if problems := [*_files_to_write(), *_missing_model()]:
        raise NotReady("\n".join(f"- {problem}" for problem in problems))
    try:
        found = _load()
        _try_out(found)
    except InputError as error:
        raise NotReady(f"- {error}") from None
    except Exception as error:
        place = _place(error)
        raise NotReady(
            f"- your code fails on “{TRIAL}”: {type(error).__name__}: {error}{place}; "
            "see: python -m nmt check"
        ) from None
    return found


def _check_packages() -> None:
    """Refuse a Python that lacks what is needed, most often because it is not the environment's."""
    for name in ("torch", "safetensors", "matplotlib"):
        if find_spec(name) is None:
            raise NotReady(
                f"- {name} is not installed in the Python that runs this notebook, "
                f"{sys.executable}. Choose the kernel of your environment (.venv), or run in a "
                "cell: %pip install -r requirements.txt"
            )


def _files_to_write() -> list[str]:
    """Name the tasks that are not written yet, and the files that are no Python."""
    problems = []
    for task, file in TASKS.items():
        try:
            stubs = find_stubs(file)
        except InputError as error:
            problems.append(str(error))
            continue
        if stubs:
            problems.append(
                f"task {task} is not done; write {file}, see: python -m nmt check {task}"
            )
    return problems


def _missing_model() -> list[str]:
    if CHECKPOINT.is_file():
        return []
    return [f"there is no {CHECKPOINT.name}; once the tasks are done, run: python -m nmt train"]


def _load() -> Start:
    """Import the tasks, and read the files."""
    import torch

    from nmt.corpus import data_directory, load_vocabularies, read_tsv
    from nmt.model import load_checkpoint

    torch.set_num_threads(1)  # the products are small, and threads would only wait for each other
    for file in TASKS.values():
        import_module(file.removesuffix(".py").replace("/", "."))
    folder = data_directory()
    model = load_checkpoint(CHECKPOINT)
    return Start(model, *load_vocabularies(folder), read_tsv(folder / "dev.tsv"))


def _try_out(found: Start) -> None:
    """Translate a sentence and score it, so that an error of a task shows here and not later."""
    from nmt.bleu import corpus_bleu
    from nmt.settings import SearchConfig
    from nmt.translation import translate_with_attention

    translation = translate_with_attention(*found[:3], TRIAL, SearchConfig())
    float(corpus_bleu([translation.target], [[translation.target]]).score)


def _place(error: Exception) -> str:
    """Return where in the package an exception was raised."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent == HOME / "nmt"
    ]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def kind_of(word: str) -> str:
    """Return what kind of English word it is."""
    return KIND_OF.get(word, "other")


def show(figure: Figure, description: str) -> None:
    """Show a figure below the cell, with a description for those who cannot see it."""
    from IPython.display import display

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=2 * PIXELS)
    width, height = figure.get_size_inches()
    size = {"width": round(width * PIXELS), "height": round(height * PIXELS)}
    content = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": description}
    display(content, metadata={"image/png": size}, raw=True)  # type: ignore[no-untyped-call]


def bars(rows: Mapping[str, Sequence[float]], labels: Sequence[str], title: str) -> Figure:
    """Draw bars of shares, a group a label, and in it one for each of the rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.6 + 0.3 * len(rows) * len(labels)), layout="constrained")
    axes = figure.add_subplot()
    thickness = 0.8 / len(rows)  # of a bar; the rest is space between the groups
    for number, (name, values) in enumerate(rows.items()):
        shift = (number - (len(rows) - 1) / 2) * thickness
        places = [place + shift for place in range(len(labels))]
        drawn = axes.barh(places, values, 0.95 * thickness, color=COLOURS[number], label=name)
        shares = [f"{value:.1%}" if value else "" for value in values]
        axes.bar_label(drawn, labels=shares, padding=3, fontsize=9)
    axes.set_yticks(range(len(labels)), labels=labels)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.08)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title)
    axes.legend(loc="lower right")
    return figure
