"""Labs 4 and 5: sentences by their number of prepositional phrases."""

from collections.abc import Sequence
from pathlib import Path

from nmt.corpus import Pair, read_tsv

PREPOSITIONS = {"behind", "in", "near", "under"}
POSTPOSITIONS = {"pos", "nai", "ven", "sul"}
PHRASES = range(5)  # 4 are never seen in training
EACH = 300  # sentences of a group at most


def phrases(pair: Pair) -> int:
    """Count the prepositional phrases of a sentence."""
    return sum(word in PREPOSITIONS for word in pair.source)


def groups(directory: Path) -> tuple[str, list[list[Pair]]]:
    """Return where sentences come from, and those with 0, 1, 2, 3 and 4 phrases.

    They are the held-out length sets where these are, which is not in the students' folder. There,
    they are the dev set's, and for 4 phrases the dev set's sentences of 3 with one phrase more.
    """
    held_out = directory / "held_out"
    if held_out.is_dir():
        return "the held-out length sets", [
            read_tsv(held_out / f"length_{number}.tsv") for number in PHRASES
        ]
    dev = read_tsv(directory / "dev.tsv")
    known = [[p for p in dev if phrases(p) == number][:EACH] for number in PHRASES[:-1]]
    return "the dev set, with 4 phrases put together from it", [*known, lengthened(known[-1])]


def tested(directory: Path) -> tuple[str, list[Pair]]:
    """Return where test sentences come from, and these."""
    held_out = directory / "held_out/test.tsv"
    if held_out.is_file():
        return "the held-out test set", read_tsv(held_out)
    return "the dev set", read_tsv(directory / "dev.tsv")


def lengthened(pairs: Sequence[Pair]) -> list[Pair]:
    """Give each sentence of two or more phrases the last phrase of the one before it as one more.

    In English a phrase stands at the end, in Zhoric before the verb, which is the last word. What
    lies between the last two postpositions is the last phrase: no other phrase is as easy to find.
    """
    longer = []
    for own, other in zip(pairs, [*pairs[-1:], *pairs[:-1]], strict=True):
        english = other.source[_places(other.source, PREPOSITIONS)[-1] :]
        *_, before, last = _places(other.target, POSTPOSITIONS)
        zhoric = other.target[before + 1 : last + 1]
        longer.append(Pair(own.source + english, [*own.target[:-1], *zhoric, own.target[-1]]))
    return longer


def _places(words: Sequence[str], wanted: set[str]) -> list[int]:
    return [place for place, word in enumerate(words) if word in wanted]
