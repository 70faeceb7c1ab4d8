"""Lab 5: where a trained translator looks, and how it searches."""

import collections
import time

from labs import sentences, translators
from labs.part import Context, Figures, Settings
from labs.reading import score
from nmt.corpus import data_directory
from nmt.settings import SearchConfig
from nmt.training import load_data
from nmt.translation import Translation, translate, translate_with_attention

EXAMPLES = (
    "the kings see the old cats in a city near the gardens",
    "an old wolf follows the birds behind the tall houses",
)


def align(settings: Settings, seed: int, context: Context) -> Figures:
    """Translate some sentences, and say where each word looked."""
    data = load_data(data_directory())
    path = context.file.with_name(context.given["weights"])
    model = translators.load(settings, path, data)
    _, pairs = sentences.tested(data_directory())
    several = [" ".join(pair.source) for pair in pairs[: settings["counted"]]]
    looks: dict[str, collections.Counter[str]] = {}
    shown = []
    for number, sentence in enumerate((*EXAMPLES, *several)):
        found = translate_with_attention(
            model, data.english, data.zhoric, sentence, SearchConfig(beam_size=1)
        )
        if number < len(EXAMPLES):
            shown.append(
                {
                    "source": found.source,
                    "target": found.target,
                    "weights": [[round(w, 3) for w in row] for row in found.weights.tolist()],
                }
            )
        else:
            count(found, looks)
        context.progress((number + 1) / (len(EXAMPLES) + len(several)))
    shares = {
        word: {place: times / own.total() for place, times in own.most_common(3)}
        for word, own in sorted(looks.items())
    }
    return {"examples": shown, "looks": shares}


def count(found: Translation, looks: dict[str, collections.Counter[str]]) -> None:
    """Note for each target word which source word it looked at most."""
    for word, place in zip(found.target, found.weights.argmax(dim=1).tolist(), strict=True):
        looks.setdefault(word, collections.Counter())[found.source[place]] += 1


def widths(settings: Settings, seed: int, context: Context) -> Figures:
    """Translate test sentences with beams of several widths; time each."""
    data = load_data(data_directory())
    path = context.file.with_name(context.given["weights"])
    model = translators.load(settings, path, data)
    _, pairs = sentences.tested(data_directory())
    pairs = pairs[: settings["tested"]]
    texts = [" ".join(pair.source) for pair in pairs]
    beams = []
    for number, width in enumerate(settings["beams"], start=1):
        started = time.process_time()
        outputs = translate(model, data.english, data.zhoric, texts, beam_size=width)
        seconds = time.process_time() - started
        beams.append({**score([o.split() for o in outputs], pairs), "seconds": seconds})
        context.progress(number / len(settings["beams"]))
    return {"beams": beams}
