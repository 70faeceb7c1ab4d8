"""Public tests of task `attention`: nmt/attention.py.

The cell and the softmax come from torch here, so your nmt/lstm.py and nmt/masking.py need not work.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

Close = Callable[..., None]
Reached = Callable[[Mapping[str, Tensor]], None]
B, S, E, H, D, A = 3, 4, 2, 7, 5, 6  # all different, so that no wrong order of dimensions fits


def softmax_of_torch(scores: Tensor, mask: Tensor) -> Tensor:
    """Stand in for the function of task `masking`."""
    weights: Tensor = torch.masked.softmax(scores, 1, mask=~mask)
    return weights


@pytest.fixture
def attention(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the module with torch's pieces in place of the other tasks'."""
    import nmt

    pieces: dict[str, dict[str, object]] = {
        "lstm": {"LSTMCell": torch.nn.LSTMCell},
        "masking": {"masked_softmax": softmax_of_torch},
        "attention": {},
    }
    for name, content in pieces.items():
        module = ModuleType(f"nmt.{name}")
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(nmt, name, module, raising=False)
    del sys.modules["nmt.attention"]  # the real one, read anew; what was there comes back later
    return importlib.import_module("nmt.attention")


@pytest.fixture
def example() -> dict[str, Tensor]:
    """Return random tensors of all sizes; rows have 4, 2 and 1 real positions."""
    sizes = {
        "query": (B, H),
        "keys": (B, S, H),
        "values": (B, S, D),
        "weight": (H, D),
        "w_query": (A, H),
        "w_key": (A, D),
        "v": (A,),
        "scores": (B, S),
        "y": (B, E),
        "o_prev": (B, H),
        "h": (B, H),
        "c": (B, H),
    }
    tensors = {name: torch.randn(size) for name, size in sizes.items()}
    lengths = torch.tensor([[4], [2], [1]])
    return tensors | {"mask": torch.arange(S) >= lengths}


def step(attention: ModuleType, decoder: Any, example: dict[str, Tensor]) -> Any:
    """Run one step of the decoder on the example, or on rows of it."""
    values = example["values"]
    memory = attention.Memory(values, decoder.att_projection(values), example["mask"])
    return decoder.step(example["y"], example["o_prev"], (example["h"], example["c"]), memory)


# --- The scores ---


def test_dot_score_by_hand(attention: ModuleType, close: Close) -> None:
    """Does dot_score give the inner products with the query?"""
    keys = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    got = attention.dot_score(torch.tensor([[2.0, 0.0]]), keys)
    mistakes = {"when the scores are divided by sqrt(H); there is no scaling here": 2 / 2**0.5}
    close(got, torch.tensor([[2.0, 0.0, 2.0]]), "dot_score", "e_i = sᵀ h_i.", mistakes)


def test_multiplicative_score_by_hand(attention: ModuleType, close: Close) -> None:
    """Does multiplicative_score put W (H, D) between the query and the keys?"""
    weight = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])  # H = 2, D = 3
    keys = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]])
    got = attention.multiplicative_score(torch.tensor([[1.0, 2.0]]), keys, weight)
    # sᵀW = (1, 0, 6)
    close(got, torch.tensor([[1.0, 6.0]]), "multiplicative_score", "e_i = sᵀ W h_i.")


def test_additive_score_by_hand(attention: ModuleType, close: Close) -> None:
    """Does additive_score add the projections, then tanh, then v?"""
    got = attention.additive_score(
        torch.tensor([[1.0, -1.0]]),
        torch.tensor([[[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]]),
        torch.tensor([[0.5, 0.0]]),  # W₂ s = 0.5
        torch.tensor([[1.0, -0.5, -1.0]]),  # W₁ h_i = 0, -1
        torch.tensor([2.0]),
    )
    expected = torch.tensor([[0.924234, -0.924234]])  # 2 tanh(0.5), 2 tanh(-0.5)
    close(got, expected, "additive_score", "e_i = vᵀ tanh(W₁ h_i + W₂ s).", {"without tanh": 1.0})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("dot_score", ("query", "keys")),
        ("multiplicative_score", ("query", "values", "weight")),
        ("additive_score", ("query", "values", "w_query", "w_key", "v")),
    ],
)
def test_scores_of_a_batch(
    attention: ModuleType,
    close: Close,
    reached: Reached,
    example: dict[str, Tensor],
    name: str,
    arguments: tuple[str, ...],
) -> None:
    """Are the scores (B, S), row by row as alone, and differentiable in every argument?"""
    score = getattr(attention, name)
    inputs = [example[argument].requires_grad_() for argument in arguments]
    got = score(*inputs)
    assert tuple(got.shape) == (B, S), (
        f"{name} with B = {B}, S = {S}: expected shape ({B}, {S}), got {tuple(got.shape)}"
    )
    alone = score(inputs[0][1:2], inputs[1][1:2], *inputs[2:])
    close(got[1:2], alone, f"{name} of row 1 in a batch of {B}", "Rows must not mix.")
    got.sum().backward()
    reached(dict(zip(arguments, inputs, strict=True)))


