"""Show what experiments found: a page with plots, CSV files, a text for the terminal, Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from labs.experiment import Claim, Experiment, Results, Row, Table
from labs.names import LABS
from labs.part import Part, Settings
from labs.store import Finder, Record, key, results, rounded, stored, write_text
from nmt.files import read_lines, write_atomically

Plans = Sequence[tuple[Experiment, Sequence[Part]]]

NOT_JUDGED = "not judged: a quick look has other settings than the claim"
BAR = "\\|"  # a bar inside a cell of a Markdown table
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
caption, th[scope=row], th:first-child, tr.ours td:nth-child(2), tr.lecture td:first-child {
  text-align: left }
th[scope=row] { font-weight: normal; min-width: 9rem }
td { white-space: nowrap }
figure { margin: 1rem 0 }
caption { color: #444; padding-bottom: .3rem }
tr.lecture td { color: #595959 }
.wide { overflow-x: auto }
img { max-width: 100%; height: auto }
figcaption, .note { color: #444 }
.holds { color: #17692c } .fails { color: #a11 } .open { color: #595959 }
"""


@dataclass(frozen=True)
class Section:
    """Hold what there is to show of one experiment."""

    experiment: Experiment
    results: Results
    table: Table
    verdicts: Sequence[tuple[str, str, str]]  # statement, verdict, its kind: holds, fails, open
    origin: str  # seeds, machine, date, time
    quick: str  # what a quick look does otherwise; "" for the real thing


def section(experiment: Experiment, parts: Sequence[Part], find: Finder) -> Section | None:
    """Put together what is known of an experiment, or None if a part has not been run."""
    found = results(parts, find)
    if found is None:
        return None
    quick = bool(experiment.quick) and parts[0].settings not in experiment.settings
    verdicts = [verdict(claim, experiment, found, quick) for claim in experiment.claims]
    known = [(part, record) for part in with_before(parts) if (record := find(part))]
    said = origin(experiment, found, [record for _, record in known])
    if any(record.get("key") != key(part) for part, record in known):
        said += " From other sources or data than these: run it again."
    shorter = quick_look(experiment, parts[0].settings) if quick else ""
    return Section(experiment, found, experiment.table(found), verdicts, said, shorter)


def quick_look(experiment: Experiment, settings: Settings) -> str:
    """Say what a quick look has in the place of the settings that the text speaks of."""
    full = experiment.settings[0]
    other = [f"{name} {settings[name]}" for name in full if settings[name] != full[name]]
    return f"Only a quick look: {', '.join(other)}."


def with_before(parts: Sequence[Part]) -> list[Part]:
    """Return parts and those that were run for them."""
    return [*parts, *(part.before for part in parts if part.before)]


def verdict(
    claim: Claim, experiment: Experiment, found: Results, quick: bool
) -> tuple[str, str, str]:
    """Tell whether a claim holds, on how many of the seeds."""
    if quick:
        return claim.text, NOT_JUDGED, "open"
    right = [claim.holds(own) for own in found.by_seed()]
    where = f" on {sum(right)} of {len(right)} seeds" if experiment.seeds else ""
    if all(right):
        return claim.text, f"holds{where}", "holds"
    tried = f". {claim.tried}" if claim.tried else ""
    text = f"holds{where} only" if any(right) else f"does not hold{where and ' on any seed'}"
    return claim.text, f"{text}{tried}", "fails"


def origin(experiment: Experiment, found: Results, records: Sequence[Record]) -> str:
    """Say where the figures come from."""
    seeds = f"Seeds {', '.join(map(str, found.seeds))}; " if experiment.seeds else ""
    machines = " / ".join(dict.fromkeys(record["machine"] for record in records))
    dates = " / ".join(sorted({record["date"] for record in records}))
    seconds = sum(record["seconds"] for record in records)
    time = f"{seconds:.1f} s" if seconds >= 0.1 else "less than 0.1 s"
    return f"{seeds}{machines}; {dates}; {time} of one core."


# --- Tables ---


def cells(table: Table) -> list[list[str]]:
    """Return the lines of a table as text: ours, and below it the lecture's."""
    lines = []
    for row in table.rows:
        lines.append([row.label, "ours", *(map(partial(ours, table, row), range(len(row.ours))))])
        if row.lecture:
            lines.append(["", "lecture", *(value or "–" for value in row.lecture)])
    return lines


def ours(table: Table, row: Row, column: int) -> str:
    """Write a cell of ours: the mean over the seeds, and the range if it shows."""
    values = row.ours[column]
    if not values:
        return "–"
    form = row.form or table.form
    form = form if isinstance(form, str) else form[column]
    low, high = (number(value, form) for value in (min(values), max(values)))
    mean = number(sum(values) / len(values), form)
    return mean if low == high else f"{mean} ({low} … {high})"


def number(value: float, form: str) -> str:
    """Write a number; 4790 and not 4.8e+03 where the form would round it to that."""
    text = format(value, form)
    return f"{value:,.0f}" if "e+" in text else text


