"""Does the intake find the right files wherever students put them?"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import socket
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from autograder import sources
from autograder.grade import MAX_IGNORED, PROJECT, output_text
from autograder.intake import IntakeError, Submission, read
from autograder.selftest.harness import FACTS, WarmWorker, lost, reference_files, run_task
from autograder.sources import MAX_DEPTH

Files = dict[str, bytes]
LSTM = "nmt/lstm.py"


def write(folder: Path, files: Files) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def pack(folder: Path, files: Files) -> Path:
    """Write files into a zip."""
    path = folder / "submission.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


BOTH = pytest.mark.parametrize("make", [write, pack], ids=["folder", "zip"])
Make = Callable[[Path, Files], Path]


def everything(prefix: str = "") -> Files:
    """Return the reference's five files below a prefix."""
    return {prefix + name: content for name, content in reference_files().items()}


def without(task: str) -> Files:
    """Return the reference's files but one."""
    return {name: text for name, text in everything().items() if name != FACTS.task_files[task]}


def complete(taken: Submission) -> bool:
    """Tell whether the five files are the reference's."""
    return {**taken.files, **reference_files()} == taken.files


LAYOUTS = {
    "as submit writes it": everything(),
    "the five files alone": {Path(name).name: text for name, text in everything().items()},
    "inside a folder": everything("starter/"),
    "in several folders": everything("home/me/work/starter/"),
    "each in a folder of its own": {f"{name[4:-3]}/{name}": t for name, t in everything().items()},
    "with leftovers": {
        **everything("starter/"),
        "__MACOSX/starter/nmt/._lstm.py": b"junk",
        "__MACOSX/lstm.py": b"junk",
        "._lstm.py": b"junk",
        ".DS_Store": b"junk",
        ".git/lstm.py": b"junk",
        "starter/nmt/__pycache__/lstm.py": b"junk",
        "starter/tests/test_lstm.py": b"junk",
        "starter/.venv/lib/site-packages/sacrebleu/metrics/bleu.py": b"junk",
        "bleu/lib/python3.11/site-packages/bleu.py": b"junk",
        "starter/torch.py": b"junk",
    },
    "top before deeper": {**everything(), "old/nmt/lstm.py": b"junk"},
    "top before the package": {**everything("work/"), "lstm.py": everything()[LSTM]},
    "renamed copies beside": {**everything(), "nmt/lstm (1).py": b"junk", "LSTM.py": b"junk"},
    "Windows' separators": {name.replace("/", "\\"): t for name, t in everything("work/").items()},
}


@BOTH
@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS)
def test_layout_is_understood(tmp_path: Path, files: Files, make: Make) -> None:
    """Are the right files taken out of a folder, and out of a zip?"""
    taken = read(make(tmp_path, files), FACTS)
    assert complete(taken)
    assert not set(taken.problems) & set(everything())


MISSING = {
    "nothing like it": ({}, "under this very name."),
    "copy": ({"nmt/bleu (1).py": b"x"}, "Rename 'nmt/bleu (1).py'?"),
    "version": ({"bleu_final.py": b"x"}, "Rename 'bleu_final.py'?"),
    "capitals": ({"nmt/BLEU.py": b"x"}, "Rename 'nmt/BLEU.py'?"),
    "capital ending": ({"bleu.PY": b"x"}, "Rename 'bleu.PY'?"),
    "hidden ending": ({"bleu.py.txt": b"x"}, "Rename 'bleu.py.txt'?"),
    "macOS copy": ({"bleu copy.py": b"x"}, "Rename 'bleu copy.py'?"),
    "two": ({"a/bleu2.py": b"x", "bleu-1.py": b"x"}, "Rename 'bleu-1.py' or 'a/bleu2.py'?"),
    "byte code": ({"bleu.pyc": b"x"}, "under this very name."),
    "its public test": ({"tests/test_bleu.py": b"x"}, "under this very name."),
    "an archive beside the others": ({"bleu.zip": b"x"}, "under this very name."),
}


