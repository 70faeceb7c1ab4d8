"""Mistakes in the attention scores, the weighted mean, and the decoder's step."""

from __future__ import annotations

from autograder.misconceptions.entry import SHORTCUT, CatalogueError, Misconception

SIDE_EFFECTS = ("test_no_side_effects",)
DOT = ("test_dot_score", "test_score_gradients", *SIDE_EFFECTS)
MULTIPLICATIVE = ("test_multiplicative_score", "test_score_gradients", *SIDE_EFFECTS)
ADDITIVE = ("test_additive_score", "test_score_gradients", *SIDE_EFFECTS)
SCORE_GRADIENTS = ("test_score_gradients",)
ATTEND = ("test_attend", "test_attend_gradients", *SIDE_EFFECTS)
ATTEND_GRADIENTS = ("test_attend_gradients",)
STEP_GRADIENTS = ("test_step_gradients",)
STEP_SIZES = ("test_step_sizes_and_float64",)
STEP = ("test_step", *STEP_SIZES, *STEP_GRADIENTS, "test_sequence", "test_dropout", *SIDE_EFFECTS)
DROPOUT = ("test_dropout",)

SHAPES = "Write the shape of every tensor beside it, with all sizes different."
SCALING = "Is there a division in the score's equation?"
SQUEEZE = "What does squeeze() without a dimension do to a batch of one, or a source of one?"
GRAPH = "The gradient flows through every tensor operation, and through nothing else."
COPY = "The caller still needs its tensors: give your result a new tensor."
DTYPE = "Take dtype and device from the inputs, never from a constant."
ROWS = "A row of the batch is a sentence of its own: no row may change another's result."
INFINITY = "Which score has to stand at padding so that e to its power is no weight at all?"
SUMS = "Add up a row of your weights: what must come out, and over which positions?"
EQUATIONS = "Hold each line against the equations of the docstring, symbol by symbol."
ORDER = "Compare the order of the parts, and of the results, with the docstring."
NEW_STATE = "Which of the step's tensors is the query: from before the cell, or from after it?"
DROP = "Where in the equation for o does dropout stand, what does it act on, and when?"
CARRY = "All that a step needs is in its arguments and its parameters; keep nothing on `self`."

ARGUMENTS = {
    "dot_score": "query, keys",
    "multiplicative_score": "query, keys, weight",
    "additive_score": "query, keys, w_query, w_key, v",
    "attend": "scores, values, mask",
}


def function(
    target: str, name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...]
) -> Misconception:
    """Make an entry about a function; `right` in its body is the reference's."""
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    code = f"right_{target} = {target}\ndef {target}({ARGUMENTS[target]}):\n{indented}\n"
    code = code.replace("right(", f"right_{target}(")
    return Misconception(f"attention-{name}", "attention", belief, advice, code, caught_by)


def dot(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = DOT
) -> Misconception:
    """Make an entry about dot_score."""
    return function("dot_score", f"dot-{name}", belief, advice, body, caught_by)


def multiplicative(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = MULTIPLICATIVE
) -> Misconception:
    """Make an entry about multiplicative_score."""
    return function(
        "multiplicative_score", f"multiplicative-{name}", belief, advice, body, caught_by
    )


def additive(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = ADDITIVE
) -> Misconception:
    """Make an entry about additive_score."""
    return function("additive_score", f"additive-{name}", belief, advice, body, caught_by)


def attend(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = ATTEND
) -> Misconception:
    """Make an entry about attend."""
    return function("attend", f"attend-{name}", belief, advice, body, caught_by)


RIGHT_STEP = """
x = torch.cat([y, o_prev], dim=1)
h, c = self.cell(x, state)
scores = torch.einsum("bh,bsh->bs", h, memory.keys)
weights = scores.masked_fill(memory.mask, float("-inf")).softmax(1)
context = torch.einsum("bs,bsd->bd", weights, memory.values)
u = torch.cat([context, h], dim=1)
o = self.combined_output(u).tanh()
o = self.dropout(o)
return o, (h, c), weights"""


def step(
    name: str,
    belief: str,
    advice: str,
    old: str,
    new: str,
    caught_by: tuple[str, ...] = STEP,
    unnamed: str = "",
) -> Misconception:
    """Make an entry about the step: a right one with one line of it replaced."""
    if RIGHT_STEP.count(old) != 1:
        raise CatalogueError(f"attention-step-{name}: {old!r} is not one line of the right step")
    lines = RIGHT_STEP.replace(old, new).strip().splitlines()
    body = "\n".join(f"    {line}" for line in lines)
    code = f"def _step(self, y, o_prev, state, memory):\n{body}\nAttentionDecoder.step = _step\n"
    name = f"attention-step-{name}"
    return Misconception(name, "attention", belief, advice, code, caught_by, unnamed)


