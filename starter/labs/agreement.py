"""Lab 3's corpus: sentences whose verb agrees with a subject that may be far away.

    sentence = the NOUN modifier* VERB </s>
    modifier = PREPOSITION the ADJECTIVE* NOUN

The verb has the subject's number, whatever the nouns between them have. There are 12 nouns, each in
singular and plural, 8 verbs likewise, 6 prepositions, 8 adjectives; all of a kind are equally
likely. A modifier has 0, 1 or 2 adjectives with chances 0.44, 0.405, 0.155, which makes 3.715 words
on average: m modifiers put 3.7, 7.5, 11.2, 14.8, 22.3, 29.7 words between subject and verb for
m = 1, 2, 3, 4, 6, 8. In training m is 0 or 1, with equal chance, and the number of every noun is
drawn; there, a model that knows the grammar has a perplexity of 5.23. In the test of the verb all
nouns of the modifiers have the other number than the subject: these are the distractors.
"""

import math
import random
from typing import NamedTuple

NOUNS, VERBS, PREPOSITIONS, ADJECTIVES = 12, 8, 6, 8
ADJECTIVE_CHANCES = (0.44, 0.405, 0.155)  # of 0, 1, 2 adjectives

MODIFIERS = (1, 2, 3, 4, 6, 8)  # of the tests

# Ids: padding, </s>, the; then the words of each kind, singular forms before plural ones.
PAD, END, THE = range(3)
NOUN = 3
VERB = NOUN + 2 * NOUNS
PREPOSITION = VERB + 2 * VERBS
ADJECTIVE = PREPOSITION + PREPOSITIONS
SIZE = ADJECTIVE + ADJECTIVES


class Sentence(NamedTuple):
    """Hold the ids of a sentence, and where its verb stands."""

    tokens: list[int]  # `</s>` the first, as what comes before, and the last
    verb: int  # index in tokens
    plural: bool  # the number of the subject

    @property
    def distance(self) -> int:
        """Count the words between subject and verb."""
        return self.verb - 3  # </s> the NOUN


def sentence(modifiers: int, dice: random.Random, distracting: bool) -> Sentence:
    """Draw a sentence; distracting gives the modifiers' nouns the other number."""
    plural = dice.random() < 0.5
    tokens = [END, THE, noun(plural, dice)]
    for _ in range(modifiers):
        other = not plural if distracting else dice.random() < 0.5
        count = dice.choices(range(3), ADJECTIVE_CHANCES)[0]
        adjectives = [ADJECTIVE + dice.randrange(ADJECTIVES) for _ in range(count)]
        preposition = PREPOSITION + dice.randrange(PREPOSITIONS)
        tokens += [preposition, THE, *adjectives, noun(other, dice)]
    verb = VERB + dice.randrange(VERBS) + (VERBS if plural else 0)
    return Sentence([*tokens, verb, END], len(tokens), plural)


def noun(plural: bool, dice: random.Random) -> int:
    """Draw a noun of a number."""
    return NOUN + dice.randrange(NOUNS) + (NOUNS if plural else 0)


def best_perplexity() -> float:
    """Return the perplexity of a model that knows the grammar, on sentences as in training."""
    adjectives = sum(count * chance for count, chance in enumerate(ADJECTIVE_CHANCES))
    phrase = math.log(PREPOSITIONS) + math.log(2 * NOUNS) + adjectives * math.log(ADJECTIVES)
    phrase -= sum(chance * math.log(chance) for chance in ADJECTIVE_CHANCES)
    # Half of the sentences have a phrase; whether there is one is one bit.
    nats = math.log(2 * NOUNS) + math.log(2) + phrase / 2 + math.log(VERBS)
    tokens = 4 + (3 + adjectives) / 2  # the NOUN VERB </s>
    return math.exp(nats / tokens)
