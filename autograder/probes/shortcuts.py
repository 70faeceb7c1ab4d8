"""Read a task's code before any of it runs: does it use what solves the task?

Only code counts that the contract's names lead to, through functions, classes, assignments and
imports, also into another file of the package. A self-check under `if __name__ == "__main__"`, a
helper that nobody refers to, comments, docstrings and annotations are free. What hides from reading
(`exec`, names put together from parts) is seen when it runs: `guard.py`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "nmt"
LIBRARIES = r"tensorflow|keras|jax|flax|allennlp|fairseq|torchnlp"
ENTRIES = {"forward", "step"}  # methods that callers of the contract's classes know
MAX_PARTS = 12  # of a path; more come from an assignment such as `node = node.next`

Paths = frozenset[str]  # what a name may stand for, as dotted paths: {"torch.nn.LSTMCell"}
NONE: Paths = frozenset()
Names = dict[str, Paths]  # "*" has the modules of which all names were imported
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DEFINITIONS = (ast.Import, ast.ImportFrom, *SCOPES)


@dataclass(frozen=True)
class Rule:
    """What a task consists of, and what may not be used there."""

    names: tuple[str, ...]  # the contract's
    paths: re.Pattern[str]  # forbidden in the source
    kernels: tuple[str, ...] = ()  # of torch, forbidden when the code runs
    functions: re.Pattern[str] | None = None  # written in Python, forbidden when the code runs


BLEU = re.compile(
    r"(sacrebleu|nltk|torchmetrics|torchtext|torcheval|evaluate|ignite|datasets|pycocoevalcap|"
    rf"keras_nlp|{LIBRARIES})(\.|$)"
)
RULES = {
    "lstm": Rule(
        ("LSTMCell",),
        re.compile(rf"torch\..*(lstm|mkldnn_rnn)|({LIBRARIES})(\.|$)", re.IGNORECASE),
        ("lstm_cell", "lstm.input", "lstm.data", "quantized_lstm_cell", "mkldnn_rnn_layer"),
        re.compile(r"torch\.ao\.nn\.\w+\.modules\.rnn\.forward$"),
    ),
    "attention": Rule(
        ("dot_score", "multiplicative_score", "additive_score", "attend", "AttentionDecoder"),
        re.compile(
            r"torch\..*(attention|multi_?head|transformer)|"
            rf"({LIBRARIES}|transformers|xformers|flash_attn)(\.|$)",
            re.IGNORECASE,
        ),
        (
            "scaled_dot_product_attention",
            "_scaled_dot_product_attention_math",
            "_scaled_dot_product_flash_attention_for_cpu",
            "_native_multi_head_attention",
            "_transformer_encoder_layer_fwd",
        ),
        re.compile(
            r"torch\.nn\.functional\.multi_head_attention_forward$|"
            r"torch\.nn\.attention\.flex_attention\.flex_attention$|"
            r"torch\.ao\.nn\.\w+\.modules\.activation\._forward_impl$"
        ),
    ),
    "bleu": Rule(("corpus_bleu", "sentence_bleu"), BLEU, functions=BLEU),
}


class Shortcut(Exception):
    """The student's code uses what solves the task; the text names it and its place."""

    is_shortcut = True

    def __init__(self, what: str, module: str, line: int) -> None:
        super().__init__(f"{what} at nmt/{module}.py, line {line}")


def read(task: str) -> None:
    """Read the task's code and whatever it leads to.

    Raises:
        Shortcut: it uses what solves the task.
    """
    if task in RULES:
        Reader(RULES[task]).read(f"nmt.{task}.{name}" for name in RULES[task].names)