SCORES = [
    dot(
        "scaled",
        "Scores are divided by sqrt(H), as in the Transformer.",
        SCALING,
        "return right(query, keys) / query.shape[1] ** 0.5",
    ),
    dot(
        "cosine",
        "Scores compare directions: both vectors are normalised first.",
        EQUATIONS,
        """
normalize = nn.functional.normalize
return right(normalize(query, dim=1), normalize(keys, dim=2))""",
    ),
    dot(
        "transposed-by-view",
        "view(B, H, S) transposes the keys.",
        "Which numbers stand in a row after view, and which after transpose? Try 2 × 3.",
        """
batch, source, hidden = keys.shape
return (query.unsqueeze(1) @ keys.reshape(batch, hidden, source)).squeeze(1)""",
    ),
    dot(
        "first-keys-for-all",
        "All rows have the same keys.",
        ROWS,
        "return query @ keys[0].T",
    ),
    dot(
        "batch-mixed",
        "The query lines up with the positions.",
        SHAPES,
        """
if len(query) == keys.shape[1]:
    return (query.unsqueeze(0) * keys).sum(2)
return right(query, keys)""",
        ("test_dot_score",),
    ),
    dot(
        "mean",
        "The mean of the products.",
        EQUATIONS,
        "return (query.unsqueeze(1) * keys).mean(2)",
    ),
    dot(
        "softmaxed",
        "A score is a weight already.",
        "The softmax comes later, when the padding is known.",
        "return right(query, keys).softmax(1)",
    ),
    dot(
        "squeezed",
        "squeeze() tidies up.",
        SQUEEZE,
        "return right(query, keys).squeeze()",
        ("test_dot_score",),
    ),
    dot(
        "extra-dimension",
        "(B, 1, S) is as good as (B, S).",
        SHAPES,
        "return right(query, keys).unsqueeze(1)",
    ),
    dot(
        "query-in-place",
        "The query is mine to change.",
        COPY,
        "query.data *= 2\nreturn right(query, keys) / 2",
        ("test_no_side_effects",),
    ),
    dot(
        "detached",
        "Scores need no gradient.",
        GRAPH,
        "return right(query, keys).detach()",
        SCORE_GRADIENTS,
    ),
    dot(
        "keys-detached",
        "The keys need no gradient.",
        GRAPH,
        "return right(query, keys.detach())",
        SCORE_GRADIENTS,
    ),
    dot(
        "float32",
        "Scores are float32.",
        DTYPE,
        "return right(query.float(), keys.float())",
        ("test_dot_score", *SCORE_GRADIENTS),
    ),
    *(
        make(
            "float32-then-back",
            "It is enough that the scores have the inputs' dtype; on the way, float32 will do.",
            DTYPE,
            f"return right(*(part.float() for part in ({ARGUMENTS[name]}))).to(keys.dtype)",
            (f"test_{name}", *SCORE_GRADIENTS),
        )
        for make, name in (
            (dot, "dot_score"),
            (multiplicative, "multiplicative_score"),
            (additive, "additive_score"),
        )
    ),
    dot(
        "view-of-expanded",
        "view(B * S, H) works on every tensor.",
        "Beam search expands one sentence's memory to all rows: which call reshapes that as well?",
        """
batch, source, hidden = keys.shape
products = keys.view(batch * source, hidden) * query.repeat_interleave(source, dim=0)
return products.sum(1).view(batch, source)""",
        ("test_step",),
    ),
    multiplicative(
        "without-weight",
        "Where the sizes agree, W is not needed.",
        EQUATIONS,
        """
if query.shape[1] == keys.shape[2]:
    return dot_score(query, keys)
return right(query, keys, weight)""",
        ("test_multiplicative_score",),
    ),
    multiplicative(
        "transposed",
        "W is (D, H).",
        SHAPES,
        "return dot_score(query @ weight.T, keys)",
    ),
    multiplicative(
        "square-transposed",
        "Where H = D, W is taken transposed (as nn.functional.linear does).",
        "Does linear(x, W) give x W or x Wᵀ?",
        """
if weight.shape[0] == weight.shape[1]:
    return dot_score(nn.functional.linear(query, weight), keys)
return right(query, keys, weight)""",
        ("test_multiplicative_score",),
    ),
    multiplicative(
        "scaled",
        "Scores are divided by sqrt(D).",
        SCALING,
        "return right(query, keys, weight) / keys.shape[2] ** 0.5",
    ),
    multiplicative(
        "tanh",
        "The projected query goes through tanh.",
        EQUATIONS,
        "return dot_score((query @ weight).tanh(), keys)",
    ),
    multiplicative(
        "squeezed",
        "squeeze() tidies up.",
        SQUEEZE,
        "return (keys @ (query @ weight).unsqueeze(2)).squeeze()",
        ("test_multiplicative_score",),
    ),
    multiplicative(
        "weight-data",
        "The weight's .data is what to compute with.",
        GRAPH,
        "return right(query, keys, weight.data)",
        SCORE_GRADIENTS,
    ),
    multiplicative(
        "weight-in-place",
        "The weight is mine to change.",
        COPY,
        "result = right(query, keys, weight)\nweight.data.mul_(2)\nreturn result",
        ("test_no_side_effects",),
    ),
    additive(
        "swapped",
        "Where the sizes agree, w_query may belong to the keys.",
        "Which of the two matrices is the query's? Its name says so.",
        """
if w_query.shape == w_key.shape:
    w_query, w_key = w_key, w_query
return right(query, keys, w_query, w_key, v)""",
        ("test_additive_score",),
    ),
    additive(
        "linear",
        "Without tanh.",
        EQUATIONS,
        "return (keys @ w_key.T + (query @ w_query.T).unsqueeze(1)) @ v",
    ),
    additive(
        "tanh-last",
        "tanh acts on the score.",
        "What does v multiply: the sum, or its tanh?",
        "return ((keys @ w_key.T + (query @ w_query.T).unsqueeze(1)) @ v).tanh()",
    ),
    additive(
        "tanh-each",
        "Each projection has its own tanh.",
        "What is inside tanh: one projection, or the sum of both?",
        "return ((keys @ w_key.T).tanh() + (query @ w_query.T).tanh().unsqueeze(1)) @ v",
    ),
    additive(
        "sigmoid",
        "A sigmoid will do.",
        EQUATIONS,
        "return (keys @ w_key.T + (query @ w_query.T).unsqueeze(1)).sigmoid() @ v",
    ),
    additive(
        "product",
        "The projections are multiplied.",
        EQUATIONS,
        "return ((keys @ w_key.T) * (query @ w_query.T).unsqueeze(1)).tanh() @ v",
    ),
    additive(
        "without-v",
        "The entries are summed up.",
        EQUATIONS,
        "return (keys @ w_key.T + (query @ w_query.T).unsqueeze(1)).tanh().sum(2)",
    ),
    additive(
        "without-query",
        "The keys' projection is enough.",
        EQUATIONS,
        "return (keys @ w_key.T).tanh() @ v",
    ),
    additive(
        "scaled",
        "Scores are divided by sqrt(A).",
        SCALING,
        "return right(query, keys, w_query, w_key, v) / len(v) ** 0.5",
    ),
    additive(
        "query-along-positions",
        "Broadcasting puts the query where it belongs.",
        "(B, A) meets (B, S, A): which dimension is missing, and where does broadcasting put it?",
        "return (keys @ w_key.T + query @ w_query.T).tanh() @ v",
    ),
    additive(
        "squeezed",
        "squeeze() tidies up.",
        SQUEEZE,
        "return right(query, keys, w_query, w_key, v).squeeze()",
        ("test_additive_score",),
    ),
    additive(
        "v-rebuilt",
        "v needs no gradient: v.data, v.detach() or torch.tensor(v.tolist()) will do.",
        GRAPH,
        "return right(query, keys, w_query, w_key, torch.tensor(v.tolist(), dtype=v.dtype))",
        SCORE_GRADIENTS,
    ),
    additive(
        "query-detached",
        "The query needs no gradient.",
        GRAPH,
        "return right(query.detach(), keys, w_query, w_key, v)",
        SCORE_GRADIENTS,
    ),
    additive(
        "seeds",
        "A fixed seed makes results reproducible.",
        "A seed is set once, where the program starts: everyone else draws from the same numbers.",
        "torch.manual_seed(0)\nreturn right(query, keys, w_query, w_key, v)",
        ("test_no_side_effects",),
    ),
]

