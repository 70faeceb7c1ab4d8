"""Task `lstm`: does the cell follow the equations, for every size, dtype, state and gradient?

Each test checks values too, so that no wrong cell earns points for side effects it does not have.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from autograder.faults import Mismatch
from autograder.hidden_tests import answers, compare
from autograder.hidden_tests.draw import normal
from autograder.probes.common import evaluate
from autograder.sandbox.session import TaskRunner
from nmt.lstm import LSTMCell

pytestmark = pytest.mark.task("lstm")

RULE = "c' = f∘c + i∘g and h' = o∘tanh(c'), with the rows of the parameters in the order i, f, g, o"
# (B, I, H), all different, so that no two dimensions can be taken for each other
SIZES = [(3, 5, 4), (2, 4, 7), (5, 2, 3)]


def cell(rng: torch.Generator, inputs: int, hidden: int, dtype: torch.dtype) -> LSTMCell:
    """Make a reference cell whose parameters, both biases included, are all random."""
    made = LSTMCell(inputs, hidden).to(dtype)
    for parameter in made.parameters():
        parameter.data = normal(rng, *parameter.shape, scale=0.8, dtype=dtype)
    return made


def state(
    rng: torch.Generator, batch: int, hidden: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Draw h and c, far from zero and from each other."""
    return normal(rng, batch, hidden, dtype=dtype), normal(rng, batch, hidden, scale=2, dtype=dtype)


def same_state(actual: object, expected: tuple[Tensor, Tensor]) -> None:
    """Compare (h', c')."""
    h, c = compare.parts("LSTMCell.forward", actual, ("h'", "c'"))
    compare.tensor("c'", c, expected[1], sizes="(B, H)", rule=RULE)
    compare.tensor("h'", h, expected[0], sizes="(B, H)", rule=RULE)


def check_step(
    probe: TaskRunner, rng: torch.Generator, sizes: tuple[int, int, int], dtype: torch.dtype
) -> None:
    """Run one step at these sizes in both modes, and compare."""
    batch, inputs, hidden = sizes
    ours = cell(rng, inputs, hidden, dtype)
    x, before = normal(rng, batch, inputs, dtype=dtype), state(rng, batch, hidden, dtype)
    for training in (True, False):
        report = probe.call(
            "step", weights=dict(ours.state_dict()), x=x, state=before, training=training
        )
        (value,) = answers.fields(report, "value")
        with compare.during(compare.settings(training, dtype)):
            same_state(value, ours(x, before))