@BOTH
@pytest.mark.parametrize("extra,words", MISSING.values(), ids=MISSING)
def test_missing_file_is_named(tmp_path: Path, extra: Files, words: str, make: Make) -> None:
    """Is a missing file named, with a hint at one that may be meant, and the rest taken?"""
    taken = read(make(tmp_path, {**without("bleu"), **extra}), FACTS)
    assert taken.problems["nmt/bleu.py"].startswith("bleu.py is missing")
    assert taken.problems["nmt/bleu.py"].endswith(words)
    assert set(taken.files) >= set(without("bleu"))


def test_folder_of_the_name_is_no_file(tmp_path: Path) -> None:
    """Is it said that a folder bears the name of a file?"""
    taken = read(write(tmp_path, {"lstm.py/readme.txt": b""}), FACTS)
    assert "'lstm.py' does not count: it is a folder." in taken.problems[LSTM]
    assert LSTM in read(write(tmp_path, {"lstm.py/lstm.py": b"x = 1"}), FACTS).files


@BOTH
@pytest.mark.parametrize("archive", ["work.zip", "a/work.tar.gz", "Work.7z", "work.rar"])
def test_archive_is_not_unpacked(tmp_path: Path, archive: str, make: Make) -> None:
    """Is it said that a submission is an archive in which nobody looked?"""
    taken = read(make(tmp_path, {archive: b"x", "notes.txt": b"x"}), FACTS)
    for path in everything():
        assert f"{archive!r} is an archive and was not unpacked" in taken.problems[path]


TWICE = {
    "two folders": ("a/lstm.py", "b/lstm.py"),
    "the package and its neighbour": ("nmt/lstm.py", "old/lstm.py"),
    "two packages": ("a/nmt/lstm.py", "b/nmt/lstm.py"),
}


@BOTH
@pytest.mark.parametrize("paths", TWICE.values(), ids=TWICE)
def test_two_candidates_are_both_named(tmp_path: Path, paths: list[str], make: Make) -> None:
    """Are two files of the same name at the same depth refused, and both listed?"""
    taken = read(make(tmp_path, dict.fromkeys(paths, b"x = 1")), FACTS)
    assert ", ".join(paths) in taken.problems[LSTM]
    assert LSTM not in taken.files
    assert taken.ignored == ()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_name_twice_in_a_zip_is_refused(tmp_path: Path) -> None:
    """Is a zip refused a file that it holds twice, of which other tools see one or the other?"""
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lstm.py", b"x = 1")
        archive.writestr("./lstm.py", b"x = 2")
        archive.writestr("lstm.py", b"x = 3")
    assert "more than once (lstm.py, lstm.py, lstm.py)" in read(path, FACTS).problems[LSTM]


# --- Text ---

