"""Check that a stripped file is what students can work with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .markers import ReleaseError
from .strip import Definition, Function, definitions, stub

# What a solution needs beside these stands in a block of its own. These stay, used or not: they
# are what every student will need, and give nothing away.
GIVEN_IMPORTS = {"torch", "nmt", "__future__"}


def check(source: str, released: str, file: str, task: str) -> None:
    """Compare a released file with its source in the reference.

    Raises:
        ReleaseError: if the released file does not parse, a public signature or docstring differs,
            a public function has no stub, or an import or helper is left that only the solution
            used.
    """
    try:
        tree = ast.parse(released, filename=file)
    except SyntaxError as error:
        raise ReleaseError(
            f"{file}: does not parse once stripped ({error.msg}: {(error.text or '').strip()!r}); "
            "are the markers around whole statements?"
        ) from error
    _check_interface(ast.parse(source), tree, file)
    _check_stubs(tree, file, task)
    _check_leftovers(tree, file)


def _check_interface(source: ast.Module, released: ast.Module, file: str) -> None:
    """Refuse any difference in what can be called, how, and what its docstrings say."""
    before, after = _interface(source), _interface(released)
    # Both ways: a public helper inside a block would be missing after, not different.
    for name in before | after:
        if before.get(name) != after.get(name):
            raise ReleaseError(
                f"{file}: the signature or docstring of {name} is not the reference's; "
                "a helper of the solution needs a name with an underscore"
            )


def _interface(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """Return signature and docstring of everything public, by its full name."""
    # Not cleaned: a docstring's indentation is part of what students read.
    described: dict[str, tuple[str, ...]] = {
        "the module": (ast.get_docstring(tree, clean=False) or "",)
    }
    for definition in _public(tree):
        node = definition.node
        parts: list[ast.AST | None] = list(node.decorator_list)
        if isinstance(node, Function):
            parts += [node.args, node.returns]
        else:
            parts += [*node.bases, *node.keywords, *_fields(node)]
        signature = [ast.dump(part) if part else "" for part in parts]
        described[definition.name] = (*signature, ast.get_docstring(node, clean=False) or "")
    return described


def _public(tree: ast.Module) -> Iterator[Definition]:
    """Yield what has no part with a leading underscore in its name; `__init__` counts as public."""
    for definition in definitions(tree):
        parts = definition.name.split(".")
        if all(not part.startswith("_") or part.endswith("__") for part in parts):
            yield definition


def _fields(node: ast.ClassDef) -> list[ast.AST]:
    """Return the fields of a class: names with their types."""
    return [statement for statement in node.body if isinstance(statement, ast.AnnAssign)]


def _check_stubs(tree: ast.Module, file: str, task: str) -> None:
    """Refuse a public function that does not end in its stub; `__init__` and the like are given."""
    for name, node in ((definition.name, definition.node) for definition in _public(tree)):
        given = name.endswith("__") or not isinstance(node, Function)
        if not given and ast.unparse(node.body[-1]) != _normal(stub(task, name, file)):
            raise ReleaseError(f"{file}: {name} has no solution block, so students get it whole")


def _normal(statement: str) -> str:
    return ast.unparse(ast.parse(statement))


def _check_leftovers(tree: ast.Module, file: str) -> None:
    """Refuse imports and private helpers that nothing uses any more."""
    # A linter would find the imports; this needs none, and knows which are given.
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for kind, name in [*_own_imports(tree), *_helpers(tree)]:
        if name not in used:
            raise ReleaseError(
                f"{file}: only the solution uses the {kind} {name}; put it in a solution block"
            )


def _own_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of the imports that are not given."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                module = node.module if isinstance(node, ast.ImportFrom) else alias.name
                if (module or "").split(".")[0] not in GIVEN_IMPORTS:
                    yield "import", (alias.asname or alias.name).split(".")[0]


def _helpers(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of the module's private functions and classes."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and node.name.startswith("_"):
            yield "helper", node.name
