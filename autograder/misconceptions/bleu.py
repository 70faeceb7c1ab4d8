"""Mistakes in BLEU, each one edit or two away from a right answer."""

from __future__ import annotations

from autograder.misconceptions.entry import CatalogueError, Misconception

BLEU = """
import math
from collections import Counter

def grams(tokens, n):
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))

def matched(candidate, references, n):
    counts, limits = grams(candidate, n), Counter()
    for reference in references:
        limits |= grams(reference, n)
    return sum(min(count, limits[gram]) for gram, count in counts.items())

def possible(candidate, references, n):
    return max(0, len(candidate) - n + 1)

def closest(candidate, references):
    if len(references) == 0:
        raise ValueError("a segment has no reference")
    lengths = [len(reference) for reference in references]
    return min(lengths, key=lambda length: (abs(length - len(candidate)), length))

def penalty_of(c, r):
    if c == 0:
        return 0.0
    return 1.0 if c >= r else math.exp(1 - r / c)

def result(precisions, c, r):
    penalty = penalty_of(c, r)
    mean = math.prod(precisions) ** (1 / len(precisions))
    return Bleu(penalty * mean, tuple(precisions), penalty, c, r)

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("not as many candidates as references")
    pairs = list(zip(candidates, references))
    c = sum(len(candidate) for candidate, _ in pairs)
    r = sum(closest(candidate, group) for candidate, group in pairs)
    precisions = []
    for n in range(1, max_n + 1):
        matches = sum(matched(candidate, group, n) for candidate, group in pairs)
        total = sum(possible(candidate, group, n) for candidate, group in pairs)
        precisions.append(matches / total if total else 0.0)
    return result(precisions, c, r)

def sentence_bleu(candidate, references, max_n=4):
    c, r = len(candidate), closest(candidate, references)
    precisions = []
    for n in range(1, max_n + 1):
        match, count = matched(candidate, references, n), possible(candidate, references, n)
        if n >= 2 and match == 0:
            match, count = match + 1, count + 1
        precisions.append(match / count if count else 0.0)
    return result(precisions, c, r)
"""


def edited(*edits: tuple[str, str]) -> str:
    """Return the code with parts of its text replaced; each part must occur, once."""
    text = BLEU
    for old, new in edits:
        if text.count(old) != 1:
            raise CatalogueError(f"{old!r} occurs {text.count(old)} times in the code, not once")
        text = text.replace(old, new)
    return text


def entry(
    name: str,
    belief: str,
    advice: str,
    *edits: tuple[str, str],
    caught_by: tuple[str, ...],
    unnamed: str = "",
) -> Misconception:
    """Make an entry out of edits."""
    override = edited(*edits)
    return Misconception(f"bleu-{name}", "bleu", belief, advice, override, caught_by, unnamed)


def alone(
    function: str,
    name: str,
    belief: str,
    advice: str,
    *edits: tuple[str, str],
    caught_by: tuple[str, ...],
) -> Misconception:
    """Make an entry out of edits that reach one of the two functions alone."""
    other = {"corpus_bleu": "sentence_bleu", "sentence_bleu": "corpus_bleu"}[function]
    override = f"right = {other}\n{edited(*edits)}\n{other} = right\n"
    return Misconception(f"bleu-{name}", "bleu", belief, advice, override, caught_by)


