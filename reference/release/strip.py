"""Take the solutions out of a file and leave stubs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .markers import Block, ReleaseError, find_blocks

LINE_LENGTH = 100  # of the formatter
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """Hold a function or a class with its full name, such as `LSTMCell.forward`."""

    name: str
    node: Function | ast.ClassDef


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[Definition]:
    """Yield all functions and classes, each before those inside it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef):
            name = prefix + node.name
            yield Definition(name, node)
            yield from definitions(node, f"{name}.")
        else:
            yield from definitions(node, prefix)


def strip(source: str, file: str, task: str) -> str:
    """Return a task's file without its solution.

    A block in the body of a function becomes `raise NotImplementedError`; a block anywhere else
    (helpers and imports of the solution) goes without a trace.

    Raises:
        ReleaseError: for faulty markers, see `find_blocks`; a block without a statement; two in one
            function, of which only the first could be reached.
    """
    blocks = find_blocks(source, file, [task])
    tree = ast.parse(source, filename=file)
    lines = source.split("\n")
    stubbed: set[str] = set()  # functions that have their stub
    for block in reversed(blocks):  # from the end, so that the numbers before it stay right
        name = _function_of(block, tree, file)
        if name in stubbed:
            raise ReleaseError(f"{file}:{block.begin}: a second solution block in {name}")
        if name is None:
            lines[block.begin - 1 : block.end] = []
            _close_gap(lines, block.begin - 1)
        else:
            stubbed.add(name)
            marker = lines[block.begin - 1]
            indent = marker[: len(marker) - len(marker.lstrip())]
            lines[block.begin - 1 : block.end] = _laid_out(stub(task, name, file), indent)
    return "\n".join(lines)


def stub(task: str, name: str, file: str) -> str:
    """Return the statement that stands for a function that the student has to write."""
    # The public check and the grader know an unfinished task by this text.
    return f'raise NotImplementedError("Task {task} is not implemented yet: {name} in {file}")'


def _laid_out(statement: str, indent: str) -> list[str]:
    """Return the lines of a stub as the formatter would have them."""
    if len(indent + statement) <= LINE_LENGTH:
        return [indent + statement]
    call, text = statement.removesuffix(")").split("(", 1)
    return [f"{indent}{call}(", f"{indent}    {text}", f"{indent})"]


def _function_of(block: Block, tree: ast.Module, file: str) -> str | None:
    """Return the full name of the innermost function whose body holds the block, if there is one.

    Raises:
        ReleaseError: if the block holds no statement.
    """
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    first = min((line for line in lines if line in block), default=None)
    if first is None:
        raise ReleaseError(f"{file}:{block.begin}: the solution block holds no statement")
    around = [
        definition.name
        for definition in definitions(tree)
        if isinstance(definition.node, Function)
        and definition.node.lineno < block.begin
        and first <= (definition.node.end_lineno or 0)
    ]
    return around[-1] if around else None  # outer functions come before inner ones


def _close_gap(lines: list[str], at: int) -> None:
    """Keep the longer of the two runs of blank lines that meet where a block was."""
    # Two blank lines on one side and one on the other: what follows needs the two.
    start = end = at
    while start > 0 and not lines[start - 1]:
        start -= 1
    while end < len(lines) and not lines[end]:
        end += 1
    lines[start:end] = [""] * max(at - start, end - at)
