"""Give every word of a language a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nmt.files import InputError, read_lines

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
PAD, BOS, EOS, UNK = range(len(SPECIALS))


class Vocabulary:
    """Map words to ids and back: the four specials are 0 to 3, the first word is 4."""

    def __init__(self, words: Sequence[str]) -> None:
        """Give the words their numbers, in their order, after the specials.

        Raises:
            InputError: if a word is there twice, or is a special.
        """
        self.words = (*SPECIALS, *words)
        self._ids = {word: index for index, word in enumerate(self.words)}
        if len(self._ids) < len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self._ids[word] != i)
            raise InputError(f"the vocabulary holds the word {twice!r} twice")

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read a vocabulary from a file of one word a line, without the specials.

        Raises:
            InputError: if the file cannot be read, or a line is not one new word.
        """
        words = read_lines(Path(path))
        for number, word in enumerate(words, start=1):
            if word.split() != [word]:
                raise InputError(f"{path}, line {number}: expected one word, got {word!r}")
        return cls(words)

    def __len__(self) -> int:
        """Count the words and the specials."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Tell whether the vocabulary has the word."""
        return word in self._ids

    def encode(self, words: Iterable[str]) -> list[int]:
        """Return the ids of the words, UNK for those it does not have."""
        return [self._ids.get(word, UNK) for word in words]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the words of the ids, specials as they are written."""
        return [self.words[index] for index in ids]