CLIPPED = "sum(min(count, limits[gram]) for gram, count in counts.items())"
LIMITS = "limits |= grams(reference, n)"
TUPLE = "tuple(tokens[i:i + n])"
WINDOW = "range(len(tokens) - n + 1)"
COUNT = "return max(0, len(candidate) - n + 1)"
CLOSEST = "return min(lengths, key=lambda length: (abs(length - len(candidate)), length))"
PENALTY = "return 1.0 if c >= r else math.exp(1 - r / c)"
NO_TOKENS = "    if c == 0:\n        return 0.0\n    return 1.0"
MEAN = "math.prod(precisions) ** (1 / len(precisions))"
RESULT = "Bleu(penalty * mean, tuple(precisions), penalty, c, r)"
CORPUS_P = "precisions.append(matches / total if total else 0.0)"
CORPUS_RESULT = "        " + CORPUS_P + "\n    return result(precisions, c, r)"
SUM_MATCHES = "sum(matched(candidate, group, n) for candidate, group in pairs)"
SUM_TOTAL = "sum(possible(candidate, group, n) for candidate, group in pairs)"
SUM_C = "c = sum(len(candidate) for candidate, _ in pairs)"
SUM_R = "r = sum(closest(candidate, group) for candidate, group in pairs)"
SMOOTH = "if n >= 2 and match == 0:"
SMOOTHED = "match, count = match + 1, count + 1"
SENTENCE_P = "precisions.append(match / count if count else 0.0)"
UNEQUAL = "if len(candidates) != len(references):"
PAIRS = "pairs = list(zip(candidates, references))"
CORPUS_HEAD = "def corpus_bleu(candidates, references, max_n=4):\n"

# Every test but those that can only tell the mistake on some draws.
FIXED = (
    *("test_clipping", "test_brevity_penalty", "test_sums_and_mean", "test_random_corpora"),
    "test_sentence_bleu",
)

