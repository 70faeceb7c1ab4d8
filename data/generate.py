"""Generate every corpus, vocabulary and checksum of the data room in one seeded pass.

    python -m data.generate [--out DIR]

The same bytes come out of every Python from 3.10 on: the only source of chance is
`random.Random(SEED).random()`, the one method whose sequence for a given seed the standard library
promises to keep. `choice`, `sample` and `shuffle` carry no such promise, so none is used.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

from data import zhoric

SEED = 7_301_946_528_114_074  # instructors only: whoever has it can make the held-out sets
CHECKSUMS = "checksums.txt"

# Uniform draws from these give 0.6 and 0.35 adjectives on average, so a sentence with p phrases has
# 2 (2 + 0.6) + 1 + p (3 + 0.35) = 6.2 + 3.35 p words: 6.2, 9.55, 12.9, 16.25, 19.6.
ADJECTIVES_OF_ARGUMENT = (0,) * 5 + (1,) * 4 + (2,) * 1
ADJECTIVES_OF_PLACE = (0,) * 13 + (1,) * 7

Pair = tuple[str, str]  # (English, Zhoric)
T = TypeVar("T")


@dataclass(frozen=True)
class Corpus:
    """Name a file, its number of pairs, and the numbers of phrases to draw from uniformly."""

    file: str
    pairs: int
    phrases: tuple[int, ...]


CORPORA = (
    Corpus("train.tsv", 20_000, (0, 1, 2, 3)),
    Corpus("dev.tsv", 1_000, (0, 1, 2, 3)),
    Corpus("held_out/test.tsv", 1_000, (0, 1, 2, 3)),
    *(Corpus(f"held_out/length_{phrases}.tsv", 300, (phrases,)) for phrases in range(5)),
)


def choose(rng: random.Random, options: Sequence[T]) -> T:
    """Draw one of the options, each as likely as the others."""
    return options[int(rng.random() * len(options))]


def draw_noun_phrase(rng: random.Random, adjective_counts: Sequence[int]) -> zhoric.NounPhrase:
    """Draw a noun phrase: number and article by the toss of a coin, adjectives all different."""
    adjectives: list[str] = []
    for _ in range(choose(rng, adjective_counts)):
        adjectives.append(choose(rng, [a for a in zhoric.ADJECTIVES if a not in adjectives]))
    noun = choose(rng, tuple(zhoric.NOUNS))
    plural = choose(rng, (False, True))
    definite = plural or choose(rng, (False, True))
    return zhoric.NounPhrase(noun, tuple(adjectives), plural, definite)


def draw_sentence(rng: random.Random, phrases: int) -> zhoric.Sentence:
    """Draw a sentence with so many prepositional phrases."""
    subject = draw_noun_phrase(rng, ADJECTIVES_OF_ARGUMENT)
    verb = choose(rng, tuple(zhoric.VERBS))
    direct_object = draw_noun_phrase(rng, ADJECTIVES_OF_ARGUMENT)
    places = [
        (choose(rng, tuple(zhoric.PREPOSITIONS)), draw_noun_phrase(rng, ADJECTIVES_OF_PLACE))
        for _ in range(phrases)
    ]
    return zhoric.Sentence(subject, verb, direct_object, tuple(places))


def draw_pair(rng: random.Random, phrases: int, seen: set[str]) -> Pair:
    """Draw a pair whose English is not in `seen`, and add it there."""
    while True:
        sentence = draw_sentence(rng, phrases)
        english = zhoric.to_english(sentence)
        if english not in seen:
            seen.add(english)
            return english, zhoric.to_zhoric(sentence)


def draw_corpora(seed: int) -> dict[str, list[Pair]]:
    """Draw all corpora in order, by file name, no English sentence twice in any of them."""
    rng = random.Random(seed)
    seen: set[str] = set()
    return {
        corpus.file: [
            draw_pair(rng, choose(rng, corpus.phrases), seen) for _ in range(corpus.pairs)
        ]
        for corpus in CORPORA
    }


def render(seed: int) -> dict[str, bytes]:
    """Make the content of every file, by name; the checksums of the others come last."""
    texts = {
        file: "".join(f"{english}\t{translation}\n" for english, translation in pairs)
        for file, pairs in draw_corpora(seed).items()
    }
    texts["english.vocab"] = "".join(f"{word}\n" for word in zhoric.ENGLISH_WORDS)
    texts["zhoric.vocab"] = "".join(f"{word}\n" for word in zhoric.ZHORIC_WORDS)
    contents = {file: text.encode() for file, text in texts.items()}
    contents[CHECKSUMS] = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {file}\n" for file, content in contents.items()
    ).encode()
    return contents


def write(folder: Path, contents: dict[str, bytes]) -> None:
    """Write the files, as bytes so that line ends are LF on every system."""
    for file, content in contents.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class OneLineParser(argparse.ArgumentParser):
    """Say what is wrong with the arguments in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message without the usage and exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = OneLineParser("python -m data.generate", description="Generate the data room's files.")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent,
        metavar="DIR",
        help="the folder to write to, made if it does not exist (default: data/)",
    )
    out = parser.parse_args(arguments).out
    try:
        write(out, render(SEED))
    except OSError as error:
        parser.error(
            f"--out {out}: expected a folder that can be written to, got: {error.strerror}"
        )
    print(f"wrote {len(CORPORA) + 3} files to {out}")


if __name__ == "__main__":
    main()
