"""Translate sentences with a trained model, greedily or by beam search."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.attention import Memory
from nmt.corpus import by_length, source_tensors
from nmt.files import InputError
from nmt.model import DecoderState, Seq2Seq
from nmt.settings import SearchConfig
from nmt.vocabulary import BOS, EOS, Vocabulary

BATCH_SIZE = 128  # sentences encoded, or decoded greedily, at a time


class Translation(NamedTuple):
    """Hold a translated sentence and where the decoder looked."""

    source: list[str]  # S words, </s> the last
    target: list[str]  # T words, </s> the last
    weights: Tensor  # (T, S), rows sum to 1


def tokenize(sentence: str) -> list[str]:
    """Split a sentence into words; the corpus is in lower case."""
    return sentence.lower().split()


def unknown_words(vocabulary: Vocabulary, sentence: str) -> list[str]:
    """Return the words of a sentence that the model will read as `<unk>`."""
    return [word for word in tokenize(sentence) if word not in vocabulary]


@contextmanager
def evaluating(model: Seq2Seq) -> Iterator[None]:
    """Turn dropout and gradients off for a while."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def greedy(model: Seq2Seq, sources: Sequence[Sequence[int]], max_length: int) -> list[list[int]]:
    """Translate sources, ids with `</s>`, taking the likeliest token at every step."""
    results: list[list[int]] = [[] for _ in sources]
    with evaluating(model):
        for batch in by_length(sources, BATCH_SIZE):
            memory, state = model.encode(*source_tensors([sources[index] for index in batch]))
            for index, tokens in zip(batch, _decode(model, memory, state, max_length), strict=True):
                results[index] = tokens
    return results


def _decode(
    model: Seq2Seq, memory: Memory, state: DecoderState, max_length: int
) -> list[list[int]]:
    """Decode a batch greedily, until all rows have ended; return their ids without `</s>`."""
    tokens = torch.full((len(memory.mask),), BOS)  # (B,)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    columns = []
    for _ in range(max_length):
        logits, state, _ = model.step(tokens, state, memory)
        tokens = logits.argmax(dim=1)  # rows that have ended go on too; what they say is cut below
        columns.append(tokens)
        ended = ended | (tokens == EOS)
        if ended.all():
            break
    rows: list[list[int]] = torch.stack(columns, dim=1).tolist()
    return [row[: row.index(EOS)] if EOS in row else row for row in rows]


def _search(
    model: Seq2Seq, memory: Memory, state: DecoderState, config: SearchConfig
) -> tuple[int, ...]:
    """Return the ids of the best translation of one sentence, a memory and a state of one row."""
    # Imported here, so that training does without nmt/beam_search.py.
    from nmt.beam_search import beam_search

    def step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        h, c, o = state
        # All hypotheses look at the same sentence: views of its one row, no copies.
        rows = Memory(*(part.expand(len(tokens), *part.shape[1:]) for part in memory))
        logits, state, _ = model.step(tokens, (h, c, o), rows)
        return logits.log_softmax(dim=1), state

    hypotheses = beam_search(step, state, bos=BOS, eos=EOS, **asdict(config))
    return hypotheses[0].tokens


def _check_sizes(model: Seq2Seq, english: Vocabulary, zhoric: Vocabulary) -> None:
    """Refuse vocabularies that are not the ones the model was trained with."""
    expected = (model.config.source_size, model.config.target_size)
    if expected != (len(english), len(zhoric)):
        raise InputError(
            f"the model knows {expected[0]} and {expected[1]} words, the vocabularies have "
            f"{len(english)} and {len(zhoric)}: train again, or use the model's own vocabularies"
        )


def translate(
    model: Seq2Seq,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    sentences: Sequence[str],
    *,
    beam_size: int = SearchConfig.beam_size,
    max_length: int = SearchConfig.max_length,
    alpha: float = SearchConfig.alpha,
) -> list[str]:
    """Translate sentences by beam search; an empty one stays empty.

    They are encoded together, those of similar length in one batch, and searched one by one.

    Raises:
        InputError: if the vocabularies do not fit the model.
    """
    _check_sizes(model, source_vocabulary, target_vocabulary)
    config = SearchConfig(beam_size, max_length, alpha)
    results = [""] * len(sentences)
    filled = [index for index, sentence in enumerate(sentences) if tokenize(sentence)]
    sources = [[*source_vocabulary.encode(tokenize(sentences[i])), EOS] for i in filled]
    with evaluating(model):
        for batch in by_length(sources, BATCH_SIZE):
            memory, state = model.encode(*source_tensors([sources[index] for index in batch]))
            for row, index in enumerate(batch):
                own, words = slice(row, row + 1), len(sources[index])  # without the padding
                h, c, o = (part[own] for part in state)
                alone = Memory(*(part[own, :words] for part in memory))
                tokens = _search(model, alone, (h, c, o), config)
                results[filled[index]] = " ".join(target_vocabulary.decode(tokens))
    return results


def translate_with_attention(
    model: Seq2Seq,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    sentence: str,
    config: SearchConfig,
) -> Translation:
    """Translate one sentence, and say how much each target word looked at each source word.

    Raises:
        InputError: if the model has no attention, the vocabularies do not fit it, or the sentence
            is empty.
    """
    if not model.config.attention:
        raise InputError("this model has no attention: train one without --no-attention")
    if not tokenize(sentence):
        raise InputError("the sentence is empty")
    vocabularies = source_vocabulary, target_vocabulary
    (translation,) = translate(model, *vocabularies, [sentence], **asdict(config))
    source, target = [*tokenize(sentence), "</s>"], [*translation.split(), "</s>"]
    with evaluating(model):
        memory, state = model.encode(*source_tensors([source_vocabulary.encode(source)]))
        rows = []
        # The search keeps no weights; running the decoder over its result gives them again.
        for token in [BOS, *target_vocabulary.encode(target[:-1])]:
            _, state, weights = model.step(torch.tensor([token]), state, memory)
            rows.append(weights)  # (1, S)
    return Translation(source, target, torch.cat(rows))
