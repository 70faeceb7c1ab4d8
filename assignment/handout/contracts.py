"""Show a task's contract in the words of its docstrings.

The text comes from the file as students get it, with the solution stripped, so the handout, the
starter and the tests cannot say different things, and no line of a solution can get here.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from release.strip import strip

STUB = "NotImplementedError"
SPECIAL = re.compile(r"([\\*_<>\[\]^~$#|@{}])")  # what Markdown would not print as it is
CODE = re.compile(r"(`[^`]+`)")


def contract(root: Path, task: str, file: str) -> str:
    """Return the contract of a task as Markdown.

    Its headings are of level 3: inside of the section of a chapter.
    """
    source = strip((root / "reference" / file).read_text(encoding="utf-8"), file, task)
    module = ast.parse(source)
    parts = [part for node in module.body for part in _definition(source, node)]
    return "\n\n".join(["::: contract", markdown(_docstring(module)), *parts, ":::"])


def docstrings(root: Path, task: str, file: str) -> Iterator[str]:
    """Yield the docstrings that the contract of a task has to repeat."""
    source = strip((root / "reference" / file).read_text(encoding="utf-8"), file, task)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef) or is_stub(node):
            yield _docstring(node)


def is_stub(node: ast.AST) -> bool:
    """Tell whether a node is a function that students write."""
    return isinstance(node, ast.FunctionDef) and STUB in ast.dump(node.body[-1])


def _docstring(node: ast.AST) -> str:
    assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    return inspect.cleandoc(ast.get_docstring(node) or "")


def _definition(source: str, node: ast.stmt, inside: str = "") -> Iterator[str]:
    """Yield what the contract says about a function or a class; nothing about other statements."""
    if isinstance(node, ast.FunctionDef) and is_stub(node):
        yield from (_heading(inside + node.name), _signature(source, node))
        yield markdown(_docstring(node))
    elif isinstance(node, ast.ClassDef) and _is_tuple(node):
        yield from (_heading(node.name), markdown(_docstring(node)), _given(source, node))
    elif isinstance(node, ast.ClassDef):
        yield from (_heading(node.name), markdown(_docstring(node)))
        for child in node.body:
            if isinstance(child, ast.FunctionDef) and child.name == "__init__":
                yield from ("Given:", _given(source, child))
            yield from _definition(source, child, f"{node.name}.")


def _is_tuple(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)


def _heading(name: str) -> str:
    return f"### `{name}`"


def _signature(source: str, node: ast.FunctionDef) -> str:
    """Return the lines from `def` to the colon."""
    first = node.body[0].lineno
    return _code(source.split("\n")[node.lineno - 1 : first - 1])


def _given(source: str, node: ast.ClassDef | ast.FunctionDef) -> str:
    """Return a given definition without its docstring, which stands above it."""
    document = node.body[0]
    lines = source.split("\n")
    above = lines[node.lineno - 1 : document.lineno - 1]
    below = lines[document.end_lineno or 0 : node.end_lineno]
    return _code([*above, *itertools.dropwhile(lambda line: not line, below)])


def _code(lines: list[str]) -> str:
    text = inspect.cleandoc("\n" + "\n".join(lines))
    return f"```python\n{text}\n```"


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown: paragraphs flow, what is indented is shown as it stands."""
    return "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", docstring))


def _block(block: str) -> str:
    lines = block.split("\n")
    if all(line.startswith("    ") for line in lines):
        return _code(lines).replace("```python", "```text", 1)
    if lines[0].rstrip() == "Raises:":
        return "Raises:\n\n" + _raises(lines[1:])
    return "\n".join(_escaped(line) for line in lines)


def _raises(lines: list[str]) -> str:
    """Return a list of the exceptions, a line for each and its continuation."""
    text = inspect.cleandoc("\n" + "\n".join(lines))
    joined = re.sub(r"\n\s+", " ", text)
    return "\n".join(f"- {_escaped(line)}" for line in joined.split("\n"))


def _escaped(line: str) -> str:
    """Keep Markdown from reading anything but code and numbered lists into a line."""
    pieces = CODE.split(line)
    return "".join(
        piece if index % 2 else SPECIAL.sub(r"\\\1", piece) for index, piece in enumerate(pieces)
    )