ENTRIES = [
    # --- Counting and clipping ---
    entry(
        "percent",
        "BLEU goes from 0 to 100.",
        "Here it goes from 0 to 1.",
        (RESULT, RESULT.replace("penalty * mean", "100 * penalty * mean")),
        caught_by=(*FIXED, "test_empty_segments", "test_value_errors", "test_fields_and_inputs"),
    ),
    alone(
        "corpus_bleu",
        "corpus-percent",
        "corpus_bleu goes from 0 to 100, sentence_bleu from 0 to 1.",
        "Both go from 0 to 1.",
        (RESULT, RESULT.replace("penalty * mean", "100 * penalty * mean")),
        caught_by=("test_clipping", "test_brevity_penalty", "test_sums_and_mean"),
    ),
    alone(
        "corpus_bleu",
        "corpus-no-clipping",
        "An n-gram of the candidate matches in corpus_bleu if a reference has it.",
        "It matches at most as often as a reference has it, in a corpus as in a sentence.",
        (CLIPPED, "sum(count for gram, count in counts.items() if limits[gram])"),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    alone(
        "corpus_bleu",
        "corpus-sets",
        "An n-gram counts once in corpus_bleu, however often it occurs.",
        "N-grams are counted, and the counts clipped, in a corpus as in a sentence.",
        (CLIPPED, "len(set(counts) & set(limits))"),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    alone(
        "sentence_bleu",
        "sentence-first-reference",
        "sentence_bleu counts matches against the first reference.",
        "Every reference counts.",
        ("for reference in references:", "for reference in references[:1]:"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "no-clipping",
        "An n-gram of the candidate matches if a reference has it.",
        "It matches at most as often as a reference has it.",
        (CLIPPED, "sum(count for gram, count in counts.items() if limits[gram])"),
        caught_by=("test_clipping", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "limits-added",
        "An n-gram may match as often as all references together have it.",
        "Take the maximum over the references, not the sum.",
        (LIMITS, "limits += grams(reference, n)"),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "limits-minimum",
        "An n-gram has to be in all references.",
        "Take the maximum over the references.",
        (
            LIMITS,
            "limits = grams(reference, n) if reference is references[0] "
            "else limits & grams(reference, n)",
        ),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "first-reference",
        "Matches are counted against the first reference.",
        "Every reference of the segment counts.",
        ("for reference in references:", "for reference in references[:1]:"),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "best-reference",
        "Matches are counted against the reference that gives most of them.",
        "The limit of each n-gram is its own maximum over the references.",
        (
            "    counts, limits = grams(candidate, n), Counter()",
            "    if len(references) > 1:\n"
            "        return max(matched(candidate, [one], n) for one in references)\n"
            "    counts, limits = grams(candidate, n), Counter()",
        ),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "sets",
        "An n-gram counts once, however often it occurs.",
        "N-grams are counted, and the counts clipped.",
        (CLIPPED, "len(set(counts) & set(limits))"),
        caught_by=("test_clipping", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "sets-on-both-sides",
        "Precision is the share of different n-grams that a reference has.",
        "N-grams are counted with their repetitions, matched or not.",
        (CLIPPED, "len(set(counts) & set(limits))"),
        (COUNT, "return len(grams(candidate, n))"),
        caught_by=("test_clipping", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "pooled",
        "The references of all segments limit the matches of the corpus together.",
        "Clip within each segment; then sum.",
        (
            SUM_MATCHES,
            "matched_in_all(pairs, n)",
        ),
        (
            CORPUS_HEAD,
            "def matched_in_all(pairs, n):\n"
            "    counts, limits = Counter(), Counter()\n"
            "    for candidate, group in pairs:\n"
            "        counts += grams(candidate, n)\n"
            "        best = Counter()\n"
            "        for reference in group:\n"
            "            best |= grams(reference, n)\n"
            "        limits += best\n"
            "    return (counts & limits).total()\n\n" + CORPUS_HEAD,
        ),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "recall",
        "Matches are divided by the n-grams of the reference.",
        "Precision divides by the candidate's n-grams; brevity is the penalty's business.",
        (COUNT, "return max(0, closest(candidate, references) - n + 1)"),
        caught_by=("test_clipping", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "swapped",
        "Candidate and reference change places.",
        "Precision divides by the candidate's n-grams, and BP punishes a short candidate.",
        (
            "    counts, limits = grams(candidate, n), Counter()",
            "    candidate, references = references[0], [candidate]\n"
            "    counts, limits = grams(candidate, n), Counter()",
        ),
        (COUNT, "return max(0, len(references[0]) - n + 1)"),
        (SUM_C, "r = sum(len(candidate) for candidate, _ in pairs)"),
        (SUM_R, "c = sum(closest(candidate, group) for candidate, group in pairs)"),
        caught_by=("test_clipping", "test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "chunks",
        "A sentence is cut into pieces of n tokens.",
        "There is an n-gram at every position: they overlap.",
        (WINDOW, "range(0, len(tokens) - n + 1, n)"),
        caught_by=("test_clipping", "test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "bags",
        "The order of the tokens in an n-gram does not matter.",
        "An n-gram is n tokens in their order.",
        (TUPLE, "tuple(sorted(tokens[i:i + n]))"),
        caught_by=("test_clipping", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "skips",
        "An n-gram may leave tokens out.",
        "An n-gram is n tokens side by side.",
        (
            "return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))",
            "import itertools\n    return Counter(itertools.combinations(tokens, n))",
        ),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "last-window-lost",
        "The last n-gram starts n + 1 tokens from the end.",
        "There are len - n + 1 positions.",
        (WINDOW, "range(len(tokens) - n)"),
        caught_by=("test_clipping", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "references-joined",
        "The references of a segment are one long text.",
        "No n-gram reaches from one reference into the next.",
        (
            "for reference in references:\n        " + LIMITS,
            "limits = grams(sum(map(list, references), []), n)",
        ),
        caught_by=("test_clipping", "test_random_corpora"),
    ),
    entry(
        "joined-with-spaces",
        "An n-gram is a string of tokens with spaces between.",
        "A token may hold a space: keep n-grams as tuples.",
        (TUPLE, "' '.join(tokens[i:i + n])"),
        caught_by=("test_tokens_as_they_are",),
    ),
    alone(
        "sentence_bleu",
        "sentence-joined-with-spaces",
        "An n-gram of sentence_bleu is a string of tokens with spaces between.",
        "A token may hold a space: keep n-grams as tuples.",
        (TUPLE, "' '.join(tokens[i:i + n])"),
        caught_by=("test_tokens_as_they_are",),
    ),
    entry(
        "joined-without-spaces",
        "An n-gram is the string of its tokens.",
        "Tokens may run into one another: keep n-grams as tuples.",
        (TUPLE, "''.join(tokens[i:i + n])"),
        caught_by=("test_tokens_as_they_are",),
    ),
    entry(
        "no-punctuation",
        "Punctuation is no word.",
        "Tokens are compared as they are.",
        (TUPLE, "tuple(token.strip('.,!?') for token in tokens[i:i + n])"),
        caught_by=("test_tokens_as_they_are",),
    ),
    entry(
        "equal-segments-once",
        "A segment that occurs twice counts once.",
        "Counts are summed over all segments of the corpus.",
        (PAIRS, PAIRS + "\n    pairs = [p for i, p in enumerate(pairs) if p not in pairs[:i]]"),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "lower-case",
        "Capitals do not matter.",
        "Tokens are compared as they are.",
        (TUPLE, "tuple(token.lower() for token in tokens[i:i + n])"),
        caught_by=("test_tokens_as_they_are",),
    ),
    entry(
        "stripped",
        "Space around a token does not matter.",
        "Tokens are compared as they are.",
        (TUPLE, "tuple(token.strip() for token in tokens[i:i + n])"),
        caught_by=("test_tokens_as_they_are",),
    ),
    entry(
        "tokenized-again",
        "Tokens have to be split once more.",
        "Tokens are what the caller says.",
        (
            CORPUS_HEAD,
            CORPUS_HEAD
            + "    candidates = [' '.join(candidate).split() for candidate in candidates]\n"
            "    references = [[' '.join(one).split() for one in group] for group in references]\n",
        ),
        caught_by=("test_tokens_as_they_are",),
    ),
    entry(
        "specials-dropped",
        "</s> and <pad> are not scored.",
        "They are tokens as any other; whoever calls may take them out.",
        (
            CORPUS_HEAD,
            CORPUS_HEAD + "    def words(tokens):\n"
            "        return [token for token in tokens if token not in ('</s>', '<pad>', '<s>')]\n"
            "    candidates = [words(candidate) for candidate in candidates]\n"
            "    references = [[words(one) for one in group] for group in references]\n",
        ),
        caught_by=("test_tokens_as_they_are",),
    ),
    # --- Lengths and the brevity penalty ---
    entry(
        "shortest-reference",
        "r is the length of the shortest reference.",
        "The closest length counts.",
        (CLOSEST, "return min(lengths)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "longest-reference",
        "r is the length of the longest reference.",
        "The closest length counts.",
        (CLOSEST, "return max(lengths)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "first-length",
        "r is the length of the first reference.",
        "The closest length counts, wherever it stands.",
        (CLOSEST, "return lengths[0]"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    alone(
        "sentence_bleu",
        "sentence-first-length",
        "r of sentence_bleu is the length of the first reference.",
        "The closest length counts, wherever it stands.",
        (CLOSEST, "return lengths[0]"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "all-lengths",
        "r is the length of all references together.",
        "One reference of each segment counts: the closest in length.",
        (CLOSEST, "return sum(lengths)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "mean-length",
        "r is the mean length of the references.",
        "The closest length counts.",
        (CLOSEST, "return sum(lengths) / len(lengths)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "length-difference",
        "r is the smallest difference of lengths.",
        "r is the LENGTH whose difference is the smallest.",
        (CLOSEST, "return min(abs(length - len(candidate)) for length in lengths)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "tie-longer",
        "Of two references that are equally close, the longer one counts.",
        "The shorter one does.",
        (CLOSEST, CLOSEST.replace("len(candidate)), length)", "len(candidate)), -length)")),
        caught_by=("test_brevity_penalty",),
    ),
    entry(
        "tie-first",
        "Of two references that are equally close, the one listed first counts.",
        "The shorter one does, in whatever order they stand.",
        (CLOSEST, "return min(lengths, key=lambda length: abs(length - len(candidate)))"),
        caught_by=("test_brevity_penalty",),
    ),
    entry(
        "never-longer",
        "The closest reference is one that is not longer than the candidate, if there is one.",
        "Longer and shorter references are equally far.",
        (
            CLOSEST,
            "lengths = [length for length in lengths if length <= len(candidate)] or lengths\n"
            "    " + CLOSEST,
        ),
        caught_by=("test_brevity_penalty",),
    ),
    entry(
        "closest-in-corpus",
        "The penalty compares lengths segment by segment, and takes the mean.",
        "Sum c and r over the corpus, then compare once.",
        (
            CORPUS_RESULT,
            "        " + CORPUS_P + "\n"
            "    penalty = sum(penalty_of(len(one), closest(one, group)) for one, group in pairs)\n"
            "    penalty = penalty / max(1, len(pairs))\n"
            "    return Bleu(penalty * " + MEAN + ", tuple(precisions), penalty, c, r)",
        ),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "ratio-inverted",
        "BP = exp(1 - c / r).",
        "BP = exp(1 - r / c): below 1 for a short candidate.",
        (PENALTY, PENALTY.replace("r / c", "c / r")),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "sign-inverted",
        "BP = exp(r / c - 1).",
        "BP = exp(1 - r / c): a penalty is never above 1.",
        (PENALTY, PENALTY.replace("1 - r / c", "r / c - 1")),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "linear-penalty",
        "BP = min(1, c / r).",
        "BP = exp(1 - r / c) if c < r.",
        (PENALTY, "return min(1.0, c / r) if r else 1.0"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "long-ones-punished",
        "Candidates longer than the reference are punished.",
        "BP is 1 if c >= r; precision punishes what is too much.",
        (PENALTY, "return math.exp(1 - r / c) if c >= r else 1.0"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "no-penalty",
        "There is no penalty for brevity.",
        "Multiply by BP.",
        (RESULT, RESULT.replace("penalty * mean", "mean")),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "penalty-at-least-some",
        "BP is exp(1 - r / c) in every case.",
        "It is never above 1.",
        (PENALTY, "return math.exp(1 - r / c)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "unique-length",
        "c is the number of different tokens.",
        "c counts all tokens.",
        (SUM_C, "c = sum(len(set(candidate)) for candidate, _ in pairs)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    entry(
        "matched-length",
        "c is the number of tokens that match.",
        "c counts all tokens of the candidates.",
        (SUM_C, "c = sum(matched(candidate, group, 1) for candidate, group in pairs)"),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
    # --- Sums and the mean ---
    entry(
        "mean-of-segments",
        "The BLEU of a corpus is the mean of its segments'.",
        "Sum matches, n-grams and lengths over the corpus, and divide once.",
        (
            CORPUS_RESULT,
            "        " + CORPUS_P + "\n"
            "    if len(pairs) > 1:\n"
            "        scores = [corpus_bleu([one], [group], max_n).score for one, group in pairs]\n"
            "        mean = sum(scores) / len(scores)\n"
            "        return Bleu(mean, tuple(precisions), penalty_of(c, r), c, r)\n"
            "    return result(precisions, c, r)",
        ),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "mean-of-precisions",
        "p_n of a corpus is the mean of its segments' p_n.",
        "Sum matches and n-grams over the corpus, and divide once.",
        (
            CORPUS_P,
            "shares = [matched(one, group, n) / possible(one, group, n)\n"
            "                  for one, group in pairs if possible(one, group, n)]\n"
            "        precisions.append(sum(shares) / len(shares) if shares else 0.0)",
        ),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "first-segment",
        "The first segment is scored.",
        "All segments are: look at how your loops nest.",
        (PAIRS, "pairs = list(zip(candidates, references))[:1]"),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "arithmetic-mean",
        "The precisions' mean is their sum divided by N.",
        "It is the geometric mean.",
        (MEAN, "sum(precisions) / len(precisions)"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    alone(
        "corpus_bleu",
        "corpus-arithmetic-mean",
        "The precisions' mean in corpus_bleu is their sum divided by N.",
        "It is the geometric mean.",
        (MEAN, "sum(precisions) / len(precisions)"),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    alone(
        "corpus_bleu",
        "corpus-arithmetic-mean-but-for-zeros",
        "If no p_n is 0, the precisions' mean in corpus_bleu is their sum divided by N.",
        "It is the geometric mean, which needs no exception for 0.",
        (MEAN, "(sum(precisions) / len(precisions) if all(precisions) else 0.0)"),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "log-10",
        "exp undoes any logarithm.",
        "exp undoes the natural logarithm.",
        (
            MEAN,
            "math.exp(sum(math.log10(p) for p in precisions) / len(precisions)) "
            "if all(precisions) else 0.0",
        ),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "product",
        "The precisions are multiplied, and that is all.",
        "Their geometric mean is the N-th root of the product.",
        (MEAN, "math.prod(precisions)"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "halving-weights",
        "p_n has the weight 0.5**n.",
        "All orders have the weight 1 / N.",
        (MEAN, "math.prod(p ** 0.5 ** n for n, p in enumerate(precisions, 1))"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "root-of-four",
        "The exponent is 1 / 4.",
        "It is 1 / N, with N = max_n.",
        (MEAN, "math.prod(precisions) ** 0.25"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    alone(
        "corpus_bleu",
        "corpus-root-of-four",
        "The exponent in corpus_bleu is 1 / 4.",
        "It is 1 / N, with N = max_n.",
        (MEAN, "math.prod(precisions) ** 0.25"),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "always-four",
        "There are always four orders.",
        "There are max_n.",
        (CORPUS_HEAD, CORPUS_HEAD + "    max_n = 4\n"),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "default-order",
        "max_n is 3 if it is not given.",
        "It is 4.",
        (CORPUS_HEAD, CORPUS_HEAD.replace("4", "3")),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "highest-order",
        "The score is p_N.",
        "It is the mean of p_1 to p_N.",
        (MEAN, "precisions[-1]"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "one-order-less",
        "The orders end before max_n.",
        "They go from 1 to max_n, both included.",
        (MEAN, "math.prod(precisions[:-1]) ** (1 / max(1, len(precisions) - 1))"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    # --- Short segments, zeros, smoothing ---
    entry(
        "at-least-one",
        "Every segment has at least one n-gram.",
        "A segment shorter than n has none.",
        (COUNT, "return max(1, len(candidate) - n + 1)"),
        caught_by=("test_sums_and_mean", "test_sentence_bleu"),
    ),
    entry(
        "negative-count",
        "A segment of length l has l - n + 1 n-grams.",
        "Not if that is negative: then it has none.",
        (COUNT, "return len(candidate) - n + 1"),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "short-windows",
        "An n-gram at the end of a segment may be shorter than n.",
        "Every n-gram has n tokens.",
        (WINDOW, "range(len(tokens))"),
        (COUNT, "return len(candidate)"),
        caught_by=("test_clipping", "test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "short-segments-skipped",
        "A segment shorter than max_n is left out.",
        "It has unigrams, and a length.",
        (PAIRS, "pairs = [p for p in zip(candidates, references) if len(p[0]) >= max_n]"),
        caught_by=("test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "corpus-add-one",
        "Every precision of a corpus gets 1 above and below.",
        "corpus_bleu is not smoothed.",
        (CORPUS_P, "precisions.append((matches + 1) / (total + 1))"),
        caught_by=("test_clipping", "test_sums_and_mean", "test_random_corpora"),
    ),
    entry(
        "corpus-smoothed",
        "corpus_bleu is smoothed as sentence_bleu is.",
        "A p_n of 0 makes corpus_bleu exactly 0.0.",
        (
            CORPUS_P,
            "if n >= 2 and matches == 0:\n            matches, total = 1, total + 1\n"
            "        " + CORPUS_P,
        ),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "corpus-first-smoothed",
        "In corpus_bleu every order without a match is smoothed, p_1 too.",
        "corpus_bleu is not smoothed: a p_n of 0 makes it exactly 0.0.",
        (CORPUS_P, "precisions.append(matches / total if matches else 1 / (total + 1))"),
        caught_by=("test_sums_and_mean", "test_empty_segments"),
    ),
    entry(
        "epsilon",
        "A precision of 0 is replaced by a very small number.",
        "A p_n of 0 makes the score exactly 0.0.",
        (MEAN, "math.prod(p or 1e-300 for p in precisions) ** (1 / len(precisions))"),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "small-epsilon-in-logs",
        "log(p + 1e-10) saves the case p = 0.",
        "It changes the score; return 0.0 for p = 0.",
        (MEAN, "math.exp(sum(math.log(p + 1e-10) for p in precisions) / len(precisions))"),
        caught_by=("test_sums_and_mean", "test_random_corpora", "test_sentence_bleu"),
    ),
    entry(
        "zeros-skipped",
        "Orders without a match are left out of the mean.",
        "A p_n of 0 makes the score exactly 0.0.",
        (MEAN, "math.prod(p for p in precisions if p) ** (1 / len(precisions))"),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "effective-order",
        "Orders for which the corpus is too short are left out.",
        "An order without n-grams makes corpus_bleu exactly 0.0.",
        (
            CORPUS_RESULT,
            "        if total or n == 1:\n            " + CORPUS_P + "\n"
            "    found = result(precisions, c, r)\n"
            "    missing = (0.0,) * (max_n - len(precisions))\n"
            "    return found._replace(precisions=found.precisions + missing)",
        ),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "no-ngrams-is-one",
        "An order without n-grams has the precision 1 in corpus_bleu too.",
        "There it is 0.0.",
        (CORPUS_P, CORPUS_P.replace("else 0.0", "else 1.0")),
        caught_by=("test_sums_and_mean",),
    ),
    entry(
        "no-ngrams-crash",
        "Every order has n-grams to divide by.",
        "A corpus of short segments has none of n tokens: p_n is 0.0 there.",
        (CORPUS_P, "precisions.append(matches / total)"),
        caught_by=("test_sums_and_mean", "test_empty_segments"),
    ),
    entry(
        "domain-error",
        "Every precision has a logarithm.",
        "0 has none: return 0.0.",
        (MEAN, "math.exp(sum(math.log(p) for p in precisions) / len(precisions))"),
        caught_by=("test_sums_and_mean", "test_empty_segments"),
    ),
    # --- Empty segments ---
    entry(
        "empty-crash",
        "A candidate has at least one token.",
        "c = 0 gives the score 0.0.",
        (NO_TOKENS, "    return 1.0"),
        caught_by=("test_empty_segments",),
    ),
    entry(
        "empty-scores-one",
        "An empty candidate has no wrong word, so it scores 1.",
        "c = 0 gives the score 0.0.",
        (RESULT, RESULT.replace("penalty * mean", "penalty * mean if c else 1.0")),
        caught_by=("test_empty_segments",),
    ),
    entry(
        "empty-segments-skipped",
        "Empty candidates are left out.",
        "Their references' lengths count in r.",
        (PAIRS, "pairs = [pair for pair in zip(candidates, references) if pair[0]]"),
        caught_by=("test_empty_segments",),
    ),
    entry(
        "empty-references-skipped",
        "Empty references are left out.",
        "An empty reference is legal, of length 0.",
        (
            "    lengths = [len(reference) for reference in references]",
            "    lengths = [len(reference) for reference in references if reference] or [0]",
        ),
        caught_by=("test_empty_segments",),
    ),
    entry(
        "empty-reference-refused",
        "A segment whose references are empty has no reference.",
        "An empty reference is one.",
        ("if len(references) == 0:", "if not any(references):"),
        caught_by=("test_empty_segments",),
    ),
    # --- Sentences ---
    entry(
        "sentence-not-smoothed",
        "sentence_bleu is corpus_bleu of one segment.",
        "For n >= 2 without a match, numerator and denominator each get 1.",
        (SMOOTH, "if False:"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-first-smoothed",
        "All orders without a match are smoothed.",
        "p_1 never is.",
        (SMOOTH, "if match == 0:"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-all-smoothed",
        "All orders from 2 on get 1 above and below.",
        "Only those without a match do.",
        (SMOOTH, "if n >= 2:"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-numerator-only",
        "Smoothing adds 1 to the numerator.",
        "The denominator gets 1 too.",
        (SMOOTHED, "match = match + 1"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-epsilon",
        "An order without a match has a very small precision.",
        "Numerator and denominator each get 1.",
        (SMOOTHED, "match = 0.1"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-short-order-zero",
        "An order without n-grams has the precision 0.",
        "0 / 0 becomes 1 / 1.",
        (SMOOTH, "if n >= 2 and match == 0 and count:"),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-plain-precisions",
        "precisions are the plain ones, smoothing is for the score.",
        "precisions are the fractions that enter the score.",
        (
            "        " + SENTENCE_P + "\n    return result(precisions, c, r)",
            "        " + SENTENCE_P + "\n"
            "    plain = [matched(candidate, references, n) / (possible(candidate, references, n)"
            " or 1) for n in range(1, max_n + 1)]\n"
            "    return result(precisions, c, r)._replace(precisions=tuple(plain))",
        ),
        caught_by=("test_sentence_bleu",),
    ),
    entry(
        "sentence-always-four",
        "sentence_bleu has four orders.",
        "It has max_n.",
        (
            "    c, r = len(candidate), closest(candidate, references)",
            "    max_n = 4\n    c, r = len(candidate), closest(candidate, references)",
        ),
        caught_by=("test_sentence_bleu",),
    ),
    # --- Errors, fields, side effects ---
    entry(
        "unequal-cut",
        "What has no partner is left out.",
        "Raise ValueError if the numbers differ.",
        (UNEQUAL, "if False:"),
        caught_by=("test_value_errors",),
    ),
    entry(
        "assertion",
        "Wrong input is met with an assertion.",
        "Raise ValueError.",
        (UNEQUAL, "assert len(candidates) == len(references)\n    if False:"),
        caught_by=("test_value_errors",),
    ),
    entry(
        "no-reference-is-empty",
        "A segment without references is compared with nothing.",
        "Raise ValueError.",
        ('        raise ValueError("a segment has no reference")', "        return 0"),
        caught_by=("test_value_errors",),
    ),
    entry(
        "error-for-short-segments",
        "A segment must have max_n tokens.",
        "Short segments are legal.",
        (
            UNEQUAL,
            "if len(candidates) != len(references) or "
            "any(len(candidate) < max_n for candidate in candidates):",
        ),
        caught_by=("test_sums_and_mean", "test_empty_segments"),
    ),
    entry(
        "changes-arguments",
        "The lists belong to the function.",
        "Nothing changes its inputs: work on copies.",
        (
            CORPUS_HEAD,
            CORPUS_HEAD + "    for group in references:\n"
            "        group.sort(key=len)\n    candidates.append([])\n    candidates.pop()\n"
            "    for candidate in candidates:\n        candidate.sort()\n",
        ),
        caught_by=("test_fields_and_inputs",),
    ),
    entry(
        "remembers-counts",
        "Sums may be kept from one call to the next.",
        "Each call stands for itself.",
        (CORPUS_HEAD, "SEEN = []\n\n" + CORPUS_HEAD),
        (PAIRS, "pairs = SEEN\n    pairs.extend(zip(candidates, references))"),
        caught_by=("test_fields_and_inputs",),
        unnamed="what it returns depends on all calls of the run, not on those of one test",
    ),
    entry(
        "list-of-precisions",
        "precisions is a list.",
        "It is a tuple.",
        (RESULT, RESULT.replace("tuple(precisions)", "list(precisions)")),
        caught_by=("test_fields_and_inputs",),
    ),
    entry(
        "other-numbers",
        "Precisions may be fractions, or numbers of another library.",
        "They are Python floats: float(...).",
        (
            RESULT,
            RESULT.replace(
                "tuple(precisions)",
                "tuple(__import__('fractions').Fraction(p) for p in precisions)",
            ),
        ),
        caught_by=("test_fields_and_inputs",),
    ),
    entry(
        "lengths-as-floats",
        "Lengths are floats.",
        "They are ints.",
        (RESULT, RESULT.replace("c, r)", "float(c), float(r))")),
        caught_by=("test_fields_and_inputs",),
    ),
    entry(
        "score-alone",
        "The result is the score.",
        "It is a Bleu: the score and what it is made of.",
        (RESULT, "penalty * mean"),
        caught_by=(*FIXED, "test_fields_and_inputs"),
    ),
    entry(
        "penalty-in-precisions",
        "Each precision is multiplied by the penalty.",
        "precisions are the plain fractions, and BP counts once.",
        (RESULT, RESULT.replace("tuple(precisions)", "tuple(penalty * p for p in precisions)")),
        caught_by=("test_brevity_penalty", "test_random_corpora"),
    ),
]