def comma_separated(table: Table, seeds: Sequence[int]) -> str:
    """Write a table as CSV, a line a seed (or one, if nothing is random), with all digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([table.corner or "row", "whose", *table.columns])
    for row in table.rows:
        for place in range(max(map(len, row.ours))):
            values = [rounded(column[place]) if place < len(column) else "" for column in row.ours]
            whose = f"ours, seed {seeds[place]}" if seeds else "ours"
            writer.writerow([row.label, whose, *values])
        if row.lecture:
            values = [(value or "").replace(",", "") for value in row.lecture]
            writer.writerow([row.label, "lecture", *values])
    return file.getvalue()


def plain(table: Table) -> str:
    """Write a table for a terminal."""
    lines = [[table.corner, "", *table.columns], *cells(table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown_table(table: Table) -> str:
    """Write a table as Markdown."""
    head = [table.corner, "", *table.columns]
    lines = [head, ["---", "---", *("--:" for _ in table.columns)], *cells(table)]
    return "\n".join(f"| {' | '.join(cell.replace('|', BAR) for cell in line)} |" for line in lines)


def html_table(table: Table, title: str) -> str:
    """Write a table as HTML; a row's label stands for the lecture's line below it, too."""
    corner = (table.corner or "figures", "whose", *table.columns)
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in corner)
    lines, rows = cells(table), []
    for line, following in zip(lines, [*lines[1:], None]):
        span = ' rowspan="2"' if following and following[1] == "lecture" else ""
        label = f'<th scope="row"{span}>{escape(line[0])}</th>' if line[1] == "ours" else ""
        values = "".join(f"<td>{escape(cell).replace(' (', '<br>(')}</td>" for cell in line[1:])
        rows.append(f'<tr class="{line[1]}">{label}{values}</tr>')
    # A wide table scrolls by itself on a narrow screen, with the keyboard as well.
    return (
        f'<div class="wide" tabindex="0"><table><caption>{escape(title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{chr(10).join(rows)}</tbody></table></div>"
    )


# --- Pages ---


def plans(
    experiments: Sequence[Experiment], wanted: Mapping[str, Sequence[Part]], folder: Path
) -> Plans:
    """Choose what to show of each experiment: what was wanted, else the most there is of it."""
    every = []
    for experiment in experiments:
        choices = [wanted[experiment.id]] if experiment.id in wanted else []
        for quick in (False, True):
            for seeds in range(experiment.seeds or 1, 0, -1):
                choices.append(experiment.parts(quick, seeds))
        every.append((experiment, next((own for own in choices if all_stored(own, folder)), ())))
    return [(experiment, parts) for experiment, parts in every if parts]


def all_stored(parts: Sequence[Part], folder: Path) -> bool:
    """Tell whether all parts have been run."""
    return all(stored(part, folder) for part in parts)


def show(plans: Plans, folder: Path, asked: Sequence[str], lines: Sequence[str]) -> None:
    """Write the page with plots and tables of all that was ever run; print what was asked for."""
    find = partial(stored, folder=folder)
    sections = [own for plan in plans if (own := section(*plan, find))]
    # The page first: a table that is open elsewhere, in Excel for one, may not be writable.
    write_text(folder / "index.html", page(sections, lines))
    for own in sections:
        stem = own.experiment.id
        seeds = own.results.seeds if own.experiment.seeds else []
        # Excel takes a file for UTF-8 by the mark at its beginning.
        write_text(folder / f"{stem}.csv", "\ufeff" + comma_separated(own.table, seeds))
        draw(own, folder / f"{stem}.png")
        if stem in asked:
            print(terminal(own), end="\n\n")
    print(f"plots and tables: {(folder / 'index.html').resolve()}")


def draw(own: Section, path: Path) -> None:
    """Draw the plot of an experiment."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    own.experiment.plot(own.results, figure)
    figure.suptitle(f"{own.experiment.id} {own.experiment.title}")
    write_atomically(path, lambda place: figure.savefig(place, format="png", dpi=110))


def terminal(own: Section) -> str:
    """Write an experiment for a terminal."""
    title = f"{own.experiment.id} {own.experiment.title}"
    lines = [title, *([own.quick] if own.quick else []), plain(own.table)]
    lines += [text for text in (own.table.note, own.experiment.remark(own.results)) if text]
    lines += [f"claim: {text}\n  {said}" for text, said, _ in own.verdicts]
    return "\n".join(lines)


def page(sections: Sequence[Section], lines: Sequence[str]) -> str:
    """Write the page, lab by lab; lines say what could not be run."""
    note = "".join(f"<p class='fails'>{escape(line)}</p>" for line in lines)
    contents, body = [], []
    for lab, title in LABS.items():
        own = [section for section in sections if section.experiment.lab == lab]
        if own:
            heading = f"Lab {lab[-1]}: {escape(title)}"
            contents.append(f"<li>{heading}<ul>{''.join(map(link, own))}</ul></li>")
            body += [f"<h2>{heading}</h2>", *map(html_section, own)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Labs</title><style>{STYLE}</style></head>\n<body>"
        f"<header><h1>The lecture's experiments</h1>\n{note}</header>\n"
        f'<nav aria-label="Contents"><ul>{"".join(contents)}</ul></nav>\n'
        f"<main>\n{chr(10).join(body)}\n</main></body></html>\n"
    )


