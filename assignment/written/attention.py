"""Questions 8 to 13: attention, masks, the labs' variations, subwords, scores, gates again."""

from __future__ import annotations

from assignment.written.source import Answer, Question, Reasoning, Slip

Z = "(math.exp(2) + math.exp(-1) + math.exp(0))"  # the softmax's denominator in question 8
Z_SCALED = "(math.exp(2**0.5) + math.exp(-(2**-0.5)) + 1)"
SCALED = "That divides the scores by √2. This attention takes them as they are."
UNIFORM = "Equal weights would be right if the scores were equal."
HARD = "That looks at the best position alone. Softmax gives each position a share."
NO_SOFTMAX = "Scores become weights by softmax, not by dividing them by their sum."
ZERO_SCORE = "A score of 0 does not make a weight of 0: what is exp(0)?"
BASE = "The softmax takes powers of e."

ATTENTION = Question(
    id="q8",
    title="Attention by hand",
    prompt=r"""
The encoder's outputs are $h_1 = (1, 0)$, $h_2 = (0, 1)$, $h_3 = (1, 2)$, the decoder's state is
$s = (2, -1)$. Scores are dot products $e_i = s^\top h_i$, not divided by anything.

- `q8_weight_1`, `q8_weight_2`, `q8_weight_3`: the attention weights.
- `q8_context_1`, `q8_context_2`: the components of the context vector.
""",
    answers=(
        Answer(
            "q8_weight_1",
            "weight of h_1",
            f"math.exp(2) / {Z}",
            (
                Slip("scaled", f"math.exp(2**0.5) / {Z_SCALED}", SCALED),
                Slip("uniform", "1 / 3", UNIFORM),
                Slip("hard", "1", HARD),
                Slip("no-softmax", "2 / (2 - 1 + 0)", NO_SOFTMAX),
            ),
        ),
        Answer(
            "q8_weight_2",
            "weight of h_2",
            f"math.exp(-1) / {Z}",
            (
                Slip("scaled", f"math.exp(-(2**-0.5)) / {Z_SCALED}", SCALED),
                Slip("uniform", "1 / 3", UNIFORM),
                Slip("hard", "0", HARD),
                Slip("no-softmax", "-1 / (2 - 1 + 0)", NO_SOFTMAX),
                Slip("base-two", "2**-1 / (2**2 + 2**-1 + 1)", BASE),
            ),
        ),
        Answer(
            "q8_weight_3",
            "weight of h_3",
            f"math.exp(0) / {Z}",
            (
                Slip("scaled", f"1 / {Z_SCALED}", SCALED),
                Slip("uniform", "1 / 3", UNIFORM),
                Slip("zero-score", "0", ZERO_SCORE),
                Slip("base-two", "1 / (2**2 + 2**-1 + 1)", BASE),
            ),
        ),
        Answer(
            "q8_context_1",
            "first component of the context",
            f"(math.exp(2) * 1 + math.exp(-1) * 0 + math.exp(0) * 1) / {Z}",
            (
                Slip("scaled", f"(math.exp(2**0.5) + 1) / {Z_SCALED}", SCALED),
                Slip("uniform", "2 / 3", UNIFORM),
                Slip("hard", "1", HARD),
                Slip("no-softmax", "2", NO_SOFTMAX),
            ),
        ),
        Answer(
            "q8_context_2",
            "second component of the context",
            f"(math.exp(2) * 0 + math.exp(-1) * 1 + math.exp(0) * 2) / {Z}",
            (
                Slip("scaled", f"(math.exp(-(2**-0.5)) + 2) / {Z_SCALED}", SCALED),
                Slip("uniform", "1", UNIFORM),
                Slip("hard", "0", HARD),
                Slip("no-softmax", "-1", NO_SOFTMAX),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q8_why",
            "What would become of the weights if $s$ were ten times as long, and what of their "
            "gradients? Why is the look-up soft at all?",
            "Scores of 20, −10 and 0 give weights of nearly 1, 0 and 0: the softmax saturates, and "
            "its slope, α(1 − α) on the diagonal, goes to 0, so nothing is learned any more about "
            "where to look. A hard choice of the best position has no gradient with respect to the "
            "scores at all; the soft mean is differentiable, and is learned with all the rest.",
            (
                "Saturation, vanishing slopes, and differentiability as the reason for softness.",
                "One of the three is missing.",
                "At most one of the three.",
            ),
        ),
    ),
)

MASKED = "That is the weight with a mask. Here the fourth position takes part."
NOT_ZERO = "Its score is 0, not its weight: what is exp(0)?"
NEW_SUM = "The fourth position's exponential belongs into the sum, too."

MASKS = Question(
    id="q9",
    title="What a mask is for",
    prompt=r"""
The sentence of question 8 stands in a batch with longer ones, so a fourth position follows that is
only padding: $h_4 = (0, 0)$. The decoder's state is the same.

- `q9_padding`: the weight that the padding gets without any mask.
- `q9_first`: the weight of $h_1$ then.
- `q9_sum`: somebody sets the padding's *weight* to 0 after the softmax, and leaves it at that. The
  sum of the weights.
""",
    answers=(
        Answer(
            "q9_padding",
            "weight of the padding",
            f"1 / ({Z} + 1)",
            (
                Slip("zero-score", "0", NOT_ZERO),
                Slip("uniform", "1 / 4", UNIFORM),
                Slip("old-sum", f"1 / {Z}", NEW_SUM),
            ),
        ),
        Answer(
            "q9_first",
            "weight of h_1",
            f"math.exp(2) / ({Z} + 1)",
            (
                Slip("old-sum", f"math.exp(2) / {Z}", MASKED),
                Slip("uniform", "1 / 4", UNIFORM),
            ),
        ),
        Answer(
            "q9_sum",
            "sum of the weights",
            f"1 - 1 / ({Z} + 1)",
            (
                Slip("renormalised", "1", "Nobody has divided by the new sum."),
                Slip("uniform", "3 / 4", UNIFORM),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q9_why",
            "What goes wrong in this model without masks: in the attention, and in the loss? And "
            "why must the score at a padded position be −∞ (or very small), and not 0?",
            "In the attention, padding takes weight from the words, so the context shrinks or is "
            "mixed with noise, and one and the same sentence is translated differently in another "
            "batch. In the loss, the model is rewarded for predicting padding, which is easy, so "
            "the mean looks good and the gradient is diluted. exp(0) = 1 is a share like any "
            "other, and a larger one than that of a word with a negative score; only exp(−∞) = 0 "
            "leaves the rest a softmax over the real positions that sums to 1.",
            (
                "Attention, loss, and exp(0) = 1 against exp(−∞) = 0.",
                "One of the three is missing.",
                "At most one of the three.",
            ),
        ),
    ),
)

VARIATION_RUBRIC = (
    "Own figures with what was run (steps, epochs, seeds), a claim that they bear out, and a "
    "reason. Figures that differ from the lecture's are fine if they are taken seriously.",
    "Figures and claim, but no reason; or a reason without own figures.",
    "Neither figures nor a reason, or a claim that the figures contradict.",
)

VARIATIONS = Question(
    id="q10",
    title="Variations of the labs",
    prompt=r"""
Run them (`python -m labs`, section 4 of the README), and report your own figures. Two or three
sentences each are enough.
""",
    reasoning=(
        Reasoning(
            "q10_steps",
            "Lab 2.3: give the plain RNN more steps of training (write `memory_settings(5000)` for "
            "`memory_settings(2000)` in `labs/lab2.py`). Does it learn to remember at $T = 50$?",
            "It stays at chance, 12.5 %, with the loss near log 8 = 2.08. The gradient that would "
            "tell the first step what to keep has vanished on the way, so that more steps follow "
            "the same noise: it is not a matter of patience.",
            VARIATION_RUBRIC,
        ),
        Reasoning(
            "q10_reversed",
            "Lab 4.2: feed the source reversed to the model without attention. Does BLEU change?",
            "The figures decide. Reversed, the subject is read last and is nearest to the first "
            "word to be written, which helps the beginning; the verb, which Zhoric writes last, "
            "moves away from its place. The mean distance between words and their translations "
            "stays, so no large effect has to be expected.",
            VARIATION_RUBRIC,
        ),
        Reasoning(
            "q10_scores",
            "Lab 5.4: replace the multiplicative score by the dot product and by the additive "
            "one. What changes?",
            "The figures decide; on sentences like those of the training, all three can be "
            "expected to come near each other. That there is a soft look-up matters more than how "
            "a score is computed, as the encoder and the decoder learn to suit any of them.",
            VARIATION_RUBRIC,
        ),
        Reasoning(
            "q10_feeding",
            "Lab 5.4: leave out input feeding. What is it there for?",
            "The figures decide. Input feeding tells the next "
            "step where the decoder has just looked, so that phrases are neither repeated nor "
            "dropped; without it that has to be carried in the state alone. A difference is to be "
            "looked for in the groups with many phrases.",
            VARIATION_RUBRIC,
        ),
    ),
)

PLURAL = Question(
    id="q11",
    title="Where the plural looks",
    prompt=r"""
English marks the plural inside of a word (`dogs`), Zhoric by a word of its own, `ka`, behind the
noun. Look at heatmaps of your trained model (`python -m nmt heatmap`), or at lab 5.2.
""",
    reasoning=(
        Reasoning(
            "q11_ka",
            "Where does your model look when it writes `ka`? Explain why it can be there. What "
            "does that say about splitting words into subwords, as `dog` + `s`?",
            "Often at a determiner or at a neighbour of the noun, or at the noun itself. There is "
            "no source word that means plural alone, so there is nothing that the attention has "
            "to point at: the noun's vector has said it already when the noun was written, and the "
            "bidirectional encoder has spread it to the neighbours; the decoder's state remembers "
            "it. Weights are thus no explanation of what a word comes from. With subwords, `s` "
            "would be a position of its own that `ka` could align with, and a plural never seen in "
            "training could be translated from its parts.",
            (
                "Own observation, the missing source word together with the spread by the encoder "
                "(or the memory of the state), and what subwords would change.",
                "One of the three is missing.",
                "At most one of the three.",
            ),
        ),
    ),
)

NO_V = "After the tanh comes one more parameter, a vector."
WITH_BIAS = "These scores have no biases."
SQUARE = "Which two vectors does W stand between, and what sizes do they have?"

SCORES = Question(
    id="q12",
    title="Three scores compared",
    prompt=r"""
The decoder's state $s$ has size $H = 100$, an encoder output $h_i$ has size $D = 200$. There are no
biases.

- `q12_multiplicative`: the parameters of $e_i = s^\top W h_i$.
- `q12_additive`: those of $e_i = v^\top \tanh(W_1 h_i + W_2 s)$ with $A = 50$ hidden units.
- `q12_variance`: the variance of the dot product of two independent vectors with 400 standard
  normal components each.
- `q12_scaled`: its variance after it is divided by $\sqrt{400}$.
""",
    answers=(
        Answer(
            "q12_multiplicative",
            "parameters of the multiplicative score",
            "100 * 200",
            (
                Slip("sizes-added", "100 + 200", SQUARE),
                Slip("square", "200 * 200", SQUARE),
                Slip("square", "100 * 100", SQUARE),
                Slip("with-bias", "100 * 200 + 100", WITH_BIAS),
                Slip("with-bias", "100 * 200 + 200", WITH_BIAS),
            ),
        ),
        Answer(
            "q12_additive",
            "parameters of the additive score",
            "50 * 200 + 50 * 100 + 50",
            (
                Slip("no-v", "50 * 200 + 50 * 100", NO_V),
                Slip("with-bias", "50 * 200 + 50 * 100 + 50 + 50", WITH_BIAS),
                Slip("with-bias", "50 * 200 + 50 * 100 + 50 + 1", WITH_BIAS),
                Slip("with-bias", "50 * 200 + 50 * 100 + 50 + 51", WITH_BIAS),
            ),
        ),
        Answer(
            "q12_variance",
            "variance of the dot product",
            "400",
            (
                Slip("deviation", "20", "That is the standard deviation."),
                Slip("one-term", "1", "That is the variance of one product; add all of them up."),
                Slip("sum-of-both", "800", "How many independent products are added up?"),
            ),
        ),
        Answer(
            "q12_scaled",
            "variance after the division",
            "400 / 20**2",
            (
                Slip("not-squared", "20", "A factor changes the variance by its square."),
                Slip("twice-too-often", "1 / 400", "That divides by 400, not by its root."),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q12_compare",
            "Compare the dot product, the multiplicative and the additive score: what each needs "
            "of the two vectors, what it can express, and what it costs. When would you divide by "
            "$\\sqrt d$?",
            "The dot product has no parameters, but needs vectors of one size that already live in "
            "the same space; it is the cheapest. The multiplicative score compares vectors of "
            "different sizes under a learned bilinear map, at the cost of H · D parameters and one "
            "matrix product that can be done once a sentence. The additive score adds a layer with "
            "a nonlinearity, has a size of its own to choose, and costs the most, as the tanh has "
            "to be taken for each pair of query and key. Dot products of long vectors spread with "
            "√d and saturate the softmax: divide where the sizes are large and nothing learned "
            "can scale them.",
            (
                "Sizes, expressiveness and cost for all three, and saturation as the reason for "
                "dividing.",
                "One of the three scores or the division is not explained.",
                "Two or more are missing, or only the formulas are repeated.",
            ),
        ),
    ),
)

STORY = Question(
    id="q13",
    title="Gates in a sentence",
    prompt=r"""
An LSTM reads: *The cat chased the mouse, and then it climbed a tree.*
""",
    reasoning=(
        Reasoning(
            "q13_gates",
            "Suppose one unit of the cell keeps who the subject is. Say for each word (or group of "
            "words) what its forget, input and output gate have to do, so that the model knows at "
            "`it` who climbs, and at `climbed` that the subject is one animal.",
            "The: nothing to write, i about 0. cat: i about 1 writes the subject, and f about 0 "
            "clears what was there before. chased: f about 1 keeps it, i about 0, o opens, as a "
            "verb has to agree with it. the mouse: f about 1 and i about 0, so that the object "
            "does not overwrite the subject (another unit may take it); o may be shut. and then: "
            "keep, o shut. it: o opens, as the pronoun is resolved by the cell; f about 1 keeps "
            "the cat, for the pronoun refers to it. climbed: o open once more, for agreement and "
            "meaning. a tree: keep or, at the full stop, forget.",
            (
                "Writing at cat, keeping past the mouse with a shut input gate, showing at the "
                "verb or pronoun, all told in terms of the three gates.",
                "The right course, but a gate is never mentioned; or the mouse overwrites the cat.",
                "Gates are only defined, not applied to the words.",
            ),
        ),
    ),
)

QUESTIONS = (ATTENTION, MASKS, VARIATIONS, PLURAL, SCORES, STORY)
