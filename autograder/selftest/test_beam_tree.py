"""Does the tree of a beam search, given to students, come out of every right search?"""

import pytest
import torch
from torch import Tensor

from autograder.selftest.right.beam import VARIANTS
from nmt import beam_search as task
from nmt.beam_search import States
from nmt.beam_tree import BeamTree, record

V = 9  # tokens, more than the widest beam


def wandering(tokens: Tensor, state: States) -> tuple[Tensor, States]:
    """Give random log-probabilities that depend on all tokens so far."""
    (sums,) = state
    sums = sums * 3 + tokens + 1  # (n,)
    rows = [torch.randn(V, generator=torch.Generator().manual_seed(s)) for s in sums.tolist()]
    return torch.stack(rows).log_softmax(dim=1), (sums,)


def trees() -> list[BeamTree]:
    """Record searches that end early, late, and not at all."""
    return [
        record(
            wandering,
            (torch.full((1,), seed),),
            beam_size=beam_size,
            max_length=max_length,
        )
        for seed in range(3)
        for beam_size, max_length in ((1, 4), (3, 9), (5, 2))
    ]


@pytest.mark.parametrize("code", VARIANTS.values(), ids=VARIANTS)
def test_every_right_search_gives_the_same_tree(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are the same nodes extended, returned and dropped, however the search is written?"""
    expected = trees()
    names = dict(vars(task))
    exec(code, names)
    monkeypatch.setattr(task, "beam_search", names["beam_search"])
    for tree, other in zip(trees(), expected, strict=True):
        assert (tree.best, tree.words) == (other.best, other.words)
        assert {p: n.kind for p, n in tree.nodes.items()} == {
            p: n.kind for p, n in other.nodes.items()
        }