@dataclass
class Module:
    """What the names of a file stand for, and the statements that say so."""

    name: str
    names: Names = field(default_factory=dict)
    # name -> statements, each with what names stood for before it
    bindings: dict[str, list[tuple[ast.stmt, Names]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, body: Sequence[ast.stmt], sure: bool = True) -> None:
        """Add the statements of a block; `sure` if they run whenever the file is imported."""
        for statement in body:
            if isinstance(statement, ast.If) and never_true(statement.test):
                self.add(statement.orelse, sure)
                continue
            before = dict(self.names)
            for name, paths in bound(statement, before, f"nmt.{self.name}.").items():
                replaces = sure and name != "*"
                self.names[name] = paths if replaces else paths | before.get(name, NONE)
                self.bindings[name].append((statement, before))
            for block in blocks(statement):
                self.add(block, sure=False)


def parse(name: str) -> Module:
    """Read a module of the package; one that cannot be read is empty, and fails on import."""
    module = Module(name)
    try:
        module.add(ast.parse((PACKAGE / f"{name}.py").read_bytes()).body)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Module(name)
    return module


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """List the blocks of a compound statement; functions and classes have a scope of their own."""
    if isinstance(statement, SCOPES):
        return []
    inner = [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    return [getattr(statement, part, []) for part in ("body", "orelse", "finalbody")] + [
        part.body for part in inner
    ]


def never_true(test: ast.expr) -> bool:
    """Recognise `__name__ == "__main__"`, `TYPE_CHECKING` and `False`."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
        return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")
    if isinstance(test, ast.Constant):
        return not test.value
    return isinstance(test, (ast.Name, ast.Attribute)) and ast.unparse(test).endswith(
        "TYPE_CHECKING"
    )


def bound(node: ast.AST, names: Names, home: str) -> Names:
    """Return the names that a statement binds, and what they stand for from then on.

    `home` is what the paths of the file's own names begin with; empty for a function's names.
    """
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.split(".")[0]: frozenset(
                [alias.name if alias.asname else alias.name.split(".")[0]]
            )
            for alias in node.names
        }
    if isinstance(node, ast.ImportFrom):
        base = ".".join(part for part in ("nmt" if node.level else "", node.module) if part)
        stars = frozenset(base for alias in node.names if alias.name == "*")
        found = {a.asname or a.name: frozenset([f"{base}.{a.name}"]) for a in node.names}
        return {**found, "*": stars} if stars else found
    if isinstance(node, SCOPES):
        return {node.name: own(home, node.name)}
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        return assigned(node, names, home)
    targets = [getattr(node, "target", None)]
    targets += [item.optional_vars for item in getattr(node, "items", [])]
    return {name: own(home, name) for target in targets for name in stored(target)}


def assigned(node: ast.Assign | ast.AnnAssign | ast.NamedExpr, names: Names, home: str) -> Names:
    """Return what names stand for after an assignment; `x.f = y` says something of `x`, too."""
    value = resolve(node.value, names) if node.value is not None else NONE
    found: Names = {}
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Name):
            found[target.id] = own(home, target.id) | value
            continue
        found |= {name: own(home, name) for name in stored(target)}
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        if isinstance(target, ast.Name):
            found[target.id] = names.get(target.id, NONE)
    return found


def own(home: str, name: str) -> Paths:
    """Return the path of a name that a file defines itself; a function's names have none."""
    return frozenset([home + name]) if home else NONE


def stored(node: ast.AST | None) -> list[str]:
    """List the names that are assigned anywhere inside."""
    inside = ast.walk(node) if node is not None else ()
    return [n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def local_names(function: Function, outer: Names) -> Names:
    """Return what names stand for inside a function: its own hide those outside."""
    inside = list(ast.walk(function))[1:]
    shared = {name for node in inside if isinstance(node, ast.Global) for name in node.names}
    arguments = {node.arg for node in inside if isinstance(node, ast.arg)}
    defined = (bound(node, {}, "") for node in inside if isinstance(node, DEFINITIONS))
    hidden = arguments.union(stored(function), *defined) - shared
    names = {**outer, **dict.fromkeys(hidden, NONE)}
    for node in inside:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign, ast.NamedExpr)):
            for name, paths in bound(node, names, "").items():
                names[name] = names.get(name, NONE) | paths
    return names


def resolve(node: ast.expr, names: Names) -> Paths:
    """Return the dotted paths that an expression may stand for; none if it is not known."""
    if isinstance(node, ast.Name):
        stars = names.get("*", NONE)
        return names.get(node.id, frozenset(f"{star}.{node.id}" for star in stars))
    if isinstance(node, ast.NamedExpr):
        return resolve(node.value, names)
    if isinstance(node, ast.Attribute):
        return frozenset(f"{path}.{node.attr}" for path in resolve(node.value, names))
    if isinstance(node, ast.Subscript):
        return entry(node.value, text(node.slice), names)
    if isinstance(node, ast.Call) and node.args:
        return called(node, names)
    return NONE


def entry(node: ast.expr, key: str, names: Names) -> Paths:
    """Return what `sys.modules[key]`, `vars(x)[key]` or `x.__dict__[key]` stands for."""
    if isinstance(node, ast.Call) and node.args and function_name(node) == "vars":
        return frozenset(f"{path}.{key}" for path in resolve(node.args[0], names))
    tables = [path.removesuffix(".__dict__") for path in resolve(node, names)]
    return frozenset(key if table == "sys.modules" else f"{table}.{key}" for table in tables if key)


def called(node: ast.Call, names: Names) -> Paths:
    """Return what a call of `getattr`, `import_module` or `__import__` on texts stands for."""
    name, first = function_name(node), text(node.args[0])
    if name == "getattr" and len(node.args) > 1 and text(node.args[1]):
        return frozenset(f"{path}.{text(node.args[1])}" for path in resolve(node.args[0], names))
    if name == "import_module" and first:
        return frozenset([f"nmt{first}" if first.startswith(".") else first])
    if name == "__import__" and first:
        whole = len(node.args) > 3 or any(word.arg == "fromlist" for word in node.keywords)
        return frozenset([first if whole else first.split(".")[0]])
    return NONE


def function_name(node: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def text(node: ast.expr) -> str:
    """Return the text of a literal, also of one put together with +; empty if it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text(node.left), text(node.right)
        return left + right if left and right else ""
    return ""


@dataclass(frozen=True)
class Place:
    """Code that is still to be read."""

    module: Module
    node: ast.AST
    names: Names  # what names stand for there
    inside: bool = False  # a function


class Reader(ast.NodeVisitor):
    """Follow the names of a task through its code."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.modules: dict[str, Module] = {}
        self.seen: set[str] = set()  # paths
        self.mentioned = set(ENTRIES)  # attributes
        self.waiting: dict[str, list[Place]] = defaultdict(list)  # methods not mentioned so far
        self.todo: list[Place] = []
        self.at = Place(Module(""), ast.Module([], []), {})

    def read(self, paths: Iterable[str]) -> None:
        """Read all code that the paths lead to."""
        for path in paths:
            self.use(path, 0)
        while self.todo:
            self.enter(self.todo.pop())

    def enter(self, place: Place) -> None:
        """Read one place, and come back."""
        before, self.at = self.at, place
        try:
            self.visit(place.node)
        except RecursionError:  # too deep to read: what it does is seen when it runs
            pass
        self.at = before

    def use(self, path: str, line: int) -> None:
        """Take note of a path that the code uses.

        Raises:
            Shortcut: it may not.
        """
        if self.rule.paths.match(path):
            raise Shortcut(path, self.at.module.name, line)
        package, *parts = path.split(".")
        if package != "nmt" or not 2 <= len(parts) <= MAX_PARTS or path in self.seen:
            return
        self.seen.add(path)
        name, first, *rest = parts
        if name not in self.modules:
            self.modules[name] = parse(name)
        module = self.modules[name]
        for target in resolve(ast.Name(first, ast.Load()), module.names):
            self.use(".".join([target, *rest]), line)
        if not rest:
            self.todo += [Place(module, *binding) for binding in module.bindings.get(first, [])]

    def mention(self, attribute: str) -> None:
        """Take note of an attribute: methods of that name may be called."""
        self.mentioned.add(attribute)
        self.todo += self.waiting.pop(attribute, [])

    def look(self, node: ast.expr) -> None:
        """Take note of what an expression stands for."""
        for path in resolve(node, self.at.names):
            self.use(path, node.lineno)

    def visit_function(self, node: Function) -> None:
        """Read a function: its defaults here, its body with names of its own."""
        outer = self.at.names if self.at.inside else self.at.module.names
        defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        for part in [*getattr(node, "decorator_list", []), *defaults]:
            self.visit(part)
        names = local_names(node, outer)
        for part in node.body if isinstance(node.body, list) else [node.body]:
            self.enter(Place(self.at.module, part, names, inside=True))

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Read a class; a method counts when its name is mentioned, or known to callers."""
        for part in (*node.decorator_list, *node.bases, *(word.value for word in node.keywords)):
            self.visit(part)
        for statement in node.body:
            name = getattr(statement, "name", "__")
            if name.startswith("__") or name in self.mentioned:
                self.visit(statement)
            else:
                place = Place(self.at.module, statement, self.at.names, self.at.inside)
                self.waiting[name].append(place)

    def visit_Name(self, node: ast.Name) -> None:
        """Look what a name stands for."""
        if isinstance(node.ctx, ast.Load):
            self.look(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Look what an attribute stands for."""
        self.mention(node.attr)
        self.look(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Look what an entry of a module's table stands for."""
        self.look(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Look what a call that finds something by name stands for."""
        self.look(node)
        if function_name(node) == "getattr" and len(node.args) > 1:
            self.mention(text(node.args[1]))
        if function_name(node) in ("isinstance", "issubclass"):
            self.visit(node.args[0])  # to ask is not to use
        else:
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Read what may run."""
        for part in node.orelse if never_true(node.test) else ast.iter_child_nodes(node):
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave the annotation out."""
        for part in (node.target, node.value):
            if part is not None:
                self.visit(part)
