"""Recording a beam search, whoever wrote it, and drawing it."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from torch import Tensor

from nmt import beam_search as task
from nmt.beam_search import Hypothesis, States, Step, beam_search
from nmt.beam_tree import (
    EXAMPLE,
    BeamTree,
    draw_tree,
    record,
    record_sentence,
    record_table,
)
from nmt.files import InputError
from nmt.model import Seq2Seq
from nmt.settings import SearchConfig
from nmt.translation import translate
from nmt.vocabulary import Vocabulary

Search = Callable[..., list[Hypothesis]]
Point = tuple[float, float]
V = 7  # tokens of the random searches


def wandering(tokens: Tensor, state: States) -> tuple[Tensor, States]:
    """Give log-probabilities that depend on all tokens so far: a step of random numbers."""
    (sums,) = state
    sums = sums * 3 + tokens + 1  # (n,)
    rows = [torch.randn(V, generator=torch.Generator().manual_seed(s)) for s in sums.tolist()]
    return torch.stack(rows).log_softmax(dim=1), (sums,)


def recorded(beam_size: int = 3, max_length: int = 9) -> BeamTree:
    """Record a search with random numbers."""
    start = (torch.zeros(1, dtype=torch.int64),)
    return record(wandering, start, beam_size=beam_size, max_length=max_length)


def around(change: Callable[[Step], Step]) -> Search:
    """Return a search that calls the step in another way than the reference does."""
    return lambda step, state, **settings: beam_search(change(step), state, **settings)


def one_by_one(step: Step) -> Step:
    """Call the step for one hypothesis at a time."""

    def changed(tokens: Tensor, state: States) -> tuple[Tensor, States]:
        calls = [
            step(tokens[row : row + 1], tuple(part[row : row + 1] for part in state))
            for row in range(len(tokens))
        ]
        states = zip(*(following for _, following in calls))
        return torch.cat([values for values, _ in calls]), tuple(map(torch.cat, states))

    return changed


def with_ended_rows(step: Step) -> Step:
    """Keep rows in the batch that have ended, and go on with them."""

    def changed(tokens: Tensor, state: States) -> tuple[Tensor, States]:
        count, ended = len(tokens), tokens.where(tokens == 1, torch.tensor(2))  # 1 is <s>
        values, state = step(torch.cat((tokens, ended)), tuple(torch.cat((s, s)) for s in state))
        step(torch.full((2 * count,), 2), state)
        return values[:count], tuple(part[:count] for part in state)

    return changed


def spoiling_its_input(step: Step) -> Step:
    """Write into the log-probabilities, which the contract allows."""

    def changed(tokens: Tensor, state: States) -> tuple[Tensor, States]:
        values, state = step(tokens, state)
        copy = values.clone()
        values.zero_()
        return copy, state

    return changed


def test_the_example_by_hand() -> None:
    """Does the table give the tree that one finds by hand?"""
    tree, vocabulary = record_table(EXAMPLE, beam_size=2)
    found = {" ".join(vocabulary.decode(path)): node for path, node in tree.nodes.items()}
    expected = {
        "a": ("extended", 0.5),
        "b": ("extended", 0.4),
        "c": ("dropped", 0.1),
        "a </s>": ("returned", 0.4),
        "a a": ("dropped", 0.05),
        "a b": ("dropped", 0.05),
        "b a": ("extended", 0.36),
        "b a </s>": ("returned", 0.324),
        "b a a": ("dropped", 0.018),
        "b a b": ("dropped", 0.018),
    }
    assert {words: node.kind for words, node in found.items()} == {
        words: kind for words, (kind, _) in expected.items()
    }
    for words, (_, probability) in expected.items():
        assert found[words].total == pytest.approx(math.log(probability), abs=1e-6)
    assert vocabulary.decode(tree.best) == ["b", "a", "</s>"]
    assert vocabulary.decode(tree.words) == ["b", "a"]
    scores = [node.score for node in tree.nodes.values() if node.kind == "returned"]
    assert sorted(score or 0.0 for score in scores) == pytest.approx([-0.458, -0.376], abs=5e-4)


def test_a_table_may_be_searched_greedily_and_widely() -> None:
    """Do other widths find their way through the example?"""
    for beam_size, best in ((1, ["a"]), (3, ["b", "a"])):
        tree, vocabulary = record_table(EXAMPLE, beam_size=beam_size)
        assert vocabulary.decode(tree.words) == best


def test_a_table_that_is_too_small() -> None:
    """Does a missing row name what it would have to follow?"""
    with pytest.raises(InputError, match="no row for what follows 'b'"):
        record_table({(): {"a": 0.6, "b": 0.4}, ("a",): {"</s>": 1.0}}, beam_size=2)


@pytest.mark.parametrize("change", [one_by_one, with_ended_rows, spoiling_its_input])
def test_any_right_search_gives_the_same_tree(
    change: Callable[[Step], Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does the tree not depend on how the search calls its step?"""
    expected = recorded()
    monkeypatch.setattr(task, "beam_search", around(change))
    tree = recorded()
    assert tree.best == expected.best
    assert tree.nodes.keys() == expected.nodes.keys()
    for path, node in tree.nodes.items():
        assert node.kind == expected.nodes[path].kind
        assert node.total == pytest.approx(expected.nodes[path].total, abs=1e-5)