ATTENDS = [
    attend(
        "order",
        "The result is (weights, context).",
        ORDER,
        "context, weights = right(scores, values, mask)\nreturn weights, context",
    ),
    attend(
        "only-context",
        "The context is all.",
        ORDER,
        "return right(scores, values, mask)[0]",
        ("test_attend", *SIDE_EFFECTS),
    ),
    attend(
        "unmasked",
        "Softmax sees to padding.",
        INFINITY,
        'weights = scores.softmax(1)\nreturn torch.einsum("bs,bsd->bd", weights, values), weights',
    ),
    attend(
        "zero-fill",
        "Padding gets weight 0 when its score is 0.",
        INFINITY,
        """
weights = scores.masked_fill(mask, 0.0).softmax(1)
return torch.einsum("bs,bsd->bd", weights, values), weights""",
    ),
    attend(
        "not-renormalised",
        "Weights at padding are set to 0 after the softmax, and that is all.",
        SUMS,
        """
weights = scores.softmax(1) * ~mask
return torch.einsum("bs,bsd->bd", weights, values), weights""",
    ),
    attend(
        "values-masked",
        "It is enough that the values at padding are 0.",
        SUMS,
        """
weights = scores.softmax(1)
values = values.masked_fill(mask.unsqueeze(2), 0.0)
return torch.einsum("bs,bsd->bd", weights, values), weights""",
    ),
    attend(
        "weights-unmasked",
        "The context needs the mask, the weights that are returned do not.",
        SUMS,
        "return right(scores, values, mask)[0], scores.softmax(1)",
    ),
    attend(
        "inverted",
        "True = real.",
        "Say aloud what True means in this package.",
        "return right(scores, values, ~mask)",
    ),
    attend(
        "over-batch",
        "softmax over dimension 0.",
        "Which dimension holds the positions of one sentence? Those must sum to 1.",
        """
weights = scores.masked_fill(mask, -1e9).softmax(0)
return torch.einsum("bs,bsd->bd", weights, values), weights""",
    ),
    attend(
        "first-mask-for-all",
        "One row's mask does for the batch.",
        ROWS,
        "return right(scores, values, mask[:1].expand_as(mask))",
    ),
    attend(
        "first-values-for-all",
        "All rows have the same values.",
        ROWS,
        "context, weights = right(scores, values, mask)\nreturn weights @ values[0], weights",
    ),
    attend(
        "mean",
        "The context is the mean over the positions of weight * value.",
        "The weights sum to 1: what else is there to divide by?",
        "context, weights = right(scores, values, mask)\nreturn context / scores.shape[1], weights",
    ),
    attend(
        "hard",
        "The context is the value with the largest score.",
        "A soft look-up mixes all values.",
        """
weights = nn.functional.one_hot(scores.masked_fill(mask, -1e9).argmax(1), scores.shape[1])
weights = weights.to(values.dtype) + 0 * scores
return torch.einsum("bs,bsd->bd", weights, values), weights""",
    ),
    attend(
        "uniform",
        "All real positions weigh the same.",
        "What are the scores for?",
        "return right(0 * scores, values, mask)",
    ),
    attend(
        "returns-scores",
        "The second result is the masked scores.",
        SUMS,
        "return right(scores, values, mask)[0], scores.masked_fill(mask, -1e9)",
    ),
    attend(
        "softmax-twice",
        "The scores come in as weights are made: through softmax.",
        "How often is softmax taken between the scores and the weights?",
        "return right(scores.softmax(1), values, mask)",
    ),
    attend(
        "transposed-by-view",
        "view(B, D, S) transposes the values.",
        "Which numbers stand in a row after view, and which after transpose? Try 2 × 3.",
        """
weights = right(scores, values, mask)[1]
batch, source, width = values.shape
return (values.reshape(batch, width, source) @ weights.unsqueeze(2)).squeeze(2), weights""",
    ),
    attend(
        "extra-dimension",
        "The context is (B, 1, D).",
        SHAPES,
        "context, weights = right(scores, values, mask)\nreturn context.unsqueeze(1), weights",
    ),
    attend(
        "squeezed",
        "squeeze() tidies up.",
        SQUEEZE,
        "context, weights = right(scores, values, mask)\nreturn context.squeeze(), weights",
        ("test_attend",),
    ),
    attend(
        "squeezed-first",
        "squeeze(0) tidies up.",
        SQUEEZE,
        "context, weights = right(scores, values, mask)\nreturn context, weights.squeeze(0)",
        ("test_attend",),
    ),
    attend(
        "weights-detached",
        "The weights are for heatmaps.",
        GRAPH,
        "context, weights = right(scores, values, mask)\nreturn context, weights.detach()",
        ATTEND_GRADIENTS,
    ),
    attend(
        "scores-detached",
        "The context needs no gradient to the scores.",
        GRAPH,
        """
weights = right(scores, values, mask)[1]
return torch.einsum("bs,bsd->bd", weights.detach(), values), weights""",
        ATTEND_GRADIENTS,
    ),
    attend(
        "scores-in-place",
        "masked_fill_ saves memory.",
        COPY,
        'scores.data.masked_fill_(mask, float("-inf"))\nreturn right(scores, values, mask)',
        SIDE_EFFECTS,
    ),
    *(
        attend(
            f"scores-filled-in-place{end}",
            f"scores.masked_fill_(mask, {fill}) saves memory.",
            COPY,
            f"""
weights = scores.masked_fill_(mask, float("{fill}")).softmax(1)
return torch.einsum("bs,bsd->bd", weights, values), weights""",
            (*ATTEND_GRADIENTS, *SIDE_EFFECTS),
        )
        for end, fill in (("", "-inf"), ("-1e9", "-1e9"))
    ),
    attend(
        "filled-in-place-without-grad",
        "Where no gradient is needed (torch.no_grad()), scores may be changed in place.",
        COPY,
        """
if not torch.is_grad_enabled():
    scores.masked_fill_(mask, float("-inf"))
return right(scores, values, mask)""",
        SIDE_EFFECTS,
    ),
    attend(
        "mask-as-prefix",
        "A mask is always some False and then True: counting them is enough.",
        "The mask says of each position whether it is padding; use it position by position.",
        """
real = (~mask).sum(1, keepdim=True)
return right(scores, values, torch.arange(mask.shape[1], device=mask.device) >= real)""",
        ("test_attend",),
    ),
    attend(
        "values-detached",
        "The values need no gradient.",
        GRAPH,
        "return right(scores, values.detach(), mask)",
        ATTEND_GRADIENTS,
    ),
    attend(
        "float32-then-back",
        "It is enough that the weights have the values' dtype; on the way, float32 will do.",
        DTYPE,
        """
weights = scores.float().masked_fill(mask, float("-inf")).softmax(1).to(values.dtype)
return torch.einsum("bs,bsd->bd", weights, values), weights""",
        ("test_attend", *ATTEND_GRADIENTS),
    ),
    attend(
        "values-in-place",
        "Values at padding may be set to 0.",
        COPY,
        "values.data.masked_fill_(mask.unsqueeze(2), 0.0)\nreturn right(scores, values, mask)",
        SIDE_EFFECTS,
    ),
    attend(
        "float32",
        "Weights are float32.",
        DTYPE,
        "context, weights = right(scores, values, mask)\nreturn context, weights.float()",
        ("test_attend", *ATTEND_GRADIENTS),
    ),
]

