"""What the notebook says when it cannot start, and its small helpers."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from nmt import exploring
from nmt.corpus import data_directory, load_vocabularies
from nmt.exploring import KIND_OF, NotReady, bars, start
from nmt.files import InputError
from nmt.model import Seq2Seq, save_checkpoint
from nmt.settings import ModelConfig
from nmt.vocabulary import SPECIALS

Patch = pytest.MonkeyPatch


def test_it_starts_with_the_reference() -> None:
    """Are model, vocabularies and dev set those of the room?"""
    found = start()
    assert (len(found.english), len(found.zhoric), len(found.dev)) == (60, 36, 1000)
    assert not found.model.training


def no_model(patch: Patch, folder: Path) -> None:
    """Point at a checkpoint that is not there."""
    patch.setattr(exploring, "CHECKPOINT", folder / "model.safetensors")


def spoilt_model(patch: Patch, folder: Path) -> None:
    """Point at a checkpoint that is none."""
    (folder / "model.safetensors").write_bytes(b"no weights")
    no_model(patch, folder)


def plain_model(patch: Patch, folder: Path) -> None:
    """Point at a model without attention."""
    model = Seq2Seq(ModelConfig(60, 36, attention=False))
    save_checkpoint(model, folder / "model.safetensors")
    no_model(patch, folder)


def unwritten(patch: Patch, folder: Path) -> None:
    """Leave a task to be written."""
    stubs = {"nmt/beam_search.py": ["Task beam is not implemented yet"]}
    patch.setattr(exploring, "find_stubs", lambda file: stubs.get(file, []))
    no_model(patch, folder)


def no_python(patch: Patch, folder: Path) -> None:
    """Put an error into each file's syntax."""

    def refuse(file: str) -> NoReturn:
        raise InputError(f"{file}, line 2: invalid syntax")

    patch.setattr(exploring, "find_stubs", refuse)


def failing(patch: Patch, folder: Path) -> None:
    """Let a task's code raise something."""

    def fail(*_: object) -> NoReturn:
        raise IndexError("no such row")

    patch.setattr("nmt.attention.attend", fail)


def other_python(patch: Patch, folder: Path) -> None:
    """Take torch away."""
    patch.setattr(exploring, "find_spec", lambda name: None if name == "torch" else find_spec(name))


@pytest.mark.parametrize(
    ("spoil", "messages"),
    [
        (no_model, ["there is no model.safetensors; once the tasks are done, run: python -m"]),
        (spoilt_model, ["is not a safetensors file, or is damaged"]),
        (plain_model, ["this model has no attention: train one without --no-attention"]),
        (unwritten, ["task beam is not done; write nmt/beam_search.py", "there is no model"]),
        (no_python, ["- nmt/lstm.py, line 2: invalid syntax\n- nmt/masking.py"]),
        (failing, ["fails on “the kings see the cats”: IndexError: no such row (attention.py, li"]),
        (other_python, ["torch is not installed in the Python that runs this notebook"]),
    ],
)
def test_what_is_missing_is_named(
    spoil: Callable[[Patch, Path], None],
    messages: list[str],
    monkeypatch: Patch,
    tmp_path: Path,
) -> None:
    """Does it name what is missing, all at once, and say what to do?"""
    spoil(monkeypatch, tmp_path)
    with pytest.raises(NotReady) as caught:
        start()
    for message in messages:
        assert message in str(caught.value)


def test_every_word_has_a_kind() -> None:
    """Do the kinds hold the words of the vocabulary, and no others?"""
    english, _ = load_vocabularies(data_directory())
    assert KIND_OF.keys() == {*english.words} - {*SPECIALS} | {"</s>"}


def test_bars_are_as_long_as_they_say() -> None:
    """Does each row have its bars, labelled in percent where there is something?"""
    figure = bars({"one": [0.25, 0.0], "two": [0.5, 1.0]}, ["a", "b"], "title")
    (axes,) = figure.axes
    lengths = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    assert lengths == [0.25, 0.0, 0.5, 1.0]
    assert [text.get_text() for text in axes.texts] == ["25.0%", "", "50.0%", "100.0%"]


def test_words_without_a_kind() -> None:
    """Is a word that is in no list, such as an unknown one, of the kind that is drawn for it?"""
    assert [exploring.kind_of(word) for word in ("king", "<unk>")] == ["noun, singular", "other"]
    assert "other" in exploring.KINDS
