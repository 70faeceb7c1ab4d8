"""Running, storing, going on, and what the command says."""

import contextlib
import io
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from release.build import released_files, write
from tqdm import tqdm

from assignment.facts import load
from labs import flow, runner, store, tasks
from labs.__main__ import chosen, normal, run
from labs.experiment import Experiment
from labs.part import Part
from labs.runner import Bar, Job, do
from labs.runner import run as run_parts
from nmt.files import InputError

from .conftest import part_of


def mark(part: Part, folder: Path) -> None:
    """Change what is stored of a part, so that one sees whether it is run again."""
    path = store.place(part, folder)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"marked": True}))


def marked(part: Part, folder: Path) -> bool:
    """Tell whether what is stored was marked."""
    return "marked" in (store.stored(part, folder) or {})


def test_finished_parts_are_not_run_again(
    tmp_path: Path, experiments: dict[str, Experiment], capsys: pytest.CaptureFixture[str]
) -> None:
    """Does a part that fails stop no other, and does the same command go on with what lacks?"""
    first, second, third = experiments["1.1"].parts(seeds=1)
    broken = replace(second, settings={"size": "x"})
    (failure,) = run_parts([first, broken, third], tmp_path, jobs=1)
    assert failure.part == broken
    assert "KeyError: 'radius'" in failure.reason
    assert f"2/3 {broken.name}" in capsys.readouterr().err  # where no terminal shows a bar
    mark(first, tmp_path)
    assert run_parts([first, second, third], tmp_path, jobs=1) == []
    assert [marked(part, tmp_path) for part in (first, second, third)] == [True, False, False]
    assert store.stored(third, tmp_path)
    assert sorted(path.suffix for path in tmp_path.rglob("*.*")) == [".json"] * 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_needs_a_failed_part(
    jobs: int, tmp_path: Path, experiments: dict[str, Experiment]
) -> None:
    """Is a part not run whose training has failed?"""
    part = part_of(experiments["5.3"])
    assert part.before
    before = replace(part.before, settings={"attention": "x"})
    parts = [replace(part, before=before), *experiments["1.1"].parts(seeds=1)]
    training, needing = run_parts(parts, tmp_path, jobs=jobs)
    assert training.part == before
    assert needing.reason == "the training that it needs has failed"