CODE = everything()["nmt/bleu.py"].decode()
TEXTS = {
    "UTF-8 mark": b"\xef\xbb\xbf" + CODE.encode(),
    "CRLF": CODE.replace("\n", "\r\n").encode(),
    "CR": CODE.replace("\n", "\r").encode(),
    "mark and CRLF": b"\xef\xbb\xbf" + CODE.replace("\n", "\r\n").encode(),
    "UTF-16": ("\ufeff# größer\n" + CODE).encode("utf-16-le"),
    "UTF-16, big end first": ("\ufeff" + CODE.replace("\n", "\r\n")).encode("utf-16-be"),
    "UTF-32": ("\ufeff" + CODE).encode("utf-32-le"),
    "UTF-32, big end first": ("\ufeff" + CODE).encode("utf-32-be"),
    "declared Latin-1": b"# coding: latin-1\n# gr\xf6\xdfer\n" + CODE.encode("latin-1", "replace"),
    "declared with CR": b"# -*- coding: cp1252 -*-\r# gr\xf6\xdfer\r"
    + CODE.replace("\n", "\r").encode("cp1252", "replace"),
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_text_of_every_editor_is_graded(tmp_path: Path, warm: WarmWorker, content: bytes) -> None:
    """Does a right solution get every point, whatever the editor that saved it?"""
    taken = read(write(tmp_path, {**everything(), "nmt/bleu.py": content}), FACTS)
    assert "nmt/bleu.py" not in taken.problems
    assert lost(run_task(warm, "bleu", taken.files)) == set()


NO_TEXT = {
    "not UTF-8": (b"x = 1\n\ny = '\xff'\n", ", line 3: the byte 0xff is not UTF-8 text."),
    "not UTF-8, CR": (b"x = 1\r\ry = '\xff'\r", ", line 3: the byte 0xff is not UTF-8 text."),
    "not UTF-8 on top": (b"# gr\xf6\xdfer\n", ", line 1: the byte 0xf6 is not UTF-8 text."),
    "cut off": ("x = 'ö".encode()[:-1], ", line 1: the byte 0xc3 is not UTF-8 text."),
    "not as declared": (b"# coding: ascii\nx = '\xf6'\n", ", line 2: the byte 0xf6 is not ASCII"),
    "NUL": (b"x = 1\r\ny = '\0'\r\n", ", line 2: the byte 0x00 (a NUL character) is there"),
    "UTF-16 without a mark": ("x = 1".encode("utf-16-le"), ", line 1: the byte 0x00"),
    "UTF-16, cut off": ("\ufeffx\n= 1".encode("utf-16-le")[:-1], ", line 2: the byte 0x31 is not"),
    "half a pair in UTF-16": (b"\xff\xfe\n\0\n\0\x00\xd8", ", line 3: the byte 0x00 is not UTF-16"),
    "noise after a mark of UTF-32": (b"\xff\xfe\0\0\xff\xff\xff\xff", ", line 1: the byte 0xff"),
    "unknown encoding": (b"# coding: klingon\nx = 1\n", " declares its encoding wrongly (unknown"),
    "mark against declaration": (
        b"\xef\xbb\xbf# coding: ascii\n",
        " declares its encoding wrongly",
    ),
    "encoding that is none": (b"# coding: hex\nx = 1\n", " is not text in its declared encoding"),
    "empty": (b"", " is empty"),
    "blank": (b"\r\n \n", " is empty"),
    "blank UTF-16": (b"\xff\xfe", " is empty"),
}


@BOTH
@pytest.mark.parametrize("content,words", NO_TEXT.values(), ids=NO_TEXT)
def test_file_that_is_no_text_is_named(
    tmp_path: Path, content: bytes, words: str, make: Make
) -> None:
    """Does a message name file, line and byte, and say what to do?"""
    taken = read(make(tmp_path, {**everything(), LSTM: content}), FACTS)
    problem = taken.problems[LSTM]
    assert problem.startswith(f"{LSTM}{words}")
    assert "Save it in your editor as UTF-8" in problem or "submit it again" in problem
    assert LSTM in taken.files  # its tests are an error, not left out
    assert set(taken.problems) & set(everything()) == {LSTM}


def test_slow_encoding_is_left_to_python(tmp_path: Path) -> None:
    """Is nothing decoded here that would take minutes?"""
    content = b"# coding: punycode\n" + b"a" * 400_000 + b"-" + b"9" * 400_000
    assert read(write(tmp_path, {LSTM: content}), FACTS).files[LSTM] == content


# --- What is ignored ---

IGNORED = {
    "the five alone": ({}, ()),
    "helpers": ({"nmt/utils.py": b"", "helpers.py": b""}, ("helpers.py", "nmt/utils.py")),
    "older copies": ({"old/nmt/lstm.py": b""}, ("old/nmt/lstm.py",)),
    "a notebook that is given": ({"explore.ipynb": b""}, ()),
    "what is read": ({"model.safetensors": b"", "written.ipynb": b""}, ()),
    "junk": ({"__MACOSX/a.py": b"", ".DS_Store": b"", "nmt/__pycache__/a.pyc": b""}, ()),
    "what the commands write": (
        dict.fromkeys(
            ("submission.zip", "model.previous.safetensors", "heatmap.png", "tree.png"), b""
        ),
        (),
    ),
    "an environment": ({"env/pyvenv.cfg": b"", "env/bin/activate": b""}, ()),
    "lines in a name": ({"a\nAll files were found.py": b""}, ("a\ufffdAll files were found.py",)),
    "a long name": ({f"{'d' * 150}/x.txt": b""}, (f"…{'d' * 93}/x.txt",)),
}


@BOTH
@pytest.mark.parametrize("extra,ignored", IGNORED.values(), ids=IGNORED)
def test_what_is_ignored_is_listed(
    tmp_path: Path, extra: Files, ignored: tuple[str, ...], make: Make
) -> None:
    """Is the student's own that is not taken listed, and nothing else?"""
    assert read(make(tmp_path, {**everything(), **extra}), FACTS).ignored == ignored


def test_starter_has_nothing_that_is_ignored() -> None:
    """Does a full folder of the starter list nothing, as everything in it is known?"""
    assert read(PROJECT / "starter", FACTS).ignored == ()


def test_names_that_are_not_utf8_are_shown(tmp_path: Path) -> None:
    """Can a name that is no text be read, and be printed?"""
    (tmp_path / os.fsdecode(b"h\xff.py")).write_bytes(b"")
    ignored = read(write(tmp_path, everything()), FACTS).ignored
    assert ignored == ("h\ufffd.py",)


@pytest.mark.parametrize("count", [0, 1, MAX_IGNORED, MAX_IGNORED + 1, 12345])
def test_output_names_some_of_what_is_ignored(count: int) -> None:
    """Does the text above the tests name at most ten files, and count the others?"""
    names = tuple(f"{number:05}.py" for number in range(count))
    lines = output_text(Submission({}, ignored=names)).splitlines()
    assert len(lines) == 1 + bool(count)
    assert lines[-1].count(".py") == min(count, MAX_IGNORED)
    assert ("and 1 more." in lines[-1]) == (count == MAX_IGNORED + 1)
    assert ("and 12,335 more." in lines[-1]) == (count == 12345)


def test_output_lists_problems() -> None:
    """Are the problems of all files that count above the tests?"""
    problems = {LSTM: "lstm.py is missing.", FACTS.notebook: "written.ipynb is missing."}
    lines = output_text(Submission({}, problems)).splitlines()
    assert lines[1:] == ["lstm.py is missing.", "written.ipynb is missing."]


# --- Hostile and damaged submissions ---


def special(kind: str, path: Path) -> None:
    """Make something at a path that is no regular file."""
    if kind == "link":
        secret = write(path.parent.parent / "elsewhere", {"secret.py": b"x = 1"}) / "secret.py"
        path.symlink_to(secret)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    elif kind == "link to nothing":
        path.symlink_to("nowhere.py")
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "folder":
        path.mkdir()


SPECIAL = {
    **dict.fromkeys(("link", "link to a device", "link to nothing", "link to itself"), "a link"),
    **dict.fromkeys(("fifo", "socket"), "not a regular file"),
    "folder": "a folder",
}


@pytest.mark.parametrize("kind,words", SPECIAL.items(), ids=SPECIAL)
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str, words: str) -> None:
    """Is nothing but a regular file read, and a right one further down taken instead?"""
    folder = write(tmp_path / "work", {"readme.txt": b""})
    special(kind, folder / "lstm.py")
    assert f"'lstm.py' does not count: it is {words}" in read(folder, FACTS).problems[LSTM]
    assert complete(read(write(folder, everything()), FACTS))


