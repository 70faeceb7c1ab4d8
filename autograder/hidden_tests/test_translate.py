"""Task `translate`: do the student's weights and code translate sentences nobody has seen?

Only the sources enter the worker; sacrebleu scores on this side. Texts of exceptions that held-out
sentences raise are kept back, since they could carry those sentences out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import sacrebleu
import safetensors
import torch
from gradescope_utils.autograder_utils.decorators import leaderboard, partial_credit
from torch import Tensor

from assignment.facts import load
from autograder.faults import Mismatch, NotImplementedYet, StudentFault
from autograder.intake import Submission
from autograder.sandbox.session import TaskRunner
from autograder.sandbox.wire import load_tensors
from nmt.model import ModelConfig, Seq2Seq
from nmt.vocabulary import SPECIALS, Vocabulary

pytestmark = pytest.mark.task("translate")

FACTS = load()
RULES = FACTS.translate
DATA = Path(__file__).resolve().parents[2] / "data"
ENGLISH, ZHORIC = (Vocabulary.load(DATA / f"{name}.vocab") for name in ("english", "zhoric"))
MAX_CHARACTERS = 20 * RULES.max_length  # of a translation; words have at most half as many
CHUNK = 50  # sentences a call, so that a call is short and a slow submission is seen early
WARM_UP = 5  # public sentences first: errors on them may be shown in full
TARGET_ROWS = ("target_embedding.weight", "output.weight", "output.bias")


@leaderboard(RULES.leaderboard)
@partial_credit(FACTS.tasks["translate"].points)
def test_translate_held_out(
    probe: TaskRunner,
    submission: Submission,
    rng: torch.Generator,
    set_score: Callable[[float], None] = lambda score: None,
    set_leaderboard_value: Callable[[float], None] = lambda value: None,
) -> None:
    """Does your trained model translate the held-out sentences?"""
    weights = checkpoint(submission)
    probe.call("load", weights=weights)
    translate(probe, [source for source, _ in read_pairs(DATA / "dev.tsv")[:WARM_UP]])
    pairs = read_pairs(DATA / "held_out" / "test.tsv")
    with kept_back():
        outputs = translate(probe, [source for source, _ in pairs])
    bleu = sacrebleu.corpus_bleu(
        outputs, [[target for _, target in pairs]], tokenize="none", force=True
    ).score
    fraction = (bleu - RULES.zero_bleu) / (RULES.full_bleu - RULES.zero_bleu)
    if fraction > 0:  # else there is nothing to gain, and broken arithmetic would look like a cheat
        check_control(probe, rng, weights, dict(zip((source for source, _ in pairs), outputs)))
    set_leaderboard_value(bleu)
    set_score(FACTS.tasks["translate"].points * min(1.0, max(0.0, fraction)))
    if fraction < 1:
        raise Mismatch(
            f"BLEU {bleu:.2f} on the held-out sentences: full points from {RULES.full_bleu:g}, "
            f"none below {RULES.zero_bleu:g}, linear between. Compare with the BLEU that training "
            "showed on the dev set: if that was high, beam search loses it; if not, train again."
        )


def checkpoint(submission: Submission) -> dict[str, Tensor]:
    """Return the submitted weights, checked by name, shape, dtype and finiteness."""
    name = FACTS.checkpoint
    if name not in submission.files:
        raise NotImplementedYet(
            f"Not implemented yet: {submission.problems.get(name, f'{name} is missing.')} It holds "
            "the trained weights; when the other tasks are done, `train` writes it."
        )
    try:
        weights = load_tensors(submission.files[name])
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise Mismatch(
            f"{name} is not a readable safetensors file ({error}). Train again, or copy it again."
        ) from None
    compare_weights(name, weights)
    return weights


def compare_weights(name: str, weights: dict[str, Tensor]) -> None:
    """Hold the weights against the assignment's model with attention."""
    config = ModelConfig(source_size=len(ENGLISH), target_size=len(ZHORIC), attention=True)
    wanted = {key: tuple(value.shape) for key, value in Seq2Seq(config).state_dict().items()}
    for key in sorted(set(wanted) ^ set(weights)):
        kind = "lacks" if key in wanted else "has the unknown"
        raise Mismatch(
            f"{name} {kind} parameter {key}: it must come from the model with attention, as "
            "`train` writes it without further options."
        )
    for key, shape in wanted.items():
        if tuple(weights[key].shape) != shape:
            raise Mismatch(
                f"{name}: {key} has the shape {tuple(weights[key].shape)}; the assignment's model "
                f"has {shape}. Train with the sizes that the starter gives."
            )
        if weights[key].dtype != torch.float32:
            raise Mismatch(f"{name}: {key} is {weights[key].dtype}; it must be torch.float32.")
        if not bool(weights[key].isfinite().all()):
            raise Mismatch(f"{name}: {key} has entries that are NaN or infinite. Train again.")