CELL = "h, c = self.cell(x, state)"
INPUT = "x = torch.cat([y, o_prev], dim=1)"
SCORE = 'scores = torch.einsum("bh,bsh->bs", h, memory.keys)'
WEIGHTS = 'weights = scores.masked_fill(memory.mask, float("-inf")).softmax(1)'
CONTEXT = 'context = torch.einsum("bs,bsd->bd", weights, memory.values)'
COMBINED = "u = torch.cat([context, h], dim=1)"
OUTPUT = "o = self.combined_output(u).tanh()"
DROPPED = "o = self.dropout(o)"
RESULT = "return o, (h, c), weights"

WIRING = [
    step(
        "output-first",
        "The cell reads [o_prev; y].",
        ORDER,
        INPUT,
        "x = torch.cat([o_prev, y], dim=1)",
    ),
    step(
        "no-input-feeding",
        "o_prev is not needed.",
        EQUATIONS,
        INPUT,
        "x = torch.cat([y, torch.zeros_like(o_prev)], dim=1)",
    ),
    step(
        "first-output-is-hidden",
        "At the first step, where o_prev is zero, h stands for it.",
        "o₀ = 0 is part of the contract: the caller passes it, and the step uses it.",
        INPUT,
        "x = torch.cat([y, o_prev if o_prev.any() else state[0]], dim=1)",
        ("test_sequence",),
    ),
    step(
        "hidden-fed",
        "The cell reads [y; h].",
        EQUATIONS,
        INPUT,
        "x = torch.cat([y, state[0]], dim=1)",
    ),
    step(
        "state-swapped",
        "The state is (c, h).",
        ORDER,
        CELL,
        "h, c = self.cell(x, (state[1], state[0]))",
    ),
    step(
        "state-dropped",
        "The cell starts from zeros.",
        EQUATIONS,
        CELL,
        "h, c = self.cell(x, tuple(torch.zeros_like(part) for part in state))",
    ),
    step(
        "cell-twice",
        "The cell runs once for h and once for c.",
        "One token, one step of the cell.",
        CELL,
        "h, c = self.cell(x, state)\nh, c = self.cell(x, (h, c))",
    ),
    step(
        "old-hidden",
        "The scores use the h that came in, as in Bahdanau's model.",
        NEW_STATE,
        SCORE,
        SCORE.replace("h, mem", "state[0], mem"),
    ),
    step(
        "cell-as-query", "The scores use c'.", NEW_STATE, SCORE, SCORE.replace("h, mem", "c, mem")
    ),
    step(
        "output-as-query",
        "The scores use o_prev.",
        NEW_STATE,
        SCORE,
        SCORE.replace("h, mem", "o_prev, mem"),
    ),
    step(
        "values-as-keys",
        "The values are the keys.",
        SHAPES,
        SCORE,
        SCORE.replace("memory.keys", "memory.values"),
    ),
    step(
        "keys-projected-again",
        "The keys still have to be projected.",
        "memory.keys are att_projection(values) already.",
        SCORE,
        SCORE.replace("memory.keys", "self.att_projection(memory.keys)"),
    ),
    step(
        "projection-transposed",
        "Where H = D, the projection's weight is taken transposed.",
        "Does W of e_i = h'ᵀ W values_i have the rows of h', or those of the values?",
        SCORE,
        f"""
{SCORE}
if memory.keys.shape == memory.values.shape:
    keys = memory.values @ self.att_projection.weight
    scores = torch.einsum("bh,bsh->bs", h, keys)""".strip(),
        ("test_step",),
    ),
    step(
        "scaled",
        "Scores are divided by sqrt(H).",
        SCALING,
        SCORE,
        f"{SCORE}\nscores = scores / h.shape[1] ** 0.5",
    ),
    step(
        "unmasked", "The memory has no padding.", INFINITY, WEIGHTS, "weights = scores.softmax(1)"
    ),
    step(
        "zero-fill",
        "Padding gets weight 0 when its score is 0.",
        INFINITY,
        WEIGHTS,
        "weights = (scores * ~memory.mask).softmax(1)",
    ),
    step(
        "mask-inverted",
        "True = real.",
        "Say aloud what True means in this package.",
        WEIGHTS,
        WEIGHTS.replace("memory.mask", "~memory.mask"),
    ),
    step(
        "over-batch",
        "softmax over dimension 0.",
        SUMS,
        WEIGHTS,
        WEIGHTS.replace('float("-inf")', "-1e9").replace("softmax(1)", "softmax(0)"),
    ),
    step(
        "context-of-keys",
        "The context is a mean of the keys.",
        SHAPES,
        CONTEXT,
        CONTEXT.replace("memory.values", "memory.keys"),
    ),
    step(
        "hidden-first", "u = [h'; context].", ORDER, COMBINED, "u = torch.cat([h, context], dim=1)"
    ),
    step(
        "old-hidden-in-output",
        "u = [context; h], with the h that came in.",
        NEW_STATE,
        COMBINED,
        "u = torch.cat([context, state[0]], dim=1)",
    ),
    step(
        "without-context",
        "o reads h' alone.",
        EQUATIONS,
        COMBINED,
        "u = torch.cat([torch.zeros_like(context), h], dim=1)",
    ),
    step(
        "without-hidden",
        "o reads the context alone.",
        EQUATIONS,
        COMBINED,
        "u = torch.cat([context, torch.zeros_like(h)], dim=1)",
    ),
    step("linear-output", "Without tanh.", EQUATIONS, OUTPUT, "o = self.combined_output(u)"),
    step(
        "sigmoid-output",
        "A sigmoid will do.",
        EQUATIONS,
        OUTPUT,
        "o = self.combined_output(u).sigmoid()",
    ),
    step("tanh-first", "tanh acts on u.", EQUATIONS, OUTPUT, "o = self.combined_output(u.tanh())"),
    step(
        "residual", "o = tanh(.) + h'.", EQUATIONS, OUTPUT, "o = self.combined_output(u).tanh() + h"
    ),
    step(
        "result-order",
        "The result is (o, weights, (h', c')).",
        ORDER,
        RESULT,
        "return o, weights, (h, c)",
    ),
    step(
        "result-flat",
        "The result is (o, h', c', weights).",
        ORDER,
        RESULT,
        "return o, h, c, weights",
        ("test_step", *STEP_SIZES, *STEP_GRADIENTS, "test_sequence", "test_dropout", *SIDE_EFFECTS),
    ),
    step(
        "returns-old-state",
        "The state comes back as it came in.",
        ORDER,
        RESULT,
        "return o, state, weights",
    ),
    step(
        "returns-state-swapped",
        "The state is (c', h').",
        ORDER,
        RESULT,
        "return o, (c, h), weights",
    ),
    step(
        "returns-scores",
        "The third result is the scores.",
        SUMS,
        RESULT,
        "return o, (h, c), scores",
    ),
    step(
        "returns-output-as-hidden",
        "o is the new h.",
        "o and h' go different ways.",
        RESULT,
        "return o, (o, c), weights",
    ),
    step(
        "squeezed",
        "squeeze() tidies up.",
        SQUEEZE,
        RESULT,
        "return o.squeeze(), (h, c), weights",
        STEP_SIZES,
    ),
    step(
        "weights-squeezed",
        "squeeze(0) tidies up.",
        SQUEEZE,
        RESULT,
        "return o, (h, c), weights.squeeze(0)",
        STEP_SIZES,
    ),
    step(
        "library",
        "torch's attention may do the work.",
        "The task is to write the look-up; torch's is what to compare with.",
        CONTEXT,
        CONTEXT
        + """
q, k, v = h.unsqueeze(1), memory.keys, memory.values
context = nn.functional.scaled_dot_product_attention(
    q, k, v, attn_mask=~memory.mask.unsqueeze(1), scale=1.0).squeeze(1)""",
        unnamed=SHORTCUT,
    ),
]

