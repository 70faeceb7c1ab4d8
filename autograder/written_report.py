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
from assignment.written.questions import QUESTIONS
from assignment.written.rendering import rendered
from autograder import intake, sources
from autograder.grade import PROJECT, Parser
from autograder.reasoning import ELSEWHERE, PARTS, texts
from autograder.results import clean
from autograder.sources import Entry, IntakeError
from nmt.files import InputError
from nmt.notebook import read_cells

FOLDER = re.compile(r"submission_\d+")  # of one submission in an export
TEXT_CHARACTERS = 20_000  # of one answer; some sentences are asked for
QUESTION_OF = {part.id: question for question in QUESTIONS for part in question.reasoning}
FORMULA = (*"=+-@\t\r", *"\uff1d\uff0b\uff0d\uff20")  # what a spreadsheet would run, wide ones too


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
        for name, content in (("reasoning.csv", table(found)), ("marks.csv", marks(found))):
            (options.out / name).write_text(content, encoding="utf-8-sig", newline="")
    except (IntakeError, OSError) as error:
        print(f"written-report: {error}", file=sys.stderr)
        return 2
    for answers in found:
        if answers.problem:
            print(clean(f"{answers.name}: {answers.problem}"))
    print(f"Written: {options.out}/reasoning.html, .csv and marks.csv, {len(found)} submissions")
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
            try:
                with sources.opened(path) as members:
                    yield read_one(path.stem, members, facts)
            except IntakeError as error:
                yield Answers(path.stem, {}, str(error))
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
    # Who has a folder beside these is listed, too, with or without a notebook.
    tops = {entry.parts[0] for entry in entries if len(entry.parts) > 1}
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
    text = "".join(" " if c.isspace() and c != "\n" else c for c in answers.texts.get(part, ""))
    return clean(text, TEXT_CHARACTERS, TEXT_CHARACTERS)


# --- The table ---


def table(found: Sequence[Answers]) -> str:
    """Return one row for each part and submission, with the text."""
    rows = [["part", "submission", "text"]]
    for part in PARTS:
        for answers in shuffled(found, part):
            row = (part, clean(answers.name), shown(answers, part))
            rows.append([harmless(value) for value in row])
    return written(rows)


def marks(found: Sequence[Answers]) -> str:
    """Return one row for each submission, with a place for each part's marks, and their sum."""
    rows = [["submission", *(f"{part.id} (of {part.levels[0][0]})" for part in PARTS.values())]]
    rows[0] += ["sum", "comment"]
    last = column(len(PARTS))
    for number, answers in enumerate(found, start=2):
        total = f"=SUM(B{number}:{last}{number})"
        names = [harmless(clean(text)) for text in (answers.name, answers.problem)]
        rows.append([names[0], *[""] * len(PARTS), total, names[1]])
    return written(rows)


def written(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


def column(index: int) -> str:
    """Return the name that spreadsheets give a column: 0 is A, 25 Z, 26 AA."""
    above, own = divmod(index, 26)
    return (column(above - 1) if above else "") + chr(ord("A") + own)


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
.model {{ background: #eef3ee; padding: .5rem 1rem; }} .empty {{ color: #595959; }}
table {{ border-collapse: collapse; }} td, th {{ padding: .1rem .6rem; border: 1px solid #bbb; }}
article {{ border-top: 1px solid #bbb; }} h3 {{ font-size: 1rem; margin: .6rem 0 0; }}
/* Combining marks without end stay in their text's own box. */
pre {{ overflow: hidden; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere;
  margin: .3rem 0 .8rem; }}
</style></head><body><h1>Written questions: reasoning</h1>
<p>{count} submissions, each under the name of its folder; the order differs from part to part.
Marks go into marks.csv, which adds them up: {total} at most. In an export of Gradescope's,
submission_&lt;number&gt; is the submission whose address there ends with that number, and
submission_metadata.yml in the export says whose it is.</p>
{problems}<nav><ul>{index}</ul></nav>
{body}
</body></html>
"""


def page(found: Sequence[Answers]) -> str:
    """Return one page with all texts, each part below its rubric; nothing on it can run."""
    index = "".join(f'<li><a href="#{part}">{_heading(part)}</a></li>' for part in PARTS)
    ours = iter(rendered([text for part in PARTS for text in _texts_of(part)]))
    sections = [_section(part, [next(ours) for _ in _texts_of(part)], found) for part in PARTS]
    return PAGE.format(
        count=len(found),
        total=sum(part.levels[0][0] for part in PARTS.values()),
        problems="".join(map(_problem, found)),
        index=index,
        body="\n".join([*sections, _elsewhere(found)]),
    )


def _heading(part: str) -> str:
    question = QUESTION_OF[part]
    return html.escape(f"{question.number}. {question.title}: {part}")


def _texts_of(part: str) -> list[str]:
    """Return our own texts of a part, in Markdown."""
    own = PARTS[part]
    levels = "\n".join(f"- **{marks}**: {text}" for marks, text in own.levels)
    return [QUESTION_OF[part].prompt, own.prompt, own.model, levels]


def _section(part: str, ours: Sequence[str], found: Sequence[Answers]) -> str:
    question, prompt, model, levels = ours
    readable = [answers for answers in shuffled(found, part) if not answers.problem]
    articles = "\n".join(_article(answers, part) for answers in readable)
    return (
        f'<section id="{part}"><h2>{_heading(part)}</h2>'
        f"<details><summary>The question above it</summary>{question}"
        f'</details>{prompt}<div class="model">{model}{levels}</div>\n{articles}</section>'
    )


def _article(answers: Answers, part: str) -> str:
    text = html.escape(shown(answers, part))
    shown_text = f"<pre>{text}</pre>" if text else '<p class="empty">No text.</p>'
    return f"<article><h3>{html.escape(clean(answers.name))}</h3>{shown_text}</article>"


def _problem(answers: Answers) -> str:
    """Return a line on a submission of which nothing can be read."""
    text = html.escape(clean(f"{answers.name}: {answers.problem}"))
    return f'<p class="empty">{text}</p>\n' if answers.problem else ""


def _elsewhere(found: Sequence[Answers]) -> str:
    """Return the texts that stand before the first question, if there are any."""
    others = [answers for answers in found if shown(answers, ELSEWHERE)]
    if not others:
        return ""
    articles = "\n".join(_article(answers, ELSEWHERE) for answers in others)
    return f"<section><h2>Before the first question</h2>{articles}</section>"


if __name__ == "__main__":
    sys.exit(main())
