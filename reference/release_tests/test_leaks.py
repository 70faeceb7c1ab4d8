"""Does the starter give nothing away? Tests of the release as it is, and of the search itself."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from release.build import NOTEBOOK, PUBLIC_DATA, Files
from release.markers import find_blocks

from assignment.facts import Facts
from assignment.written.questions import NUMERIC, QUESTIONS

# Shorter lines, such as `h, c = state`, are written by anybody.
SHORTEST = 20  # characters, blanks not counted
RUN = 4  # lines in a row that no public file may share with a closed one
CLOSED = ("autograder", "data", "assignment")  # folders whose code is not for students
QUOTING = (
    # Repeat examples of the public tests, as they should.
    *("autograder/examples.py", "assignment/handout/examples.py"),
    # The notebook's words come from here; of the rest, `written_answers` looks at every sentence.
    "assignment/written/notebook.py",
    *(f"assignment/written/questions/{name}.py" for name in ("attention", "recurrent", "search")),
)
TELLING = 8  # characters of an expression that nobody writes by chance
DIGITS = 4  # of a number that nobody writes by chance
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?\b")
DRAWING = re.compile(r"<(svg|style)\b.*?</\1>|base64,[\w+/=]+", re.DOTALL)
OPERAND, METHOD = re.compile(r"\b_\b"), re.compile(r"\.\w+\(")  # in what `shape` writes
LEAST = 4  # names and constants of an expression that says something: `x.chunk(4, dim=1)` has three


def normal(line: str) -> str:
    """Return a line without blanks and without its comment."""
    return "".join(line.split("  #")[0].split())


def texts(files: Files) -> dict[str, str]:
    """Return all files as text; of a notebook its cells, as in JSON no line would be found."""
    return {
        name: cells(content) if name.endswith(".ipynb") else content.decode()
        for name, content in files.items()
    }


def cells(notebook: bytes) -> str:
    """Return what stands in the cells of a notebook."""
    return "\n".join("".join(cell["source"]) for cell in json.loads(notebook)["cells"])


def solution_lines(root: Path, facts: Facts) -> set[str]:
    """Return the lines between the markers that say something."""
    lines = set()
    for task, file in facts.task_files.items():
        source = (root / "reference" / file).read_text(encoding="utf-8")
        for block in find_blocks(source, file, [task]):
            lines |= set(map(normal, source.split("\n")[block.begin : block.end - 1]))
    return {line for line in lines if len(line) >= SHORTEST}


def solutions(files: Files, root: Path, facts: Facts) -> list[str]:
    """Return where a line of the solution stands."""
    wanted = solution_lines(root, facts)
    return [
        f"{name}: {line.strip()}"
        for name, text in texts(files).items()
        for line in text.split("\n")
        if normal(line) in wanted
    ]


def shape(node: ast.AST) -> str:
    """Write an expression without its names and constants: which methods are called on what."""
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute):
            called = f"{shape(node.func.value)}.{node.func.attr}"
        given = [shape(argument) for argument in node.args]
        named = sorted(f"{keyword.arg}={shape(keyword.value)}" for keyword in node.keywords)
        return f"{called}({', '.join(given + named)})"
    if isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Subscript):
        return "_"
    return f"{type(node).__name__}[{', '.join(map(shape, ast.iter_child_nodes(node)))}]"


def shapes(text: str, lines: Iterable[range]) -> set[str]:
    """Return the shapes of the values that are returned or assigned in some lines."""
    inside = {number for block in lines for number in block}
    values = {
        shape(node.value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Return | ast.Assign) and node.value and node.lineno in inside
    }
    return {own for own in values if len(OPERAND.findall(own)) >= LEAST and METHOD.search(own)}


def solved_alike(files: Files, root: Path, facts: Facts) -> list[str]:
    """Return where an expression does what one of a solution does, under other names."""
    wanted = set()
    for task, file in facts.task_files.items():
        source = (root / "reference" / file).read_text(encoding="utf-8")
        blocks = find_blocks(source, file, [task])
        wanted |= shapes(source, (range(block.begin, block.end) for block in blocks))
    assert len(wanted) > 10
    return sorted(
        f"{name}: {ast.unparse(node)}"
        for name, text in texts(files).items()
        if name.endswith(".py")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr) and shape(node) in wanted
    )


def held_out(files: Files, root: Path) -> list[str]:
    """Return which held-out sentences stand in the starter."""
    pairs = [
        line.split("\t")
        for path in sorted((root / "data/held_out").glob("*.tsv"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert len(pairs) >= 2000, "the held-out sets have not been read"
    data = {name for name in files if Path(name).name in PUBLIC_DATA}
    prose = "\n".join(text for name, text in texts(files).items() if name not in data)
    known = {line.split("\t")[0] for name in data for line in texts(files)[name].split("\n")}
    # Several sources have one translation, as Zhoric has no articles: in data only sources tell.
    return [
        source for source, target in pairs if source in known or source in prose or target in prose
    ]


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Yield every few lines in a row that say something.

    Imports do not, nor do tables: the lecture's worked examples are everybody's.
    """
    lines = [normal(line) for line in text.split("\n") if "import " not in line]
    lines = [line for line in lines if len(line) >= SHORTEST and line[0] not in "\"'"]
    yield from zip(*(lines[start:] for start in range(RUN)), strict=False)