def test_times_are_taken_alone(
    experiments: dict[str, Experiment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does nothing run beside what takes times?"""
    runs: list[tuple[list[str], int]] = []

    def note_run(todo: list[Job], processes: int) -> list[Any]:
        runs.append((sorted({job.part.function for job in todo}), processes))
        return []

    monkeypatch.setattr(runner, "run_some", note_run)
    run_parts([*experiments["2.5"].parts(), *experiments["2.1"].parts()], tmp_path, jobs=2)
    assert runs == [(["agreement"], 2), (["speed"], 1)]


def test_a_figure_that_is_no_number(
    tmp_path: Path, experiments: dict[str, Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is a part named whose figures are no numbers, and the task that may be why?"""
    monkeypatch.setattr(flow, "jacobian", lambda *_: {"norms": [1.0, [float("nan")]]})
    (failure,) = run_parts([part_of(experiments["2.2"], cell="LSTM")], tmp_path, jobs=1)
    assert failure.reason == "a figure is infinite or not a number: look at lstm"


DAMAGES = [
    "no JSON",
    "",
    "{}",
    "[1]",
    '{"figures": 1}',
    '{"figures": {"weights": "gone.safetensors"}}',
]


@pytest.mark.parametrize("text", DAMAGES)
def test_damaged_parts_are_run_again(
    text: str, tmp_path: Path, experiments: dict[str, Experiment]
) -> None:
    """Is a damaged record, or one whose weights are gone, as if it had never been?"""
    part = part_of(experiments["1.3"])
    path = store.place(part, tmp_path)
    path.parent.mkdir()
    path.write_text(text)
    assert store.stored(part, tmp_path) is None
    assert run_parts([part], tmp_path, jobs=1) == []
    assert store.stored(part, tmp_path)


def test_processes(tmp_path: Path, experiments: dict[str, Experiment]) -> None:
    """Do parts run in processes find what they find in this one?"""
    parts = experiments["1.1"].parts(seeds=1)
    run_parts(parts, tmp_path / "here", jobs=1)
    run_parts(parts, tmp_path / "there", jobs=2)
    for part in parts:
        here, there = (store.stored(part, tmp_path / name) for name in ("here", "there"))
        assert here
        assert there
        assert here["figures"] == there["figures"]


def test_bar() -> None:
    """Does the bar move with every part that runs, and name the one that spoke last?"""
    file = io.StringIO()
    with tqdm(total=3, file=file, miniters=0, mininterval=0) as line:
        bar = Bar(line)
        for name, share in (("one", 0.5), ("two", 0.25), ("one", 1.0)):
            bar.tell(name, share)
        assert line.n == 1.25
    assert "two 25%" in file.getvalue()


@pytest.fixture
def package(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sources that a test may change, and let the store read that."""
    for name in ("labs", "nmt"):
        shutil.copytree(root / "reference" / name, tmp_path / name)
    monkeypatch.setattr(store, "HOME", tmp_path)
    monkeypatch.setattr(tasks, "HOME", tmp_path)
    tasks.fault.cache_clear()
    return tmp_path


PLAIN = {"attention": False}
ATTENTIVE = {"attention": True}
# An experiment, settings of a part, a file, and whether the part is run again when that changes.
EDITS: list[tuple[str, dict[str, Any], str, bool]] = [
    ("1.1", {}, "labs/gradients.py", True),
    ("1.1", {}, "labs/lab1.py", False),
    ("1.1", {}, "labs/part.py", False),
    ("1.1", {}, "nmt/lstm.py", False),
    ("2.2", {"cell": "LSTM"}, "nmt/lstm.py", True),
    ("2.2", {"cell": "RNN"}, "nmt/lstm.py", False),
    ("2.2", {"cell": "RNN"}, "labs/cells.py", True),
    ("2.3", {"cell": "GRU"}, "nmt/lstm.py", False),
    ("3.1", {"cell": "GRU"}, "nmt/lstm.py", False),
    ("3.1", {"cell": "GRU"}, "nmt/masking.py", True),
    ("4.1", PLAIN, "nmt/attention.py", False),
    ("4.1", PLAIN, "nmt/beam_search.py", False),
    ("4.1", PLAIN, "nmt/model.py", True),
    ("5.1", PLAIN, "nmt/attention.py", False),
    ("5.1", ATTENTIVE, "nmt/attention.py", True),
    ("5.1", ATTENTIVE, "nmt/bleu.py", True),
    ("5.1", ATTENTIVE, "nmt/beam_search.py", False),
    ("5.1", ATTENTIVE, "nmt/encoder.py", True),
    ("5.3", ATTENTIVE, "nmt/beam_search.py", True),
    ("4.3", {}, "nmt/bleu.py", True),
    ("6.1", {}, "nmt/attention.py", False),
    ("6.3", {}, "nmt/attention.py", True),
    ("6.3", {}, "nmt/lstm.py", False),
]


def append(file: Path, text: str) -> None:
    """Write something at the end of a file."""
    with file.open("a", encoding="utf-8") as source:
        source.write(text)


@pytest.mark.parametrize(("name", "settings", "file", "again"), EDITS)
def test_key_follows_the_sources(
    name: str,
    settings: dict[str, Any],
    file: str,
    again: bool,
    package: Path,
    experiments: dict[str, Experiment],
) -> None:
    """Is a part run again if, and only if, code has changed that decides what it finds?"""
    part = part_of(experiments[name], **settings)
    before = store.key(part)
    append(package / file, "# a comment\n\ndef f():\n    '''Say something.'''\n")
    first = store.key(part)
    append(package / file, "    # and another\n    '''And this.'''\n\n")
    assert store.key(part) == first
    assert (first != before) == again


def test_key_of_a_training(package: Path, experiments: dict[str, Experiment]) -> None:
    """Is nothing trained again for the search or the score of what was trained?"""
    training = part_of(experiments["5.3"]).before
    assert training
    before = store.key(training)
    for file in ("beam_search", "bleu"):
        append(package / f"nmt/{file}.py", "changed = 1\n")
    assert store.key(training) == before


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("from .mine import f", "nmt/mine.py"),
        ("from . import mine", "nmt/mine.py"),
        ("import nmt.mine as own", "nmt/mine.py"),
        ("from nmt import mine", "nmt/mine.py"),
        ("from nmt.mine.deeper import f", "nmt/mine/deeper/__init__.py"),
        ("def g():\n    from nmt.mine import f", "nmt/mine.py"),
    ],
)
def test_key_follows_imports(
    line: str, file: str, package: Path, experiments: dict[str, Experiment]
) -> None:
    """Does the key follow a helper's module, however it is imported?"""
    part = part_of(experiments["4.3"])
    append(package / "nmt/bleu.py", f"{line}\nfrom nmt import unheard_of\n")
    before = store.key(part)
    (package / file).parent.mkdir(parents=True, exist_ok=True)
    (package / file).write_text("f = 1\n")
    first = store.key(part)
    (package / file).write_text("f = 2\n")
    assert len({before, first, store.key(part)}) == 3


def test_key_of_a_half_written_file(package: Path, experiments: dict[str, Experiment]) -> None:
    """Has a part a key, though a file that it needs does not parse?"""
    part = part_of(experiments["4.3"])
    (package / "nmt/bleu.py").write_bytes(b"def f(:\n\xff")
    assert store.key(part)


@pytest.mark.parametrize(("name", "again"), [("4.1", True), ("2.3", False), ("4.3", False)])
def test_key_follows_the_data(
    name: str,
    again: bool,
    short_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    experiments: dict[str, Experiment],
) -> None:
    """Is what reads the data run again if they change, and nothing else?"""
    shutil.copytree(short_data, tmp_path / "data")
    monkeypatch.setenv("NMT_DATA", str(tmp_path / "data"))
    part = part_of(experiments[name])
    before = store.key(part)
    append(tmp_path / "data/dev.tsv", "a cat sleeps\tmiro dom\n")
    assert (store.key(part) != before) == again
    (tmp_path / "data/held_out").mkdir()
    first = store.key(part)
    append(tmp_path / "data/held_out/test.tsv", "a cat sleeps\tmiro dom\n")
    assert (store.key(part) != first) == again


def test_edit_while_it_runs(
    package: Path, tmp_path: Path, experiments: dict[str, Experiment]
) -> None:
    """Is a figure thrown away if its sources changed while it was made?"""
    part = part_of(experiments["1.3"])
    job = Job.of(part, tmp_path)
    append(package / "labs/gradients.py", "changed = 1\n")
    with pytest.raises(InputError, match=r"^labs/gradients\.py changed while this ran"):
        do(job, lambda share: None)
    assert not job.path.exists()
    do(Job.of(part, tmp_path), lambda share: None)
    assert store.stored(part, tmp_path)


def test_key_follows_settings_and_seed(experiments: dict[str, Experiment]) -> None:
    """Do all parts of an experiment have places of their own?"""
    parts = experiments["2.3"].parts() + experiments["2.3"].parts(quick=True)
    assert len({store.key(part) for part in parts}) == 3 * 12 + 12


STUB = 'raise NotImplementedError("Task lstm is not implemented yet: f in nmt/lstm.py")'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"def f():\n    {STUB}\n", "nmt/lstm.py is not finished"),
        ("\ndef f(:\n", "nmt/lstm.py, line 2: "),
        ("\0", "nmt/lstm.py"),
        (None, "there is no nmt/lstm.py"),
        (f"def f():\n    # {STUB}\n    return 1\n", None),
    ],
)
def test_fault_of_a_task(text: str | None, expected: str | None, package: Path) -> None:
    """Is a task left out whose file is not there, does not parse, or has a stub left?"""
    path = package / "nmt/lstm.py"
    path.unlink()
    if text:
        path.write_text(text)
    found = tasks.fault("lstm")
    tasks.fault.cache_clear()
    assert found == expected or (found and expected and found.startswith(expected))


