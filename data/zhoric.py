"""Zhoric, an invented language: its lexicon, its grammar, and its translation from English.

A sentence has one meaning, a `Sentence`, and that is written out twice: `to_english` and
`to_zhoric`. `parse` recovers the meaning from the English, so a translation depends on its source
and on nothing else.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

# singular: (plural, Zhoric)
NOUNS = {
    "bird": ("birds", "piko"),
    "cat": ("cats", "miro"),
    "child": ("children", "nelu"),
    "city": ("cities", "urba"),
    "dog": ("dogs", "wufo"),
    "forest": ("forests", "salvu"),
    "garden": ("gardens", "pelin"),
    "horse": ("horses", "kaval"),
    "house": ("houses", "domo"),
    "island": ("islands", "isro"),
    "king": ("kings", "rega"),
    "owl": ("owls", "huli"),
    "river": ("rivers", "flun"),
    "wolf": ("wolves", "lupek"),
}
# form after a plural subject: (form after a singular subject, Zhoric)
VERBS = {
    "call": ("calls", "vokem"),
    "find": ("finds", "trova"),
    "follow": ("follows", "sekur"),
    "hear": ("hears", "odin"),
    "help": ("helps", "juvo"),
    "know": ("knows", "konta"),
    "love": ("loves", "amelo"),
    "see": ("sees", "tavek"),
}
ADJECTIVES = {"angry": "kurja", "old": "gron", "red": "rosa", "small": "tini", "tall": "zelto"}
PREPOSITIONS = {"behind": "pos", "in": "nai", "near": "ven", "under": "sul"}
ARTICLES = ("a", "an", "the")
PLURAL = "ka"  # a word of its own in Zhoric, right after the noun

_SINGULAR_OF = {plural: singular for singular, (plural, _) in NOUNS.items()}
_BASE_OF = {third: base for base, (third, _) in VERBS.items()} | {base: base for base in VERBS}

ENGLISH_WORDS = tuple(
    sorted({*ARTICLES, *NOUNS, *_SINGULAR_OF, *_BASE_OF, *ADJECTIVES, *PREPOSITIONS})
)
ZHORIC_WORDS = tuple(
    sorted(
        {
            PLURAL,
            *(zhoric for _, zhoric in (*NOUNS.values(), *VERBS.values())),
            *ADJECTIVES.values(),
            *PREPOSITIONS.values(),
        }
    )
)


@dataclass(frozen=True)
class NounPhrase:
    """Hold a noun (singular form) with its adjectives; a plural one is always definite."""

    noun: str
    adjectives: tuple[str, ...] = ()
    plural: bool = False
    definite: bool = True


@dataclass(frozen=True)
class Sentence:
    """Hold who does what to whom, and where; the verb is in its form without s."""

    subject: NounPhrase
    verb: str
    object: NounPhrase
    places: tuple[tuple[str, NounPhrase], ...] = ()  # (preposition, noun phrase)


def translate(english: str) -> str:
    """Translate one English sentence into Zhoric.

    Words are separated by single spaces, in lower case, without punctuation.

    Raises:
        ValueError: for an unknown word, or a sentence that the grammar does not make.
    """
    return to_zhoric(parse(english))


def to_english(sentence: Sentence) -> str:
    """Write a sentence in English: subject, verb, object, prepositional phrases."""
    third_person = VERBS[sentence.verb][0]
    words = [
        *_english_phrase(sentence.subject),
        sentence.verb if sentence.subject.plural else third_person,
        *_english_phrase(sentence.object),
    ]
    for preposition, place in sentence.places:
        words += [preposition, *_english_phrase(place)]
    return " ".join(words)


def _english_phrase(phrase: NounPhrase) -> list[str]:
    """Write a noun phrase in English: article, adjectives, noun."""
    noun = NOUNS[phrase.noun][0] if phrase.plural else phrase.noun
    words = [*phrase.adjectives, noun]
    indefinite = "an" if words[0][0] in "aeiou" else "a"  # by the letter, not by the sound
    return ["the" if phrase.definite else indefinite, *words]


def to_zhoric(sentence: Sentence) -> str:
    """Write a sentence in Zhoric: subject, object, postpositional phrases, verb."""
    words = [*_zhoric_phrase(sentence.subject), *_zhoric_phrase(sentence.object)]
    for preposition, place in sentence.places:
        words += [*_zhoric_phrase(place), PREPOSITIONS[preposition]]
    return " ".join([*words, VERBS[sentence.verb][1]])


def _zhoric_phrase(phrase: NounPhrase) -> list[str]:
    """Write a noun phrase in Zhoric: noun, plural word, adjectives in their English order."""
    number = [PLURAL] if phrase.plural else []
    return [NOUNS[phrase.noun][1], *number, *(ADJECTIVES[word] for word in phrase.adjectives)]


def parse(english: str) -> Sentence:
    """Recover the meaning of an English sentence.

    Raises:
        ValueError: for an unknown word, or a sentence that the grammar does not make.
    """
    words = english.split(" ")
    for position, word in enumerate(words, start=1):
        if word not in ENGLISH_WORDS:
            raise ValueError(
                f"word {position} of {english!r} is {word!r}; expected one of the "
                f"{len(ENGLISH_WORDS)} words of data/english.vocab, separated by single spaces"
            )
    sentence = _Parser(english, words).sentence()
    # Articles and agreement are checked by writing the meaning out again, not by rules of their own
    if to_english(sentence) != english:
        raise ValueError(
            f"an article or a verb form is wrong: expected {to_english(sentence)!r}, "
            f"got {english!r}"
        )
    return sentence


class _Parser:
    """Read a sentence from left to right, one word of lookahead."""

    def __init__(self, english: str, words: list[str]) -> None:
        self.english = english
        self.words = words
        self.position = 0

    def sentence(self) -> Sentence:
        """Read subject, verb, object and as many prepositional phrases as there are."""
        subject = self.noun_phrase()
        verb = _BASE_OF[self.take("a verb", _BASE_OF)]
        direct_object = self.noun_phrase()
        places = []
        while self.position < len(self.words):
            places.append((self.take("a preposition", PREPOSITIONS), self.noun_phrase()))
        return Sentence(subject, verb, direct_object, tuple(places))

    def noun_phrase(self) -> NounPhrase:
        """Read an article, adjectives and a noun."""
        article = self.take("an article", ARTICLES)
        adjectives = []
        while self.peek() in ADJECTIVES:
            adjectives.append(self.take("an adjective", ADJECTIVES))
        noun = self.take("a noun", NOUNS.keys() | _SINGULAR_OF)
        plural = noun in _SINGULAR_OF
        singular = _SINGULAR_OF[noun] if plural else noun
        return NounPhrase(singular, tuple(adjectives), plural, plural or article == "the")

    def peek(self) -> str:
        """Return the next word, empty at the end."""
        return self.words[self.position] if self.position < len(self.words) else ""

    def take(self, kind: str, choices: Container[str]) -> str:
        """Return the next word, which must be one of `choices`, and step over it."""
        word = self.peek()
        if word not in choices:
            got = repr(word) if word else "the end"
            raise ValueError(
                f"expected {kind} at word {self.position + 1} of {self.english!r}, got {got}"
            )
        self.position += 1
        return word
