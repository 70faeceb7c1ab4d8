"""Does the handout say what the facts, the docstrings and the public tests say?"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from release_tests.test_leaks import held_out, solutions

from assignment.facts import Facts, load
from assignment.handout.contracts import contract, docstrings
from assignment.handout.errors import HandoutError
from assignment.handout.examples import examples
from assignment.handout.figures.heatmap import SENTENCE, looks
from assignment.handout.measured import measured
from assignment.handout.text import CHAPTERS, markdown
from autograder.probes.shortcuts import RULES
from labs.names import LABS
from nmt.cli import build_parser

FILES = load().task_files
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in sorted(CHAPTERS.glob("*.md"))}
CHECK = re.compile(r"```text\n(\w+) +wrong +(\d+) of (\d+) tests pass\n +(.*)\n")


def squeezed(text: str) -> str:
    """Return a text without line breaks, backticks and the numbers of lists."""
    return " ".join(re.sub(r"(?m)^\d+\. ", "", text.replace("`", "")).split())


def says(text: str, number: str) -> bool:
    """Tell whether a number stands in a text, alone."""
    return bool(re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", text))


def blocks(root: Path, task: str) -> Iterator[str]:
    """Yield the paragraphs of a task's docstrings."""
    for docstring in docstrings(root, task, FILES[task]):
        yield from re.split(r"\n\s*\n|Raises:", docstring)


@pytest.mark.parametrize("task", FILES)
def test_contract_has_the_docstrings_words(task: str, root: Path, page: ET.Element) -> None:
    """Does every paragraph of every docstring stand in its chapter of the page, word for word?"""
    (section,) = [part for part in page.iter("section") if part.get("id") == f"{task}-contract"]
    said = squeezed("".join(section.itertext()))
    paragraphs = [squeezed(block) for block in blocks(root, task)]
    assert len(paragraphs) > 5
    assert [paragraph for paragraph in paragraphs if paragraph not in said] == []


def test_contract_follows_the_docstring(root: Path, tmp_path: Path) -> None:
    """Does the contract change with the docstring, signs that Markdown would read included?"""
    source = (root / "reference/nmt/lstm.py").read_text(encoding="utf-8")
    changed = source.replace("Update a hidden state", "Update *one* [hidden] state_of_it < $2")
    (tmp_path / "reference/nmt").mkdir(parents=True)
    (tmp_path / "reference/nmt/lstm.py").write_text(changed, encoding="utf-8")
    expected = r"Update \*one\* \[hidden\] state\_of\_it \< \$2"
    assert expected in contract(tmp_path, "lstm", "nmt/lstm.py")


def test_nothing_is_given_away(text: str, root: Path, facts: Facts) -> None:
    """Is no line of a solution, and no held-out sentence, in the handout?"""
    assert solutions({"handout": text.encode()}, root, facts) == []
    assert held_out({"handout": text.encode()}, root) == []
    assert "SOLUTION" not in text


def test_numbers_are_the_facts(text: str, root: Path, facts: Facts) -> None:
    """Do changed points, thresholds and limits change the text?"""
    lstm = replace(facts.tasks["lstm"], points=23.25)
    changed = replace(
        facts,
        tasks={**facts.tasks, "lstm": lstm},
        translate=replace(facts.translate, full_bleu=91.25, beam_size=17, control_agreement=0.8125),
        limits=replace(facts.limits, call_seconds=29.5),
        training=replace(facts.training, clip_norm=1.375),
    )
    after = markdown(root, changed)
    total = f"{facts.points - facts.tasks['lstm'].points + 23.25:g}"
    for number in ("23.25", total, "91.25", "17", "81.25 %", "29.5", "1.375"):
        assert says(after, number), number
        assert not says(text, number), number
    assert not says(after, f"{facts.translate.full_bleu:g}")


def test_a_new_task_gets_its_rows(text: str, root: Path, facts: Facts) -> None:
    """Does a task that nobody has written about get its place in both tables of points?"""
    extra = replace(facts.tasks["bleu"], id="extra", title="Something more", points=7.5, file=None)
    after = markdown(root, replace(facts, tasks={**facts.tasks, "extra": extra}))
    assert after.count("| `extra` |") == 2
    assert f"**{facts.points + 7.5:g}**" in after


@pytest.mark.parametrize("name", SOURCES)
def test_no_chapter_types_a_fact(name: str, facts: Facts) -> None:
    """Is there no number of points, size or threshold in a chapter's source?"""
    source = re.sub(r"<<.*?>>|<%.*?%>", "", SOURCES[name], flags=re.DOTALL)
    assert not re.search(r"\d+ points|BLEU \d|points: \d", source)
    model = facts.model
    for number in (model.parameters_attention, model.parameters_seq2seq, 20_000):
        assert f"{number:,}" not in source
        assert str(number) not in source


