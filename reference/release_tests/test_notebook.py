"""Tests of reference/release/notebook.py, and of the notebook that students get."""

import json

import nbformat
import pytest
from release.build import NOTEBOOK, Files
from release.markers import ReleaseError
from release.notebook import from_script

SCRIPT = '''"""Left out."""
import left_out

# %% intro [markdown]
# # Title
#
# Text with `# %%` in it.

# %% first-cell
x = 1


def f():
    # a comment
    return x


# %% last
f()
'''


def test_cells_are_what_the_script_says() -> None:
    """Are text and code taken over, and the ids the names?"""
    notebook = json.loads(from_script(SCRIPT, "x.py"))
    found = [(cell["id"], cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    assert found == [
        ("intro", "markdown", "# Title\n\nText with `# %%` in it."),
        ("first-cell", "code", "x = 1\n\n\ndef f():\n    # a comment\n    return x"),
        ("last", "code", "f()"),
    ]
    assert from_script(SCRIPT, "x.py") == from_script(SCRIPT, "x.py")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("x = 1", "no line # %% begins a cell"),
        ("# %%\nx = 1", "line 1: expected # %% name"),
        ("# %% Two words\nx = 1", "line 1: expected # %% name"),
        ("# %% a [raw]\nx = 1", "line 1: expected # %% name"),
        ("# %% a\nx = 1\n# %% a\ny = 1", "two cells are called a"),
        ("# %% a\n\n# %% b\ny = 1", "the cell a is empty"),
        ("# %% a [markdown]\n# text\nx = 1", "the text a has a line that is no comment: 'x = 1'"),
        (f"# %% {'a' * 65}\nx = 1", "line 1: expected # %% name"),
    ],
)
def test_faults_are_named(script: str, message: str) -> None:
    """Is a script refused that is no notebook?"""
    with pytest.raises(ReleaseError, match=message):
        from_script(script, "x.py")


def test_the_notebook_is_clean(files: Files) -> None:
    """Is the notebook valid, of this format, without outputs and for any Python 3 kernel?"""
    notebook = json.loads(files[NOTEBOOK])
    nbformat.validate(notebook)
    assert (notebook["nbformat"], notebook["nbformat_minor"] >= 5) == (4, True)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 9
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    for cell in code:
        compile("".join(cell["source"]), cell["id"], "exec")


def test_each_part_asks_something(files: Files) -> None:
    """Does the text of each part say what to look at, and ask a question?"""
    texts = [
        "".join(cell["source"])
        for cell in json.loads(files[NOTEBOOK])["cells"]
        if cell["cell_type"] == "markdown"
    ]
    parts = texts[1:-1]  # all but the introduction and the end
    assert len(parts) == 7
    for text in parts:
        assert "**Look at**" in text
        assert "?" in text.split("**Think about:**")[1] or "see" in text
