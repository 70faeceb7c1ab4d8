"""Print the sizes, mean lengths and vocabularies of the corpora as they are on disk.

python -m data.describe
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from data import zhoric
from data.generate import CORPORA, OneLineParser, Pair

ROOM = Path(__file__).parent
SPECIALS = 4  # <pad> <s> </s> <unk>: entries of every vocabulary, but not lines of its file


def read_pairs(path: Path) -> list[Pair]:
    """Read a corpus: one pair a line, English and Zhoric separated by a tab."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(english, translation) for english, translation in (line.split("\t") for line in lines)]


def read_words(path: Path) -> list[str]:
    """Read a vocabulary: one word a line."""
    return path.read_text(encoding="utf-8").splitlines()


def count_phrases(english: str) -> int:
    """Count the prepositional phrases of a sentence."""
    return sum(word in zhoric.PREPOSITIONS for word in english.split())


def mean_length(sentences: Iterable[str]) -> float:
    """Average the number of words a sentence."""
    return mean(len(sentence.split()) for sentence in sentences)


def describe(folder: Path) -> str:
    """Make the table: a row for each corpus, and one for each number of phrases in it."""
    rows = [f"{'file':<22}{'phrases':>8}{'pairs':>8}{'English':>9}{'Zhoric':>8}"]
    for corpus in CORPORA:
        pairs = read_pairs(folder / corpus.file)
        groups = [("all", pairs)] if len(corpus.phrases) > 1 else []
        for phrases in corpus.phrases:
            groups.append((str(phrases), [p for p in pairs if count_phrases(p[0]) == phrases]))
        for label, group in groups:
            english, translations = zip(*group, strict=True)
            lengths = f"{mean_length(english):>9.2f}{mean_length(translations):>8.2f}"
            rows.append(f"{corpus.file:<22}{label:>8}{len(group):>8}{lengths}")
    for language in ("english", "zhoric"):
        words = len(read_words(folder / f"{language}.vocab"))
        rows.append(f"{language}.vocab: {words} words + {SPECIALS} specials = {words + SPECIALS}")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = OneLineParser("python -m data.describe", description="Describe the corpora in data/.")
    parser.parse_args(arguments)
    try:
        print(describe(ROOM))
    except FileNotFoundError as error:
        parser.error(f"{error.filename} is missing; make it with: python -m data.generate")


if __name__ == "__main__":
    main()
