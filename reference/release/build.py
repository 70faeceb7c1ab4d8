"""Put the students' folder together, compare it with one on disk, or write it."""

from __future__ import annotations

import string
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assignment.facts import Facts
from assignment.handout.errors import HandoutError
from assignment.handout.stamp import is_current
from assignment.written import notebook, pages
from nmt.files import InputError, write_atomically

from .archive import stored_zip
from .markers import ReleaseError, find_blocks
from .notebook import from_script
from .strip import strip
from .verify import check

PUBLIC_DATA = ("train.tsv", "dev.tsv", "english.vocab", "zhoric.vocab")
RENDERED = "README.md"  # the one template with numbers in it; the others are copied as they are
ZIP_FOLDER = "zhoric-nmt"
NOTEBOOK = "explore.ipynb"  # made of reference/explore.py
HANDOUT = "handout.html"
HEADER = "<!-- Generated"  # how the first line of a released README starts
# What tools leave behind while somebody works in a folder.
CACHES = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".venv"}

Files = dict[str, bytes]  # path inside the folder, with slashes -> content


def released_files(root: Path, facts: Facts) -> Files:
    """Return everything that students get, from the project in the folder root.

    Raises:
        ReleaseError: if something is missing, faulty, or would give a solution away.
    """
    template, tests, labs = (root / "reference" / name for name in ("template", "tests", "labs"))
    files = {f"nmt/{path.name}": b"" for path in sorted((root / "reference/nmt").glob("*.py"))}
    tasks = {file: task for task, file in facts.task_files.items()}
    for missing in tasks.keys() - files.keys():
        raise ReleaseError(f"reference/{missing} is missing")
    for name in files:
        files[name] = _module(root / "reference" / name, name, tasks.get(name)).encode()
    for path in (*_walk(tests), *_walk(labs)):
        name = path.relative_to(root / "reference").as_posix()
        find_blocks(_text(path), name, [])  # a solution here would be released
        files[name] = _bytes(path)
    files[NOTEBOOK] = _notebook(root)
    files |= {f"data/{name}": _bytes(root / "data" / name) for name in PUBLIC_DATA}
    for path in _walk(template):
        name = path.relative_to(template).as_posix()
        files[name] = render(_text(path), facts).encode() if name == RENDERED else _bytes(path)
    files[HANDOUT] = _handout(root)
    files[facts.notebook] = notebook.write(facts, solved=False)
    if not files.get(RENDERED, b"").startswith(HEADER.encode()):
        raise ReleaseError(f"reference/template/{RENDERED} has to begin with {HEADER!r}")
    return files


def instructors_files(facts: Facts) -> Files:
    """Return what is made of the written questions and stays with the instructors, by its path."""
    return {
        f"reference/{facts.notebook}": notebook.write(facts, solved=True),
        "assignment/written/ANSWERS.md": pages.answers_page(facts),
    }


def _module(path: Path, name: str, task: str | None) -> str:
    """Return a module for students: stripped if it belongs to a task, else as it is."""
    source = _text(path)
    if task is None:
        find_blocks(source, name, [])  # there must be none
        return source
    stripped = strip(source, name, task)
    check(source, stripped, name, task)
    return stripped


def _notebook(root: Path) -> bytes:
    """Return the notebook in which students look at their model."""
    name = f"reference/{Path(NOTEBOOK).with_suffix('.py')}"
    script = _text(root / name)
    find_blocks(script, name, [])  # there must be none
    return from_script(script, name)


def _handout(root: Path) -> bytes:
    """Return the page that lies in starter/ if it is up to date, else a new one.

    Making it takes seconds, and another machine may draw the figures with other last digits.
    """
    there = root / "starter" / HANDOUT
    try:
        if there.is_file() and is_current(page := _bytes(there), root):
            return page
        from assignment.handout.build import html  # needs pandoc, torch and some seconds

        return html(root)
    except HandoutError as error:
        raise ReleaseError(f"{HANDOUT}: {error}") from error


