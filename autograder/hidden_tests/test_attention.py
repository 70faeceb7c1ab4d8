"""Task `attention`: do the scores, the weighted mean and the decoder's step follow the equations?

The worker has torch's own cell and softmax in the place of the other tasks' files. Each test checks
values too, so that no wrong function earns points for side effects it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.faults import Mismatch
from autograder.hidden_tests import answers, compare, padding
from autograder.hidden_tests.draw import normal
from autograder.probes.common import evaluate
from autograder.sandbox.session import TaskRunner
from nmt import attention
from nmt.attention import AttentionDecoder, Memory

pytestmark = pytest.mark.task("attention")

RULES = {
    "dot_score": "e_i = sᵀ h_i",
    "multiplicative_score": "e_i = sᵀ W h_i",
    "additive_score": "e_i = vᵀ tanh(W₁ h_i + W₂ s), with W₁ = w_key and W₂ = w_query",
}
ARGUMENTS = {
    "dot_score": ("query", "keys"),
    "multiplicative_score": ("query", "keys", "weight"),
    "additive_score": ("query", "keys", "w_query", "w_key", "v"),
}
DTYPES = (torch.float32, torch.float64)
# (B, S, H, D, A): all different, then a batch of one, a source of one, both; and sizes that are
# equal, where no wrong order of dimensions makes an error
SCORE_SIZES = [(3, 5, 4, 6, 2), (2, 4, 6, 3, 5), (1, 4, 3, 2, 5), (4, 1, 2, 3, 5), (1, 1, 3, 2, 4)]
EQUAL_SIZES = [(3, 3, 4, 4, 4), (4, 4, 4, 4, 4)]
# (B, S, E, H, D)
STEP_SIZES = [(3, 5, 2, 7, 4), (5, 4, 6, 3, 2), (2, 6, 3, 4, 5), (3, 4, 2, 5, 5)]  # also H = D
SINGLE_SIZES = [(1, 4, 3, 5, 2), (3, 1, 2, 5, 4), (1, 1, 3, 2, 4), (2, 3, 1, 1, 1)]
INPUTS = ("y", "o_prev", "h", "c", "values", "mask")
Sizes = tuple[int, int, int, int, int]


# --- The scores ---


def score_inputs(
    rng: torch.Generator, name: str, sizes: Sizes, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Draw the arguments of a score."""
    batch, source, hidden, width, inner = sizes
    keys = hidden if name == "dot_score" else width
    shapes = {
        "query": (batch, hidden),
        "keys": (batch, source, keys),
        "weight": (hidden, width),
        "w_query": (inner, hidden),
        "w_key": (inner, width),
        "v": (inner,),
    }
    return {key: normal(rng, *shapes[key], dtype=dtype) for key in ARGUMENTS[name]}


def same_scores(name: str, actual: object, inputs: dict[str, Tensor]) -> None:
    """Compare the scores of one of the three functions."""
    expected = getattr(attention, name)(*inputs.values())
    compare.tensor(name, actual, expected, sizes="(B, S)", rule=RULES[name])


def check_scores(probe: TaskRunner, rng: torch.Generator, name: str) -> None:
    """Run one of the three functions at all sizes, and compare."""
    for dtype in DTYPES:
        for sizes in SCORE_SIZES + EQUAL_SIZES:
            inputs = score_inputs(rng, name, sizes, dtype)
            report = probe.call("run", name=name, arguments=list(inputs.values()))
            same_scores(name, answers.fields(report, "value")[0], inputs)


