"""Public tests of task `lstm`: nmt/lstm.py."""

from collections.abc import Callable, Mapping
from types import ModuleType

import pytest
import torch
from torch import Tensor

Close = Callable[..., None]
Reached = Callable[[Mapping[str, Tensor]], None]
PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


@pytest.fixture
def lstm() -> ModuleType:
    """Import the module inside a test, so that a broken file fails the tests one by one."""
    import nmt.lstm

    return nmt.lstm


def random_state(batch: int, hidden: int) -> tuple[Tensor, Tensor]:
    """Return h and c, neither of them zero."""
    return torch.randn(batch, hidden), torch.randn(batch, hidden)


def test_one_unit_by_hand(lstm: ModuleType, close: Close) -> None:
    """Does a cell of one unit give what one works out by hand?"""
    cell = lstm.LSTMCell(1, 1)
    weights = {name: torch.zeros_like(value) for name, value in cell.state_dict().items()}
    weights["weight_ih"] = torch.tensor([[1.0], [2.0], [3.0], [4.0]])  # rows i, f, g, o
    cell.load_state_dict(weights)
    h, c = cell(torch.tensor([[0.5]]), (torch.tensor([[0.0]]), torch.tensor([[2.0]])))

    # i = σ(.5) = .622459, f = σ(1) = .731059, g = tanh(1.5) = .905148, o = σ(2) = .880797
    # c' = .731059 * 2 + .622459 * .905148,  h' = .880797 * tanh(2.025535)
    cell_mistakes = {
        "with the gates in the order i, f, o, g; they are i, f, g, o": 2.062185,
        "without tanh on the candidate g": 2.395806,
        "with tanh instead of the sigmoid on the input gate": 1.880402,
        "with no sigmoid on the gates": 2.452574,
        "when the old h stands where the old c belongs (c' = f∘c + i∘g)": 0.563418,
        "without the forget gate": 2.563418,
        "when i and g are added, not multiplied": 2.989725,
        "with 1 - f in place of the input gate": 1.705549,
        "with 1 added to the forget gate's bias": 2.325012,
        "when h' and c' are returned in the wrong order": 0.850663,
    }
    close(c, torch.tensor([[2.025535]]), "c'", "c' = f∘c + i∘g.", cell_mistakes)
    output_mistakes = {
        "with tanh instead of the sigmoid on the output gate": 0.931046,
        "with the sigmoid instead of tanh on c'": 0.778142,
        "with the sigmoid applied twice to the output gate": 0.699160,
    }
    close(h, torch.tensor([[0.850663]]), "h'", "h' = o∘tanh(c').", output_mistakes)


@pytest.mark.parametrize("batch", [1, 3])
def test_shapes(lstm: ModuleType, batch: int) -> None:
    """Are h' and c' both (B, H), for one sentence and for several?"""
    result = lstm.LSTMCell(2, 5)(torch.randn(batch, 2), random_state(batch, 5))
    assert len(result) == 2, f"forward returns the pair (h', c'), got {len(result)} values"
    for name, got in zip(("h'", "c'"), result, strict=True):
        assert got.shape == (batch, 5), (
            f"B = {batch}, I = 2, H = 5: expected {name} of shape ({batch}, 5), "
            f"got {tuple(got.shape)}"
        )


def test_like_torch(lstm: ModuleType, close: Close) -> None:
    """Do three steps give what torch.nn.LSTMCell gives with the same weights?"""
    cell, other = lstm.LSTMCell(3, 4), torch.nn.LSTMCell(3, 4)
    other.load_state_dict(cell.state_dict())
    mine = theirs = random_state(2, 4)
    idea = "Right in the test by hand? Then look at h (W_hh, b_hh), and at which rows are whose."
    for step, x in enumerate(torch.randn(3, 2, 3), start=1):
        mine, theirs = cell(x, mine), other(x, theirs)
        close(mine[0], theirs[0], f"h' after step {step}", idea)
        close(mine[1], theirs[1], f"c' after step {step}", idea)


def test_rows_are_independent(lstm: ModuleType, close: Close) -> None:
    """Does a sentence get the same result in a batch as alone?"""
    cell, x, (h, c) = lstm.LSTMCell(2, 3), torch.randn(4, 2), random_state(4, 3)
    together = cell(x, (h, c))[0]
    alone = cell(x[1:2], (h[1:2], c[1:2]))[0]
    close(together[1:2], alone, "h' of row 1 in a batch of 4", "Rows must not mix.")


def test_inputs_unchanged(lstm: ModuleType, close: Close) -> None:
    """Are x, h and c as they were after a call, and is a second call the same?"""
    cell, x, (h, c) = lstm.LSTMCell(2, 3), torch.randn(2, 2), random_state(2, 3)
    before = x.clone(), h.clone(), c.clone()
    first, second = cell(x, (h, c)), cell(x, (h, c))
    idea = "Write `c = ...`, not `c.mul_(...)` or `c += ...`, which change the caller's tensor."
    for name, got, expected in zip("xhc", (x, h, c), before, strict=True):
        close(got, expected, f"{name} after the call", idea)
    close(second[0], first[0], "h' of a second call", "Keep nothing on `self` between calls.")


def test_gradients(lstm: ModuleType, reached: Reached) -> None:
    """Do gradients reach x, h, c and all four parameters?"""
    cell = lstm.LSTMCell(2, 3)
    inputs = [torch.randn(2, size, requires_grad=True) for size in (2, 3, 3)]
    h, c = cell(inputs[0], (inputs[1], inputs[2]))
    (h.sum() + c.sum()).backward()
    tensors = dict(zip("xhc", inputs, strict=True)) | dict(cell.named_parameters())
    assert set(PARAMETERS) <= set(tensors), f"the cell's parameters are {', '.join(PARAMETERS)}"
    reached(tensors)


def test_float64(lstm: ModuleType) -> None:
    """Does a cell in float64 stay in float64?"""
    cell, (h, c) = lstm.LSTMCell(2, 3).double(), random_state(1, 3)
    result = cell(torch.randn(1, 2).double(), (h.double(), c.double()))
    for name, got in zip(("h'", "c'"), result, strict=True):
        assert got.dtype == torch.float64, f"expected {name} in float64, got {got.dtype}"
