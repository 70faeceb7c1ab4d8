"""Take code cells apart into statements, and find those that a name's value depends on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MAX_BROKEN = 20  # lines of a cell that are left out to save the others
LONGEST_LINE = 80  # characters of a statement that a message quotes
# IPython's own: `%matplotlib inline`, `!pip install x`, `math?`, `files = !ls`.
SPECIAL = re.compile(r"\s*([%!?].*|[\w.]+\?{1,2}\s*|[\w, ]+=\s*[%!].*)")
TIMED = re.compile(r"(\s*)%time\s+(?!-)")  # the statement behind it counts
PROMPT = re.compile(r"(>>> |\.\.\. |In \[\d*\]: )")  # pasted from a console
PYTHON_MAGICS = ("time", "timeit", "capture", "prun")  # their cells are Python, all others are not
ASSIGNED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")


@dataclass(frozen=True)
class Statement:
    """Hold one statement at a cell's top level, and what it has to do with which names.

    `error` is why its line is no Python; it is raised where the statement would run.
    """

    tree: ast.Module
    text: str  # its first line
    binds: frozenset[str]  # names that it assigns, imports or defines; "*" for all of a module
    changes: frozenset[str]  # names whose values it may change in place
    uses: frozenset[str]
    error: Exception | None = None


def needed(statements: Sequence[Statement], names: Sequence[str]) -> list[Statement]:
    """Return, in order, the statements that the values of some names depend on."""
    modules = {n for s in statements if isinstance(_node(s), ast.Import) for n in s.binds}
    makers: dict[str, list[int]] = {}
    for index, statement in enumerate(statements):
        for name in statement.binds | (statement.changes - modules):
            makers.setdefault(name, []).append(index)
    chosen, wanted, waiting = set(makers.get("*", [])), set(names), list(names)
    while waiting:
        for index in makers.get(waiting.pop(), []):
            if index not in chosen:
                chosen.add(index)
                more = statements[index].uses - wanted
                wanted |= more
                waiting += more
    return [statements[index] for index in sorted(chosen)]


def parse(sources: Iterable[str]) -> list[Statement]:
    """Return the statements of all cells; no cell costs another one."""
    found = []
    for source in sources:
        try:
            found += statements_of(source)
        except Exception as error:
            lines = filter(ASSIGNED.match, source.split("\n"))
            found += [_broken(line, error) for line in lines]
    return found


def statements_of(source: str) -> list[Statement]:
    """Return a cell's statements; in a line that is no Python, one that raises what is wrong."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")  # all of them end lines in Python
    broken: list[Statement] = []
    tree = _parsed(source)
    lines = source.split("\n")
    if isinstance(tree, Exception):
        lines = _without_cell_magic(source)
        tree = _parsed("\n".join(lines))
    special = 0
    while isinstance(tree, Exception):
        number = getattr(tree, "lineno", None) or 0
        if not 0 < number <= len(lines) or len(broken) == MAX_BROKEN:
            return [*broken, *(_broken(line, tree) for line in lines if ASSIGNED.match(line))]
        line = lines[number - 1]
        if _plain(line) != line and special < MAX_BROKEN:
            # Only where it is an error: a line of a text may look like a magic.
            lines[number - 1], special = _plain(line), special + 1
        elif (plain := [_plain(line) for line in lines]) != lines:
            lines = plain
        else:
            broken.append(_broken(line, tree))
            lines[number - 1] = ""
        tree = _parsed("\n".join(lines))
    return [*broken, *(_statement(node, lines) for node in tree.body)]


def _parsed(source: str) -> ast.Module | Exception:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree: ast.Module = compile(source, "<notebook>", "exec", flags, dont_inherit=True)
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error


def _without_cell_magic(source: str) -> list[str]:
    """Return a cell's lines, none if its first line makes it another language; numbers stay."""
    lines = source.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    # As IPython does: the first line's indentation, from all lines that have it.
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    lines = [line.removeprefix(indent) for line in lines]
    if lines[first].startswith("%%"):
        if lines[first][2:].split(maxsplit=1)[:1] not in ([name] for name in PYTHON_MAGICS):
            return [""]
        lines[first] = ""
    return lines


def _plain(line: str) -> str:
    """Return a line without what is IPython's and not Python's."""
    line = TIMED.sub(r"\1", PROMPT.sub("", line))
    if SPECIAL.fullmatch(line) is None:
        return line
    return line[: len(line) - len(line.lstrip())] + "pass"


def _broken(line: str, error: Exception) -> Statement:
    match = ASSIGNED.match(line)
    names = frozenset([match[1]] if match else [])
    nothing: frozenset[str] = frozenset()
    return Statement(ast.Module([], []), _short(line), names, nothing, nothing, error)


def _statement(node: ast.stmt, lines: Sequence[str]) -> Statement:
    return Statement(
        ast.Module([node], []),
        _short(lines[node.lineno - 1]),
        frozenset(_bound(node)),
        frozenset(_changed(node)),
        frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)),
    )


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"


def _node(statement: Statement) -> ast.stmt | None:
    return statement.tree.body[0] if statement.tree.body else None


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield what a statement may bind: rather too much than too little."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield part.name
        elif isinstance(part, ast.alias):
            yield (part.asname or part.name).split(".")[0]


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose values are assigned to in part, or whose methods are called."""
    for part in ast.walk(node):
        stores = isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(
            part.ctx, ast.Load
        )
        if stores or (isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)):
            base: ast.AST = part
            while isinstance(base, ast.Subscript | ast.Attribute | ast.Call):
                base = base.func if isinstance(base, ast.Call) else base.value
            if isinstance(base, ast.Name):
                yield base.id
