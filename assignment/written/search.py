"""Questions 6 and 7: beam search and BLEU by hand."""

from __future__ import annotations

from assignment.written.source import Answer, Question, Reasoning, Slip

NOT_NORMALISED = "Divide by the length: the number of generated tokens, `</s>` included."
START_COUNTED = "`<s>` is not generated: it does not count."
LOGARITHM = "Log-probabilities are natural logarithms."
SIGN = "The logarithm of a probability is not positive."
NO_LOG = "A score is made of the logarithm of the probability."
ONE_STEP = "That is the last step alone; a hypothesis has the product of all its steps."

BEAM = Question(
    id="q6",
    title="Beam search by hand",
    prompt=r"""
A model over `a`, `b`, `c` and `</s>` begins with $P(a) = 0.6$, $P(b) = 0.3$, $P(c) = 0.1$. Then:

| after | `a` | `b` | `</s>` |
|---|---|---|---|
| `a` | 0.2 | 0.2 | 0.6 |
| `b` | 0.95 | 0.03 | 0.02 |
| `b a` | 0.06 | 0.04 | 0.9 |

Search with a beam of $k = 2$. Scores are normalised as in the task: the summed natural
log-probability, divided by the number of generated tokens, `</s>` included ($\alpha = 1$).

- `q6_greedy`: the probability of the whole output of greedy search.
- `q6_second`: after two steps the beam keeps two hypotheses. The probability of the less probable.
- `q6_short`, `q6_long`: the normalised scores of `a </s>` and of `b a </s>`.
""",
    answers=(
        Answer(
            "q6_greedy",
            "probability of greedy search's output",
            "0.6 * 0.6",
            (
                Slip("one-step", "0.6", ONE_STEP),
                Slip("not-greedy", "0.3 * 0.95 * 0.9", "What does greedy search take first?"),
                Slip(
                    "end-passed-over",
                    "0.6 * 0.2",
                    "`</s>` competes with the other tokens: which is the most probable?",
                ),
            ),
        ),
        Answer(
            "q6_second",
            "probability of the second hypothesis",
            "0.3 * 0.95",
            (
                Slip(
                    "best-alone",
                    "0.6 * 0.2",
                    "Compare the extensions of both hypotheses, not of the better one alone.",
                ),
                Slip("one-step", "0.95", ONE_STEP),
                Slip("first-of-two", "0.6 * 0.6", "That is the more probable one."),
                Slip("a-step-too-many", "0.3 * 0.95 * 0.9", "That is after three steps."),
            ),
        ),
        Answer(
            "q6_short",
            "normalised score of `a </s>`",
            "math.log(0.6 * 0.6) / 2",
            (
                Slip("not-normalised", "math.log(0.6 * 0.6)", NOT_NORMALISED),
                Slip("start-counted", "math.log(0.6 * 0.6) / 3", START_COUNTED),
                Slip("log10", "math.log10(0.6 * 0.6) / 2", LOGARITHM),
                Slip("log2", "math.log2(0.6 * 0.6) / 2", LOGARITHM),
                Slip("no-log", "0.36 / 2", NO_LOG),
                Slip("no-log", "0.6", NO_LOG),
                Slip("sign", "-math.log(0.6 * 0.6) / 2", SIGN),
            ),
        ),
        Answer(
            "q6_long",
            "normalised score of `b a </s>`",
            "math.log(0.3 * 0.95 * 0.9) / 3",
            (
                Slip("not-normalised", "math.log(0.3 * 0.95 * 0.9)", NOT_NORMALISED),
                Slip("end-not-counted", "math.log(0.3 * 0.95 * 0.9) / 2", NOT_NORMALISED),
                Slip("start-counted", "math.log(0.3 * 0.95 * 0.9) / 4", START_COUNTED),
                Slip(
                    "end-forgotten",
                    "math.log(0.3 * 0.95) / 3",
                    "The step that generates `</s>` has a probability, too.",
                ),
                Slip("log10", "math.log10(0.3 * 0.95 * 0.9) / 3", LOGARITHM),
                Slip("log2", "math.log2(0.3 * 0.95 * 0.9) / 3", LOGARITHM),
                Slip("no-log", "0.3 * 0.95 * 0.9 / 3", NO_LOG),
                Slip("sign", "-math.log(0.3 * 0.95 * 0.9) / 3", SIGN),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q6_why",
            "Which of the two hypotheses does the search return, and which would it return without "
            "normalisation? Why is that so, and why does greedy search never see the other one?",
            "With normalisation `b a </s>` wins, as its mean log-probability a token is higher; "
            "without it `a </s>` wins, as each further token multiplies by a number below 1, so "
            "sums favour short outputs. Greedy search decides for `a` in its first step and keeps "
            "nothing else, so it cannot find out that `b` leads to two almost certain steps.",
            (
                "Both winners, the reason why sums favour short outputs, and that greedy search "
                "drops b before its continuation is known.",
                "The winners are right, but one reason is missing.",
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
            "Which output would score well if counts were not clipped, and which if there were no "
            "brevity penalty? What does smoothing change for a single sentence, and why does a "
            "whole corpus hardly need it?",
            "Without clipping one frequent word repeated, as in `the the the`, has precision 1. "
            "Without the penalty a single sure word or phrase does, since precision asks nothing "
            "about what is left out. A single sentence easily has no 4-gram right, and the "
            "geometric mean is then 0 however good the rest is; smoothing keeps such sentences "
            "apart. Over a corpus the counts are summed first, so there is nearly always a match.",
            (
                "Repetition, omission, the zero of the geometric mean, and the summing of counts.",
                "One or two of the four are missing.",
                "Three are missing, or BLEU's parts are only listed.",
            ),
        ),
    ),
)

QUESTIONS = (BEAM, BLEU)
