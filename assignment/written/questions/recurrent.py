"""Questions 1 to 5: gradients through time, clipping, the LSTM's gates, parameters."""

from __future__ import annotations

from assignment.written.source import Answer, Question, Reasoning, Slip

TANH_SLOPE = "That is the slope of tanh. Here σ is the logistic sigmoid: differentiate it."
SIGMOID_VALUE = "That uses the value of σ. A derivative wants its slope, σ(z)(1 − σ(z))."
NO_WEIGHT = "Where is the weight? Each step of the chain rule brings w and a slope."
NO_SLOPE = "Where is the slope of σ? Each step of the chain rule brings w and a slope."
ONE_STEP_FEW = "Count the steps again: one factor a step, from the first to the last."

GRADIENT = Question(
    id="q1",
    title="How far a gradient reaches",
    prompt=r"""
A recurrent network has a single unit and no bias:
$h_t = \sigma(w\,h_{t-1} + x_t)$, where $\sigma(z) = 1/(1+e^{-z})$.

- `q1_slope`: the largest value that $\sigma'(z)$ takes anywhere.
- `q1_product`: $\partial h_3/\partial h_0$ for $w = 2$, if the states turned out as $h_1 = 0.5$,
  $h_2 = 0.8$, $h_3 = 0.9$.
- `q1_bound`: for $w = 3$, the smallest number of which you can be sure, without knowing the inputs,
  that $|\partial h_t/\partial h_{t-10}|$ does not exceed it.
- `q1_limit`: the largest value such that for every $|w|$ below it the gradient must vanish over
  many steps, whatever the inputs are.
""",
    answers=(
        Answer(
            "q1_slope",
            "largest slope of the sigmoid",
            "1 / 4",
            (
                Slip("tanh-slope", "1", TANH_SLOPE),
                Slip("value-for-slope", "1 / 2", SIGMOID_VALUE),
            ),
        ),
        Answer(
            "q1_product",
            "∂h_3/∂h_0",
            "2**3 * (0.5 * 0.5) * (0.8 * 0.2) * (0.9 * 0.1)",
            (
                Slip("weight-once", "2 * 0.25 * 0.16 * 0.09", NO_WEIGHT),
                Slip("no-weight", "0.25 * 0.16 * 0.09", NO_WEIGHT),
                Slip("value-for-slope", "8 * 0.5 * 0.8 * 0.9", SIGMOID_VALUE),
                Slip("tanh-slope", "8 * (1 - 0.25) * (1 - 0.64) * (1 - 0.81)", TANH_SLOPE),
                Slip("a-step-too-few", "4 * 0.16 * 0.09", ONE_STEP_FEW),
            ),
        ),
        Answer(
            "q1_bound",
            "bound on |∂h_t/∂h_(t−10)| for w = 3",
            "(3 / 4) ** 10",
            (
                Slip("no-slope", "3**10", NO_SLOPE),
                Slip("no-weight", "0.25**10", NO_WEIGHT),
                Slip("a-step-too-few", "0.75**9", ONE_STEP_FEW),
                Slip("one-step", "0.75", "That is one step; there are ten."),
                Slip("sum-of-steps", "0.75 * 10", "Do the factors of a chain rule add up?"),
            ),
        ),
        Answer(
            "q1_limit",
            "the value of |w|",
            "4",
            (
                Slip("tanh-slope", "1", TANH_SLOPE),
                Slip(
                    "slope-for-weight", "1 / 4", "That is a slope. What |w| keeps |w| σ' below 1?"
                ),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q1_why",
            r"Derive $\partial h_t/\partial h_{t-k}$, and show why the gradient must vanish below "
            "your limit. Does it have to explode above it?",
            r"By the chain rule $\partial h_t/\partial h_{t-k} = \prod_{j=0}^{k-1} w\,h_{t-j}"
            r"(1-h_{t-j})$. As h(1 − h) is at most 1/4, the size of the product is at most "
            r"$(|w|/4)^k$, which goes to 0 for every |w| < 4. The converse fails: beyond 4 only "
            "the bound grows. Where the unit saturates, h(1 − h) is far below 1/4, and the product "
            "may still vanish; it explodes only where |w| h(1 − h) stays above 1 in the geometric "
            "mean over the steps.",
            (
                "The product of w times slope with all its factors, the bound, and that the limit "
                "is necessary for an explosion, not sufficient (saturation).",
                "Product and bound are right, but above the limit an explosion is claimed, or "
                "nothing is said of it; or the reverse is seen, but a factor is missing in the "
                "derivation.",
                "No derivation, or one without the slopes or without the weights.",
            ),
        ),
    ),
)

SCALED_UP = "Clipping never makes a gradient longer: what if it is short enough already?"
BY_COMPONENT = "That cuts each component off by itself and turns the gradient. Clip by its length."
ABSOLUTE_SUM = "The length of a vector is not the sum of its components' sizes."
UNIT_LENGTH = "That has length 1. What length is wanted?"

CLIPPING = Question(
    id="q2",
    title="Clipping a gradient",
    prompt=r"""
A gradient is $g = (-5, 12)$. It is clipped by its norm.

- `q2_norm`: the norm of $g$.
- `q2_tight_1`, `q2_tight_2`: its components after clipping to at most 6.5.
- `q2_loose_1`, `q2_loose_2`: its components after clipping to at most 20.
""",
    answers=(
        Answer(
            "q2_norm",
            "norm of g",
            "math.hypot(-5, 12)",
            (
                Slip("absolute-sum", "17", ABSOLUTE_SUM),
                Slip("plain-sum", "7", "Components of different signs do not make a vector short."),
                Slip("squared", "169", "That is its square."),
                Slip("largest", "12", "That is the largest component. How long is the vector?"),
            ),
        ),
        Answer(
            "q2_tight_1",
            "first component, clipped to 6.5",
            "-5 * 6.5 / 13",
            (
                Slip("by-component", "-5", BY_COMPONENT),
                Slip("absolute-sum", "-5 * 6.5 / 17", ABSOLUTE_SUM),
                Slip("unit-length", "-5 / 13", UNIT_LENGTH),
                Slip("sign", "2.5", "Clipping keeps the direction, and with it the signs."),
            ),
        ),
        Answer(
            "q2_tight_2",
            "second component, clipped to 6.5",
            "12 * 6.5 / 13",
            (
                Slip("by-component", "6.5", BY_COMPONENT),
                Slip("absolute-sum", "12 * 6.5 / 17", ABSOLUTE_SUM),
                Slip("unit-length", "12 / 13", UNIT_LENGTH),
            ),
        ),
        Answer(
            "q2_loose_1",
            "first component, clipped to 20",
            "-5",
            (
                Slip("scaled-up", "-5 * 20 / 13", SCALED_UP),
                Slip("sign", "5", "Clipping keeps the direction, and with it the signs."),
            ),
        ),
        Answer(
            "q2_loose_2",
            "second component, clipped to 20",
            "12",
            (Slip("scaled-up", "12 * 20 / 13", SCALED_UP),),
        ),
    ),
    reasoning=(
        Reasoning(
            "q2_why",
            "What does clipping by norm keep of the gradient that clipping each component would "
            "not, and for which gradients do both give the same? And why does clipping help "
            "against exploding gradients, but not against vanishing ones?",
            "Scaling the whole vector keeps its direction: the step goes where the gradient "
            "points, only less far; cutting components turns it. Both give the same if the norm "
            "is within the limit, or if only one component differs from 0. Beside a cliff the "
            "gradient is huge but points the right way, so a bounded step along it is sound. A "
            "vanished gradient holds no trace of the early inputs any more: the information is "
            "lost among the nearer terms, and scaling the sum up would scale those up as well.",
            (
                "Direction is kept; a case in which both agree; explosion is a matter of length "
                "alone; a vanished term cannot be recovered by scaling.",
                "Two or three of the four.",
                "At most one of the four.",
            ),
        ),
    ),
)

ERASED = "An output gate of 0 hides the cell. Does it change what is in the cell?"
NO_TANH = "h = o · tanh(c): where is the tanh?"
NO_OUTPUT = "h = o · tanh(c): where is the output gate?"
NO_INPUT = "The candidate g enters the cell through the input gate."
SWAPPED = "Which gate stands at the old cell, and which at the candidate?"

GATES = Question(
    id="q3",
    title="Three steps of an LSTM cell",
    prompt=r"""
One unit of an LSTM, $c_t = f_t c_{t-1} + i_t g_t$ and $h_t = o_t \tanh(c_t)$, starts with
$c_0 = 1.5$. Its gates and candidates, in the order of your `lstm.py`, are

| $t$ | $i_t$ | $f_t$ | $g_t$ | $o_t$ |
|---|---|---|---|---|
| 1 | 0 | 1 | 0.9 | 0 |
| 2 | 0.8 | 0.5 | −0.5 | 1 |
| 3 | 1 | 0 | −0.6 | 0.5 |

Work out cell and hidden state after each step.
""",
    answers=(
        Answer(
            "q3_c1",
            "cell after step 1",
            "1 * 1.5 + 0 * 0.9",
            (
                Slip("o-erases", "0", ERASED),
                Slip("no-input-gate", "1.5 + 0.9", NO_INPUT),
                Slip("gates-swapped", "0.9", SWAPPED),
            ),
        ),
        Answer(
            "q3_h1",
            "hidden state after step 1",
            "0 * math.tanh(1.5)",
            (
                Slip("no-output-gate", "math.tanh(1.5)", NO_OUTPUT),
                Slip("h-is-c", "1.5", f"{NO_OUTPUT} {NO_TANH}"),
            ),
        ),
        Answer(
            "q3_c2",
            "cell after step 2",
            "0.5 * 1.5 + 0.8 * -0.5",
            (
                Slip("o-erases", "0.8 * -0.5", ERASED),
                Slip("gates-swapped", "0.8 * 1.5 + 0.5 * -0.5", SWAPPED),
                Slip("no-forget-gate", "1.5 + 0.8 * -0.5", "The old cell is multiplied by f."),
                Slip(
                    "gru-like",
                    "0.5 * 1.5 + 0.5 * -0.5",
                    "In an LSTM, the input gate is its own: it is not 1 − f.",
                ),
                Slip("no-input-gate", "0.5 * 1.5 - 0.5", NO_INPUT),
            ),
        ),
        Answer(
            "q3_h2",
            "hidden state after step 2",
            "1 * math.tanh(0.35)",
            (
                Slip("no-tanh", "0.35", NO_TANH),
                Slip("sigmoid", "1 / (1 + math.exp(-0.35))", "It is tanh that squashes the cell."),
            ),
        ),
        Answer(
            "q3_c3",
            "cell after step 3",
            "0 * 0.35 + 1 * -0.6",
            (
                Slip("f-keeps", "0.35 - 0.6", "What does f = 0 make of the old cell?"),
                Slip("gates-swapped", "0.35", SWAPPED),
            ),
        ),
        Answer(
            "q3_h3",
            "hidden state after step 3",
            "0.5 * math.tanh(-0.6)",
            (
                Slip("no-tanh", "0.5 * -0.6", NO_TANH),
                Slip("no-output-gate", "math.tanh(-0.6)", NO_OUTPUT),
                Slip(
                    "o-inside", "math.tanh(0.5 * -0.6)", "The output gate stands before the tanh."
                ),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q3_gates",
            "Say in words what $f = 1, i = 0$ does to a cell, what $f = 0$ does, and whether "
            "anything is lost while $o = 0$. Who reads the hidden state that $o$ lets through?",
            "With f = 1 and i = 0 the cell is copied as it is, and its gradient with it: that is "
            "remembering. f = 0 erases it, whatever it held; the new cell depends on i · g alone, "
            "and no gradient passes. The hidden state is read by what stands above the layer in "
            "this step, and by all gates of the layer in the next one. With o = 0 both see "
            "nothing of the unit, but the cell goes on unchanged, and a later o can show it: "
            "nothing is lost.",
            (
                "Copying, erasing, hiding without loss, and a reader of h, each in words of one's "
                "own.",
                "One of the four is missing or wrong.",
                "Two or more are missing or wrong, or the equations are only repeated.",
            ),
        ),
    ),
)

REMAINS = Question(
    id="q4",
    title="What remains of a cell",
    prompt=r"""
Ignore that the gates depend on earlier states. Then $\partial c_t/\partial c_{t-k}$ follows from
$c_t = f_t c_{t-1} + i_t g_t$ alone.

- `q4_product`: $\partial c_4/\partial c_0$ for $f_1, \dots, f_4 = 0.9,\ 0.8,\ 1,\ 0.5$.
- `q4_power`: $\partial c_{40}/\partial c_0$ if each forget gate is 0.97.
- `q4_bias`: the bias $b$ for which a forget gate is $\sigma(b) = 0.97$ when all else in it is 0.
  As in question 1, $\sigma$ is made with $e$, so logarithms are natural.
- `q4_rnn`: for comparison $\partial h_{40}/\partial h_0$ of $h_t = \tanh(h_{t-1} + x_t)$, if the
  inputs happen to make each state from $h_1$ on 0.6. Python writes very small numbers as `1.2e-5`.
""",
    answers=(
        Answer(
            "q4_product",
            "∂c_4/∂c_0",
            "0.9 * 0.8 * 1 * 0.5",
            (
                Slip("mean", "0.8", "Do the gates of four steps average?"),
                Slip("sum", "3.2", "Do the factors of a chain rule add up?"),
                Slip("last-gate", "0.5", "That is one step; there are four."),
                Slip("a-step-too-few", "0.9 * 0.8 * 1", ONE_STEP_FEW),
            ),
        ),
        Answer(
            "q4_power",
            "∂c_40/∂c_0",
            "0.97**40",
            (
                Slip("a-step-too-few", "0.97**39", ONE_STEP_FEW),
                Slip("a-step-too-many", "0.97**41", ONE_STEP_FEW),
                Slip("one-step", "0.97", "That is one step; there are forty."),
                Slip("linear", "1 - 40 * 0.03", "Does each step take the same away, or a share?"),
                Slip("sum", "40 * 0.97", "Do the factors of a chain rule add up?"),
            ),
        ),
        Answer(
            "q4_bias",
            "bias b",
            "math.log(0.97 / 0.03)",
            (
                Slip("sigmoid-again", "1 / (1 + math.exp(-0.97))", "σ(b) is given. What is b?"),
                Slip("log-alone", "math.log(0.97)", "Solve 1/(1 + exp(−b)) = 0.97 for b."),
                Slip("sign", "math.log(0.03 / 0.97)", "With that bias, is the gate open or shut?"),
                Slip("log10", "math.log10(0.97 / 0.03)", "The sigmoid is made of powers of e."),
                Slip("inverse-tanh", "math.atanh(0.97)", "A gate is a sigmoid, not a tanh."),
            ),
        ),
        Answer(
            "q4_rnn",
            "∂h_40/∂h_0",
            "(1 - 0.6**2) ** 40",
            (
                Slip("sigmoid-slope", "(0.6 * 0.4) ** 40", "The slope of tanh is 1 − tanh²."),
                Slip("not-squared", "0.4**40", "The slope of tanh is 1 − tanh²: squared."),
                Slip("value-for-slope", "0.6**40", "That multiplies values; wanted are slopes."),
                Slip("one-step", "0.64", "That is one step; there are forty."),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q4_why",
            "Compare the two products for a whole layer: what does the LSTM's consist of, what the "
            "RNN's, and who decides how large the factors are?",
            "For the LSTM it is a product of diagonal matrices, the forget gates: each unit has a "
            "path of its own, without a weight matrix and without the slope of a squashing "
            "function, so a gate of 1 carries the gradient unharmed. The RNN multiplies by the "
            "same full matrix at each step, whose singular values (for many steps, its spectral "
            "radius) decide for all units alike, times the slopes. These do depend on state and "
            "input, but are at most 1 and can only shrink it. The gates are computed from input "
            "and state: the network itself chooses, for each unit and each moment, what to keep.",
            (
                "Diagonal against a full matrix with slopes, and that the network chooses the "
                "gates by input and time, while the RNN has the same matrix at every step. "
                "Eigenvalues in the place of singular values are fine.",
                "One of the two, the diagonal or the choosing, is missing.",
                "Neither, or only that the LSTM is better.",
            ),
        ),
    ),
)

TWO_BIASES = "That counts two biases a gate, as torch has them. Here each gate has one."
ONE_BIAS = "That counts one bias a gate. torch keeps two vectors, bias_ih and bias_hh."
NO_BIAS = "Where are the biases?"
NO_RECURRENT = "A gate reads the last hidden state, too: where is that matrix?"
SIZES_SWAPPED = "Which size is a gate's output: that of the input, or of the hidden state?"


def _slips(gates: int) -> tuple[Slip, ...]:
    """Return what becomes of a count with one bias a gate, for d = 50 and h = 80."""
    return (
        Slip("two-biases", f"{gates} * 80 * (50 + 80 + 2)", TWO_BIASES),
        Slip("no-biases", f"{gates} * 80 * (50 + 80)", NO_BIAS),
        Slip("no-recurrence", f"{gates} * 80 * (50 + 1)", NO_RECURRENT),
        Slip("sizes-swapped", f"{gates} * 50 * (50 + 80 + 1)", SIZES_SWAPPED),
    )


HOW_MANY = "Count the affine maps: each gate and each candidate is one."

PARAMETERS = Question(
    id="q5",
    title="Counting parameters",
    prompt=r"""
A recurrent layer has inputs of size $d = 50$ and hidden states of size $h = 80$. Each gate and each
candidate is one affine map of input and last hidden state. A plain RNN has one such map; a GRU has
two gates and one candidate.

- `q5_rnn`, `q5_gru`, `q5_lstm`: the parameters of a plain RNN, a GRU and an LSTM layer, if each map
  has **one** bias vector.
- `q5_torch`: the parameters of `torch.nn.LSTMCell(50, 80)`, with the biases that **torch** gives
  it.
""",
    answers=(
        Answer("q5_rnn", "parameters of the RNN", "80 * (50 + 80 + 1)", _slips(1)),
        Answer(
            "q5_gru",
            "parameters of the GRU",
            "3 * 80 * (50 + 80 + 1)",
            (
                *_slips(3),
                Slip("number-of-gates", "2 * 80 * (50 + 80 + 1)", HOW_MANY),
                Slip("number-of-gates", "4 * 80 * (50 + 80 + 1)", HOW_MANY),
            ),
        ),
        Answer(
            "q5_lstm",
            "parameters of the LSTM",
            "4 * 80 * (50 + 80 + 1)",
            (*_slips(4), Slip("number-of-gates", "3 * 80 * (50 + 80 + 1)", HOW_MANY)),
        ),
        Answer(
            "q5_torch",
            "parameters of torch's LSTM cell",
            "4 * 80 * (50 + 80 + 2)",
            (
                Slip("one-bias", "4 * 80 * (50 + 80 + 1)", ONE_BIAS),
                Slip("no-biases", "4 * 80 * (50 + 80)", NO_BIAS),
            ),
        ),
    ),
    reasoning=(
        Reasoning(
            "q5_formulas",
            "Write the three numbers as formulas in $d$ and $h$, and say where each term comes "
            "from. By what factor do they grow, roughly, when both $d$ and $h$ double?",
            "RNN h(d + h + 1), GRU 3h(d + h + 1), LSTM 4h(d + h + 1): for each affine map a matrix "
            "of h × d for the input, one of h × h for the last hidden state, and h biases. The RNN "
            "has one such map; the GRU has three, two gates and a candidate; the LSTM four, three "
            "gates and a candidate. The matrices grow as the product of two sizes, so about by 4; "
            "the biases only double, and hardly matter.",
            (
                "Three right formulas, the number of maps explained, and the growth by 4.",
                "The formulas are right, but terms or growth are not explained; or one formula "
                "has a slip, and all else is right.",
                "More than one formula is wrong.",
            ),
        ),
    ),
)

QUESTIONS = (GRADIENT, CLIPPING, GATES, REMAINS, PARAMETERS)
