"""Read the sentence pairs and make batches of them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nmt.files import HOME, InputError, read_lines
from nmt.vocabulary import BOS, EOS, PAD, Vocabulary

POOL = 20  # batches; with seed 1, two epochs reach BLEU 99.7 on dev, and 98.7 if all are sorted


class Pair(NamedTuple):
    """Hold the words of a sentence and of its translation."""

    source: list[str]
    target: list[str]


class Example(NamedTuple):
    """Hold the ids of a pair."""

    source: list[int]  # the words and </s>
    target: list[int]  # <s>, the words and </s>


class Batch(NamedTuple):
    """Hold some examples, padded on the right."""

    source: Tensor  # (B, S) int64
    lengths: Tensor  # (B,) int64, of the sources
    target: Tensor  # (B, T) int64


def data_directory() -> Path:
    """Return the folder of the data: $NMT_DATA, or `data` beside the package or one further up.

    Raises:
        InputError: if there is none.
    """
    if chosen := os.environ.get("NMT_DATA"):
        if not Path(chosen).is_dir():
            raise InputError(f"NMT_DATA names {chosen}, which is not a folder")
        return Path(chosen)
    places = [HOME / "data", HOME.parent / "data"]
    for place in places:
        if (place / "train.tsv").is_file():
            return place
    raise InputError(
        f"no data: expected train.tsv in {places[0]}; put the data there, or set NMT_DATA"
    )


def load_vocabularies(directory: Path) -> tuple[Vocabulary, Vocabulary]:
    """Read the English and the Zhoric vocabulary."""
    return (
        Vocabulary.load(directory / "english.vocab"),
        Vocabulary.load(directory / "zhoric.vocab"),
    )


def read_tsv(path: str | Path) -> list[Pair]:
    """Read pairs, one a line, the English sentence and the Zhoric with a tab between them.

    Raises:
        InputError: if the file cannot be read or is empty, or a line is no pair.
    """
    pairs = []
    for number, line in enumerate(read_lines(Path(path)), start=1):
        fields = line.split("\t")
        if len(fields) != 2:
            raise InputError(
                f"{path}, line {number}: expected English, one tab, Zhoric; "
                f"got {len(fields) - 1} tabs"
            )
        pair = Pair(*(field.split() for field in fields))
        if not pair.source or not pair.target:
            raise InputError(f"{path}, line {number}: a sentence is empty")
        pairs.append(pair)
    if not pairs:
        raise InputError(f"{path} holds no sentence pairs")
    return pairs


def encode_pairs(pairs: Sequence[Pair], english: Vocabulary, zhoric: Vocabulary) -> list[Example]:
    """Return the ids of the pairs, with `<s>` and `</s>` where the model expects them."""
    return [
        Example([*english.encode(pair.source), EOS], [BOS, *zhoric.encode(pair.target), EOS])
        for pair in pairs
    ]


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return rows of ids as one tensor (B, longest), padded on the right."""
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def source_tensors(sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return what the encoder reads: the padded ids (B, S) and the lengths (B,)."""
    return pad(sources), torch.tensor([len(source) for source in sources])


def make_batch(examples: Sequence[Example]) -> Batch:
    """Pad some examples into one batch."""
    source, lengths = source_tensors([example.source for example in examples])
    return Batch(source, lengths, pad([example.target for example in examples]))


def by_length(rows: Sequence[Sequence[int]], batch_size: int) -> list[list[int]]:
    """Return the indices of rows in batches of rows of similar length, shortest first."""
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def training_batches(
    examples: Sequence[Example], batch_size: int, generator: torch.Generator
) -> list[list[int]]:
    """Return the indices of the examples in the batches of one epoch, in random order.

    The examples are mixed, and sorted by length within pools of POOL batches: sorting saves steps
    on padding, and the pools keep the batches different from epoch to epoch.
    """
    shuffled: list[int] = torch.randperm(len(examples), generator=generator).tolist()
    batches = []
    for start in range(0, len(shuffled), POOL * batch_size):
        pool = shuffled[start : start + POOL * batch_size]
        pool.sort(key=lambda index: (len(examples[index].source), len(examples[index].target)))
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]
