"""Test the files on disk: sizes, lengths, vocabularies, disjointness, translations."""

from __future__ import annotations

from collections import Counter

import pytest

from data import zhoric
from data.describe import ROOM, SPECIALS, count_phrases, mean_length, read_words
from data.generate import Pair

Corpora = dict[str, list[Pair]]

SIZES = {
    "train.tsv": 20_000,
    "dev.tsv": 1_000,
    "held_out/test.tsv": 1_000,
    **{f"held_out/length_{phrases}.tsv": 300 for phrases in range(5)},
}
LENGTHS = {0: 6.2, 1: 9.6, 2: 12.9, 3: 16.1, 4: 19.7}  # the lecture's mean source lengths
LENGTH_TOLERANCE = 0.3  # what the design allows; the standard error over 300 sentences is < 0.1


def test_sizes(corpora: Corpora) -> None:
    """Has every corpus its number of pairs?"""
    assert {file: len(pairs) for file, pairs in corpora.items()} == SIZES


def test_no_source_twice(corpora: Corpora) -> None:
    """Is every English sentence in one place only, over all corpora together?"""
    count = Counter(english for pairs in corpora.values() for english, _ in pairs)
    assert [english for english, times in count.items() if times > 1] == []


def test_translation_is_a_function_of_the_source(corpora: Corpora) -> None:
    """Does translating the English alone give every pair's Zhoric?"""
    pairs = [pair for corpus in corpora.values() for pair in corpus]
    wrong = [pair for pair in pairs if zhoric.translate(pair[0]) != pair[1]]
    assert wrong == []


@pytest.mark.parametrize("phrases", LENGTHS)
def test_length_sets(corpora: Corpora, phrases: int) -> None:
    """Has a length set exactly its number of phrases, and the lecture's mean length?"""
    sources = [english for english, _ in corpora[f"held_out/length_{phrases}.tsv"]]
    assert {count_phrases(english) for english in sources} == {phrases}
    assert abs(mean_length(sources) - LENGTHS[phrases]) <= LENGTH_TOLERANCE


@pytest.mark.parametrize("file", ["train.tsv", "dev.tsv", "held_out/test.tsv"])
def test_phrases_are_uniform(corpora: Corpora, file: str) -> None:
    """Does each of 0 to 3 phrases have a quarter of the sentences, and its mean length?"""
    sources = [english for english, _ in corpora[file]]
    assert {count_phrases(english) for english in sources} == {0, 1, 2, 3}
    for phrases in range(4):
        group = [english for english in sources if count_phrases(english) == phrases]
        # 1,000 draws have a standard deviation of 0.014; four of them either way
        assert abs(len(group) / len(sources) - 0.25) < 0.055
        assert abs(mean_length(group) - LENGTHS[phrases]) <= LENGTH_TOLERANCE


def test_adjectives(corpora: Corpora) -> None:
    """Do subject and object carry 0 to 2 different adjectives, and a phrase's noun 0 or 1?"""
    arguments: set[int] = set()
    places: set[int] = set()
    for pairs in corpora.values():
        for sentence in (zhoric.parse(english) for english, _ in pairs):
            for phrase in (sentence.subject, sentence.object):
                assert len(set(phrase.adjectives)) == len(phrase.adjectives), sentence
                arguments.add(len(phrase.adjectives))
            places.update(len(phrase.adjectives) for _, phrase in sentence.places)
    assert (arguments, places) == ({0, 1, 2}, {0, 1})


@pytest.mark.parametrize(("language", "entries"), [("english", 60), ("zhoric", 36)])
def test_vocabulary(corpora: Corpora, language: str, entries: int) -> None:
    """Is the vocabulary sorted, of the right size, and just the words that train uses?"""
    words = read_words(ROOM / f"{language}.vocab")
    side = ("english", "zhoric").index(language)
    assert len(words) + SPECIALS == entries
    assert words == sorted({word for pair in corpora["train.tsv"] for word in pair[side].split()})


def test_bytes(corpora: Corpora) -> None:
    """Are the files plain ASCII lines with LF ends and nothing after the last?"""
    for file in (*corpora, "english.vocab", "zhoric.vocab"):
        content = (ROOM / file).read_bytes()
        assert content.isascii(), file
        assert b"\r" not in content, file
        assert content.endswith(b"\n"), file
        assert not content.endswith(b"\n\n"), file
