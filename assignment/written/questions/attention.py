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
            "why must the score at a padded position be −∞, and not 0? Would −10 do?",
            "In the attention, padding takes weight from the words, so the context shrinks or is "
            "mixed with noise, and one and the same sentence is translated differently in another "
            "batch. In the loss, the model is rewarded for predicting padding, which is easy, so "
            "the mean looks good and the gradient is diluted. exp(0) = 1 is a share like any "
            "other, and a larger one than that of a word with a negative score; only exp(−∞) = 0 "
            "leaves the rest a softmax over the real positions that sums to 1. With the scores "
            "above, −10 leaves next to nothing; but scores have no bound, and beside words with "
            "scores of about −10 the padding would be one of them again.",
            (
                "Attention, loss, exp(0) = 1 against exp(−∞) = 0, and that −10 depends on the "
                "other scores.",
                "One or two of the four are missing.",
                "At most one of the four.",
            ),
        ),
    ),
)

FIGURES = "Own figures with what was run (steps or epochs, seeds)"

VARIATIONS = Question(
    id="q10",
    title="Variations of the labs",
    prompt=r"""
The labs are not graded; this question asks what you saw in three of them. Run them in full, in the
folder of this notebook (the environment as for `check`):

```
python -m labs 2.6 4.2 5.4
```

They train some models: about 7 minutes on two fast cores, up to half an hour on an old laptop, so
start them first, and answer other questions meanwhile. If you stop them, the same command goes on
from there. `--quick` is too short here: its figures mislead. Report your own figures; two or three
sentences to each part are enough.
""",
    reasoning=(
        Reasoning(
            "q10_steps",
            "Lab 2.6 trains the plain RNN of lab 2.3 for longer. Does it learn to remember at "
            "$T = 50$? Compare with what guessing gives, and say why.",
            "After 1,500 steps it names 12.9 % of the signals (12.2 to 13.6 with three seeds), "
            "after 5,000 steps 17.4 % (13.0 to 25.7); guessing one of eight gives 12.5 %. So with "
            "two seeds nothing is learned, with one about what two groups of four signals told "
            "apart would give, and nowhere does it come near 100 %. The gradient that would tell "
            "the first step what to keep has shrunk with each of the fifty steps on its way, and "
            "more steps mostly follow noise: it is not only a matter of patience.",
            (
                f"{FIGURES}, set beside chance, and the vanishing gradient as the reason. Figures "
                "that differ from the lecture's are fine if they are taken seriously.",
                "Figures and comparison, but no reason; or a reason without own figures.",
                "Neither figures nor a reason, or a claim that the figures contradict.",
            ),
        ),
        Reasoning(
            "q10_reversed",
            "Lab 4.2 feeds the source reversed to the model without attention. Does BLEU change by "
            "more than another seed would change it? Think of how this encoder reads. What would "
            "you expect of an encoder that reads from left to right only?",
            "Test BLEU goes from 0.988 to 0.989, and with 4 phrases from 0.816 to 0.779, each with "
            "one seed; with three seeds lab 4.1 has 0.794 to 0.816 there, so that this says "
            "little. There is no effect to be seen. The encoder reads in both "
            "directions, so reversing only swaps the parts of two cells that begin alike, and what "
            "remains is the luck of another training. With one direction it would bring the first "
            "words of the source nearer to the decoder, which helps it to begin (Sutskever et al., "
            "2014).",
            (
                f"{FIGURES}, that there is no effect as both directions are read, and what would "
                "be different with one.",
                "No effect is seen, but one of the two explanations is missing.",
                "No figures; or an effect of the distance to the decoder is explained for this "
                "model.",
            ),
        ),
        Reasoning(
            "q10_scores",
            "Lab 5.4 replaces the multiplicative score by the dot product and by the additive "
            "one. What changes, up to 3 phrases and with 4? How much of that can you be sure of "
            "with one seed?",
            "Test BLEU is 1.000 with all three. With 4 phrases, which no training sentence has, it "
            "is 0.817 (multiplicative), 0.921 (dot product) and 0.870 (additive), with one seed "
            "each and after 3 epochs; after 10 epochs the multiplicative one is at 0.73 (lab 5.1). "
            "A group that moves so much with the training says nothing about the scores' order. "
            "That there is a soft look-up matters far more than how a "
            "score is computed: without attention it is 0.820 and 0.449. Encoder and decoder learn "
            "to suit any of the scores.",
            (
                f"{FIGURES}, that the scores are alike on sentences as in training, and caution or "
                "a reason about the rest.",
                "Figures, but differences of one seed are taken for findings; or no figures for 4 "
                "phrases.",
                "No figures, or a claim that they contradict.",
            ),
        ),
        Reasoning(
            "q10_feeding",
            "Lab 5.4 also leaves out input feeding. What is it there for, and do your figures show "
            "it?",
            "Input feeding tells the next step where the decoder has just looked, so that phrases "
            "are neither repeated nor dropped; without it the state alone has to carry that. The "
            "figures hardly show it: test BLEU is 1.000 with and without, with 4 phrases 0.817 and "
            "0.843. These sentences are short and regular enough for the state to keep count.",
            (
                f"{FIGURES}, the purpose of input feeding, and a conclusion that the figures bear "
                "out, also that they show nothing.",
                "The purpose or the conclusion is missing.",
                "No figures and no purpose, or a claim that the figures contradict.",
            ),
        ),
    ),
)

