"""Does the intake find the right files wherever students put them?"""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from autograder.intake import MAX_DEPTH, IntakeError, Submission, read
from autograder.selftest.harness import FACTS, reference_files


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def everything(prefix: str = "") -> dict[str, bytes]:
    """Return the reference's five files below a prefix."""
    return {prefix + name: content for name, content in reference_files().items()}


def complete(taken: Submission) -> bool:
    """Tell whether the five files are the reference's."""
    return {**taken.files, **reference_files()} == taken.files


LAYOUTS = {
    "as submit writes it": everything(),
    "the five files alone": {Path(name).name: text for name, text in everything().items()},
    "inside a folder": everything("starter/"),
    "in several folders": everything("home/me/work/starter/"),
    "with leftovers": {
        **everything("starter/"),
        "__MACOSX/starter/nmt/._lstm.py": b"junk",
        "__MACOSX/lstm.py": b"junk",
        "._lstm.py": b"junk",
        ".DS_Store": b"junk",
        "starter/tests/test_lstm.py": b"junk",
        "starter/.venv/lib/site-packages/sacrebleu/metrics/bleu.py": b"junk",
        "starter/torch.py": b"junk",
    },
    "top before deeper": {**everything(), "old/nmt/lstm.py": b"junk"},
    "package before its neighbour": {**everything(), "old/lstm.py": b"junk"},
}


@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS)
def test_folder_is_understood(tmp_path: Path, files: dict[str, bytes]) -> None:
    """Are the right files taken out of a folder?"""
    assert complete(read(write(tmp_path, files), FACTS))


@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS)
def test_zip_is_understood(tmp_path: Path, files: dict[str, bytes]) -> None:
    """Are the right files taken out of a zip?"""
    path = tmp_path / "submission.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    assert complete(read(path, FACTS))


def test_missing_file_is_named(tmp_path: Path) -> None:
    """Is a missing file named, and the rest taken?"""
    files = everything()
    del files["nmt/bleu.py"]
    taken = read(write(tmp_path, {**files, "nmt/bleu (1).py": b"x"}), FACTS)
    assert "bleu.py is missing" in taken.problems["nmt/bleu.py"]
    assert "Rename 'nmt/bleu (1).py'?" in taken.problems["nmt/bleu.py"]
    assert "nmt/lstm.py" in taken.files


def test_two_candidates_are_both_named(tmp_path: Path) -> None:
    """Are two files of the same name at the same depth refused, and both listed?"""
    taken = read(write(tmp_path, {"a/lstm.py": b"1", "b/lstm.py": b"2"}), FACTS)
    assert "a/lstm.py, b/lstm.py" in taken.problems["nmt/lstm.py"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Are symbolic links ignored, in folders and in zips?"""
    secret = write(tmp_path / "elsewhere", {"secret.py": b"secret"}) / "secret.py"
    folder = write(tmp_path / "work", {"readme.txt": b""})
    (folder / "lstm.py").symlink_to(secret)
    assert "nmt/lstm.py" in read(folder, FACTS).problems
    path = tmp_path / "links.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("lstm.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, str(secret))
    assert "nmt/lstm.py" in read(path, FACTS).problems


def test_damaged_zip_is_one_clear_line(tmp_path: Path) -> None:
    """Is a zip whose content is damaged refused in words?"""
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lstm.py", b"content that will be damaged")
    damaged = path.read_bytes().replace(b"content that", b"CONTENT THAT")
    path.write_bytes(damaged)
    assert "cannot be read" in read(path, FACTS).problems["nmt/lstm.py"]


def test_truncated_zip_is_one_clear_line(tmp_path: Path) -> None:
    """Is a zip without a readable list of its content refused in words?"""
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lstm.py", b"content")
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PKxx"))
    with pytest.raises(IntakeError, match="cannot be read"):
        read(path, FACTS)


def test_deep_folders_and_large_files_are_left_out(tmp_path: Path) -> None:
    """Do folders without end and a file over the limit cost only themselves?"""
    lost = {f"{'d/' * (MAX_DEPTH + 1)}attention.py": b"junk"}
    large = b"#" * (FACTS.limits.source_bytes + 1)
    files = {**everything(), **lost, "nmt/bleu.py": large}
    del files["nmt/attention.py"]
    taken = read(write(tmp_path, files), FACTS)
    assert "attention.py is missing" in taken.problems["nmt/attention.py"]
    assert "larger than" in taken.problems["nmt/bleu.py"]
    assert "nmt/lstm.py" in taken.files


@pytest.mark.parametrize("name,words", [("none", "does not exist"), ("text", "neither")])
def test_what_is_no_submission_is_refused(tmp_path: Path, name: str, words: str) -> None:
    """Does something that is neither folder nor zip get one clear line?"""
    (tmp_path / "text").write_text("hello", encoding="utf-8")
    with pytest.raises(IntakeError, match=words):
        read(tmp_path / name, FACTS)