def test_unknown_names_are_refused(root: Path, facts: Facts, tmp_path: Path) -> None:
    """Is a name that there is not an error, and not an empty place?"""
    (tmp_path / "a.md").write_text("<< facts.nothing >>", encoding="utf-8")
    with pytest.raises(UndefinedError, match="nothing"):
        markdown(root, facts, chapters=tmp_path)


def test_measured_figures_come_from_the_readme(root: Path, tmp_path: Path) -> None:
    """Are the times those of the README's table, and is a table without them an error?"""
    readme = (root / "README.md").read_text(encoding="utf-8")
    found = measured(root)
    assert f"| {found.train_seconds} s |" in readme
    assert f"| {found.grade_seconds} s |" in readme
    (tmp_path / "README.md").write_text(readme.replace("768 MB |", "1 GB |"), encoding="utf-8")
    with pytest.raises(HandoutError, match=r"README\.md has no row"):
        measured(tmp_path)


def test_quoted_checks_are_the_public_tests(text: str, root: Path) -> None:
    """Does each quoted check ask a question of the public tests, and count them right?"""
    quoted = {task: (int(total), question) for task, _, total, question in CHECK.findall(text)}
    assert quoted.keys() == FILES.keys()
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    tests = root / "reference/tests"
    listed = subprocess.run(
        [*command, str(tests)], cwd=root, capture_output=True, text=True, check=True
    )
    counts = Counter(re.findall(r"test_(\w+)\.py::", listed.stdout))
    for task, (total, question) in quoted.items():
        assert counts[task] == total, task
        module = ast.parse((tests / f"test_{task}.py").read_text(encoding="utf-8"))
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        assert question in [ast.get_docstring(function) for function in functions]


def test_commands_exist(text: str) -> None:
    """Does `python -m nmt` have every command that the handout names, and `labs` that lab?"""
    commands = set(re.findall(r"python -m nmt (\w+)", text))
    assert {"check", "train", "translate", "heatmap", "tree", "submit"} <= commands
    known = build_parser().format_help()
    assert [name for name in commands if f"    {name} " not in known] == []
    labs = set(re.findall(r"`(?:python -m labs )?(lab\d)`", text))
    assert labs
    assert labs <= set(LABS)


def test_what_is_forbidden_is_refused(text: str) -> None:
    """Does the grader refuse all that the list names, and nothing in the tasks without a rule?"""
    table = text.split("A file may not use")[1]
    rows = dict(re.findall(r"(?m)^\| (`[^|]*`) \| ([^|]*) \|$", table))
    assert {name for cell in rows for name in re.findall(r"`(\w+)`", cell)} == set(FILES)
    for cell, banned in rows.items():
        for task in re.findall(r"`(\w+)`", cell):
            names = re.findall(r"`([\w.]+)`", banned)
            assert names
            own = "" if task == "bleu" else "torch."  # which the handout leaves out
            paths = [own + name.removeprefix("torch.") for name in names]
            refused = [path for path in paths if task in RULES and RULES[task].paths.match(path)]
            assert refused == (paths if task in RULES else []), task


def test_fractions_in_the_chapters_hold() -> None:
    """Are the fractions that the chapter on BLEU explains the reference's?"""
    worked = examples().bleu
    cat = worked.rows[1]
    assert cat.plain.precisions == (5 / 6, 3 / 5, 1 / 4, 0)
    assert cat.smoothed.precisions == (5 / 6, 3 / 5, 1 / 4, 1 / 4)
    assert (cat.plain.candidate_length, cat.plain.reference_length) == (6, 6)
    assert worked.rows[3].plain.precisions[0] == 2 / 7
    assert worked.pooled == pytest.approx((10 / 12 * 8 / 10) ** 0.5)


def test_heatmap_shows_what_the_chapter_says(root: Path) -> None:
    """Does the trained model look where the text under the picture says?"""
    assert f"{SENTENCE}\t" in (root / "data/dev.tsv").read_text(encoding="utf-8")
    seen = {(word, source) for word, source, _ in looks(root)}
    assert {("rega", "kings"), ("kurja", "angry"), ("rosa", "red")} <= seen
    assert {("kaval", "near"), ("tavek", "</s>")} <= seen


def tables(path: Path, name: str) -> list[object]:
    """Return the dictionaries that a file assigns to a name, wherever in it that stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                found.append(ast.literal_eval(node.value))
    return found


@pytest.mark.parametrize(
    "example,test",
    [("beam.TABLE", "test_beam.MAIN"), ("examples.weights", "test_attention.weights")],
)
def test_examples_are_those_of_the_public_tests(root: Path, example: str, test: str) -> None:
    """Has a worked example the numbers of the public test that it says it is?"""
    (ours, name), (theirs, twin) = example.split("."), test.split(".")
    own = tables(CHAPTERS.parent / f"{ours}.py", name)
    assert len(own) == 1
    assert own == tables(root / "reference/tests" / f"{theirs}.py", twin)
