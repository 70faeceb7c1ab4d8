"""Questions 6 and 7: beam search and BLEU by hand."""

from __future__ import annotations

from assignment.written.source import Answer, Question, Reasoning, Slip

NOT_NORMALISED = "Divide by the length: the number of generated tokens, `</s>` included."
START_COUNTED = "`<s>` is not generated: it does not count."
LOGARITHM = "Log-probabilities are natural logarithms."
SIGN = "The logarithm of a probability is not positive."
NO_LOG = "A score is made of the logarithm of the probability."
ONE_STEP = "That is the last step alone; a hypothesis has the product of all its steps."

ALL = "0.28 * 0.9 * 0.85"  # the probability of the longer one

BEAM = Question(
    id="q6",
    title="Beam search by hand",
    prompt=r"""
A model over `a`, `b`, `c` and `</s>` begins with $P(a) = 0.28$, $P(b) = 0.62$, $P(c) = 0.1$. Then:

| after | `a` | `b` | `c` | `</s>` |
|---|---|---|---|---|
| `b` | 0.1 | 0.15 | 0.2 | 0.55 |
| `a` | 0.02 | 0.03 | 0.9 | 0.05 |
| `a c` | 0.04 | 0.03 | 0.08 | 0.85 |

Rows that are not shown are not needed. Search with a beam of $k = 2$, as in the task: a finished
hypothesis leaves the beam, its place stays empty, and after step 3 the search ends, as two have
finished. A score is the summed natural log-probability, divided by $n^\alpha$ for $n$ generated
tokens, `</s>` included; $\alpha = 1$ if nothing else is said.

- `q6_greedy`: the probability of the whole output of greedy search.
- `q6_second`: take the two best extensions of step 2, finished ones included. The probability of
  the less probable one.
- `q6_short`, `q6_long`: the scores of the two results, the shorter and the longer one.
- `q6_alpha`: the $\alpha$ with which both would have the same score.
""",
    answers=(
        Answer(
            "q6_greedy",
            "probability of greedy search's output",
            "0.62 * 0.55",
            (
                Slip("one-step", "0.62", ONE_STEP),
                Slip("not-greedy", ALL, "What does greedy search take first?"),
                Slip(
                    "end-passed-over",
                    "0.62 * 0.2",
                    "`</s>` competes with the other tokens: which is the most probable?",
                ),
            ),
        ),
        Answer(
            "q6_second",
            "probability of the second extension",
            "0.28 * 0.9",
            (
                Slip(
                    "best-alone",
                    "0.62 * 0.2",
                    "Compare the extensions of both hypotheses, not of the better one alone.",
                ),
                Slip("one-step", "0.9", ONE_STEP),
                Slip("first-of-two", "0.62 * 0.55", "That is the more probable one."),
                Slip("a-step-too-many", ALL, "That is after three steps."),
            ),
        ),
        Answer(
            "q6_short",
            "score of the shorter result",
            "math.log(0.62 * 0.55) / 2",
            (
                Slip("not-normalised", "math.log(0.62 * 0.55)", NOT_NORMALISED),
                Slip("start-counted", "math.log(0.62 * 0.55) / 3", START_COUNTED),
                Slip("log10", "math.log10(0.62 * 0.55) / 2", LOGARITHM),
                Slip("log2", "math.log2(0.62 * 0.55) / 2", LOGARITHM),
                Slip("no-log", "0.62 * 0.55 / 2", NO_LOG),
                Slip("no-log", "(0.62 * 0.55) ** (1 / 2)", NO_LOG),
                Slip("sign", "-math.log(0.62 * 0.55) / 2", SIGN),
            ),
        ),
        Answer(
            "q6_long",
            "score of the longer result",
            f"math.log({ALL}) / 3",
            (
                Slip("not-normalised", f"math.log({ALL})", NOT_NORMALISED),
                Slip("end-not-counted", f"math.log({ALL}) / 2", NOT_NORMALISED),
                Slip("start-counted", f"math.log({ALL}) / 4", START_COUNTED),
                Slip(
                    "end-forgotten",
                    "math.log(0.28 * 0.9) / 3",
                    "The step that generates `</s>` has a probability, too.",
                ),
                Slip("log10", f"math.log10({ALL}) / 3", LOGARITHM),
                Slip("log2", f"math.log2({ALL}) / 3", LOGARITHM),
                Slip("no-log", f"{ALL} / 3", NO_LOG),
                Slip("no-log", f"({ALL}) ** (1 / 3)", NO_LOG),
                Slip("sign", f"-math.log({ALL}) / 3", SIGN),
            ),
        ),
        Answer(
            "q6_alpha",
            "α of equal scores",
            f"math.log(math.log({ALL}) / math.log(0.62 * 0.55)) / math.log(3 / 2)",
            (
                Slip(
                    "start-counted",
                    f"math.log(math.log({ALL}) / math.log(0.62 * 0.55)) / math.log(4 / 3)",
                    START_COUNTED,
                ),
                Slip(
                    "end-not-counted",
                    f"math.log(math.log({ALL}) / math.log(0.62 * 0.55)) / math.log(2)",
                    NOT_NORMALISED,
                ),
                Slip(
                    "no-second-log",
                    f"math.log({ALL}) / math.log(0.62 * 0.55)",
                    "That is (3/2) to the power α. What is α?",
                ),
                Slip(
                    "linear",
                    f"math.log({ALL}) / math.log(0.62 * 0.55) / (3 / 2)",
                    "α is an exponent: the lengths are not multiplied by it.",
                ),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q6_why",
            "Which of the two results does the search put first, and which with $\\alpha = 0$? Why "
            "is that so? Why does greedy search never see the other one, and would normalisation "
            "help it?",
            "With α = 1 `a c </s>` comes first, as its mean log-probability a token is higher; "
            "with α = 0 `b </s>` does, as each further token multiplies by a number below 1, so "
            "sums favour short outputs. Greedy search decides for `b` in its first step and keeps "
            "nothing else, so it cannot find out that `a` leads to two almost certain steps. "
            "Normalisation does not help it: it only ranks what has been found, and greedy search "
            "has a single result.",
            (
                "Both winners, the reason why sums favour short outputs, that greedy search drops "
                "a before its continuation is known, and that ranking does not bring it back.",
                "The winners are right, but one or two reasons are missing.",
                "A winner is wrong, or there is no reason.",
            ),
        ),
    ),
)

CLIPPED = "Counts are clipped: an n-gram matches at most as often as the reference has it."
WRONG_LENGTH = "Precision: divide by the number of n-grams of the candidate, not the reference."
WORDS_FOR_NGRAMS = "A sentence of six words has fewer than six n-grams of that order."
GEOMETRIC = "BLEU takes the geometric mean of the precisions."
NO_PENALTY = "The candidate is shorter than the reference: where is the penalty?"

BLEU = Question(
    id="q7",
    title="BLEU by hand",
    prompt=r"""
The reference is `the old cat sees the very red house`, the candidate `the cat sees the the house`.

- `q7_p1`, `q7_p2`, `q7_p3`: the precisions of 1-, 2- and 3-grams.
- `q7_bp`: the brevity penalty.
- `q7_plain`: BLEU with 4-grams and without smoothing, as `corpus_bleu` gives it for this one pair.
- `q7_smoothed`: BLEU as `sentence_bleu` gives it: where an order from 2 on has no match, numerator
  and denominator each get 1.

Do it by hand first; your own `nmt/bleu.py` then tells whether you were right.
""",
    answers=(
        Answer(
            "q7_p1",
            "1-gram precision",
            "5 / 6",
            (
                Slip("no-clipping", "6 / 6", CLIPPED),
                Slip("wrong-length", "5 / 8", WRONG_LENGTH),
                Slip("as-a-set", "4 / 6", "The reference has `the` twice, so two of them match."),
            ),
        ),
        Answer(
            "q7_p2",
            "2-gram precision",
            "2 / 5",
            (
                Slip("wrong-length", "2 / 7", WRONG_LENGTH),
                Slip("words-for-ngrams", "2 / 6", WORDS_FOR_NGRAMS),
                Slip("gaps", "3 / 5", "An n-gram's words stand side by side, in both sentences."),
            ),
        ),
        Answer(
            "q7_p3",
            "3-gram precision",
            "1 / 4",
            (
                Slip("wrong-length", "1 / 6", WRONG_LENGTH),
                Slip("gaps", "2 / 4", "An n-gram's words stand side by side, in both sentences."),
            ),
        ),
        Answer(
            "q7_bp",
            "brevity penalty",
            "math.exp(1 - 8 / 6)",
            (
                Slip(
                    "lengths-swapped",
                    "math.exp(1 - 6 / 8)",
                    "A penalty above 1? Look which length is r and which is c.",
                ),
                Slip("no-penalty", "1", NO_PENALTY),
                Slip("ratio", "6 / 8", "The penalty is an exponential of the ratio r/c."),
                Slip("without-one", "math.exp(-8 / 6)", "At r = c it has to be 1."),
            ),
        ),
        Answer(
            "q7_plain",
            "BLEU without smoothing",
            "math.exp(1 - 8 / 6) * (5 / 6 * 2 / 5 * 1 / 4 * 0 / 3) ** (1 / 4)",
            (
                Slip(
                    "smoothed",
                    "math.exp(-1 / 3) * (5 / 6 * 2 / 5 * 1 / 4 * 1 / 4) ** (1 / 4)",
                    "That is smoothed. How many 4-grams match?",
                ),
                Slip(
                    "arithmetic-mean",
                    "math.exp(-1 / 3) * (5 / 6 + 2 / 5 + 1 / 4) / 4",
                    f"{GEOMETRIC} What is it if one of them is 0?",
                ),
                Slip(
                    "order-left-out",
                    "math.exp(-1 / 3) * (5 / 6 * 2 / 5 * 1 / 4) ** (1 / 3)",
                    "An order without a match is not left out.",
                ),
            ),
        ),
        Answer(
            "q7_smoothed",
            "smoothed BLEU",
            "math.exp(1 - 8 / 6) * (5 / 6 * 2 / 5 * 1 / 4 * (0 + 1) / (3 + 1)) ** (1 / 4)",
            (
                Slip("no-penalty", "(5 / 6 * 2 / 5 * 1 / 4 * 1 / 4) ** (1 / 4)", NO_PENALTY),
                Slip(
                    "numerator-alone",
                    "math.exp(-1 / 3) * (5 / 6 * 2 / 5 * 1 / 4 * 1 / 3) ** (1 / 4)",
                    "The denominator gets 1 as well.",
                ),
                Slip(
                    "every-order",
                    "math.exp(-1 / 3) * (5 / 6 * 3 / 6 * 2 / 5 * 1 / 4) ** (1 / 4)",
                    "Only an order without a match is smoothed.",
                ),
                Slip(
                    "no-clipping",
                    "math.exp(-1 / 3) * (6 / 6 * 2 / 5 * 1 / 4 * 1 / 4) ** (1 / 4)",
                    CLIPPED,
                ),
                Slip(
                    "arithmetic-mean",
                    "math.exp(-1 / 3) * (5 / 6 + 2 / 5 + 1 / 4 + 1 / 4) / 4",
                    GEOMETRIC,
                ),
                Slip(
                    "lengths-swapped",
                    "math.exp(1 / 4) * (5 / 6 * 2 / 5 * 1 / 4 * 1 / 4) ** (1 / 4)",
                    "Look which length is r and which is c.",
                ),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q7_why",
            "For the reference above: which candidate would have a 1-gram precision of 1 for no "
            "good reason if counts were not clipped? Which shortest candidates would have a plain "
            "BLEU of 1 if there were no brevity penalty? What does smoothing change for a single "
            "sentence, and why does a whole corpus hardly need it?",
            "Without clipping, any word of the reference repeated, as in `the the the`. Without "
            "the penalty any four words in a row of the reference, such as `the old cat sees`, as "
            "precision asks nothing about what is left out; fewer than four have no 4-gram, and "
            "their plain BLEU is 0. A single sentence easily has no 4-gram right, and the "
            "geometric mean is then 0 however good the rest is; smoothing keeps such sentences "
            "apart. Over a corpus the counts are summed first, so there is nearly always a match.",
            (
                "A repetition, a part of the reference (four words, or fewer with the remark that "
                "a shorter one needs smoothing or lower orders), the zero of the geometric mean, "
                "and the summing of counts.",
                "One or two of the four are missing.",
                "Three are missing, or BLEU's parts are only listed.",
            ),
        ),
    ),
)

QUESTIONS = (BEAM, BLEU)
