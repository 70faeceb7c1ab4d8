"""The solved and the blank notebook, to be altered by tests of what reads notebooks."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from autograder.selftest.harness import FACTS, REFERENCE

Notebook = dict[str, Any]
SOLVED = (REFERENCE / FACTS.notebook).read_bytes()
BLANK = (REFERENCE.parent / "starter" / FACTS.notebook).read_bytes()


def solved() -> Notebook:
    """Return the solved notebook, to be altered."""
    notebook: Notebook = json.loads(SOLVED)
    return notebook


def cell(source: str | list[str], kind: str = "code") -> Notebook:
    """Return a cell as editors without ids write it."""
    rest: Notebook = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **rest}


def answers(notebook: Notebook, question: str) -> Notebook:
    """Return the cell of a question's answers."""
    found: Notebook = next(c for c in notebook["cells"] if c["id"] == f"{question}-answers")
    return found


# --- What editors and students do to notebooks, and no point must be lost by ---


def executed(notebook: Notebook) -> None:
    """Leave outputs of all kinds, some large."""
    for number, one in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
        one["execution_count"] = number
        one["outputs"] = [
            {"output_type": "stream", "name": "stdout", "text": ["x" * 50 + "\n"] * 2000},
            {"output_type": "display_data", "data": {"image/png": "A" * 300_000}, "metadata": {}},
            {"output_type": "error", "ename": "E", "evalue": '"]}', "traceback": ["\u001b[0m\\"]},
        ]


def by_colab(notebook: Notebook) -> None:
    """Rewrite metadata as Colab does: ids of its own in the metadata, tags lost."""
    notebook["nbformat_minor"] = 0
    notebook["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    for number, one in enumerate(notebook["cells"]):
        del one["id"]
        one["metadata"] = {"id": f"aBc{number}", "colab": {"base_uri": "https://localhost/"}}


def by_vs_code(notebook: Notebook) -> None:
    """Rewrite metadata as VS Code does."""
    notebook["nbformat_minor"] = 2
    notebook["metadata"] = {"language_info": {"name": "python", "version": "3.12.1"}}
    for one in notebook["cells"]:
        del one["id"]
        one["metadata"] = {"vscode": {"languageId": "python"}}


def by_jupyterlab(notebook: Notebook) -> None:
    """Rewrite metadata as JupyterLab does, with the source as one text."""
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    for one in notebook["cells"]:
        one["metadata"] = {**one["metadata"], "trusted": True, "jupyter": {"source_hidden": False}}
        one["source"] = "".join(one["source"])


def reordered(notebook: Notebook) -> None:
    """Shuffle all cells."""
    random.Random(1).shuffle(notebook["cells"])


def duplicated(notebook: Notebook) -> None:
    """Put every cell there twice, and a blank copy of the answers before and behind."""
    blanks = json.loads(BLANK)["cells"]
    notebook["cells"] = [*blanks, *notebook["cells"], *copy.deepcopy(notebook["cells"]), *blanks]


def without_prose(notebook: Notebook) -> None:
    """Delete all that is no code, and split the answers into cells of one line."""
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    notebook["cells"] = [
        cell(line)
        for one in code
        for line in "".join(one["source"]).split("\n")
        if not line.startswith("#")
    ]


def with_more_cells(notebook: Notebook) -> None:
    """Add cells that fail, loop, print and are no Python, and some prose."""
    more = [
        *(cell(source) for source in ("%matplotlib inline", "!pip install numpy", "print(1", "?x")),
        *(cell(source) for source in ("raise ValueError", "import plotly", "while True: pass")),
        *(cell(source) for source in ("exit()", "import os\nos._exit(3)", "display(undefined)")),
        *(cell("some text", kind) for kind in ("markdown", "raw")),
    ]
    for place, one in enumerate(more):
        notebook["cells"].insert(3 * place, one)


def attached(notebook: Notebook) -> None:
    """Paste images into the prose, as an attachment and as a long line."""
    text = next(c for c in notebook["cells"] if c["id"] == "q1_why-text")
    text["attachments"] = {"image.png": {"image/png": "A" * 2_000_000}}
    text["source"] = ["![](data:image/png;base64,", "A" * 2_000_000, ")"]


KEEPS: dict[str, Callable[[Notebook], None]] = {
    function.__name__.replace("_", " "): function
    for function in (
        *(executed, by_colab, by_vs_code, by_jupyterlab, reordered, duplicated),
        *(without_prose, with_more_cells, attached),
    )
}