def test_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    """Are folders behind a link left alone, also where the link leads in a circle?"""
    write(tmp_path / "elsewhere", {"lstm.py": b"x = 1"})
    folder = write(tmp_path / "work", {"readme.txt": b""})
    (folder / "nmt").symlink_to(tmp_path / "elsewhere")
    (folder / "circle").symlink_to(folder)
    taken = read(folder, FACTS)
    assert taken.files == {}
    assert taken.ignored == ("circle", "nmt", "readme.txt")


def member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    """Return a zip's entry with a Unix mode."""
    info = zipfile.ZipInfo()  # the constructor would tidy the name
    info.filename = info.orig_filename = name
    info.external_attr = mode << 16
    return info


MEMBERS = {
    "link": (member("lstm.py", stat.S_IFLNK | 0o777), "a link"),
    "device": (member("lstm.py", stat.S_IFCHR | 0o666), "not a regular file"),
    "fifo": (member("lstm.py", stat.S_IFIFO | 0o666), "not a regular file"),
    "folder by its mode": (member("lstm.py", stat.S_IFDIR | 0o755), "a folder"),
    "folder by its name": (member("lstm.py/"), "a folder"),
    "path upwards": (member("../lstm.py"), "outside"),
    "path up and down": (member("nmt/../../lstm.py"), "outside"),
    "Windows' path upwards": (member("..\\lstm.py"), "outside"),
    "absolute path": (member("/etc/lstm.py"), "outside"),
    "Windows' drive": (member("D:\\nmt\\lstm.py"), "outside"),
}


