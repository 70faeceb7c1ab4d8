"""Test the language: known words, examples, and what translation refuses."""

from __future__ import annotations

import pytest

from data import zhoric

EXAMPLES = [
    (
        "the red dogs help the small kings in a city",
        "wufo ka rosa rega ka tini urba nai juvo",
    ),
    (
        "the kings see the cats in an old city near the gardens behind the gardens",
        "rega ka miro ka urba gron nai pelin ka ven pelin ka pos tavek",
    ),
    # a singular subject, and two adjectives that keep their English order
    ("an old red dog sees a house", "wufo gron rosa domo tavek"),
    ("a red old dog sees a house", "wufo rosa gron domo tavek"),
]
NOUNS = "dog wufo cat miro king rega city urba garden pelin house domo"
ADJECTIVES = "red rosa small tini old gron"
VERBS = "help juvo see tavek"
PREPOSITIONS = "in nai near ven behind pos"


def known(words: str) -> dict[str, str]:
    """Pair up a list that alternates English and Zhoric."""
    english, translations = words.split()[::2], words.split()[1::2]
    return dict(zip(english, translations, strict=True))


@pytest.mark.parametrize(("english", "translation"), EXAMPLES)
def test_examples(english: str, translation: str) -> None:
    """Do the sentences that define the language translate as they should?"""
    assert zhoric.translate(english) == translation


def test_known_words() -> None:
    """Do the words that the lecture uses have the lecture's translations?"""
    assert known(NOUNS).items() <= {n: z for n, (_, z) in zhoric.NOUNS.items()}.items()
    assert known(VERBS).items() <= {v: z for v, (_, z) in zhoric.VERBS.items()}.items()
    assert known(ADJECTIVES).items() <= zhoric.ADJECTIVES.items()
    assert known(PREPOSITIONS).items() <= zhoric.PREPOSITIONS.items()


def test_every_word_has_one_role() -> None:
    """Is no word of either language used for two entries of the lexicon?"""
    entries = len(zhoric.NOUNS) + len(zhoric.VERBS)
    rest = len(zhoric.ADJECTIVES) + len(zhoric.PREPOSITIONS)
    assert len(zhoric.ENGLISH_WORDS) == 2 * entries + rest + len(zhoric.ARTICLES)
    assert len(zhoric.ZHORIC_WORDS) == entries + rest + 1
    assert not set(zhoric.ENGLISH_WORDS) & set(zhoric.ZHORIC_WORDS)


@pytest.mark.parametrize(
    ("english", "complaint"),
    [
        ("the dog sees a zebra", "word 5 .* is 'zebra'"),
        ("The dog sees a cat", "word 1 .* is 'The'"),
        ("the dog  sees a cat", "word 3 .* is ''"),
        ("the dog sees a cat\n", r"word 5 .* is 'cat\\n'"),
        ("", "word 1 .* is ''"),
        ("the dog a cat", "expected a verb at word 3 .* got 'a'"),
        ("the dog sees", "expected an article at word 4 .* got the end"),
        ("the dog sees a red", "expected a noun at word 6 .* got the end"),
        ("the dog sees a cat a cat", "expected a preposition at word 6 .* got 'a'"),
        ("the dog see a cat", "expected 'the dog sees a cat'"),
        ("the dogs sees a cat", "expected 'the dogs see a cat'"),
        ("the dog sees a old cat", "expected 'the dog sees an old cat'"),
        ("the dog sees an red owl", "expected 'the dog sees a red owl'"),
        ("a dogs see the cat", "expected 'the dogs see the cat'"),
    ],
)
def test_refusals(english: str, complaint: str) -> None:
    """Does a sentence outside the language give one line that says where and what?"""
    with pytest.raises(ValueError, match=complaint) as caught:
        zhoric.translate(english)
    assert "\n" not in str(caught.value)
