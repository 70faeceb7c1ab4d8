"""A small world for the tests of the given code: six words, tiny models, data in a folder."""

import random
from pathlib import Path

import pytest
import torch

from nmt.model import Seq2Seq
from nmt.settings import ModelConfig
from nmt.vocabulary import Vocabulary

torch.set_num_threads(1)  # the tensors are tiny: more threads only get in each other's way

SOURCE_WORDS = ("big", "cat", "dog", "sees", "the")
TARGET_WORDS = ("grona", "miro", "tavek", "wufo")
MEANING = {"big": "grona", "cat": "miro", "dog": "wufo", "sees": "tavek", "the": "tavek"}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Give every test the same random numbers, whichever tests run before it."""
    torch.manual_seed(1)


@pytest.fixture
def source_vocabulary() -> Vocabulary:
    """Return nine English entries, specials included."""
    return Vocabulary(SOURCE_WORDS)


@pytest.fixture
def target_vocabulary() -> Vocabulary:
    """Return eight Zhoric entries, specials included."""
    return Vocabulary(TARGET_WORDS)


@pytest.fixture(params=[True, False], ids=["attention", "plain"])
def attention(request: pytest.FixtureRequest) -> bool:
    """Run a test with attention and without."""
    return bool(request.param)


@pytest.fixture
def config(attention: bool) -> ModelConfig:
    """Return sizes that all differ."""
    return ModelConfig(9, 8, embedding_size=3, encoder_size=5, decoder_size=7, attention=attention)


@pytest.fixture
def model(config: ModelConfig) -> Seq2Seq:
    """Return a model with random weights in float64, where sums in any order agree to 1e-12."""
    model = Seq2Seq(config).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()  # larger than at the start of a training: nothing is nearly 0
    return model.eval()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write 40 training and 5 dev pairs, and make them the data that commands find."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "english.vocab").write_text("\n".join(SOURCE_WORDS) + "\n", encoding="utf-8")
    (folder / "zhoric.vocab").write_text("\n".join(TARGET_WORDS) + "\n", encoding="utf-8")
    dice = random.Random(1)
    for name, pairs in (("train", 40), ("dev", 5)):
        sources = [dice.choices(SOURCE_WORDS, k=dice.randint(1, 6)) for _ in range(pairs)]
        lines = [
            " ".join(words) + "\t" + " ".join(MEANING[word] for word in reversed(words))
            for words in sources
        ]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("NMT_DATA", str(folder))
    return folder