def closed_code(files: Files, root: Path) -> list[str]:
    """Return the closed files that share some lines in a row with the starter."""
    public = {run for text in texts(files).values() for run in runs(text)}
    paths = [path for folder in CLOSED for path in sorted((root / folder).rglob("*"))]
    code = [path for path in paths if path.suffix in (".py", ".toml", ".sh")]
    assert root / "assignment/assignment.toml" in code
    return [
        path.relative_to(root).as_posix()
        for path in code
        if path.relative_to(root).as_posix() not in QUOTING
        and public & set(runs(path.read_text(encoding="utf-8")))
    ]


def test_no_solution(files: Files, root: Path, facts: Facts) -> None:
    """Is no line of a solution in the starter?"""
    assert len(solution_lines(root, facts)) > 20
    assert solutions(files, root, facts) == []
    assert solved_alike(files, root, facts) == []


def test_no_held_out_sentence(files: Files, root: Path) -> None:
    """Is no held-out sentence, nor its translation, in the starter?"""
    assert held_out(files, root) == []


def test_no_closed_code(files: Files, root: Path) -> None:
    """Is no hidden test, probe, generator or fact in the starter?"""
    assert closed_code(files, root) == []


def test_only_what_is_meant(files: Files) -> None:
    """Are there only the folders and kinds of files that students are meant to get?"""
    folders = {name.split("/")[0] for name in files if "/" in name}
    assert folders == {"nmt", "tests", "labs", "data", ".github"}
    assert {name for name in files if name.startswith("data/")} == {
        f"data/{name}" for name in PUBLIC_DATA
    }
    assert {name for name in files if name.endswith(".toml")} == {"pyproject.toml"}
    assert {name for name in files if name.endswith(".ipynb")} == {NOTEBOOK, "written.ipynb"}
    assert not [name for name in files if name.endswith((".safetensors", ".pt"))]


def test_search_finds_a_solution_in_a_notebook(files: Files, root: Path, facts: Facts) -> None:
    """Would a solution line be found in a cell?"""
    notebook = json.loads(files[NOTEBOOK])
    notebook["cells"][1]["source"].append("\n    i, f, g, o = gates.chunk(4, dim=1)\n")
    leaky = {**files, NOTEBOOK: json.dumps(notebook).encode()}
    assert len(solutions(leaky, root, facts)) == 1


def flat(text: str) -> str:
    """Return a text without blanks."""
    return "".join(text.split())


ANSWERS = [answer for question in QUESTIONS for answer in question.answers]
PARTS = [part for question in QUESTIONS for part in question.reasoning]


def written_texts() -> set[str]:
    """Return hints, rubrics, model answers and longer expressions of the questions, flattened."""
    hints = [slip.hint for answer in ANSWERS for slip in answer.slips]
    closed = [*hints, *(text for part in PARTS for text in (part.model, *part.rubric))]
    # By sentences, as somebody may have copied one.
    sentences = {flat(s) for text in closed for s in re.split(r"(?<=[.?:;]) ", text)}
    expressions = {flat(answer.value) for answer in ANSWERS}
    return {text for text in sentences if len(text) >= SHORTEST} | {
        text for text in expressions if len(text) > TELLING
    }