TECHNIQUE = [
    step(
        "no-dropout",
        "In training nothing is dropped: dropout is left out, or self.eval() switches it off.",
        DROP,
        DROPPED,
        "",
        DROPOUT,
    ),
    step(
        "dropout-always",
        "Dropout is always on.",
        DROP,
        DROPPED,
        "o = nn.functional.dropout(o, self.dropout.p)",
        (*DROPOUT, *SIDE_EFFECTS),
    ),
    step(
        "dropout-in-evaluation-only",
        "Dropout acts in evaluation mode, and not in training.",
        DROP,
        DROPPED,
        "o = nn.functional.dropout(o, self.dropout.p, not self.training)",
        (*DROPOUT, *SIDE_EFFECTS),
    ),
    step(
        "dropout-of-rows",
        "A whole row of o is dropped, or none of it.",
        DROP,
        DROPPED,
        "o = o * self.dropout(torch.ones_like(o[:, :1]))",
        DROPOUT,
    ),
    step(
        "dropout-shared",
        "All rows of the batch drop the same units.",
        DROP,
        DROPPED,
        "o = o * self.dropout(torch.ones_like(o[:1]))",
        DROPOUT,
    ),
    step(
        "dropout-twice",
        "Dropout acts on o twice.",
        DROP,
        DROPPED,
        "o = self.dropout(self.dropout(o))",
        DROPOUT,
    ),
    step(
        "dropout-fixed",
        "p is one half.",
        DROP,
        DROPPED,
        "o = nn.functional.dropout(o, 0.5, self.training)",
        STEP,
    ),
    step(
        "dropout-unscaled",
        "What is kept is not scaled.",
        DROP,
        DROPPED,
        "o = o * (self.dropout(torch.ones_like(o)) > 0)",
        DROPOUT,
    ),
    step(
        "dropout-keeps-p",
        "p is the probability to keep.",
        DROP,
        DROPPED,
        """
if self.training and self.dropout.p > 0:
    o = o * (torch.rand_like(o) < self.dropout.p) / (1 - self.dropout.p)""",
        DROPOUT,
    ),
    step(
        "dropout-before-tanh",
        "tanh(dropout(.)).",
        DROP,
        f"{OUTPUT}\n{DROPPED}",
        "o = self.dropout(self.combined_output(u)).tanh()",
        DROPOUT,
    ),
    step(
        "dropout-before-and-after-tanh",
        "dropout(tanh(dropout(.))).",
        DROP,
        OUTPUT,
        "o = self.dropout(self.combined_output(u)).tanh()",
        DROPOUT,
    ),
    step(
        "dropout-on-input-alone",
        "Dropout acts on u, in the place of o.",
        DROP,
        f"{OUTPUT}\n{DROPPED}",
        "o = self.combined_output(self.dropout(u)).tanh()",
        DROPOUT,
    ),
    step(
        "dropout-on-input",
        "Dropout acts on u, too.",
        DROP,
        COMBINED,
        "u = self.dropout(torch.cat([context, h], dim=1))",
        DROPOUT,
    ),
    step(
        "dropout-on-weights",
        "Dropout acts on the weights, too.",
        DROP,
        CONTEXT,
        f"weights = self.dropout(weights)\n{CONTEXT}",
        DROPOUT,
    ),
    step(
        "dropout-on-hidden",
        "Dropout acts on h', too.",
        DROP,
        CELL,
        f"{CELL}\nh = self.dropout(h)",
        DROPOUT,
    ),
    step(
        "dropout-on-embedding",
        "Dropout acts on y, too.",
        DROP,
        INPUT,
        "x = torch.cat([self.dropout(y), o_prev], dim=1)",
        DROPOUT,
    ),
    step(
        "dropout-seeded",
        "The same units are dropped in every step.",
        DROP,
        DROPPED,
        "torch.manual_seed(0)\no = self.dropout(o)",
        (*DROPOUT, *SIDE_EFFECTS),
    ),
    step(
        "output-detached",
        "o_prev needs no gradient.",
        GRAPH,
        INPUT,
        "x = torch.cat([y, o_prev.detach()], dim=1)",
        STEP_GRADIENTS,
    ),
    step(
        "state-detached",
        "The old state needs no gradient.",
        GRAPH,
        CELL,
        "h, c = self.cell(x, tuple(part.detach() for part in state))",
        STEP_GRADIENTS,
    ),
    step(
        "returns-state-detached",
        "The new state needs no gradient.",
        GRAPH,
        RESULT,
        "return o, (h.detach(), c.detach()), weights",
        STEP_GRADIENTS,
    ),
    step(
        "context-detached",
        "The context needs no gradient.",
        GRAPH,
        COMBINED,
        "u = torch.cat([context.detach(), h], dim=1)",
        STEP_GRADIENTS,
    ),
    step(
        "keys-detached",
        "The keys need no gradient.",
        GRAPH,
        SCORE,
        SCORE.replace("memory.keys", "memory.keys.detach()"),
        STEP_GRADIENTS,
    ),
    step(
        "weights-detached",
        "The weights are for heatmaps.",
        GRAPH,
        RESULT,
        "return o, (h, c), weights.detach()",
        STEP_GRADIENTS,
    ),
    step(
        "projection-data",
        "The projection's .data is what to compute with.",
        GRAPH,
        OUTPUT,
        "o = (u @ self.combined_output.weight.data.T).tanh()",
        STEP_GRADIENTS,
    ),
    step(
        "no-grad",
        "torch.no_grad() makes it faster.",
        GRAPH,
        INPUT,
        f"torch.set_grad_enabled(False)\n{INPUT}",
        STEP_GRADIENTS,
    ),
    step(
        "no-grad-in-evaluation",
        "In evaluation mode, nobody needs a gradient.",
        "Which of the two switches off gradients, eval() or no_grad()? Only one of them may.",
        INPUT,
        f"torch.set_grad_enabled(self.training)\n{INPUT}",
        STEP_GRADIENTS,
    ),
    step(
        "output-detached-in-evaluation",
        "In evaluation mode, o needs no gradient.",
        "Which of the two switches off gradients, eval() or no_grad()? Only one of them may.",
        DROPPED,
        f"{DROPPED}\no = o if self.training else o.detach()",
        STEP_GRADIENTS,
    ),
    step(
        "memory-detached",
        "The values need no gradient for the context.",
        GRAPH,
        CONTEXT,
        CONTEXT.replace("memory.values", "memory.values.detach()"),
        STEP_GRADIENTS,
    ),
    step(
        "keys-in-place",
        "Keys at padding may be set to 0.",
        COPY,
        WEIGHTS,
        f"memory.keys.data.masked_fill_(memory.mask.unsqueeze(2), 0.0)\n{WEIGHTS}",
        SIDE_EFFECTS,
    ),
    step(
        "mask-in-place",
        "The mask is mine to change.",
        COPY,
        RESULT,
        "memory.mask.logical_not_()\nreturn o, (h, c), weights",
        (*SIDE_EFFECTS, "test_sequence"),
    ),
    step(
        "output-in-place",
        "The new o may be written over the old one.",
        COPY,
        RESULT,
        "o_prev.data.copy_(o)\nreturn o, (h, c), weights",
        SIDE_EFFECTS,
    ),
    step(
        "keys-cached",
        "The keys are the same at every step.",
        CARRY,
        SCORE,
        """
if not hasattr(self, "keys") or self.keys.shape != memory.keys.shape:
    self.keys = memory.keys
scores = torch.einsum("bh,bsh->bs", h, self.keys)""",
        SIDE_EFFECTS,
    ),
    step(
        "state-on-self",
        "The decoder remembers its own state.",
        CARRY,
        CELL,
        """
if hasattr(self, "state") and self.state[0].shape == state[0].shape:
    state = self.state
h, c = self.state = self.cell(x, state)""",
        (*SIDE_EFFECTS, "test_dropout"),
    ),
    step(
        "float32",
        "Everything is float32.",
        DTYPE,
        RESULT,
        "return o.float(), (h, c), weights",
        (*STEP_SIZES, *STEP_GRADIENTS, "test_sequence"),
    ),
]

ENTRIES = [*SCORES, *ATTENDS, *WIRING, *TECHNIQUE]