def test_a_record_is_whole(tmp_path: Path) -> None:
    """Is a record of some labs, or of some seeds, refused?"""
    for arguments in (["lab1"], ["--seeds", "2"], ["--quick"]):
        with pytest.raises(InputError, match="all labs in full"):
            run([*arguments, "--record", str(tmp_path / "LABS.md")])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "101"], "at most 100"),
        (["--seeds", "9" * 20], "at most 100"),
        (["--out", ""], "expected a folder"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Is wrong usage one line?"""
    with pytest.raises(SystemExit):
        run(["1.3", *arguments])
    assert said in capsys.readouterr().err


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    """Is a place that cannot be written refused before anything runs?"""
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        run(["1.3", "--out", str(tmp_path / "file")])
    with pytest.raises(InputError, match=r"expected a Markdown file, such as LABS\.md, got .*json"):
        run(["--rewrite", str(tmp_path / "LABS.json")])


def test_other_options_leave_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Does the page keep what was run before, whatever is run with which options later?"""
    out = ["--out", str(tmp_path), "--jobs", "1"]
    assert run(["6.1", *out]) == 0
    picture = (tmp_path / "6.1.csv").read_bytes()
    assert run(["1.3", "--seeds", "7", "--quick", *out]) == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert [f'id="{name}"' in page for name in ("1.3", "6.1", "6.2")] == [True, True, False]
    assert "holds on 5 of 5 seeds" in page
    assert (tmp_path / "6.1.csv").read_bytes() == picture
    assert "6.1 Inner" not in capsys.readouterr().out.split("1.3 A cliff")[1]


def test_unknown_names() -> None:
    """Does an unknown lab list the labs, and an unknown number those of its lab?"""
    with pytest.raises(InputError, match=r"no lab 'lab9'; the labs are:\n  lab1  vanishing"):
        run(["lab9"])
    with pytest.raises(InputError, match=r"it has 1\.1, 1\.2, 1\.3, 1\.4"):
        run(["1.9"])
    with pytest.raises(InputError, match=r"no lab '0\.1'"):
        run(["lab0.1"])
    assert [own for name in ("LAB1", "lab2.1,3.1") for own in normal(name)] == [
        "lab1",
        "2.1",
        "3.1",
    ]
    assert [e.id for e in chosen(["1.3", "lab1"])] == ["1.3", "1.1", "1.2", "1.4"]


def labs(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, as a student does."""
    return subprocess.run(
        [sys.executable, "-B", "-m", "labs", *arguments, "--jobs", "1"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", **environment},
    )


def test_starter(tmp_path: Path, root: Path) -> None:
    """Does the untouched starter run what needs no task, and name the tasks that are missing?"""
    folder = tmp_path / "my starter"
    write(released_files(root, load()), folder)
    result = labs(folder, "1.4", "2.1", "6.1", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert result.returncode == 1
    assert "lab2 needs the task lstm: nmt/lstm.py is not finished" in result.stderr
    assert "1.4 Clipping" in result.stdout
    assert "6.1 Inner products" in result.stdout
    page = (folder / "build/labs/index.html").read_text(encoding="utf-8")
    assert "lab2 needs the task lstm" in page


def test_faults_of_a_student(tmp_path: Path, root: Path) -> None:
    """Is a fault in a file one line, and no matter to a lab that does without it?"""
    folder = tmp_path / "starter"
    write(released_files(root, load()), folder)
    (folder / "nmt/lstm.py").write_text("def f(:\n")
    (folder / "nmt/bleu.py").write_text("raise SystemExit(3)\n")
    result = labs(folder, "2.1", "4.3", "6.1")
    assert result.returncode == 1
    assert "lab2 needs the task lstm: nmt/lstm.py, line 1" in result.stderr
    assert " and 5 more: SystemExit: 3 (nmt/bleu.py, line 1)" in result.stderr.replace("\\", "/")
    assert "Traceback" not in result.stderr
    assert "6.1 Inner products" in result.stdout
    page = (folder / "build/labs/index.html").read_text(encoding="utf-8")
    assert "and 5 more: SystemExit: 3" in page


# --- Processes that are killed ---


@pytest.fixture
def running(tmp_path: Path, root: Path) -> Iterator[tuple[psutil.Process, list[psutil.Process]]]:
    """Start a long experiment in two processes; return its process and those two."""
    command = [sys.executable, "-B", "-m", "labs", "2.3", "--jobs", "2", "--out", str(tmp_path)]
    with psutil.Popen(command, cwd=root / "reference", stderr=subprocess.PIPE, text=True) as main:
        try:
            pool: list[psutil.Process] = []
            while len(pool) < 2:  # until the test's time limit
                assert main.poll() is None
                time.sleep(0.1)
                pool = [p for p in main.children() if "spawn_main" in " ".join(p.cmdline())]
                # Only once they are past some imports.
                pool = [p for p in pool if p.cpu_times().user > 1]
            yield main, pool
        finally:
            for process in (main, *pool):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()


def test_killed_child(running: tuple[psutil.Popen, list[psutil.Process]]) -> None:
    """Does a killed process end the run in a line?"""
    main, pool = running
    pool[0].kill()
    _, told = main.communicate()
    assert main.returncode == 1
    assert "error: a process was killed while these ran:" in told
    assert "Traceback" not in told


def test_killed_parent(running: tuple[psutil.Popen, list[psutil.Process]]) -> None:
    """Do the processes end when the main one is killed?"""
    main, pool = running
    main.kill()
    _, alive = psutil.wait_procs(pool, timeout=60)
    assert alive == []