@pytest.mark.parametrize("info,words", MEMBERS.values(), ids=MEMBERS)
def test_members_that_do_not_count(tmp_path: Path, info: zipfile.ZipInfo, words: str) -> None:
    """Is a member of a zip that is no file, or lies outside, named and not read?"""
    path = tmp_path / "submission.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, b"x = 1")
    problem = read(path, FACTS).problems[LSTM]
    assert f"does not count: it is {words}" in problem


def zipped(content: bytes = b"x = 1  # one", method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    """Return a zip that holds `lstm.py` alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("lstm.py", content)
    return bytearray(buffer.getvalue())


def encrypted() -> bytearray:
    """Return a zip whose file says that it is encrypted, in both of its headers."""
    data = zipped()
    for place in (6, data.index(b"PK\x01\x02") + 8):
        data[place] |= 1
    return data


def flipped(position: int) -> bytearray:
    """Return a zip with a byte changed."""
    data = zipped()
    data[position] ^= 0xFF
    return data


HEADER = 30 + len("lstm.py")  # bytes before a member's content
BOMB = bytes(50_000_000)  # a multiple of every limit; compressed 48 kB
SIZE, FEW = (number.to_bytes(4, "little") for number in (len(BOMB), 10))
ZIPS = {
    "content damaged": (zipped(method=zipfile.ZIP_STORED).replace(b"one", b"two"), "(Bad CRC"),
    "compression damaged": (flipped(HEADER), "cannot be read"),
    "sum damaged": (flipped(zipped().index(b"PK\x01\x02") + 16), "(Bad CRC"),
    "names differ": (zipped().replace(b"lstm.py", b"list.py", 1), "cannot be read"),
    "encrypted": (encrypted(), "'lstm.py' does not count: it is encrypted"),
    "bzip2": (zipped(method=zipfile.ZIP_BZIP2), "compressed by an unusual method"),
    "lzma": (zipped(method=zipfile.ZIP_LZMA), "compressed by an unusual method"),
    "bomb": (zipped(BOMB), "lstm.py is larger than 1,000,000 bytes."),
    "bomb that claims to be small": (zipped(BOMB).replace(SIZE, FEW), "(Bad CRC"),
}


@pytest.mark.parametrize("content,words", ZIPS.values(), ids=ZIPS)
def test_bad_zip_costs_what_it_hides(tmp_path: Path, content: bytes, words: str) -> None:
    """Is a bad member of a zip refused in words, without taking up memory?"""
    path = tmp_path / "submission.zip"
    path.write_bytes(content)
    tracemalloc.start()
    problem = read(path, FACTS).problems[LSTM]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words in problem
    assert peak < 4 * FACTS.limits.source_bytes


UNREADABLE = {
    "cut off": zipped()[:-40],
    "no list of content": zipped().replace(b"PK\x01\x02", b"PKxx"),
    "name that is not UTF-8": zipped()
    .replace(b"lstm.py", b"lst\xff.py")
    .replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\0\x08"),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_zip_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    """Is a zip without a readable list of its content refused in words?"""
    path = tmp_path / "submission.zip"
    path.write_bytes(content)
    with pytest.raises(IntakeError, match=r"submission\.zip (cannot be read: .|is neither)"):
        read(path, FACTS)


def test_no_damage_breaks_the_intake(tmp_path: Path) -> None:
    """Does any damaged zip end in a submission or in words?"""
    whole = pack(tmp_path, {**without("lstm"), "nmt/lstm.py": b"x = 1"}).read_bytes()
    start, draw = whole.index(b"PK\x01\x02"), random.Random(1)
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 3, 30))):
            data[draw.choice((draw.randrange(len(data)), draw.randrange(start, len(data))))] ^= (
                1 << draw.randrange(8)
            )
        (tmp_path / "submission.zip").write_bytes(data)
        with contextlib.suppress(IntakeError):
            read(tmp_path / "submission.zip", FACTS)


def test_empty_names_are_left_out(tmp_path: Path) -> None:
    """Are a zip's names that are none left out?"""
    path = tmp_path / "submission.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("", "/", "./", "."):
            archive.writestr(member(name), b"x = 1")
    assert read(path, FACTS).files == {}


def test_huge_file_is_not_read(tmp_path: Path) -> None:
    """Is no more than the limit read of a file over it, even of one without an end?"""
    write(tmp_path, everything())
    with (tmp_path / LSTM).open("r+b") as file:
        file.truncate(1 << 40)
    assert "larger than 1,000,000 bytes" in read(tmp_path, FACTS).problems[LSTM]
    endless = sources.Entry(("lstm.py",), "", lambda: open("/dev/zero", "rb"))
    with pytest.raises(IntakeError, match="larger than 1,000 bytes"):
        endless.read(1000)


def test_unreadable_file_is_named() -> None:
    """Is a file that the grader may not read named, with the reason?"""

    def refuse() -> IO[bytes]:
        raise PermissionError(errno.EACCES, "Permission denied", "/a/path/of/ours/lstm.py")

    with pytest.raises(IntakeError) as caught:
        sources.Entry(("a", "lstm.py"), "", refuse).read(1000)
    assert str(caught.value) == "a/lstm.py cannot be read (Permission denied): submit it again."


def test_unreadable_folder_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a folder that the grader may not read listed, and passed by?"""
    monkeypatch.setattr(os, "access", lambda path, mode: not path.endswith("closed"))
    taken = read(write(tmp_path, {**without("lstm"), "closed/lstm.py": b"x = 1"}), FACTS)
    assert taken.ignored == ("closed",)
    assert LSTM not in taken.files


@BOTH
def test_deep_folders_are_left_out(tmp_path: Path, make: Make) -> None:
    """Do folders without end cost only what is in them?"""
    lost = {f"{'d/' * (MAX_DEPTH + 1)}attention.py": b"x = 1"}
    kept = {f"{'e/' * MAX_DEPTH}lstm.py": b"x = 1"}
    taken = read(make(tmp_path, {**lost, **kept}), FACTS)
    assert "attention.py is missing" in taken.problems["nmt/attention.py"]
    assert taken.files[LSTM] == b"x = 1"


def test_path_beyond_the_systems_limit_is_passed_by(tmp_path: Path) -> None:
    """Does a path that is too long for the system cost only what is in it?"""
    write(tmp_path, without("lstm"))
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(MAX_DEPTH):
        os.mkdir("d" * 255, dir_fd=folder)
        deeper = os.open("d" * 255, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    os.close(folder)
    taken = read(tmp_path, FACTS)
    assert set(taken.files) == set(without("lstm"))


@BOTH
def test_flood_hides_nothing_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make
) -> None:
    """Is what lies near the top found among more files than are looked at?"""
    monkeypatch.setattr(sources, "MAX_ENTRIES", 60)
    flood = {f"{number % 20}/b/{number}.py": b"" for number in range(1000)}
    taken = read(make(tmp_path, {**flood, **without("lstm"), "1/b/c/lstm.py": b"x = 1"}), FACTS)
    assert set(taken.files) == set(without("lstm"))
    assert taken.problems[LSTM].endswith("Only 60 of your many files were looked at.")


@pytest.mark.parametrize(
    "name,words", [("none", "does not exist"), ("text", "neither"), ("fifo", "neither")]
)
def test_what_is_no_submission_is_refused(tmp_path: Path, name: str, words: str) -> None:
    """Does something that is neither folder nor zip get one clear line?"""
    (tmp_path / "text").write_text("hello", encoding="utf-8")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(IntakeError, match=words):
        read(tmp_path / name, FACTS)