# --- attend ---


def test_attend_by_hand(attention: ModuleType, close: Close) -> None:
    """Is the context the mean of the values, weighted by the softmax of the scores?"""
    values = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    scores, mask = torch.tensor([[2.0, 0.0, 2.0]]), torch.zeros(1, 3, dtype=torch.bool)
    context, weights = attention.attend(scores, values, mask)
    # e^2 / (e^2 + e^0 + e^2) = .468311
    order = "a = sum of α_i h_i; attend returns (context, weights), in this order."
    close(weights, torch.tensor([[0.468311, 0.063379, 0.468311]]), "the weights", order)
    close(context, torch.tensor([[0.936621, 0.531689]]), "the context", order)


def test_attend_leaves_padding_out(
    attention: ModuleType, close: Close, example: dict[str, Tensor]
) -> None:
    """Does what stands at padding make no difference, and does each row sum to 1?"""
    scores, values, mask = example["scores"], example["values"], example["mask"]
    context, weights = attention.attend(scores, values, mask)
    assert tuple(context.shape) == (B, D), (
        f"B = {B}, S = {S}, D = {D}: expected a context ({B}, {D}), got {tuple(context.shape)}"
    )
    close(weights.sum(dim=1), torch.ones(B), "the sums of the rows of weights")
    close(weights[mask], torch.zeros(5), "the weights at padding", "Pass the mask on.")
    other = values.masked_fill(mask.unsqueeze(2), 9.0)
    close(attention.attend(scores, other, mask)[0], context, "the context with other padding")


def test_attend_single(attention: ModuleType, close: Close) -> None:
    """Is the context of one sentence of one word that word's value, in shape (1, D)?"""
    values = torch.tensor([[[3.0, -2.0]]])
    context, weights = attention.attend(torch.tensor([[5.0]]), values, torch.tensor([[False]]))
    idea = "`squeeze()` without a dimension drops B = 1 too; name the dimension."
    close(weights, torch.tensor([[1.0]]), "the weights for B = S = 1", idea)
    close(context, torch.tensor([[3.0, -2.0]]), "the context for B = S = 1", idea)


# --- AttentionDecoder.step ---


def test_step_by_hand(attention: ModuleType, close: Close) -> None:
    """Does a step with E = H = 1, D = 2 give what its five lines give?"""
    decoder = attention.AttentionDecoder(1, 1, 2).eval()
    weights = {
        "cell.weight_ih": [[0.5, -1.0], [1.0, 0.5], [2.0, 1.0], [-0.5, 1.5]],
        "cell.weight_hh": [[1.0], [-0.5], [0.8], [0.3]],
        "cell.bias_ih": [0.1, 0.2, -0.3, 0.4],
        "cell.bias_hh": [0.2, -0.1, 0.1, 0.3],
        "att_projection.weight": [[2.0, -1.0]],
        "combined_output.weight": [[0.6, -0.4, 0.9]],
    }
    decoder.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    example = {
        "y": torch.tensor([[1.0]]),
        "o_prev": torch.tensor([[0.5]]),
        "h": torch.tensor([[-0.9]]),
        "c": torch.tensor([[0.7]]),
        "values": torch.tensor([[[1.0, 0.5], [-1.0, 2.0], [3.0, 3.0]]]),  # keys 1.5, -4, 3
        "mask": torch.tensor([[False, False, True]]),
    }
    o, (h, c), alpha = step(attention, decoder, example)
    idea = "The cell reads [y; o_prev] and (h, c)."
    h_mistakes = {"with [o_prev; y]; y comes first": 0.530684, "if c' is returned first": 0.926205}
    close(h, torch.tensor([[0.483746]]), "h'", idea, h_mistakes)
    close(c, torch.tensor([[0.926205]]), "c'", idea)
    alpha_mistakes = {
        "with the scores of the old h; they use the new h'": 0.007034,
        "with the scores of c' in place of h'": 0.993905,
        "when the mask is not used": 0.318886,
    }
    close(alpha, torch.tensor([[0.934661, 0.065339, 0.0]]), "the weights", "", alpha_mistakes)
    o_mistakes = {"with u = [h'; a]; it is [a; h']": 0.446824, "without tanh": 0.717762}
    close(o, torch.tensor([[0.615521]]), "o", "o = tanh(combined_output([a; h'])).", o_mistakes)