PLURAL = Question(
    id="q11",
    title="Where the plural looks",
    prompt=r"""
English marks the plural inside of a word (`dogs`), Zhoric by a word of its own, `ka`, after the
noun. Draw heatmaps of your trained model (`python -m nmt heatmap "…"`) of two sentences of your own
that have two plurals each, among them `children`, `wolves` or `cities`. The sentences that it knows
are built as subject, verb, object, prepositional phrases, of the words in `data/english.vocab`.
""",
    reasoning=(
        Reasoning(
            "q11_ka",
            "Give your sentences. Where does your model look when it writes each `ka`? Explain why "
            "it can be there. What would splitting words into subwords, as `dog` + `s`, change for "
            "`dogs`, and what for `children`?",
            "Often at a determiner or at a neighbour of the noun, or at the noun itself. There is "
            "no source word that means plural alone, so there is nothing that the attention has "
            "to point at: the noun's vector has said it already when the noun was written, and the "
            "bidirectional encoder has spread it to the neighbours; the decoder's state remembers "
            "it. Weights are thus no explanation of what a word comes from. With subwords, `s` "
            "would be a position of its own that `ka` could align with, and a plural never seen in "
            "training could be translated from its parts; `children` has no such part, or one "
            "that occurs nowhere else.",
            (
                "Own observation on own sentences, the missing source word together with the "
                "spread by the encoder (or the memory of the state), and what subwords would "
                "change and what not.",
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
An LSTM reads: *The cat chases the mouse, and then it climbs a tree.* Here *it* is the cat. At each
word, the gates take their values as the word is read; after it, the hidden state is what the rest
of the model sees.
""",
    reasoning=(
        Reasoning(
            "q13_gates",
            "Suppose one unit of the cell keeps who the subject is. Say for each word (or group of "
            "words) what its forget, input and output gate have to do, so that at `it` the model "
            "knows who is meant, and that a verb behind it has to be `climbs`, not `climb`.",
            "The: i about 0, as there is nothing to write yet; f does not matter, as the cell is "
            "empty. cat: i about 1 writes the subject, f about 0 clears what was there before; o "
            "opens, as a verb that agrees may be next. chases: f about 1 keeps it, i about 0. the "
            "mouse: f about 1 and i about 0, so that the object does not overwrite the subject "
            "(another unit may take it); o may be shut. and then: keep, o shut. it: f about 1 "
            "keeps the cat, for the pronoun refers to it, and o opens: the cell tells who is "
            "meant, and the s of the verb that follows. climbs: keep; o may stay open for the "
            "meaning. a tree: keep or, at the full stop, forget.",
            (
                "Writing at cat, keeping past the mouse with a shut input gate, showing at the "
                "pronoun or a word before a verb (one word earlier or later is fine), all told in "
                "terms of the three gates.",
                "The right course, but a gate is never mentioned; or the mouse overwrites the cat.",
                "Gates are only defined, not applied to the words.",
            ),
        ),
    ),
)

QUESTIONS = (ATTENTION, MASKS, VARIATIONS, PLURAL, SCORES, STORY)
