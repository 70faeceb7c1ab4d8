"""Vocabularies, sentence pairs, batches."""

from pathlib import Path

import pytest
import torch

from nmt import corpus
from nmt.files import InputError, read_lines
from nmt.vocabulary import BOS, EOS, PAD, UNK, Vocabulary


def test_vocabulary_numbers_specials_first(tmp_path: Path) -> None:
    """Are the specials 0 to 3 and the words numbered from 4, unknown ones UNK?"""
    path = tmp_path / "words.vocab"
    path.write_text("cat\ndog\n", encoding="utf-8")
    vocabulary = Vocabulary.load(path)
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)
    assert len(vocabulary) == 6
    assert vocabulary.encode(["dog", "bird", "cat", "</s>"]) == [5, UNK, 4, EOS]
    assert vocabulary.decode([5, 3, 4]) == ["dog", "<unk>", "cat"]
    assert "cat" in vocabulary
    assert "bird" not in vocabulary


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\ncat\n", "'cat' twice"),
        ("<s>\n", "'<s>' twice"),
        ("cat\n\n", "line 2: expected one word, got ''"),
        ("a cat\n", "line 1: expected one word"),
    ],
)
def test_wrong_vocabularies(tmp_path: Path, text: str, message: str) -> None:
    """Is a faulty vocabulary refused, with the place of the fault?"""
    path = tmp_path / "words.vocab"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        Vocabulary.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a\tb\nno tab\n", "line 2: expected English, one tab, Zhoric; got 0 tabs"),
        (b"a\tb\tc\n", "line 1: .* got 2 tabs"),
        (b"a\tb\n\n", "line 2"),
        (b"a\t \n", "line 1: a sentence is empty"),
        (b"", "no sentence pairs"),
        (b"a\tb\n\xff\n", "not UTF-8"),
    ],
)
def test_wrong_pairs(tmp_path: Path, text: bytes, message: str) -> None:
    """Is a faulty line of a corpus refused, with its number?"""
    path = tmp_path / "pairs.tsv"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message):
        corpus.read_tsv(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    """Does the error name the file that cannot be read?"""
    with pytest.raises(InputError, match=r"cannot read .*none\.tsv: No such file"):
        corpus.read_tsv(tmp_path / "none.tsv")


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\r\nb\r\n", ["a", "b"]),  # as written by editors on Windows
        ("a\u2028b\n".encode(), ["a\u2028b"]),
    ],
)
def test_lines_of_any_system(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    """Are lines read alike from Linux and Windows?"""
    path = tmp_path / "text"
    path.write_bytes(content)
    assert read_lines(path) == lines


def test_batch_has_the_ends_where_the_model_expects_them(
    source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
) -> None:
    """Is `</s>` behind the source, and `<s>` and `</s>` around the target?"""
    pairs = [corpus.Pair(["the", "cat"], ["miro"]), corpus.Pair(["dog"], ["wufo", "tavek"])]
    batch = corpus.make_batch(corpus.encode_pairs(pairs, source_vocabulary, target_vocabulary))
    assert batch.source.tolist() == [[8, 5, EOS], [6, EOS, PAD]]
    assert batch.lengths.tolist() == [3, 2]
    assert batch.target.tolist() == [[BOS, 5, EOS, PAD], [BOS, 7, 6, EOS]]


def _examples(count: int) -> list[corpus.Example]:
    lengths = torch.randint(1, 20, (count,)).tolist()
    return [corpus.Example([4] * length, [4] * length) for length in lengths]


def test_epoch_uses_every_example_once() -> None:
    """Is every example in one batch of an epoch, in an order that the seed decides?"""
    examples = _examples(193)  # one pool
    first, again, other = (
        corpus.training_batches(examples, 10, torch.Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    )
    assert sorted(index for batch in first for index in batch) == list(range(193))
    assert sorted(len(batch) for batch in first) == [3] + 19 * [10]
    assert first == again
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in other}
    shortest = [min(len(examples[index].source) for index in batch) for batch in first]
    assert shortest != sorted(shortest)


def test_batches_hold_little_padding() -> None:
    """Are sentences of similar length together?"""
    examples = _examples(2000)
    batches = corpus.training_batches(examples, 20, torch.Generator().manual_seed(1))
    lengths = [[len(examples[index].source) for index in batch] for batch in batches]
    padded = sum(max(batch) * len(batch) for batch in lengths)
    assert padded < 1.1 * sum(map(sum, lengths))  # in random order it would be 1.8 times


def test_data_beside_the_package_or_further_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is the data found in each of the three places, in their order?"""
    monkeypatch.delenv("NMT_DATA", raising=False)
    monkeypatch.setattr(corpus, "HOME", tmp_path / "reference")
    with pytest.raises(InputError, match="set NMT_DATA"):
        corpus.data_directory()
    for folder in (tmp_path / "data", tmp_path / "reference" / "data"):
        folder.mkdir(parents=True)
        (folder / "train.tsv").touch()
        assert corpus.data_directory() == folder
    monkeypatch.setenv("NMT_DATA", str(tmp_path))
    assert corpus.data_directory() == tmp_path
    monkeypatch.setenv("NMT_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match="not a folder"):
        corpus.data_directory()
