"""Mistakes in the LSTM cell."""

from __future__ import annotations

from autograder.misconceptions.entry import SHORTCUT, Misconception

VALUES = ("test_step", "test_sizes_and_float64", "test_sequence", "test_gradients")
ALL = (*VALUES, "test_no_side_effects", "test_parameters")
SIDE_EFFECTS = ("test_no_side_effects",)
GRADIENTS = ("test_gradients",)
IN_PLACE = (*SIDE_EFFECTS, *GRADIENTS)  # autograd refuses to change a leaf, too

ORDER = "Compare the order of the rows in the class's docstring with the order you split in."
SHAPES = "Write the shape of every tensor beside it, with B, I and H all different."
EQUATIONS = "Hold each line against the six equations of the docstring, symbol by symbol."
GATE = "A gate is a share between 0 and 1: which squashing function has that range?"
GRAPH = "The gradient flows through every tensor operation, and through nothing else."
COPY = "The caller still needs its tensors: give your result a new tensor."
CARRY = "All that a step needs is in its arguments and its parameters; keep nothing on `self`."


def forward(body: str) -> str:
    """Return an override of `forward`; the body starts from h, c and the raw gates."""
    return plain(f"""
h, c = state
gates = x @ self.weight_ih.T + self.bias_ih + h @ self.weight_hh.T + self.bias_hh
i, f, g, o = gates.chunk(4, dim=1)
{body.strip()}""")


def squashed(body: str) -> str:
    """Return an override of `forward`; the body starts from h, c and the squashed gates."""
    return forward(f"i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()\n{body.strip()}")


def then(body: str) -> str:
    """Return an override that runs the right `forward` somewhere in its body, as `right`."""
    return f"right = LSTMCell.forward\n{plain(body)}"


def plain(body: str) -> str:
    """Return an override of `forward` with this whole body."""
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"def _forward(self, x, state):\n{indented}\nLSTMCell.forward = _forward\n"


def entry(
    name: str,
    belief: str,
    advice: str,
    override: str,
    caught_by: tuple[str, ...] = VALUES,
    unnamed: str = "",
) -> Misconception:
    """Make an entry of this task."""
    return Misconception(f"lstm-{name}", "lstm", belief, advice, override, caught_by, unnamed)