def test_step_rows_are_independent(
    attention: ModuleType, close: Close, example: dict[str, Tensor]
) -> None:
    """Does a sentence get the same o in a batch as alone, in the right shapes?"""
    decoder = attention.AttentionDecoder(E, H, D).eval()
    o, (h, c), alpha = step(attention, decoder, example)
    for name, got, size in (("o", o, H), ("h'", h, H), ("c'", c, H), ("weights", alpha, S)):
        assert tuple(got.shape) == (B, size), (
            f"B = {B}, S = {S}, H = {H}: expected {name} of shape ({B}, {size}), "
            f"got {tuple(got.shape)}"
        )
    alone = step(attention, decoder, {name: tensor[1:2] for name, tensor in example.items()})
    close(o[1:2], alone[0], f"o of row 1 in a batch of {B}", "Rows must not mix.")


def test_step_inputs_unchanged(
    attention: ModuleType, close: Close, example: dict[str, Tensor]
) -> None:
    """Are all inputs as they were after a step, and is a second step the same?"""
    decoder = attention.AttentionDecoder(E, H, D, dropout=0.5).eval()
    before = {name: tensor.clone() for name, tensor in example.items()}
    first, second = step(attention, decoder, example)[0], step(attention, decoder, example)[0]
    for name, tensor in before.items():
        close(example[name], tensor, f"{name} after the step", "Change nothing in place.")
    idea = "In evaluation mode nothing is random: use self.dropout. Keep nothing on `self`."
    close(second, first, "o of a second step", idea)


def test_step_dropout(attention: ModuleType, example: dict[str, Tensor]) -> None:
    """In training, is each entry of o either 0 or the evaluation's entry / (1 - p)?"""
    decoder = attention.AttentionDecoder(E, H, D, dropout=0.5)
    full = step(attention, decoder.eval(), example)[0] / (1 - 0.5)
    decoder.train()
    outputs = torch.stack([step(attention, decoder, example)[0] for _ in range(8)])
    dropped = outputs == 0
    # 168 entries at p = .5: that all or none are dropped has a chance of 2^-167.
    share = dropped.float().mean().item()
    assert 0 < share < 1, f"expected some entries of o to be dropped, got a share of {share}"
    assert torch.allclose(outputs, full * ~dropped, atol=1e-5), (  # float32 has seven digits
        "expected every entry of o to be 0 or tanh(.) / (1 - p): dropout comes last, after tanh, "
        "and nothing else is dropped"
    )


def test_step_gradients(
    attention: ModuleType, reached: Reached, example: dict[str, Tensor]
) -> None:
    """Do gradients reach every parameter and every float input, in float64?"""
    decoder = attention.AttentionDecoder(E, H, D).double()
    inputs = {
        name: tensor.double().requires_grad_() if tensor.is_floating_point() else tensor
        for name, tensor in example.items()
    }
    o, _, _ = step(attention, decoder, inputs)
    assert o.dtype == torch.float64, f"expected o in float64, got {o.dtype}"
    o.sum().backward()
    used = {name: inputs[name] for name in ("y", "o_prev", "h", "c", "values")}
    reached({**used, **dict(decoder.named_parameters())})