def shows(text: str, value: float) -> bool:
    """Tell whether a value stands in a text, with so many digits that it is no chance."""
    for number in NUMBER.findall(text):
        decimals = len(number.partition(".")[2])
        digits = number.replace(".", "").strip("0")
        if len(digits) >= DIGITS and round(abs(value), decimals) == float(number):
            return True
    return False


def written_answers(files: Files) -> list[str]:
    """Return where something stands that only graders of the written questions may see."""
    wanted = written_texts()
    # Short ones are everybody's: 1.5, 400.
    values = {a.name: a.expected for a in ANSWERS if shows(f"{a.expected:.6g}", a.expected)}
    assert len(values) > 20
    found = []
    for name, text in texts(files).items():
        flattened = flat(text)
        found += [f"{name}: {s}" for s in wanted if s in flattened]
        # Drawings and tables of data are full of numbers.
        prose = "" if name.endswith(".tsv") else DRAWING.sub("", text).replace(",", "")
        found += [f"{name}: {own}" for own, value in values.items() if shows(prose, value)]
    return found


def test_no_written_answer(files: Files) -> None:
    """Is nothing in the starter of what only graders of the written questions may see?"""
    assert written_answers(files) == []


SECRETS = {
    "a model answer": PARTS[0].model,
    "a rubric": PARTS[0].rubric[1],
    "a hint": ANSWERS[2].slips[1].hint,
    "an expression": ANSWERS[1].value,
    "a value": f"about {ANSWERS[2].expected:.4g}, say",
    "a whole number": f"{NUMERIC[4].answers[2].expected:,.0f} parameters",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_search_finds_written_answers(secret: str, files: Files) -> None:
    """Would it be found in prose, and in a cell of the notebook that is broken into lines?"""
    notebook = json.loads(files["written.ipynb"])
    lines = [f"{word} \n" for word in secret.split()]
    notebook["cells"].append({"cell_type": "markdown", "source": lines})
    for name, content in (
        ("README.md", files["README.md"] + secret.encode()),
        ("written.ipynb", json.dumps(notebook).encode()),
        ("handout.html", files["handout.html"] + f"<p>{secret}</p>".encode()),
    ):
        found = written_answers({**files, name: content})
        assert {line.split(":")[0] for line in found} == {name}


@pytest.mark.parametrize("place", ["README.md", "tests/test_lstm.py"])
def test_search_finds_a_solution(place: str, files: Files, root: Path, facts: Facts) -> None:
    """Would a solution line be found, wherever it stands and however it is indented?"""
    planted = b"\n\t    i, f, g, o  =  gates.chunk(4, dim=1)\n"
    leaky = {**files, place: files[place] + planted}
    assert len(solutions(leaky, root, facts)) == 1


@pytest.mark.parametrize(
    "planted",
    [
        "torch.einsum('qd,qkd->qk', asked, drawn)",
        "F.cross_entropy(own.flatten(0, 1), tokens[1:].flatten(), ignore_index=grammar.PAD)",
        "open.sigmoid() * old + sums[1].sigmoid() * sums[2].tanh()",
    ],
)
def test_search_finds_a_solution_by_its_shape(
    planted: str, files: Files, root: Path, facts: Facts
) -> None:
    """Would a solution be found under other names?"""
    leaky = {**files, "labs/extra.py": f"def own():\n    return 2 * ({planted})\n".encode()}
    assert len(solved_alike(leaky, root, facts)) == 1


def test_search_finds_held_out_sentences(files: Files, root: Path) -> None:
    """Would a held-out source be found in the data, and a translation in the prose?"""
    first, second = (root / "data/held_out/test.tsv").read_bytes().split(b"\n")[:2]
    leaky = {
        **files,
        "data/train.tsv": files["data/train.tsv"] + first + b"\n",
        "README.md": files["README.md"] + second.split(b"\t")[1],
    }
    expected = [line.split(b"\t")[0].decode() for line in (first, second)]
    assert [source for source in held_out(leaky, root) if source in expected] == expected


@pytest.mark.parametrize("path", ["data/generate.py", "assignment/assignment.toml"])
def test_search_finds_closed_code(path: str, files: Files, root: Path) -> None:
    """Would a closed file be found under another name?"""
    leaky = {**files, "nmt/extra.py": (root / path).read_bytes()}
    assert path in closed_code(leaky, root)