def link(own: Section) -> str:
    """Write an entry of the contents."""
    return f'<li><a href="#{own.experiment.id}">{html_title(own.experiment)}</a></li>'


def html_title(experiment: Experiment) -> str:
    """Write number and title."""
    return f"{experiment.id} {escape(experiment.title)}"


def drawn(experiment: Experiment) -> str:
    """Say what the plot shows, for those who do not see it: what its function draws."""
    what = (experiment.plot.__doc__ or experiment.title).strip().removeprefix("Draw ")
    return f"Plot of {what} The table above has the figures."


def html_section(own: Section) -> str:
    """Write an experiment as HTML."""
    experiment = own.experiment
    stem = experiment.id
    quick = f"<p><strong>{escape(own.quick)}</strong></p>\n" if own.quick else ""
    claims = "".join(
        f"<li>{escape(text)} <strong class='{kind}'>{escape(said)}</strong></li>"
        for text, said, kind in own.verdicts
    )
    notes = [own.table.note, experiment.remark(own.results)]
    return (
        f'<section id="{stem}"><h3>{html_title(experiment)}</h3>\n'
        f"<p>{escape(experiment.about)}</p>\n{quick}{html_table(own.table, experiment.title)}\n"
        + "".join(f"<p class='note'>{multiline(text)}</p>" for text in notes if text)
        + (f"<ul>{claims}</ul>\n" if claims else "")
        + f'<figure><img src="{stem}.png" alt="{escape(drawn(experiment))}">'
        f"<figcaption>{escape(experiment.caption)}</figcaption></figure>\n"
        f"<p class='note'>{escape(own.origin)} <a href=\"{stem}.csv\">CSV</a></p></section>"
    )


def multiline(text: str) -> str:
    """Write a text of several lines as HTML."""
    return escape(text).replace("\n", "<br>")


def markdown(plans: Plans, find: Finder) -> str:
    """Write all figures and verdicts as Markdown."""
    sections = [(experiment, section(experiment, parts, find)) for experiment, parts in plans]
    text = [
        "<!-- Generated by `make labs`: change nothing here. -->",
        "# The lecture's experiments, as the reference runs them",
        summary([own for _, own in sections if own], plans, find),
        "Where several seeds were tried, a cell has their mean and (smallest … largest). The plots "
        "are in `build/labs/index.html` after `make labs`.",
    ]
    for experiment, own in sections:
        text.append(f"## {experiment.id} {experiment.title}")
        text += markdown_section(own) if own else ["Not run yet."]
    return "\n\n".join(text) + "\n"


def summary(sections: Sequence[Section], plans: Plans, find: Finder) -> str:
    """Say how many claims hold, which do not, and what the run took."""
    kinds = [(own.experiment.id, kind) for own in sections for _, _, kind in own.verdicts]
    failing = [name for name, kind in kinds if kind == "fails"]
    but = f"; not all in {', '.join(dict.fromkeys(failing))}" if failing else ""
    parts = {part.name: part for _, own in plans for part in with_before(own)}
    seconds = sum(record["seconds"] for part in parts.values() if (record := find(part)))
    return (
        f"{len(sections)} of {len(plans)} experiments have been run; {len(kinds) - len(failing)} "
        f"of {len(kinds)} claims hold on all seeds tried{but}. The {len(parts)} parts took "
        f"{seconds / 60:.0f} minutes of one core; `make labs` runs two at a time."
    )


def markdown_section(own: Section) -> list[str]:
    """Write an experiment as paragraphs of Markdown."""
    notes = [own.table.note, own.experiment.remark(own.results)]
    claims = [f"- *{text}* **{said}**" for text, said, _ in own.verdicts]
    text = [own.experiment.about, markdown_table(own.table)]
    text += [note.replace("\n", "  \n") for note in notes if note]
    text += ["\n".join(claims)] if claims else []
    return [*(paragraph.replace("<", "&lt;") for paragraph in text), own.origin]


# --- The record that is checked in ---


def record(plans: Plans, folder: Path, path: Path) -> None:
    """Write the Markdown, and beside it the figures that it was made from."""
    parts = [part for _, own in plans for part in with_before(own)]
    known = {part.name: found for part in parts if (found := stored(part, folder))}
    lines = [json.dumps(own, ensure_ascii=False, separators=(",", ":")) for own in known.values()]
    write_text(path.with_suffix(".json"), "[\n" + ",\n".join(lines) + "\n]\n")
    rewrite(plans, path)


def rewrite(plans: Plans, path: Path) -> None:
    """Write the Markdown from the figures that are recorded beside it."""
    write_text(path, markdown(plans, recorded(path)))
    print(f"figures and verdicts: {path}")


def recorded(path: Path) -> Callable[[Part], Record | None]:
    """Return a way to find the records beside a Markdown file."""
    records = json.loads("".join(read_lines(path.with_suffix(".json"))))
    by_name = {record["part"]: record for record in records}
    return lambda part: by_name.get(part.name)