def test_dot_score(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does dot_score give the inner product of the query with each key?"""
    check_scores(probe, rng, "dot_score")


def test_multiplicative_score(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does multiplicative_score give the query, times W, times each key?"""
    check_scores(probe, rng, "multiplicative_score")


def test_additive_score(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does additive_score give v times tanh of the two projections' sum?"""
    check_scores(probe, rng, "additive_score")


def test_score_gradients(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the gradients of all three scores reach each of their arguments?"""
    for name in RULES:
        inputs = score_inputs(rng, name, (3, 5, 4, 6, 2), torch.float64)
        cotangents = [normal(rng, 3, 5, dtype=torch.float64)]
        check_gradients(probe, name, inputs, cotangents, partial(same_scores, name, inputs=inputs))


def check_gradients(
    probe: TaskRunner,
    name: str,
    inputs: dict[str, Tensor],
    cotangents: list[Tensor],
    same: Callable[[object], None],
) -> None:
    """Compare a function's gradients, after its value."""
    report = probe.call("run", name=name, arguments=list(inputs.values()), cotangents=cotangents)
    value, found = answers.fields(report, "value", "argument_gradients")
    same(value)
    copies = [tensor.clone() for tensor in inputs.values()]
    expected = evaluate(getattr(attention, name), copies, cotangents=cotangents)
    names = tuple(key for key, tensor in inputs.items() if tensor.is_floating_point())
    wanted = dict(zip(names, expected["argument_gradients"]))
    compare.gradients(name, answers.named(found, names), wanted)


# --- attend ---


def attend_inputs(
    rng: torch.Generator, batch: int, source: int, width: int, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Draw the arguments of attend."""
    mask = padding.mask_of(padding.lengths(rng, batch, source), source)
    scores = padding.scores(rng, mask, dtype, spread=0.7)
    return {
        "scores": scores,
        "values": normal(rng, batch, source, width, dtype=dtype),
        "mask": mask,
    }


def same_attention(actual: object, inputs: dict[str, Tensor]) -> None:
    """Compare context and weights."""
    context, weights = compare.parts("attend", actual, ("context", "weights"))
    expected = attention.attend(*inputs.values())
    compare.in_order("attend", (context, weights), expected, "(context, weights)")
    rule = "softmax of the row's scores over its real positions, 0 at padding"
    compare.tensor("`weights` of attend", weights, expected[1], sizes="(B, S)", rule=rule)
    rule = "the sum over i of weight_i * values_i"
    compare.tensor("`context` of attend", context, expected[0], sizes="(B, D)", rule=rule)


def test_attend(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does attend give the weighted mean of the values, without padding, and then the weights?"""
    for dtype in DTYPES:
        for batch, source, width in [
            (4, 6, 3),
            (2, 3, 5),
            (1, 4, 2),
            (3, 1, 2),
            (1, 1, 3),
            (4, 4, 4),
        ]:
            inputs = attend_inputs(rng, batch, source, width, dtype)
            check_attend(probe, inputs, compare.settings(True, dtype))
    inputs = attend_inputs(rng, 4, 7, 3, torch.float32)
    for mask in (padding.scattered(rng, 4, 7), padding.scattered(rng, 4, 7)):
        inputs |= {"mask": mask, "scores": padding.scores(rng, mask, torch.float32)}
        check_attend(probe, inputs, "Padding is not at the end here.")


def check_attend(probe: TaskRunner, inputs: dict[str, Tensor], words: str) -> None:
    """Run attend, and compare."""
    report = probe.call("run", name="attend", arguments=list(inputs.values()))
    with compare.during(words):
        same_attention(answers.fields(report, "value")[0], inputs)


def test_attend_gradients(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the gradients of context and weights reach the scores and the values?"""
    inputs = attend_inputs(rng, 4, 5, 3, torch.float64)
    cotangents = [normal(rng, 4, size, dtype=torch.float64) for size in (3, 5)]
    check_gradients(probe, "attend", inputs, cotangents, partial(same_attention, inputs=inputs))


# --- AttentionDecoder.step ---


def decoder(rng: torch.Generator, sizes: Sizes, dtype: torch.dtype) -> AttentionDecoder:
    """Make a reference decoder whose parameters are all random."""
    _, _, embedding, hidden, width = sizes
    made = AttentionDecoder(embedding, hidden, width).to(dtype)
    for parameter in made.parameters():
        parameter.data = normal(rng, *parameter.shape, scale=0.6, dtype=dtype)
    return made


def step_inputs(rng: torch.Generator, sizes: Sizes, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Draw y, o_prev, h, c, values and a mask."""
    batch, source, embedding, hidden, width = sizes
    floats = [normal(rng, batch, size, dtype=dtype) for size in (embedding, hidden, hidden, hidden)]
    values = normal(rng, batch, source, width, dtype=dtype)
    return (*floats, values, padding.mask_of(padding.lengths(rng, batch, source), source))


def right_step(ours: AttentionDecoder, inputs: Sequence[Tensor]) -> Any:
    """Return what the reference's step gives for y, o_prev, h, c, values and mask."""
    y, o_prev, h, c, values, mask = inputs
    parts = values, ours.att_projection(values), mask
    memory = Memory(*(part.expand(len(y), *part.shape[1:]) for part in parts))
    return ours.step(y, o_prev, (h, c), memory)


def same_step(actual: object, expected: Any, *, o: bool = True) -> Any:
    """Compare what a step returned, `o` only if asked for, and return its o."""
    got, state, weights = compare.parts("step", actual, ("o", "(h', c')", "weights"))
    if isinstance(weights, (tuple, list)) and not isinstance(state, (tuple, list)):
        raise Mismatch("step returns its results in another order than (o, (h', c'), weights).")
    h, c = compare.parts("the second result of step", state, ("h'", "c'"))
    rule = "h', c' = cell([y; o_prev], (h, c))"
    compare.tensor("h' of step", h, expected[1][0], sizes="(B, H)", rule=rule)
    compare.tensor("c' of step", c, expected[1][1], sizes="(B, H)", rule=rule)
    rule = "attend to e_i = h'ᵀ keys_i, with the new h' and the memory's mask"
    compare.tensor("`weights` of step", weights, expected[2], sizes="(B, S)", rule=rule)
    if o:
        rule = "o = dropout(tanh(combined_output([context; h'])))"
        compare.tensor("o of step", got, expected[0], sizes="(B, H)", rule=rule)
    return got


def check_step(probe: TaskRunner, rng: torch.Generator, sizes: Sizes, dtype: torch.dtype) -> None:
    """Run one step at these sizes in both modes, without dropout, and compare."""
    ours, inputs = decoder(rng, sizes, dtype), step_inputs(rng, sizes, dtype)
    for training in (True, False):
        report = probe.call(
            "step", weights=dict(ours.state_dict()), inputs=inputs, training=training
        )
        with compare.during(compare.settings(training, dtype)):
            same_step(answers.fields(report, "value")[0], right_step(ours, inputs))


def test_step(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does one step give the o, h', c' and weights of the equations?"""
    for sizes in STEP_SIZES:
        check_step(probe, rng, sizes, torch.float32)
    check_expanded(probe, rng)


def check_expanded(probe: TaskRunner, rng: torch.Generator) -> None:
    """Run a step whose memory is one row for the whole batch, expanded, as beam search has it."""
    sizes = (4, 5, 2, 6, 3)
    ours, inputs = decoder(rng, sizes, torch.float32), step_inputs(rng, sizes, torch.float32)
    inputs = (*inputs[:4], inputs[4][:1], inputs[5][:1])
    report = probe.call("step", weights=dict(ours.state_dict()), inputs=inputs, training=False)
    with compare.during("The memory is one sentence's, expanded to all rows."):
        same_step(answers.fields(report, "value")[0], right_step(ours, inputs))


def test_step_sizes_and_float64(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does a step work for a batch of one, a source of one, single units, and in float64?"""
    for dtype in DTYPES:
        for sizes in SINGLE_SIZES:
            check_step(probe, rng, sizes, dtype)


def test_step_gradients(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do the gradients of a step reach every input and every parameter?"""
    for training in (True, False):
        with compare.during("" if training else "This was in evaluation mode."):
            check_step_gradients(probe, rng, training)


def check_step_gradients(probe: TaskRunner, rng: torch.Generator, training: bool) -> None:
    """Compare the gradients of a step without dropout, after its values."""
    sizes, dtype = (3, 5, 2, 7, 4), torch.float64
    ours, inputs = decoder(rng, sizes, dtype), step_inputs(rng, sizes, dtype)
    cotangents = [normal(rng, 3, size, dtype=dtype) for size in (7, 7, 7, 5)]
    report = probe.call(
        "step",
        weights=dict(ours.state_dict()),
        inputs=inputs,
        training=training,
        cotangents=cotangents,
    )
    value, *found = answers.fields(report, "value", "argument_gradients", "parameter_gradients")
    copies = [tensor.clone() for tensor in inputs]
    expected = evaluate(
        lambda *step: right_step(ours, step), copies, cotangents=cotangents, module=ours
    )
    same_step(value, expected["value"])
    wanted = dict(zip(INPUTS, expected["argument_gradients"])) | expected["parameter_gradients"]
    compare.gradients(
        "step", answers.named(found[0], INPUTS[:-1]) | answers.mapping(found[1]), wanted
    )


def test_sequence(probe: TaskRunner, rng: torch.Generator) -> None:
    """Do several steps follow from one another, each reading the last one's o and state?"""
    sizes, dtype = (3, 5, 2, 6, 4), torch.float64
    ours, (_, _, h, c, values, mask) = decoder(rng, sizes, dtype), step_inputs(rng, sizes, dtype)
    ys, o = normal(rng, 4, 3, 2, dtype=dtype), torch.zeros(3, 6, dtype=dtype)
    report = probe.call(
        "sequence",
        weights=dict(ours.state_dict()),
        ys=ys,
        o=o,
        state=(h, c),
        memory=(values, mask),
    )
    for actual, y in zip(answers.items(report, len(ys)), ys):
        expected = right_step(ours, (y, o, h, c, values, mask))
        same_step(actual, expected)
        o, (h, c), _ = expected


def test_dropout(probe: TaskRunner, rng: torch.Generator) -> None:
    """Does dropout act on o alone, in training alone, and divide what it keeps by 1 - p?"""
    sizes, p, times = (2, 4, 3, 16, 5), 0.3, 32
    ours, inputs = decoder(rng, sizes, torch.float32), step_inputs(rng, sizes, torch.float32)
    expected = right_step(ours, inputs)
    weights = dict(ours.state_dict())
    # Both are called before either is looked at: what is wrong may show in one of them alone.
    report = probe.call("steps", weights=weights, calls=[inputs] * times, training=True, dropout=p)
    evaluated = probe.call("step", weights=weights, inputs=inputs, training=False, dropout=p)
    with compare.during("This was in evaluation mode, where nothing is dropped."):
        same_step(answers.fields(evaluated, "value")[0], expected)
    values = answers.items(answers.fields(report, "values")[0], times)
    outputs = [same_step(value, expected, o=False) for value in values]
    check_dropped(outputs, expected[0] / (1 - p), p)


def check_dropped(outputs: Sequence[Any], kept: Tensor, p: float) -> None:
    """Check that entries are 0 or as in `kept`, and that p of them are 0, now these, now those."""
    zeros = []
    for o in outputs:
        zero = o == 0 if isinstance(o, Tensor) and o.shape == kept.shape else torch.tensor(False)
        filled = torch.where(zero, kept, o) if zero.shape == kept.shape else o
        rule = "each entry is 0 or tanh(.) / (1 - p), in training with dropout p"
        compare.tensor("o of step", filled, kept, sizes="(B, H)", rule=rule)
        zeros.append(zero)
    if all(torch.equal(zero, zeros[0]) for zero in zeros):
        raise Mismatch(
            "o is the same in every one of several steps in training with dropout; which entries "
            "are dropped must be random: use self.dropout, and seed nothing."
        )
    drawn = torch.stack(zeros)  # (times, B, H)
    alike = {
        "units of a row": drawn == drawn[:, :, :1],
        "rows of the batch": drawn == drawn[:, :1],
    }
    for what, same in alike.items():
        if bool(same.all()):
            raise Mismatch(
                f"all {what} are dropped or kept together in training with dropout: each entry of "
                "o is drawn on its own."
            )
    share = float(drawn.float().mean())
    # 32 steps of 16 units are 512 draws, even if all rows drop the same units: the share has a
    # standard deviation of .02, and a right answer is .14 off with a probability below 1e-10.
    if abs(share - p) > 0.14:
        raise Mismatch(
            f"{share:.0%} of the entries of o are dropped in training with dropout p = {p}: p is "
            "the probability to DROP an entry."
        )


def test_no_side_effects(probe: TaskRunner, rng: torch.Generator) -> None:
    """Are all arguments left as they were, and is nothing carried from one call to the next?"""
    for grad in (True, False):
        with compare.during("" if grad else "This was under torch.no_grad()."):
            check_twice(probe, rng, grad)
            for training in (True, False):
                with compare.during(compare.settings(training, torch.float32)):
                    check_memory(probe, rng, training, grad)
    check_repeated(probe, rng)


def check_twice(probe: TaskRunner, rng: torch.Generator, grad: bool) -> None:
    """Call each function twice, and check values and arguments."""
    for name in RULES:
        inputs = score_inputs(rng, name, (3, 5, 4, 6, 2), torch.float32)
        for value in twice(probe, name, inputs, grad):
            same_scores(name, value, inputs)
    inputs = attend_inputs(rng, 3, 5, 4, torch.float32)
    for value in twice(probe, "attend", inputs, grad):
        same_attention(value, inputs)


def check_repeated(probe: TaskRunner, rng: torch.Generator) -> None:
    """Run unrelated steps on one decoder in evaluation mode, the first one again at the end."""
    ours = decoder(rng, (3, 5, 2, 6, 4), torch.float32)
    calls = [step_inputs(rng, (b, s, 2, 6, 4), torch.float32) for b, s in [(3, 5), (3, 5), (2, 4)]]
    calls += [calls[0]]
    report = probe.call(
        "steps", weights=dict(ours.state_dict()), calls=calls, training=False, dropout=0.4
    )
    values, random = answers.fields(report, "values", "random")
    for number, actual in enumerate(answers.items(values, len(calls))):
        with compare.during(compare.after(number)):
            same_step(actual, right_step(ours, calls[number]))
    answers.draws_nothing("step in evaluation mode", random)


def twice(probe: TaskRunner, name: str, before: dict[str, Tensor], grad: bool) -> list[Any]:
    """Call a function twice, check what it leaves behind, and return both results."""
    report = probe.call("twice", name=name, arguments=list(before.values()), grad=grad)
    values, after, random = answers.fields(report, "values", "arguments_after", "random")
    compare.unchanged(name, after, before)
    answers.draws_nothing(name, random)
    return answers.items(values, 2)


def check_memory(probe: TaskRunner, rng: torch.Generator, training: bool, grad: bool) -> None:
    """Run a step and check that its inputs, and the memory with them, are as they were."""
    sizes, dtype = (3, 5, 2, 6, 4), torch.float32
    ours, inputs = decoder(rng, sizes, dtype), step_inputs(rng, sizes, dtype)
    weights = dict(ours.state_dict())
    report = probe.call(
        "memory_after", weights=weights, inputs=inputs, training=training, grad=grad
    )
    value, after, keys = answers.fields(report, "value", "arguments_after", "keys")
    same_step(value, right_step(ours, inputs))
    compare.unchanged("step", after, dict(zip(INPUTS, inputs)))
    keys_before, keys_after = answers.items(keys, 2)
    if not isinstance(keys_before, Tensor):
        raise Mismatch(answers.MESSAGE)
    compare.unchanged("step", [keys_after], {"memory.keys": keys_before})