SPLITTING = [
    entry(
        "order-ifog",
        "The rows of the weights belong to the gates i, f, o, g in this order.",
        ORDER,
        squashed("""
i, f, o, g = gates.chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "order-figo",
        "The forget gate comes first; or: i keeps the old cell, and f lets the candidate in.",
        ORDER,
        forward("""
f, i, g, o = gates.chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "interleaved",
        "The four gates of a unit stand beside each other: view(B, H, 4).",
        "The first H rows all belong to the input gate: which view keeps them together?",
        forward("""
i, f, g, o = gates.view(len(x), -1, 4).unbind(2)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "candidate-from-output",
        "The candidate g reads the rows of the output gate (a copied line).",
        ORDER,
        squashed("""
g = gates.chunk(4, dim=1)[3].tanh()
c = f * c + i * g
return o * c.tanh(), c"""),
    ),
    entry(
        "shared-gates",
        "All four gates use the same rows of the weights.",
        ORDER,
        forward("""
f = g = o = i
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "gates-along-batch",
        "chunk splits dimension 0.",
        SHAPES,
        forward("""
i, f, g, o = gates.chunk(4, dim=0)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
]

ACTIVATIONS = [
    entry(
        "linear-candidate",
        "The candidate g needs no tanh.",
        EQUATIONS,
        squashed("c = f * c + i * gates.chunk(4, dim=1)[2]\nreturn o * c.tanh(), c"),
    ),
    entry(
        "sigmoid-candidate",
        "All four parts go through a sigmoid.",
        EQUATIONS,
        forward("""
i, f, g, o = gates.sigmoid().chunk(4, dim=1)
c = f * c + i * g
return o * c.tanh(), c"""),
    ),
    entry(
        "tanh-input-gate",
        "The input gate goes through tanh.",
        GATE,
        forward("""
c = f.sigmoid() * c + i.tanh() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "tanh-output-gate",
        "The output gate goes through tanh.",
        GATE,
        forward("""
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.tanh() * c.tanh(), c"""),
    ),
    entry(
        "linear-gates",
        "The gates i, f and o need no squashing.",
        GATE,
        forward("c = f * c + i * g.tanh()\nreturn o * c.tanh(), c"),
    ),
    entry(
        "double-sigmoid",
        "The output gate goes through the sigmoid a second time where it is used.",
        "Follow o from where it is made to where it is used: how often is it squashed?",
        squashed("c = f * c + i * g\nreturn o.sigmoid() * c.tanh(), c"),
    ),
    entry(
        "sigmoid-cell",
        "h' = o * sigmoid(c').",
        EQUATIONS,
        squashed("c = f * c + i * g\nreturn o * c.sigmoid(), c"),
    ),
    entry(
        "linear-cell",
        "h' = o * c', without tanh.",
        EQUATIONS,
        squashed("c = f * c + i * g\nreturn o * c, c"),
    ),
    entry(
        "softmax-gates",
        "The gates compete: a softmax over the units.",
        GATE,
        forward("""
c = f.softmax(1) * c + i.softmax(1) * g.tanh()
return o.softmax(1) * c.tanh(), c"""),
    ),
]

UPDATE = [
    entry(
        "cell-from-hidden",
        "The forget gate acts on the old h: c' = f∘h + i∘g.",
        "Which of the two states is the memory that f keeps or clears?",
        squashed("c = f * h + i * g\nreturn o * c.tanh(), c"),
    ),
    entry(
        "no-forget-gate",
        "The memory only grows: c' = c + i∘g.",
        "What does f = 0 have to do to the cell?",
        squashed("c = c + i * g\nreturn o * c.tanh(), c"),
    ),
    entry(
        "no-input-gate",
        "The candidate is written in full: c' = f∘c + g.",
        "What does i = 0 have to do to the cell?",
        squashed("c = f * c + g\nreturn o * c.tanh(), c"),
    ),
    entry(
        "no-output-gate",
        "h' = tanh(c').",
        "What does o = 0 have to do to h'?",
        squashed("c = f * c + i * g\nreturn c.tanh(), c"),
    ),
    entry(
        "plus-for-times",
        "The input gate and the candidate are added.",
        EQUATIONS,
        squashed("c = f * c + i + g\nreturn o * c.tanh(), c"),
    ),
    entry(
        "coupled-gates",
        "What is not forgotten is written, as in a GRU: c' = f∘c + (1 − f)∘g.",
        "A GRU has one gate for both; here i and f are two.",
        squashed("c = f * c + (1 - f) * g\nreturn o * c.tanh(), c"),
    ),
    entry(
        "hidden-from-old-cell",
        "h' = o∘tanh(c), with the cell as it was.",
        "Is the cell that h' shows the old or the new one?",
        squashed("return o * c.tanh(), f * c + i * g"),
    ),
    entry(
        "clipped-cell",
        "The cell is kept within ±1.",
        EQUATIONS,
        squashed("c = (f * c + i * g).clamp(-1, 1)\nreturn o * c.tanh(), c"),
    ),
    entry(
        "forget-bias",
        "1 is added to the forget gate, as Keras does when it starts.",
        "A bias that starts at 1 is a matter of `__init__`; the equations add nothing.",
        forward("""
c = (f + 1).sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "peepholes",
        "The gates also look at the cell.",
        EQUATIONS,
        forward("""
c = (f + c).sigmoid() * c + (i + c).sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
]

SOURCES = [
    entry(
        "biases-swapped",
        "The biases of f and o change places (right for as long as they are equal).",
        ORDER,
        plain("""
h, c = state
b_i, b_f, b_g, b_o = (self.bias_ih + self.bias_hh).chunk(4)
bias = torch.cat([b_i, b_o, b_g, b_f])
i, f, g, o = (x @ self.weight_ih.T + h @ self.weight_hh.T + bias).chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    *(
        entry(
            f"without-{name.replace('_', '-')}",
            f"There is one bias: {name} is left out.",
            "Count the terms inside each gate: two products and two biases.",
            forward(f"""
i, f, g, o = (gates - self.{name}).chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
        )
        for name in ("bias_ih", "bias_hh")
    ),
    entry(
        "hidden-unused",
        "The gates depend on x alone.",
        "Count the terms inside each gate: which one brings the past in?",
        forward("""
i, f, g, o = (gates - h @ self.weight_hh.T).chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "cell-in-gates",
        "The recurrent weights read c.",
        EQUATIONS,
        forward("""
i, f, g, o = (gates + (c - h) @ self.weight_hh.T).chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "not-transposed",
        "x @ W, without the transpose.",
        SHAPES,
        plain("""
h, c = state
gates = x @ self.weight_ih + self.bias_ih + h @ self.weight_hh + self.bias_hh
i, f, g, o = gates.chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
    ),
    entry(
        "torch-cell",
        "torch's own cell may do the work.",
        "The task is to write the six equations; torch's cell is what to compare with.",
        plain("""
weights = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
return torch._VF.lstm_cell(x, state, *weights)"""),
        ALL,
        unnamed=SHORTCUT,
    ),
]

STATES = [
    entry(
        "returns-cell-first",
        "The result is (c', h').",
        "Compare the order of the results with the docstring.",
        then("h, c = right(self, x, state)\nreturn c, h"),
    ),
    entry(
        "state-cell-first",
        "The state comes as (c, h).",
        "Compare the order of the state with the docstring.",
        then("return right(self, x, (state[1], state[0]))"),
    ),
    entry(
        "hidden-as-cell",
        "h' is both parts of the new state.",
        "The next step needs c' as well: which of the two did you return twice?",
        then("h, _ = right(self, x, state)\nreturn h, h"),
    ),
    entry(
        "only-hidden",
        "The result is h' alone.",
        "The next step needs c' as well.",
        then("return right(self, x, state)[0]"),
        ALL,
    ),
    entry(
        "first-step-special",
        "At the first step, where h is still zero, there is nothing to do.",
        "Follow a state of zeros by hand: is the result zeros again?",
        then("return right(self, x, state) if state[0].any() else state"),
        ("test_sequence",),
    ),
    entry(
        "square-state",
        "The old h is (H, H).",
        SHAPES,
        then(
            "h = state[0].new_zeros(self.hidden_size, self.hidden_size) + state[0]\n"
            "return right(self, x, (h, state[1]))"
        ),
    ),
    entry(
        "squeezed",
        "squeeze() tidies the result up.",
        "What does squeeze() without a dimension do to a batch of one?",
        then("h, c = right(self, x, state)\nreturn h.squeeze(), c.squeeze()"),
        ("test_sizes_and_float64",),
    ),
    entry(
        "batch-mean",
        "The batch shares one state.",
        "A row of the batch is a sentence of its own: no row may change another's result.",
        then(
            "return right(self, x, (state[0].mean(0, keepdim=True).expand_as(state[0]), state[1]))"
        ),
    ),
    entry(
        "loop-variable-reused",
        "i counts the rows, and i is the input gate.",
        "One name, two meanings: what does i hold when the loop comes round?",
        then("""
i, rows = 0, []
while i < len(x):
    part = slice(i, i + 1)
    rows.append(right(self, x[part], (state[0][part], state[1][part])))
    i = rows[-1][0].sigmoid()
return tuple(torch.cat(parts) for parts in zip(*rows))"""),
    ),
    entry(
        "carried-on-self",
        "The cell remembers its own state from call to call.",
        CARRY,
        then("""
if hasattr(self, "last") and self.last[0].shape == state[0].shape:
    state = self.last
self.last = right(self, x, state)
return self.last"""),
        SIDE_EFFECTS,
    ),
    entry(
        "cached-weights",
        "The weights are put together once, at the first call, and kept on `self`.",
        "What does the optimizer do to the parameters between two calls?",
        plain("""
if not hasattr(self, "kept"):
    self.kept = torch.cat([self.weight_ih, self.weight_hh], dim=1)
h, c = state
gates = torch.cat([x, h], dim=1) @ self.kept.T + self.bias_ih + self.bias_hh
i, f, g, o = gates.chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
        SIDE_EFFECTS,
    ),
    entry(
        "cached-gates",
        "What h adds to the gates is computed once.",
        CARRY,
        then("""
if not hasattr(self, "old") or self.old.shape != state[0].shape:
    self.old = state[0]
return right(self, x, (self.old, state[1]))"""),
        ("test_sequence", *SIDE_EFFECTS),
    ),
]

TECHNIQUE = [
    entry(
        "cell-in-place",
        "c.mul_(f).add_(i * g) saves memory.",
        COPY,
        squashed("c.mul_(f).add_(i * g)\nreturn o * c.tanh(), c"),
        IN_PLACE,
    ),
    entry(
        "cell-in-place-in-evaluation",
        "In evaluation mode, c may be changed in place.",
        COPY,
        squashed("""
c = f * c + i * g if self.training else c.mul_(f).add_(i * g)
return o * c.tanh(), c"""),
        IN_PLACE,
    ),
    entry(
        "cell-in-place-without-grad",
        "Where no gradient is needed (torch.no_grad()), c may be changed in place.",
        COPY,
        squashed("""
c = f * c + i * g if torch.is_grad_enabled() else c.mul_(f).add_(i * g)
return o * c.tanh(), c"""),
        SIDE_EFFECTS,
    ),
    entry(
        "hidden-in-place",
        "The new h may be written over the old one.",
        COPY,
        squashed("c = f * c + i * g\nh.copy_(o * c.tanh())\nreturn h, c"),
        IN_PLACE,
    ),
    entry(
        "input-in-place",
        "x is mine to change.",
        COPY,
        then("result = right(self, x, state)\nx.mul_(0)\nreturn result"),
        IN_PLACE,
    ),
    entry(
        "cell-detached",
        "The old cell needs no gradient.",
        GRAPH,
        then("return right(self, x, (state[0], state[1].detach()))"),
        GRADIENTS,
    ),
    entry(
        "hidden-detached",
        "The old h needs no gradient.",
        GRAPH,
        then("return right(self, x, (state[0].detach(), state[1]))"),
        GRADIENTS,
    ),
    entry(
        "weights-data",
        "The parameters' .data are what to compute with.",
        GRAPH,
        plain("""
h, c = state
gates = x @ self.weight_ih.data.T + self.bias_ih + h @ self.weight_hh.T + self.bias_hh
i, f, g, o = gates.chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""),
        GRADIENTS,
    ),
    entry(
        "no-grad",
        "torch.no_grad() makes it faster.",
        GRAPH,
        then("with torch.no_grad():\n    return right(self, x, state)"),
        GRADIENTS,
    ),
    entry(
        "no-grad-in-evaluation",
        "In evaluation mode, nobody needs a gradient.",
        "Which of the two switches off gradients, eval() or no_grad()? Only one of them may.",
        then("with torch.set_grad_enabled(self.training):\n    return right(self, x, state)"),
        GRADIENTS,
    ),
    entry(
        "output-cell-detached",
        "h' = o∘tanh(c'), with c' cut off.",
        GRAPH,
        squashed("c = f * c + i * g\nreturn o * c.detach().tanh(), c"),
        GRADIENTS,
    ),
    entry(
        "rebuilt-tensor",
        "torch.tensor(values.tolist()) is the same tensor.",
        GRAPH,
        then("h, c = right(self, x, state)\nreturn torch.tensor(h.tolist()).to(h), c"),
        GRADIENTS,
    ),
    entry(
        "float32-only",
        "Everything is float32.",
        "Take dtype and device from the inputs, never from a constant.",
        then("h, c = right(self, x, state)\nreturn h.float(), c.float()"),
        ("test_sizes_and_float64", "test_sequence", "test_gradients"),
    ),
    entry(
        "float32-inside",
        "float32 is precise enough on the way.",
        "Take dtype and device from the inputs, never from a constant.",
        then("""
h, c = right(self, x.float().to(x.dtype), state)
return h, c.float().to(c.dtype)"""),
        ("test_sizes_and_float64", "test_sequence", "test_gradients"),
    ),
    entry(
        "float32-then-back",
        "It is enough that the results have the inputs' dtype; on the way, float32 will do.",
        "Take dtype and device from the inputs, never from a constant.",
        plain("""
h, c = (part.float() for part in state)
gates = F.linear(x.float(), self.weight_ih.float(), self.bias_ih.float())
gates = gates + F.linear(h, self.weight_hh.float(), self.bias_hh.float())
i, f, g, o = gates.chunk(4, dim=1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
return (o.sigmoid() * c.tanh()).to(x.dtype), c.to(x.dtype)"""),
        ("test_sizes_and_float64", "test_sequence", "test_gradients"),
    ),
    entry(
        "dropout",
        "In training, a recurrent layer drops some of its units.",
        "Is there a random term in the equations?",
        then("h, c = right(self, x, state)\nreturn F.dropout(h, 0.5, self.training), c"),
        VALUES,
    ),
    entry(
        "seeds-torch",
        "A fixed seed inside the step makes results reproducible.",
        "A seed is set once, where the program starts: everyone else draws from the same numbers.",
        then("torch.manual_seed(0)\nreturn right(self, x, state)"),
        SIDE_EFFECTS,
    ),
    entry(
        "parameters-not-registered",
        "A parameter is a tensor with requires_grad.",
        "What does a module need to find its parameters? Look at how `__init__` was given.",
        """
def _init(self, input_size, hidden_size):
    nn.Module.__init__(self)
    self.input_size, self.hidden_size = input_size, hidden_size
    self.weight_ih = torch.randn(4 * hidden_size, input_size, requires_grad=True)
    self.weight_hh = torch.randn(4 * hidden_size, hidden_size, requires_grad=True)
    self.bias_ih = torch.zeros(4 * hidden_size, requires_grad=True)
    self.bias_hh = torch.zeros(4 * hidden_size, requires_grad=True)
LSTMCell.__init__ = _init""",
        ALL,
    ),
    entry(
        "one-gate-of-weights",
        "The weights are (H, I) and (H, H), for all four gates.",
        "Count the parameters: four gates, each with weights of its own.",
        """
def _init(self, input_size, hidden_size):
    nn.Module.__init__(self)
    self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))
    self.weight_hh = nn.Parameter(torch.randn(hidden_size, hidden_size))
    self.bias_ih = nn.Parameter(torch.zeros(hidden_size))
    self.bias_hh = nn.Parameter(torch.zeros(hidden_size))
LSTMCell.__init__ = _init""",
        ALL,
    ),
    entry(
        "zero-weights",
        "Weights may start at zero.",
        "Two units with the same weights get the same gradient: how would they ever differ?",
        """
given = LSTMCell.__init__
def _init(self, input_size, hidden_size):
    given(self, input_size, hidden_size)
    for parameter in self.parameters():
        nn.init.zeros_(parameter)
LSTMCell.__init__ = _init""",
        ("test_parameters",),
    ),
]

ENTRIES = [*SPLITTING, *ACTIVATIONS, *UPDATE, *SOURCES, *STATES, *TECHNIQUE]
