"""Test the generator: same bytes again, checksums, and wrong usage."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from data import describe, generate
from data.describe import ROOM

PUBLIC = {"train.tsv", "dev.tsv", "english.vocab", "zhoric.vocab"}


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder that the command has written, in a process with string hashes of its own."""
    folder = tmp_path_factory.mktemp("data") / "new"
    command = [sys.executable, "-m", "data.generate", "--out", str(folder)]
    subprocess.run(command, cwd=ROOM.parent, check=True)
    return folder


def files(folder: Path) -> set[str]:
    """List the files under a folder by their relative names."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_same_bytes(again: Path) -> None:
    """Does generating once more give every file of the room, byte for byte?"""
    for file in sorted(files(again)):
        assert (again / file).read_bytes() == (ROOM / file).read_bytes(), file


def test_files(again: Path) -> None:
    """Does the command write the public files, the held-out ones, the checksums, nothing else?"""
    lengths = {f"held_out/length_{phrases}.tsv" for phrases in range(5)}
    assert files(again) == PUBLIC | lengths | {"held_out/test.tsv", "checksums.txt"}
    assert files(ROOM / "held_out") == files(again / "held_out")


def test_checksums(again: Path) -> None:
    """Does checksums.txt list every other file, with the SHA-256 of what is on disk?"""
    lines = (ROOM / "checksums.txt").read_text(encoding="utf-8").splitlines()
    listed = {file: digest for digest, file in (line.split("  ") for line in lines)}
    assert len(listed) == len(lines)
    assert set(listed) == files(again) - {"checksums.txt"}
    for file, digest in listed.items():
        assert hashlib.sha256((ROOM / file).read_bytes()).hexdigest() == digest, file


def test_only_promised_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does no draw use a method whose sequence may change with the Python version?"""

    def refuse(*_: object) -> None:
        raise AssertionError("only Random.random() keeps its sequence for a seed")

    for method in ("getrandbits", "_randbelow", "choices", "uniform", "triangular", "gauss"):
        monkeypatch.setattr(random.Random, method, refuse)
    rng = random.Random(1)
    pairs = [generate.draw_pair(rng, phrases, set()) for phrases in range(5)]
    assert len(set(pairs)) == len(pairs)


def test_draws_depend_on_the_seed() -> None:
    """Do two seeds give different sentences?"""
    first, second = (generate.draw_sentence(random.Random(seed), 4) for seed in (1, 2))
    assert first != second


@pytest.mark.parametrize("arguments", [["--out"], ["--size", "3"], ["somewhere"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Does wrong usage give one line and a non-zero status?"""
    for main in (generate.main, describe.main):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_out_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Does an --out that is no folder give one line that names it, and leave it as it was?"""
    monkeypatch.setattr(generate, "render", lambda seed: {"train.tsv": b"a\tb\n"})
    path = tmp_path / "file"
    path.write_text("kept")
    with pytest.raises(SystemExit) as caught:
        generate.main(["--out", str(path)])
    error = capsys.readouterr().err
    assert caught.value.code == 2
    assert error.count("\n") == 1
    assert str(path) in error
    assert path.read_text() == "kept"


def test_describe(again: Path) -> None:
    """Does the table have a row for each corpus, each number of phrases, and both vocabularies?"""
    rows = describe.describe(again).splitlines()
    assert len(rows) == 1 + 3 * (1 + 4) + 5 + 2
    assert rows[1].split()[:3] == ["train.tsv", "all", "20000"]
    assert rows[-2:] == [
        "english.vocab: 56 words + 4 specials = 60",
        "zhoric.vocab: 32 words + 4 specials = 36",
    ]


def test_describe_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a mean the one that counting the words by hand gives?"""
    pairs = (
        "the red dogs help the small kings in a city\twufo ka rosa rega ka tini urba nai juvo\n"
        "the dog sees a cat\twufo miro tavek\n"
    )
    generate.write(
        tmp_path, {"tiny.tsv": pairs.encode(), "english.vocab": b"", "zhoric.vocab": b""}
    )
    monkeypatch.setattr(describe, "CORPORA", [generate.Corpus("tiny.tsv", 2, (0, 1))])
    rows = [row.split() for row in describe.describe(tmp_path).splitlines()[1:4]]
    assert rows == [
        ["tiny.tsv", "all", "2", "7.50", "6.00"],  # 10 and 5 words, 9 and 3 words
        ["tiny.tsv", "0", "1", "5.00", "3.00"],
        ["tiny.tsv", "1", "1", "10.00", "9.00"],
    ]


def test_describe_without_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Does describing an empty room give one line that says how to fill it?"""
    monkeypatch.setattr(describe, "ROOM", tmp_path)
    with pytest.raises(SystemExit) as caught:
        describe.main([])
    error = capsys.readouterr().err
    assert caught.value.code == 2
    assert error.count("\n") == 1
    assert "python -m data.generate" in error
