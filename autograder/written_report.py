"""Put all students' reasoning side by side, question by question, for who grades it.

Takes one submission, a folder or zip of many, or an export of Gradescope's. Names are not read: a
text stands under the name of its folder, which on the platform is the number of the submission.
"""

from __future__ import annotations

import csv
import html
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assignment.facts import Facts, load
from assignment.written.source import Reasoning
from autograder import intake, sources
from autograder.grade import PROJECT, Parser
from autograder.reasoning import ELSEWHERE, PARTS, texts
from autograder.results import clean
from autograder.sources import Entry, IntakeError
from nmt.files import InputError
from nmt.notebook import read_cells

FOLDER = re.compile(r"submission_\d+")  # of one submission in an export
TEXT_CHARACTERS = 20_000  # of one answer; some sentences are asked for
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run


@dataclass(frozen=True)
class Answers:
    """What one submission answers: part -> text; or why nothing can be read."""

    name: str
    texts: dict[str, str]
    problem: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if there was something to read."""
    parser = Parser(prog="written-report", description=__doc__)
    parser.add_argument("--export", type=Path, required=True, help="folder or zip")
    parser.add_argument("--out", type=Path, default=PROJECT / "build" / "written-report")
    options = parser.parse_args(arguments)
    try:
        found = list(read_all(options.export, load()))
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "reasoning.html").write_text(page(found), encoding="utf-8")
        # The mark at the beginning tells spreadsheets that it is UTF-8.
        (options.out / "reasoning.csv").write_text(table(found), encoding="utf-8-sig", newline="")
    except (IntakeError, OSError) as error:
        print(f"written-report: {error}", file=sys.stderr)
        return 2
    for answers in found:
        if answers.problem:
            print(f"{answers.name}: {answers.problem}")
    print(f"Written: {options.out}/reasoning.html and .csv, {len(found)} submissions")
    return 0


def read_all(export: Path, facts: Facts) -> Iterator[Answers]:
    """Yield the answers of each submission.

    Raises:
        IntakeError: there is none.
    """
    with sources.opened(export) as entries:
        groups = grouped(entries, facts.notebook)
        for name, group in groups.items():
            yield read_one(name or export.stem, group, facts)
        zips = sorted(export.glob("*.zip")) if export.is_dir() else []
        for path in zips:
            with sources.opened(path) as members:
                yield read_one(path.stem, members, facts)
        if not groups and not zips:
            raise IntakeError(f"{export} holds no submission")


def grouped(entries: list[Entry], notebook: str) -> dict[str, list[Entry]]:
    """Tell the submissions apart: name -> entries; an empty name if all are one submission."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        folder = next((part for part in entry.parts[:-1] if FOLDER.fullmatch(part)), "")
        groups.setdefault(folder, []).append(entry)
    if set(groups) != {""}:
        groups.pop("", None)  # the export's own files
        return groups
    tops = {e.parts[0] for e in entries if e.name == notebook and len(e.parts) > 1}
    if len(tops) < 2 or any(entry.parts == (notebook,) for entry in entries):
        return groups if any(entry.name == notebook for entry in entries) else {}
    return {top: [e for e in entries if e.parts[0] == top] for top in sorted(tops)}


def read_one(name: str, entries: list[Entry], facts: Facts) -> Answers:
    """Return the answers of one submission."""
    try:
        content = intake.read_notebook(entries, facts)
        return Answers(name, texts(read_cells(content)))
    except (IntakeError, InputError) as error:
        return Answers(name, {}, str(error))


def shuffled(found: Sequence[Answers], part: str) -> list[Answers]:
    """Return the submissions in an order of the part's own, so that nobody is always first."""
    return sorted(found, key=lambda answers: zlib.crc32(f"{part}/{answers.name}".encode()))


def shown(answers: Answers, part: str) -> str:
    """Return an answer fit to be shown."""
    return clean(answers.texts.get(part, ""), TEXT_CHARACTERS, TEXT_CHARACTERS)


# --- The table ---


def table(found: Sequence[Answers]) -> str:
    """Return one row for each part and submission, with places for marks and comments."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["part", "submission", "marks", "of", "comment", "text"])
    for part in PARTS.values():
        for answers in shuffled(found, part.id):
            text = answers.problem or shown(answers, part.id)
            row = [part.id, clean(answers.name), "", part.levels[0][0], "", text]
            writer.writerow([harmless(str(value)) for value in row])
    return buffer.getvalue()


def harmless(value: str) -> str:
    """Return a value that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(FORMULA) else value


# --- The page ---

PAGE = """<!doctype html>
<!-- Generated by autograder/written_report.py from students' notebooks. -->
<html lang="en"><head><meta charset="utf-8"><title>Written questions: reasoning</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }}
.model {{ background: #eef3ee; padding: .5rem 1rem; }} .empty {{ color: #767676; }}
article {{ border-top: 1px solid #bbb; }} h3 {{ font-size: 1rem; margin: .6rem 0 0; }}
pre {{ font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 .8rem; }}
</style></head><body><h1>Written questions: reasoning</h1>
<p>{count} submissions, each under the name of its folder; the order differs from part to part.
Marks go into reasoning.csv.</p>
<nav><ul>{index}</ul></nav>
{body}
</body></html>
"""


def page(found: Sequence[Answers]) -> str:
    """Return one page with all texts, each part below its rubric; nothing on it can run."""
    index = "".join(f'<li><a href="#{part}">{part}</a></li>' for part in PARTS)
    sections = [_section(part, found) for part in PARTS.values()]
    return PAGE.format(
        count=len(found), index=index, body="\n".join([*sections, _elsewhere(found)])
    )


def _section(part: Reasoning, found: Sequence[Answers]) -> str:
    levels = "".join(f"<li><b>{m}</b>: {html.escape(text)}</li>" for m, text in part.levels)
    articles = "\n".join(_article(answers, part.id) for answers in shuffled(found, part.id))
    return (
        f'<section id="{part.id}"><h2>{part.id}</h2><p>{html.escape(part.prompt)}</p>'
        f'<div class="model"><p>{html.escape(part.model)}</p><ul>{levels}</ul></div>\n'
        f"{articles}</section>"
    )


def _article(answers: Answers, part: str) -> str:
    text = html.escape(shown(answers, part))
    empty = f'<p class="empty">{html.escape(clean(answers.problem)) or "No text."}</p>'
    name = html.escape(clean(answers.name))
    return f"<article><h3>{name}</h3>{f'<pre>{text}</pre>' if text else empty}</article>"


def _elsewhere(found: Sequence[Answers]) -> str:
    """Return the texts that stand before the first question, if there are any."""
    others = [answers for answers in found if shown(answers, ELSEWHERE)]
    if not others:
        return ""
    articles = "\n".join(_article(answers, ELSEWHERE) for answers in others)
    return f"<section><h2>Before the first question</h2>{articles}</section>"


if __name__ == "__main__":
    sys.exit(main())
