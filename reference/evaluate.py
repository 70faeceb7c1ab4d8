"""Score a trained model on the dev set and on the held-out sets: `python -m reference.evaluate`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from sacrebleu import corpus_bleu

REFERENCE = Path(__file__).resolve().parent
sys.path.insert(0, str(REFERENCE))  # the package is called nmt, here as in the students' folder

from nmt.corpus import load_vocabularies, read_tsv  # noqa: E402
from nmt.files import CHECKPOINT, InputError  # noqa: E402
from nmt.model import load_checkpoint  # noqa: E402
from nmt.translation import translate  # noqa: E402

DATA = REFERENCE.parent / "data"
SETS = {
    "dev": DATA / "dev.tsv",
    "held-out test": DATA / "held_out/test.tsv",
    **{f"{n} phrases": DATA / f"held_out/length_{n}.tsv" for n in range(5)},
}


def score(translations: Sequence[str], references: Sequence[str]) -> tuple[float, float]:
    """Return sacrebleu's BLEU, 0 to 100, and the percentage of sentences that are exactly right."""
    bleu: float = corpus_bleu(translations, [references], tokenize="none").score
    right = sum(ours == theirs for ours, theirs in zip(translations, references, strict=True))
    return bleu, 100 * right / len(references)


def evaluate(checkpoint: Path) -> None:
    """Print a table: for each set of sentences, its size, BLEU and exact matches."""
    model = load_checkpoint(checkpoint)
    vocabularies = load_vocabularies(DATA)
    print(f"{'set':<14}{'pairs':>7}{'BLEU':>8}{'exact %':>9}")
    for name, path in SETS.items():
        pairs = read_tsv(path)
        translations = translate(model, *vocabularies, [" ".join(pair.source) for pair in pairs])
        bleu, exact = score(translations, [" ".join(pair.target) for pair in pairs])
        print(f"{name:<14}{len(pairs):>7}{bleu:>8.2f}{exact:>9.1f}", flush=True)


def main() -> int:
    """Evaluate one checkpoint by beam search, with the settings that grading uses."""
    parser = argparse.ArgumentParser(prog="python -m reference.evaluate", description=__doc__)
    parser.add_argument("--model", type=Path, default=CHECKPOINT, help="default: %(default)s")
    torch.set_num_threads(1)  # the products of three hypotheses are too small to be shared out
    try:
        evaluate(parser.parse_args().model)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
