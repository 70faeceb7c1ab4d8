"""Labs 4 and 5: look at what trained translators do."""

from collections.abc import Sequence

from labs import sentences, translators
from labs.part import Context, Figures, Settings
from nmt.bleu import corpus_bleu
from nmt.corpus import Pair, data_directory
from nmt.model import Seq2Seq
from nmt.settings import SearchConfig
from nmt.training import Data, load_data
from nmt.translation import greedy
from nmt.vocabulary import EOS


def translations(
    model: Seq2Seq, settings: Settings, data: Data, pairs: Sequence[Pair]
) -> list[list[str]]:
    """Translate the sources of pairs greedily."""
    sources = [[*data.english.encode(pair.source), EOS] for pair in pairs]
    if settings["reversed"]:
        sources = [translators.turned(source) for source in sources]
    outputs = greedy(model, sources, SearchConfig.max_length)
    return [data.zhoric.decode(output) for output in outputs]


def score(outputs: Sequence[list[str]], pairs: Sequence[Pair]) -> Figures:
    """Return BLEU by your own corpus_bleu, the share of exact sentences, and the missing words."""
    references = [pair.target for pair in pairs]
    exact = [output == reference for output, reference in zip(outputs, references, strict=True)]
    missing = [len(r) - len(o) for o, r in zip(outputs, references, strict=True)]
    return {
        "bleu": corpus_bleu(outputs, [[reference] for reference in references]).score,
        "exact": sum(exact) / len(exact),
        "missing": sum(missing) / len(missing),
        "length": sum(len(pair.source) for pair in pairs) / len(pairs),
        "sentences": len(pairs),
    }


def by_phrases(settings: Settings, seed: int, context: Context) -> Figures:
    """Score a trained translator on the test set and by the number of phrases."""
    data = load_data(data_directory())
    path = context.file.with_name(context.given["weights"])
    model = translators.load(settings, path, data)
    place, groups = sentences.groups(data_directory())
    test_place, test = sentences.tested(data_directory())
    sets = [test, *groups]
    scores = []
    for number, pairs in enumerate(sets, start=1):
        pairs = pairs[: settings["tested"]]
        scores.append(score(translations(model, settings, data, pairs), pairs))
        context.progress(number / len(sets))
    return {
        "test": scores[0],
        "groups": scores[1:],
        "places": [test_place, place],
        "parameters": context.given["parameters"],
        "losses": context.given["losses"],
    }