def test_the_beam_is_what_was_extended() -> None:
    """Are there, at each step, as many hypotheses as the beam holds, and the likeliest dropped?"""
    tree = recorded(beam_size=3)
    for length in range(1, max(map(len, tree.nodes)) + 1):
        column = [node for path, node in tree.nodes.items() if len(path) == length]
        kept = [node.total for node in column if node.kind != "dropped"]
        dropped = [node.total for node in column if node.kind == "dropped"]
        assert 1 <= len(kept) <= 3
        assert len(dropped) == 2
        # What was left over at the end may be likelier than what was returned.
        if any(node.kind == "extended" for node in column):
            assert max(dropped) < min(kept)


def test_a_search_that_is_cut_off() -> None:
    """Is a hypothesis without an end the result, if the search comes to max_length?"""
    tree = recorded(beam_size=1, max_length=2)
    assert tree.best == tree.words
    assert len(tree.best) == 2
    assert tree.nodes[tree.best].kind == "returned"


def forgetful(step: Step, state: States, **settings: Any) -> list[Hypothesis]:
    """Let only the first tensor of the state follow its hypothesis."""
    late: list[Tensor] = []

    def changed(tokens: Tensor, state: States) -> tuple[Tensor, States]:
        first, *_ = state
        rows = torch.arange(len(tokens))
        rest = [part[rows % len(part)] for part in late] or list(state[1:])
        values, following = step(tokens, (first, *rest))
        late[:] = following[1:]
        return values, following

    return beam_search(changed, state, **settings)


def careless(step: Step, state: States, **settings: Any) -> list[Hypothesis]:
    """Pass on a tensor of the state as it came."""
    return beam_search(lambda tokens, own: step(tokens, (own[0], state[1])), state, **settings)


def misreporting(step: Step, state: States, **settings: Any) -> list[Hypothesis]:
    """Return log-probabilities that are not those of the tokens."""
    return [own._replace(log_prob=own.log_prob - 1) for own in beam_search(step, state, **settings)]


