"""Translation, attention weights and their picture."""

import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest
import torch

from nmt.files import HOME, InputError
from nmt.heatmap import draw_heatmap
from nmt.model import Seq2Seq, load_checkpoint
from nmt.settings import ModelConfig, SearchConfig
from nmt.translation import (
    greedy,
    translate,
    translate_with_attention,
    unknown_words,
)
from nmt.vocabulary import Vocabulary

SENTENCES = [
    "the big cat sees the dog",
    "dog",
    "the cat",
    "",
    "the dog sees the big big big cat",
    "   ",
    "a zebra sees the cat",
]
SEARCH = SearchConfig(beam_size=4, max_length=12)


@pytest.fixture
def vocabularies(
    source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
) -> tuple[Vocabulary, Vocabulary]:
    """Return both vocabularies."""
    return source_vocabulary, target_vocabulary


def test_a_batch_is_translated_like_its_sentences(
    model: Seq2Seq, vocabularies: tuple[Vocabulary, Vocabulary]
) -> None:
    """Does a batch give what its sentences give one at a time?"""

    def run(sentences: list[str]) -> list[str]:
        return translate(model, *vocabularies, sentences, beam_size=4, max_length=12, alpha=1.0)

    together = run(SENTENCES)
    alone = [run([sentence])[0] for sentence in SENTENCES]
    assert together == alone
    assert together[3] == together[5] == ""
    assert len({*together}) > 3  # or the order of the results would not be tested


def test_greedy_batches_agree_with_a_beam_of_one(
    model: Seq2Seq, vocabularies: tuple[Vocabulary, Vocabulary]
) -> None:
    """Does greedy decoding agree with a beam of width 1?"""
    sentences = [sentence for sentence in SENTENCES if sentence.strip()]
    sources = [[*vocabularies[0].encode(sentence.split()), 2] for sentence in sentences]
    outputs = greedy(model, sources, 12)
    beams = translate(model, *vocabularies, sentences, beam_size=1, max_length=12, alpha=0.0)
    assert [" ".join(vocabularies[1].decode(output)) for output in outputs] == beams


@pytest.mark.parametrize("mode", [True, False])
def test_the_mode_is_put_back(
    model: Seq2Seq, vocabularies: tuple[Vocabulary, Vocabulary], mode: bool
) -> None:
    """Is the model in its mode, and gradients on, after translating?"""
    model.train(mode)
    translate(model, *vocabularies, ["the cat"], beam_size=2, max_length=5, alpha=1.0)
    assert model.training is mode
    assert torch.is_grad_enabled()


def test_nothing_is_dropped_while_translating(
    vocabularies: tuple[Vocabulary, Vocabulary],
) -> None:
    """Does a model in training mode translate as it does in evaluation mode?"""
    model = Seq2Seq(ModelConfig(9, 8, encoder_size=5, decoder_size=7, dropout=0.9))
    runs = {
        tuple(translate(model.train(mode), *vocabularies, SENTENCES, beam_size=4, max_length=12))
        for mode in (True, False)
    }
    assert len(runs) == 1


def test_vocabularies_must_be_the_models(
    model: Seq2Seq, vocabularies: tuple[Vocabulary, Vocabulary]
) -> None:
    """Are vocabularies of other sizes refused?"""
    with pytest.raises(InputError, match="the model knows 9 and 8 words"):
        translate(model, vocabularies[0], vocabularies[0], ["cat"])


def test_unknown_words_are_named(source_vocabulary: Vocabulary) -> None:
    """Are the words outside the vocabulary found?"""
    assert unknown_words(source_vocabulary, "The zebra sees <unk> Peru") == ["zebra", "peru"]


def test_attention_of_a_translation(vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    """Has each target word weights that sum to 1 over the source words?"""
    model = Seq2Seq(ModelConfig(9, 8, encoder_size=5, decoder_size=7))
    translation = translate_with_attention(model, *vocabularies, "the zebra sees", SEARCH)
    assert translation.source == ["the", "zebra", "sees", "</s>"]
    assert translation.target[-1] == "</s>"
    (text,) = translate(
        model, *vocabularies, ["the zebra sees"], beam_size=4, max_length=12, alpha=1.0
    )
    assert " ".join(translation.target[:-1]) == text
    assert translation.weights.shape == (len(translation.target), 4)
    torch.testing.assert_close(translation.weights.sum(1), torch.ones(len(translation.target)))


def test_no_attention_to_show(vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    """Is it an error to ask a plain model for its attention?"""
    plain = Seq2Seq(ModelConfig(9, 8, attention=False))
    with pytest.raises(InputError, match="no attention"):
        translate_with_attention(plain, *vocabularies, "the cat", SEARCH)
    with pytest.raises(InputError, match="empty"):
        translate_with_attention(Seq2Seq(ModelConfig(9, 8)), *vocabularies, " ", SEARCH)


def test_heatmap_shows_the_weights(
    vocabularies: tuple[Vocabulary, Vocabulary], tmp_path: Path
) -> None:
    """Is the picture there, and darker for larger weights?"""
    model = Seq2Seq(ModelConfig(9, 8))
    translation = translate_with_attention(model, *vocabularies, "the big cat", SEARCH)
    path = tmp_path / "attention.png"
    draw_heatmap(translation, path)
    picture = matplotlib.image.imread(path)
    assert min(picture.shape[:2]) > 200
    dark = translation._replace(weights=torch.ones_like(translation.weights))
    draw_heatmap(dark, path)
    assert matplotlib.image.imread(path).mean() < picture.mean()


def test_translating_imports_no_more_than_it_needs() -> None:
    """Does translating do without the task bleu and without plotting?"""
    # A broken bleu.py must cost nothing, and graders need no plotting.
    code = (
        "import sys, nmt.model, nmt.translation;"
        "print(*{'nmt.bleu', 'matplotlib', 'sacrebleu'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=HOME, capture_output=True, text=True, check=True
    )
    assert result.stdout == "\n"


def test_the_trained_model_knows_the_language() -> None:
    """Does the trained model translate the two examples of the design?"""
    model = load_checkpoint(HOME / "model.safetensors")
    data = HOME.parent / "data"
    vocabularies = (
        Vocabulary.load(data / "english.vocab"),
        Vocabulary.load(data / "zhoric.vocab"),
    )
    sentences = [
        "the red dogs help the small kings in a city",
        "the kings see the cats in an old city near the gardens behind the gardens",
    ]
    assert translate(model, *vocabularies, sentences) == [
        "wufo ka rosa rega ka tini urba nai juvo",
        "rega ka miro ka urba gron nai pelin ka ven pelin ka pos tavek",
    ]