def test_step(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does one step give the h' and c' of the equations?"""
    for sizes in SIZES:
        check_step(probe, rng, sizes, torch.float32)


def test_sizes_and_float64(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does it work for a batch of one, for single units, and in float64?"""
    for sizes in [(1, 3, 4), (4, 1, 3), (3, 2, 1), (1, 1, 1)]:
        for dtype in (torch.float64, torch.float32):
            check_step(probe, rng, sizes, dtype)


def test_sequence(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the states of a sequence of steps follow from one another, also from a state of zeros?"""
    ours, xs = cell(rng, 3, 5, torch.float64), normal(rng, 6, 4, 3, dtype=torch.float64)
    zeros = torch.zeros(4, 5, dtype=torch.float64)
    for expected in (state(rng, 4, 5, torch.float64), (zeros, zeros.clone())):
        report = probe.call("sequence", weights=dict(ours.state_dict()), xs=xs, state=expected)
        for actual, x in zip(answers.items(report, len(xs)), xs):
            expected = ours(x, expected)
            same_state(actual, expected)


def test_gradients(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the gradients reach x, h, c and all four parameters?"""
    for training in (True, False):
        with compare.during("" if training else "This was in evaluation mode."):
            check_gradients(probe, rng, training)


def check_gradients(probe: TaskRunner, rng: torch.Generator, training: bool) -> None:
    """Compare the gradients of a step, after its values."""
    (batch, inputs, hidden), dtype = (3, 5, 4), torch.float64
    ours = cell(rng, inputs, hidden, dtype)
    x, before = normal(rng, batch, inputs, dtype=dtype), state(rng, batch, hidden, dtype)
    cotangents = [normal(rng, batch, hidden, dtype=dtype) for _ in range(2)]
    copies = [x.clone(), tuple(part.clone() for part in before)]
    expected = evaluate(ours, copies, cotangents=cotangents, module=ours)
    report = probe.call(
        "step",
        weights=dict(ours.state_dict()),
        x=x,
        state=before,
        cotangents=cotangents,
        training=training,
    )
    value, *found = answers.fields(report, "value", "argument_gradients", "parameter_gradients")
    same_state(value, expected["value"])
    names = ("x", "h", "c")
    compare.gradients(
        "LSTMCell.forward",
        answers.mapping(found[1]) | answers.named(found[0], names),
        expected["parameter_gradients"] | dict(zip(names, expected["argument_gradients"])),
    )


def test_no_side_effects(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are x, h and c left as they were, and is nothing carried from one call to the next?"""
    ours = cell(rng, 3, 4, torch.float32)
    x, (h, c) = normal(rng, 2, 3), state(rng, 2, 4, torch.float32)
    for training, grad in ((True, True), (False, True), (True, False), (False, False)):
        report = probe.call(
            "step", weights=dict(ours.state_dict()), x=x, state=(h, c), training=training, grad=grad
        )
        value, left = answers.fields(report, "value", "arguments_after")
        words = "" if grad else "This was under torch.no_grad()."
        with compare.during(words), compare.during(compare.settings(training, torch.float32)):
            same_state(value, ours(x, (h, c)))
            compare.unchanged("LSTMCell.forward", left, {"x": x, "h": h, "c": c})
    for training in (True, False):
        check_repeated(probe, rng, training)


def check_repeated(probe: TaskRunner, rng: torch.Generator, training: bool) -> None:
    """Run one cell on unrelated inputs, with other weights from the fifth call on, and compare."""
    cells = [cell(rng, 3, 4, torch.float32) for _ in range(2)]
    weights, later = (dict(each.state_dict()) for each in cells)
    calls = [(normal(rng, batch, 3), state(rng, batch, 4, torch.float32)) for batch in (2, 5, 2)]
    calls.append(calls[0])
    report = probe.call("again", weights=weights, later=later, calls=calls, training=training)
    values, random = answers.fields(report, "values", "random")
    expected = [ours(*inputs) for ours in cells for inputs in calls]
    for number, actual in enumerate(answers.items(values, len(expected))):
        words = "The weights have changed since." if number >= len(calls) else ""
        with compare.during(words), compare.during(compare.after(number)):
            same_state(actual, expected[number])
    answers.draws_nothing("LSTMCell.forward", random)


def test_parameters(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are the parameters torch's own in name, shape and order, so that state dicts interchange?"""
    report = probe.call("parameters", input_size=5, hidden_size=3)
    weights, registered = answers.fields(report, "state", "registered")
    for name, value in torch.nn.LSTMCell(5, 3).state_dict().items():
        check_parameter(name, answers.mapping(weights).get(name), registered, value)
    check_step(probe, rng, (3, 5, 4), torch.float32)


def check_parameter(name: str, got: object, registered: object, like: Tensor) -> None:
    """Hold a new cell's parameter against torch's: registered, of its shape, not constant."""
    listed = isinstance(registered, (list, tuple)) and name in registered
    if not isinstance(got, Tensor) or not listed:
        raise Mismatch(f"LSTMCell has no parameter {name} (an nn.Parameter).")
    if got.shape != like.shape:
        raise Mismatch(f"{name} has the shape {tuple(got.shape)}; it must be {tuple(like.shape)}.")
    # A bias may start at a constant. Weights may not: units that start alike stay alike.
    if got.dim() == 2 and bool((got == got[0]).all()):
        raise Mismatch(
            f"all rows of {name} are the same in a new cell: keep `__init__` as it was given."
        )