def render(text: str, facts: Facts) -> str:
    """Put the assignment's numbers in the place of `$name` in a template.

    Raises:
        ReleaseError: for a name that is not known.
    """
    try:
        return string.Template(text).substitute(template_values(facts))
    except (KeyError, ValueError) as error:
        raise ReleaseError(f"reference/template/{RENDERED}: {error}; a dollar is $$") from error


def template_values(facts: Facts) -> dict[str, str]:
    """Return what a template can name."""
    yours = {**facts.task_files, "translate": facts.checkpoint, "written": facts.notebook}
    rows = [
        f"| `{task.id}` | {task.title} | `{yours[task.id]}` | {task.points:g} |"
        for task in facts.tasks.values()
    ]
    return {
        "title": facts.title,
        "checkpoint": facts.checkpoint,
        "notebook": facts.notebook,
        "tasks": "\n".join(rows),
        "points": f"{facts.points:g}",
        "translate_points": f"{facts.tasks['translate'].points:g}",
        "written_points": f"{facts.tasks['written'].points:g}",
        "full_bleu": f"{facts.translate.full_bleu:g}",
        "epochs": str(facts.training.epochs),
        "parameters": f"{facts.model.parameters_attention:,}",
    }


def differing(files: Files, root: Path) -> list[str]:
    """Say which of some generated files are not what they should be, one line each."""
    return [
        f"different: {name}"
        for name, content in files.items()
        if not (root / name).is_file() or (root / name).read_bytes() != content
    ]


def differences(files: Files, folder: Path) -> list[str]:
    """Say how a folder on disk differs from the files, one line each."""
    there = {path.relative_to(folder).as_posix(): path for path in _walk(folder)}
    lines = []
    for name in sorted(files.keys() | there.keys()):
        if name not in there:
            lines.append(f"missing: {name}")
        elif name not in files:
            lines.append(f"extra: {name}")
        elif there[name].read_bytes() != files[name]:
            lines.append(f"different: {name}")
    return lines


def write(files: Files, folder: Path) -> None:
    """Replace a folder by the files: it holds the old ones or the new ones, never some of both.

    Raises:
        ReleaseError: if the folder holds something else than an earlier release.
    """
    if folder.exists() and not _is_release(folder):
        raise ReleaseError(
            f"{folder} is not an earlier release; remove it, or choose another --out"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, on the same disk: there a rename is one step.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".release-") as temporary:
        new, old = Path(temporary, "new"), Path(temporary, "old")
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        if folder.exists():
            folder.rename(old)  # removed with the temporary folder
        new.rename(folder)


def write_zip(files: Files, path: Path) -> None:
    """Write the files as a zip, in one folder, so that unpacking does not spread them.

    Raises:
        ReleaseError: if path is a place where one cannot write.
    """
    content = stored_zip((f"{ZIP_FOLDER}/{name}", files[name]) for name in sorted(files))
    try:
        write_atomically(path, lambda temporary: temporary.write_bytes(content))
    except InputError as error:
        raise ReleaseError(str(error)) from error


def _is_release(folder: Path) -> bool:
    """Tell whether a folder is empty or was written by this tool, so that nothing else is lost."""
    if not folder.is_dir():
        return False
    readme = folder / RENDERED
    return not any(folder.iterdir()) or (
        readme.is_file() and readme.read_bytes().startswith(HEADER.encode())
    )


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, caches left out, in order."""
    for path in sorted(folder.rglob("*")):
        if not CACHES & set(path.relative_to(folder).parts) and not path.is_dir():
            yield path


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8")


def _bytes(path: Path) -> bytes:
    """Read a file, with the line ends of the release whatever the checkout has."""
    try:
        return path.read_bytes().replace(b"\r\n", b"\n")
    except OSError as error:
        raise ReleaseError(f"{path}: {error.strerror}") from error