def overlong(step: Step, state: States, **settings: Any) -> list[Hypothesis]:
    """Go on after max_length."""
    for _ in range(settings["max_length"] + 2):
        _, state = step(torch.zeros(1, dtype=torch.int64), state)
    return []


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (forgetful, "never asked the model to extend; does EVERY tensor of the state follow"),
        (careless, "step with 3 tokens, but a tensor of the state has 1 rows"),
        (misreporting, "but the model's add up to"),
        (overlong, "goes on after max_length = 9"),
        (lambda *_, **__: [], "returned no hypothesis"),
    ],
)
def test_a_wrong_search_is_told_what_is_wrong(
    search: Search, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is a search refused whose results do not fit what it asked the model for?"""
    monkeypatch.setattr(task, "beam_search", search)
    with pytest.raises(InputError, match=message):
        recorded()


def test_a_sentence_gives_its_translation(
    model: Seq2Seq, source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
) -> None:
    """Is the best way through the tree what `translate` gives, unknown words or not?"""
    vocabularies = source_vocabulary, target_vocabulary
    config = SearchConfig(beam_size=3, max_length=12)
    for sentence in ("the big cat sees the dog", "A zebra sees the cat"):
        tree = record_sentence(model, *vocabularies, sentence, config)
        (expected,) = translate(model, *vocabularies, [sentence], beam_size=3, max_length=12)
        assert " ".join(target_vocabulary.decode(tree.words)) == expected
    with pytest.raises(InputError, match="the sentence is empty"):
        record_sentence(model, *vocabularies, " ", config)
    with pytest.raises(InputError, match="the model knows 9 and 8 words"):
        record_sentence(model, *vocabularies[::-1], "cat", config)


def extents(figure: Figure) -> list[Bbox]:
    """Return where the texts stand, in inches."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    (axes,) = figure.axes
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    return [
        text.get_window_extent(renderer).transformed(axes.transData.inverted())
        for text in axes.texts
    ]


def segments(figure: Figure) -> list[tuple[Point, Bbox]]:
    """Return the pieces of all edges, each of which runs across or down, with where it begins."""
    (axes,) = figure.axes
    pieces = []
    for line in axes.lines:
        points = np.asarray(line.get_xydata()).tolist()
        pieces += [(tuple(points[0]), Bbox([start, end])) for start, end in pairwise(points)]
    return pieces


WORDS = Vocabulary(["kingfisher", "ka", "tavek"])  # seven with the specials, long and short


NEAR = 0.02  # inches; a text that near to a line is hard to read
TREES = {
    "greedy": lambda: (recorded(1), WORDS),
    "beam of 3": lambda: (recorded(3), WORDS),
    "beam of 5": lambda: (recorded(5), WORDS),
    "words of one letter": lambda: record_table(EXAMPLE, beam_size=2),
}


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_nothing_overlaps(make: Callable[[], tuple[BeamTree, Vocabulary]]) -> None:
    """Does no text touch another one, an edge, or the border of the figure?"""
    figure = draw_tree(*make())
    texts, (width, height) = extents(figure), figure.get_size_inches()
    for place, text in enumerate(texts):
        assert text.x0 >= 0
        assert text.x1 <= width
        assert max(text.y0, text.y1) <= height
        assert not [other for other in texts[:place] if text.overlaps(other)]
        assert not [piece for _, piece in segments(figure) if text.padded(NEAR).overlaps(piece)]


def test_edges_do_not_cross() -> None:
    """Does no edge touch that of another hypothesis?"""
    pieces = segments(draw_tree(recorded(5), WORDS))
    assert len({start for start, _ in pieces}) > 20
    for start, piece in pieces:
        assert not [own for other, own in pieces if other != start and own.overlaps(piece)]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_legend_has_its_place(beam_size: int) -> None:
    """Does the legend lie in the figure, below the tree, in narrow figures too?"""
    figure = draw_tree(recorded(beam_size, max_length=beam_size), WORDS)
    texts, (axes,) = extents(figure), figure.axes
    legend = axes.get_legend()
    assert legend is not None
    box = legend.get_window_extent().transformed(axes.transData.inverted())
    assert 0 <= box.x0 < box.x1 <= figure.get_size_inches()[0]
    assert not [text for text in texts if text.overlaps(box)]


def test_the_best_result_is_named_by_more_than_its_colour() -> None:
    """Does each result carry its score, and does the figure explain its lines?"""
    tree, vocabulary = record_table(EXAMPLE, beam_size=2)
    figure = draw_tree(tree, vocabulary)
    (axes,) = figure.axes
    words = [text.get_text() for text in axes.texts]
    assert sorted(word for word in words if "score" in word) == ["score −0.38", "score −0.46"]
    legend = axes.get_legend()
    assert legend is not None
    assert len({text.get_text() for text in legend.get_texts()}) == 4