def translate(probe: TaskRunner, sentences: list[str]) -> list[str]:
    """Translate sentences in the worker, and check the kind of what comes back."""
    outputs: list[str] = []
    for start in range(0, len(sentences), CHUNK):
        part = sentences[start : start + CHUNK]
        answer = probe.call(
            "translate",
            sentences=part,
            beam_size=RULES.beam_size,
            max_length=RULES.max_length,
            alpha=RULES.alpha,
        )
        if not isinstance(answer, list) or len(answer) != len(part):
            raise Mismatch("Translating did not return one translation a sentence.")
        if not all(type(text) is str and len(text) <= MAX_CHARACTERS for text in answer):
            raise Mismatch(f"A translation must be a text of at most {RULES.max_length} words.")
        outputs += answer
    return outputs


@contextmanager
def kept_back() -> Iterator[None]:
    """Replace what the student's code says of held-out sentences by a text of ours."""
    try:
        yield
    except StudentFault as fault:
        raise type(fault)(f"On a held-out sentence: {fault.private}") from None


@dataclass(frozen=True)
class Permutation:
    """New places for the target words; the specials stay."""

    places: Tensor  # (V,) int64: row i moves to row places[i]

    @classmethod
    def draw(cls, rng: torch.Generator) -> Permutation:
        """Draw one at random."""
        first = len(SPECIALS)
        words = torch.randperm(len(ZHORIC) - first, generator=rng) + first
        return cls(torch.cat([torch.arange(first), words]))

    def weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return weights whose target rows have moved."""
        moved = dict(weights)
        for name in TARGET_ROWS:
            moved[name] = torch.empty_like(weights[name])
            moved[name][self.places] = weights[name]
        return moved

    def words(self, text: str) -> str:
        """Return the sentence with each word replaced by the word at its new place."""
        rows = self.places[torch.tensor(ZHORIC.encode(text.split()), dtype=torch.int64)]
        return " ".join(ZHORIC.decode(rows.tolist()))


def check_control(
    probe: TaskRunner, rng: torch.Generator, weights: dict[str, Tensor], outputs: dict[str, str]
) -> None:
    """Translate some sentences with permuted target rows, in a fresh worker."""
    order = torch.randperm(len(outputs), generator=rng)[: RULES.control_sentences].tolist()
    sources = [list(outputs)[position] for position in order]
    permutation = Permutation.draw(rng)
    probe.close()
    with kept_back():
        probe.call("load", weights=permutation.weights(weights))
        answers = translate(probe, sources)
    follows = sum(
        answer == permutation.words(outputs[source]) for source, answer in zip(sources, answers)
    )
    if follows < RULES.control_agreement * len(sources):
        raise Mismatch(
            "The output does not come from the network alone: with the rows of the target "
            f"embedding and the output layer permuted, {follows} of {len(sources)} translations "
            "followed. The weights have to decide each word; values that are NaN or tied do not."
        )


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read a TSV of source and target sentences."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(source, target) for source, target in (line.split("\t") for line in lines)]
