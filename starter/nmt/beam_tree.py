"""Watch a beam search, and draw what it did as a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import torch
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch
from torch import Tensor

from nmt.attention import Memory
from nmt.corpus import source_tensors
from nmt.files import InputError
from nmt.model import Seq2Seq
from nmt.settings import SearchConfig
from nmt.translation import _check_sizes, evaluating, tokenize
from nmt.vocabulary import BOS, EOS, Vocabulary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nmt.beam_search import Hypothesis, States, Step

Tokens = tuple[int, ...]  # tokens from the start on, without <s>; </s> is the last if it has ended
Kind = Literal["extended", "returned", "dropped"]

UNUSED = -1  # fills what a prefix has not reached; no token has this number
LEAST = -20.0  # a log-probability; what is less likely (2e-9) is never shown
# Sums of some tens of log-probabilities in float32 agree to about 1e-5, in whatever order.
TOLERANCE = 1e-3
ADVICE = "does EVERY tensor of the state follow its hypothesis? See: python -m nmt check beam"


@dataclass(frozen=True)
class Node:
    """Hold one token of the tree, and what became of the hypothesis that ends with it.

    `extended`: the search asked for what comes next. `returned`: it is among the results.
    `dropped`: neither; it left the beam, or was left over when the search stopped.
    """

    path: Tokens
    kind: Kind
    own: float  # log-probability of its last token
    total: float  # summed over the path
    score: float | None = None  # total / length**alpha, of what was returned


@dataclass(frozen=True)
class BeamTree:
    """Hold what a beam search looked at. The start has the path () and is no node."""

    nodes: Mapping[Tokens, Node]
    best: Tokens  # the way to the first result
    words: Tokens  # of the first result, without </s>
    beam_size: int

    def children(self, path: Tokens) -> list[Node]:
        """Return the nodes one token further: towards the best result first, dropped ones last."""
        found = [n for n in self.nodes.values() if n.path[:-1] == path]
        return sorted(found, key=lambda n: (not self.on_best(n), n.kind == "dropped", -n.total))

    def on_best(self, node: Node) -> bool:
        """Tell whether a node lies on the way to the first result."""
        return node.path == self.best[: len(node.path)]


class Recorder:
    """Stand in the place of `step`, and note the log-probabilities after every prefix.

    The prefixes travel as one more tensor of the state. So they follow their hypotheses through any
    right search, however often it calls `step` and in whatever groups.
    """

    def __init__(self, step: Step, max_length: int) -> None:
        """Start with nothing seen."""
        self.step, self.max_length = step, max_length
        self.seen: dict[Tokens, list[float]] = {}

    def start(self, state: States) -> States:
        """Return the state with the empty prefix of the one hypothesis at the start."""
        # As wide as the longest prefix with <s>, so that its shape is the same at all steps.
        prefix = torch.full((1, self.max_length + 1), UNUSED, device=state[0].device)
        return (*state, prefix)

    def __call__(self, tokens: Tensor, state: States) -> tuple[Tensor, States]:
        """Run the step: tokens (n,), a state of n rows -> log_probs (n, V), the next state."""
        *inner, prefixes = state
        if len(prefixes) != len(tokens):
            raise InputError(
                f"beam_search calls step with {len(tokens)} tokens, but a tensor of the state has "
                f"{len(prefixes)} rows; {ADVICE}"
            )
        log_probs, following = self.step(tokens, tuple(inner))
        lengths = (prefixes != UNUSED).sum(dim=1, keepdim=True)  # (n, 1)
        if int(lengths.max()) > self.max_length:
            raise InputError(f"beam_search goes on after max_length = {self.max_length} tokens")
        prefixes = prefixes.scatter(1, lengths, tokens.unsqueeze(1))
        for row, values in zip(prefixes.tolist(), log_probs.tolist(), strict=True):
            self.seen[tuple(token for token in row[1:] if token != UNUSED)] = values
        return log_probs, (*following, prefixes)


def record(
    step: Step,
    state: States,
    *,
    bos: int = BOS,
    eos: int = EOS,
    beam_size: int,
    max_length: int,
    alpha: float = 1.0,
    dropped: int = 2,
) -> BeamTree:
    """Run your `beam_search`, with its arguments, and return what it looked at.

    Of what was dropped, the likeliest `dropped` of each step are kept.

    Raises:
        InputError: if the results do not fit what the search asked for, as when a tensor of the
            state does not follow its hypothesis.
    """
    # Imported here, so that the module can be imported while nmt/beam_search.py has an error.
    from nmt.beam_search import beam_search

    recorder = Recorder(step, max_length)
    results = beam_search(
        recorder,
        recorder.start(state),
        bos=bos,
        eos=eos,
        beam_size=beam_size,
        max_length=max_length,
        alpha=alpha,
    )
    # Some searches keep rows that have ended in the batch; they are no hypotheses any more.
    seen = {path: values for path, values in recorder.seen.items() if eos not in path}
    nodes = {path: _node(seen, path, "extended") for path in seen if path}
    if not results:
        raise InputError("beam_search returned no hypothesis; see: python -m nmt check beam")
    nodes |= _returned(seen, results, eos, max_length)
    best = _path(results[0], eos, max_length)
    return BeamTree(nodes | _dropped(seen, nodes, dropped), best, results[0].tokens, beam_size)


def _path(result: Hypothesis, eos: int, max_length: int) -> Tokens:
    """Return the tokens that a result was made of: all end in `</s>`, but for one cut off."""
    return result.tokens if len(result.tokens) >= max_length else (*result.tokens, eos)


def _node(
    seen: Mapping[Tokens, Sequence[float]], path: Tokens, kind: Kind, score: float | None = None
) -> Node:
    """Return a node, with the log-probabilities that were seen on its way."""
    values = [seen[path[:length]][token] for length, token in enumerate(path)]
    return Node(path, kind, values[-1], math.fsum(values), score)


def _returned(
    seen: Mapping[Tokens, Sequence[float]],
    results: Sequence[Hypothesis],
    eos: int,
    max_length: int,
) -> dict[Tokens, Node]:
    """Return the nodes of the results; refuse those that do not fit what was seen."""
    nodes = {}
    for result in results:
        path = _path(result, eos, max_length)
        if any(path[:length] not in seen for length in range(len(path))):
            raise InputError(
                f"beam_search returned the tokens {result.tokens}, which it never asked the model "
                f"to extend; {ADVICE}"
            )
        nodes[path] = _node(seen, path, "returned", result.score)
        if abs(nodes[path].total - result.log_prob) > TOLERANCE:
            raise InputError(
                f"beam_search returned the tokens {result.tokens} with log_prob "
                f"{result.log_prob:.4f}, but the model's add up to {nodes[path].total:.4f}; "
                f"{ADVICE}"
            )
    return nodes


def _dropped(
    seen: Mapping[Tokens, Sequence[float]], nodes: Mapping[Tokens, Node], number: int
) -> dict[Tokens, Node]:
    """Return the likeliest nodes of each step that are none of the others."""
    steps: dict[int, list[Node]] = {}
    for prefix, values in seen.items():
        for token, value in enumerate(values):
            path = (*prefix, token)
            if path not in nodes and value > LEAST:
                steps.setdefault(len(path), []).append(_node(seen, path, "dropped"))
    return {
        node.path: node
        for found in steps.values()
        for node in sorted(found, key=lambda node: node.total, reverse=True)[:number]
    }


def record_sentence(
    model: Seq2Seq,
    english: Vocabulary,
    zhoric: Vocabulary,
    sentence: str,
    config: SearchConfig,
    *,
    dropped: int = 2,
) -> BeamTree:
    """Translate a sentence with your `beam_search`, and return what it looked at.

    Raises:
        InputError: if the sentence is empty or the vocabularies do not fit, or as `record` does.
    """
    _check_sizes(model, english, zhoric)
    words = tokenize(sentence)
    if not words:
        raise InputError("the sentence is empty")
    with evaluating(model):
        memory, start = model.encode(*source_tensors([[*english.encode(words), EOS]]))

        def step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
            h, c, o = state
            rows = Memory(*(part.expand(len(tokens), *part.shape[1:]) for part in memory))
            logits, state, _ = model.step(tokens, (h, c, o), rows)
            return logits.log_softmax(dim=1), state

        return record(step, start, dropped=dropped, **asdict(config))


# --- A table in the place of a model ---

Table = Mapping[tuple[str, ...], Mapping[str, float]]  # words so far -> probability of the next

# Greedy search takes `a </s>`; with k = 2, `b a </s>` wins once the lengths are normalised.
EXAMPLE: Table = {
    (): {"a": 0.5, "b": 0.4, "c": 0.1},
    ("a",): {"a": 0.1, "b": 0.1, "</s>": 0.8},
    ("b",): {"a": 0.9, "b": 0.05, "</s>": 0.05},
    ("c",): {"a": 0.05, "b": 0.05, "</s>": 0.9},
    ("b", "a"): {"a": 0.05, "b": 0.05, "</s>": 0.9},
}
IMPOSSIBLE = 1e-12  # for words that a row does not name: a search expects finite logarithms


def record_table(
    table: Table, *, beam_size: int, max_length: int = 10, alpha: float = 1.0, dropped: int = 2
) -> tuple[BeamTree, Vocabulary]:
    """Search with a table as the model; return the tree and the vocabulary of its words.

    Raises:
        InputError: if the search comes to words for which the table has no row.
    """
    words = sorted({word for row in table.values() for word in row} - {"</s>"})
    vocabulary = Vocabulary(words)

    def log_probs(path: list[int]) -> list[float]:
        prefix = tuple(vocabulary.decode(token for token in path[1:] if token != UNUSED))
        if prefix not in table:
            raise InputError(f"the table has no row for what follows {' '.join(prefix)!r}")
        return [math.log(table[prefix].get(word, IMPOSSIBLE)) for word in vocabulary.words]

    def step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        (paths,) = state
        paths = torch.cat((paths, tokens.unsqueeze(1)), dim=1)
        rows = [log_probs(path) for path in paths.tolist()]
        return torch.tensor(rows, dtype=torch.float64), (paths,)

    state = (torch.empty((1, 0), dtype=torch.int64),)
    sizes = {"beam_size": beam_size, "max_length": max_length, "dropped": dropped}
    return record(step, state, alpha=alpha, **sizes), vocabulary


# --- The drawing. All lengths are inches. ---

LETTER = 0.09  # width of a letter of a node's word
PADDING = 0.2  # of a word in its box, both sides together
SCORE = 0.75  # width of a score below a box
BOX = 0.36  # height of a box
ROW = 0.56  # from row to row
# Between two columns there is place for a number, and for the bends of the edges before it.
GAP, BEND = 0.41, 0.07
MARGIN = 0.15
LEGEND = 0.2  # height of a line of it, below the tree
NARROW, WIDE = 4.2, 7.2  # what the legend takes in two lines, and in one

# Okabe and Ito (2008): colours that all kinds of colour vision tell apart. Width and dashes of the
# lines say the same again.
BLUE, ORANGE, BLACK, GREY = "#0072B2", "#D55E00", "#333333", "#767676"


@dataclass(frozen=True)
class Style:
    """Hold how a kind of node looks."""

    line: str
    fill: str
    width: float
    dashes: str = "-"
    label: str = ""


STYLES = {
    "best": Style(BLUE, "#D6E9F5", 2.2, label="the best result, and the way to it"),
    "returned": Style(ORANGE, "#FBE6D9", 1.6, label="the other results"),
    "extended": Style(BLACK, "white", 1.0, label="kept in the beam"),
    "dropped": Style(GREY, "white", 0.8, ":", label="not kept (the likeliest)"),
}


@dataclass(frozen=True)
class Box:
    """Hold where a node is drawn."""

    left: float
    width: float
    middle: float  # from the top, downwards
    bend: float = 0.0  # where the edges to its children turn down

    @property
    def right(self) -> float:
        """Return where the edges to its children begin."""
        return self.left + self.width


def draw_tree(tree: BeamTree, vocabulary: Vocabulary) -> Figure:
    """Draw the tree, from left to right.

    On an edge stands the log-probability of the word it leads to, below the word the sum so far,
    and below a result its score. A figure made without pyplot needs no display.
    """
    boxes = _layout(tree, vocabulary)
    width = max(max(box.right for box in boxes.values()) + MARGIN, NARROW)
    lines = 1 if width >= WIDE else 2
    height = max(box.middle for box in boxes.values()) + ROW / 2 + MARGIN + lines * LEGEND
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    _draw_box(axes, boxes[()], "<s>", STYLES["best"])
    for node in tree.nodes.values():
        style = _style(tree, node)
        _draw_edge(axes, boxes[node.path[:-1]], boxes[node.path], node, style)
        (word,) = vocabulary.decode(node.path[-1:])
        _draw_box(axes, boxes[node.path], word, style, node)
    handles = [
        Patch(fc=style.fill, ec=style.line, ls=style.dashes, lw=style.width, label=style.label)
        for style in STYLES.values()
    ]
    columns = len(handles) // lines
    axes.legend(handles=handles, loc="lower left", ncols=columns, frameon=False, fontsize=8)
    return figure


def _style(tree: BeamTree, node: Node) -> Style:
    return STYLES["best" if tree.on_best(node) else node.kind]


def _layout(tree: BeamTree, vocabulary: Vocabulary) -> dict[Tokens, Box]:
    """Place the nodes in a column a step, so that no two edges cross.

    The children of a node stand together, in the order of the nodes, and never above it. The best
    result is the first in each column, so the way to it is the straight line at the top.
    """
    boxes: dict[Tokens, Box] = {(): Box(MARGIN, _width(["<s>"]), ROW / 2)}
    column: list[Tokens] = [()]
    while nodes := [node for path in column for node in tree.children(path)]:
        parents = list(dict.fromkeys(node.path[:-1] for node in nodes))
        for place, path in enumerate(reversed(parents), start=1):
            # Edges of lower nodes turn down first, and so pass below those of higher ones.
            boxes[path] = replace(boxes[path], bend=boxes[path].right + place * BEND)
        left = max(boxes[path].right for path in column) + GAP + len(parents) * BEND
        width = _width(vocabulary.decode(node.path[-1] for node in nodes))
        if any(node.kind == "returned" for node in nodes):
            width = max(width, SCORE)
        free = ROW / 2
        for node in nodes:
            # Level with its parent, where the nodes above leave the place.
            middle = max(free, boxes[node.path[:-1]].middle)
            boxes[node.path] = Box(left, width, middle)
            free = middle + ROW
        column = [node.path for node in nodes]
    return boxes


def _width(words: Sequence[str]) -> float:
    """Return the width of boxes that hold the words; a sum such as −12.34 fits into any."""
    return LETTER * max(4, *map(len, words)) + PADDING


def _draw_box(axes: Axes, box: Box, word: str, style: Style, node: Node | None = None) -> None:
    """Draw a word in its box, with the sum so far and, of a result, the score."""
    rounding = f"round,pad=0,rounding_size={0.06 if node and node.kind == 'returned' else 0.16}"
    axes.add_patch(
        FancyBboxPatch(
            (box.left, box.middle - BOX / 2),
            *(box.width, BOX),
            boxstyle=rounding,
            fc=style.fill,
            ec=style.line,
            lw=style.width,
            ls=style.dashes,
            zorder=2,
        )
    )
    centre, colour = box.left + box.width / 2, GREY if style.dashes == ":" else "black"
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": colour, "zorder": 3}
    axes.text(centre, box.middle - (0.07 if node else 0), word, fontsize=9.5, **look)
    if node:
        axes.text(centre, box.middle + 0.095, _number(node.total), fontsize=7, **look)
    if node and node.score is not None:
        text = f"score {_number(node.score)}"
        look |= {"color": style.line, "weight": "bold"}
        axes.text(centre, box.middle + BOX / 2 + 0.09, text, fontsize=7.5, **look)


def _draw_edge(axes: Axes, start: Box, end: Box, node: Node, style: Style) -> None:
    """Draw the way from a node to its child, with the log-probability of the step."""
    axes.plot(
        [start.right, start.bend, start.bend, end.left],
        [start.middle, start.middle, end.middle, end.middle],
        color=style.line,
        linewidth=style.width,
        linestyle=style.dashes,
        solid_joinstyle="round",
        zorder=1,
    )
    axes.text(
        *(end.left - 0.03, end.middle - 0.03),
        _number(node.own),
        fontsize=6.5,
        ha="right",
        va="bottom",
        color=style.line,
    )


def _number(value: float) -> str:
    """Return a log-probability in three digits, with a real minus sign, and none before 0."""
    text = f"{value:.2f}" if value > -9.995 else f"{value:.1f}"
    return text.replace("-0.00", "0.00").replace("-", "−")
