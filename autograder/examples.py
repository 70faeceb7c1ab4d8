"""Public examples that one can check by hand: the only place where a right value is printed.

Each stands in the public tests (`tests/` of the starter), or in the lecture. Where a test is failed
and the student's code gets an example of the same function wrong too, the first such one is shown.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.hidden_tests.compare import kind
from autograder.hidden_tests.searches import BY_HAND, from_table
from autograder.likeness import alike, plain
from autograder.sandbox.session import Call

ROUNDED = 2e-6  # the right values have six decimals, and float32 seven digits
MAX_SHOWN = 240  # characters of what a student's code returned; a right value has fewer than 80
EMPTY = "()"  # the translation without a word
NO_VALUE = "something that is not of the form that the contract gives"
TRUE, FALSE = True, False


@dataclass(frozen=True)
class Example:
    """One call whose right value is public.

    `pick` takes out of the probe's answer what is compared and shown.
    """

    tests: tuple[str, ...]  # the hidden tests that are about the same function
    function: str  # of the probe
    inputs: Mapping[str, Any]
    shown: str
    right: Any
    pick: Callable[[Any], Any]

    def text(self, call: Call) -> str | None:
        """Say what the student's code returned and what is right; None if these are the same."""
        error = call.reply.get("error")
        if isinstance(error, dict) and error.get("not_implemented"):
            return None  # nothing to learn from it
        if error is not None:
            return f"{self.shown} raises {_kind(error)}; right is {show(self.right)}."
        try:
            got = self.pick(lists(call.reply["value"]))
        except (LookupError, TypeError, ValueError):  # the answer has another form
            return f"{self.shown} is {NO_VALUE}; right is {show(self.right)}."
        if alike(plain(got), plain(self.right), relative=ROUNDED, absolute=ROUNDED):
            return None
        return f"{self.shown} is {show(got)} in your code; right is {show(self.right)}."


def lists(value: Any) -> Any:
    """Return the value with lists for tensors and tuples; a large tensor by its kind."""
    if isinstance(value, Tensor):
        return value.tolist() if value.numel() <= MAX_SHOWN else kind(value)
    if isinstance(value, (tuple, list)):
        return [lists(item) for item in value]
    if isinstance(value, dict):
        return {key: lists(item) for key, item in value.items()}
    return value


def show(value: Any) -> str:
    """Write a value with six decimals a number, as the right values have them."""
    if isinstance(value, (tuple, list)):
        text = "[" + ", ".join(show(item) for item in value[:MAX_SHOWN]) + "]"
    else:
        # + 0.0: what is rounded to -0 is 0
        text = f"{round(value, 6) + 0.0:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " …"


def _kind(error: Any) -> str:
    name = str(error.get("type")) if isinstance(error, dict) else ""
    return name if hasattr(builtins, name) else "an exception"


def _value(answer: Any) -> Any:
    return answer["value"]


# --- lstm ---

_COLUMN = [[1.0], [2.0], [3.0], [4.0]]
_ONE_UNIT = {
    "weight_ih": torch.tensor(_COLUMN),
    "weight_hh": torch.zeros(4, 1),
    "bias_ih": torch.zeros(4),
    "bias_hh": torch.zeros(4),
}
LSTM_TESTS = (
    *("test_step", "test_sizes_and_float64", "test_sequence", "test_gradients"),
    *("test_no_side_effects", "test_parameters"),
)
LSTM = [
    Example(
        LSTM_TESTS,
        "step",
        {
            "weights": _ONE_UNIT,
            "x": torch.tensor([[0.5]]),
            "state": (torch.tensor([[0.0]]), torch.tensor([[2.0]])),
        },
        "(h', c') of one unit with weight_ih = 1, 2, 3, 4, all else 0, x = 0.5, h = 0 and c = 2",
        [[[0.850663]], [[2.025535]]],
        _value,
    )
]

# --- masking ---

SIDE_EFFECTS = ("test_no_side_effects",)
MASK_TESTS = ("test_padding_mask", "test_padding_mask_lengths", "test_padding_mask_device")
SOFTMAX_TESTS = (
    *("test_masked_softmax", "test_masked_softmax_any_mask", "test_masked_softmax_gradients"),
)
LOSS_TESTS = ("test_masked_cross_entropy", "test_masked_cross_entropy_gradients")


def _masking(
    tests: Sequence[str], name: str, arguments: list[Any], shown: str, right: Any
) -> Example:
    return Example(
        tuple(tests), "run", {"name": name, "arguments": arguments}, shown, right, _value
    )


MASKING = [
    _masking(
        MASK_TESTS,
        "padding_mask",
        [torch.tensor([2, 4, 1]), 5],
        "padding_mask of the lengths 2, 4, 1 with max_length 5",
        [
            [FALSE, FALSE, TRUE, TRUE, TRUE],
            [FALSE, FALSE, FALSE, FALSE, TRUE],
            [FALSE, TRUE, TRUE, TRUE, TRUE],
        ],
    ),
    _masking(
        SOFTMAX_TESTS,
        "masked_softmax",
        [torch.tensor([[2.0, 1.0, -1.0]]), torch.tensor([[FALSE, FALSE, TRUE]])],
        "masked_softmax of the scores 2, 1, -1, the last one padding,",
        [[0.731059, 0.268941, 0.0]],
    ),
    _masking(
        LOSS_TESTS,
        "masked_cross_entropy",
        [torch.tensor([[[0.6, 0.4], [0.25, 0.75]]]).log(), torch.tensor([[0, 1]]), 1],
        "masked_cross_entropy of a real token of probability 0.6 and one of padding (pad_id = 1)",
        0.510826,
    ),
    _masking(
        LOSS_TESTS,
        "masked_cross_entropy",
        [
            torch.tensor([[[0.5, 0.5], [0.5, 0.5]], [[0.25, 0.75], [0.25, 0.75]]]).log(),
            torch.tensor([[1, 0], [1, 1]]),
            0,
        ],
        "masked_cross_entropy of one token of probability 0.5 and padding in the first row, two "
        "tokens of 0.75 in the second (pad_id = 0),",
        0.422837,
    ),
]

# --- attention ---

_KEYS = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
_STEP_WEIGHTS = {
    "cell.weight_ih": torch.tensor([[0.5, -1.0], [1.0, 0.5], [2.0, 1.0], [-0.5, 1.5]]),
    "cell.weight_hh": torch.tensor([[1.0], [-0.5], [0.8], [0.3]]),
    "cell.bias_ih": torch.tensor([0.1, 0.2, -0.3, 0.4]),
    "cell.bias_hh": torch.tensor([0.2, -0.1, 0.1, 0.3]),
    "att_projection.weight": torch.tensor([[2.0, -1.0]]),
    "combined_output.weight": torch.tensor([[0.6, -0.4, 0.9]]),
}
_STEP_INPUTS = (
    torch.tensor([[1.0]]),
    torch.tensor([[0.5]]),
    torch.tensor([[-0.9]]),
    torch.tensor([[0.7]]),
    torch.tensor([[[1.0, 0.5], [-1.0, 2.0], [3.0, 3.0]]]),
    torch.tensor([[FALSE, FALSE, TRUE]]),
)
STEP_TESTS = ("test_step", "test_step_sizes_and_float64", "test_step_gradients", "test_sequence")


def _attention(
    name: str, tests: Sequence[str], arguments: list[Any], shown: str, right: Any
) -> Example:
    inputs = {"name": name, "arguments": arguments}
    return Example(tuple(tests), "run", inputs, f"{name} of {shown}", right, _value)


ATTENTION = [
    _attention(
        "dot_score",
        ("test_dot_score",),
        [torch.tensor([[2.0, 0.0]]), _KEYS],
        "the query (2, 0) and the keys (1, 0), (0, 1), (1, 1)",
        [[2.0, 0.0, 2.0]],
    ),
    _attention(
        "multiplicative_score",
        ("test_multiplicative_score",),
        [
            torch.tensor([[1.0, 2.0]]),
            torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]]),
            torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]),
        ],
        "the query (1, 2), W = [[1, 2, 0], [0, -1, 3]] and the keys (1, 0, 0), (0, 1, 1)",
        [[1.0, 6.0]],
    ),
    _attention(
        "additive_score",
        ("test_additive_score",),
        [
            torch.tensor([[1.0, -1.0]]),
            torch.tensor([[[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]]),
            torch.tensor([[0.5, 0.0]]),
            torch.tensor([[1.0, -0.5, -1.0]]),
            torch.tensor([2.0]),
        ],
        "the query (1, -1), the keys (1, 0, 1), (0, 2, 0), w_query = [[0.5, 0]], "
        "w_key = [[1, -0.5, -1]] and v = [2]",
        [[0.924234, -0.924234]],
    ),
    _attention(
        "attend",
        ("test_attend", "test_attend_gradients"),
        [torch.tensor([[2.0, 0.0, 2.0]]), _KEYS, torch.zeros(1, 3, dtype=torch.bool)],
        "the scores 2, 0, 2 and the values (1, 0), (0, 1), (1, 1), none of them padding,",
        [[[0.936621, 0.531689]], [[0.468311, 0.063379, 0.468311]]],
    ),
    _attention(
        "attend",
        ("test_attend", "test_attend_gradients"),
        [
            torch.tensor([[2.0, 1.0, -1.0]]),
            torch.tensor([[[1.0], [0.0], [5.0]]]),
            torch.tensor([[FALSE, FALSE, TRUE]]),
        ],
        "the scores 2, 1, -1 and the values 1, 0, 5, the last ones padding,",
        [[[0.731059]], [[0.731059, 0.268941, 0.0]]],
    ),
    Example(
        STEP_TESTS,
        "step",
        {"weights": _STEP_WEIGHTS, "inputs": _STEP_INPUTS, "training": False},
        "(o, (h', c'), weights) of the step in test_step_by_hand of tests/test_attention.py",
        [[[0.615521]], [[[0.483746]], [[0.926205]]], [[0.934661, 0.065339, 0.0]]],
        _value,
    ),
]

# --- beam ---

BEAM_TESTS = (
    *("test_by_hand", "test_n_best", "test_state_follows", "test_length_normalisation"),
    *("test_beam_sizes", "test_max_length", "test_no_token_is_banned", "test_types_and_inputs"),
)
_EOS, _A, _B, _BOS = 0, 1, 2, 3
_LETTERS = {_EOS: "</s>", _A: "a", _B: "b", _BOS: "<s>"}


def _spelled(answer: Any) -> Any:
    """Return (letters, score) of each hypothesis."""
    return [
        ["".join(_LETTERS[token] for token in tokens) or EMPTY, score]
        for tokens, _, score in answer[0]["hypotheses"]
    ]


# As MAIN, they stand in the public tests: P(</s>), P(a), P(b) after each prefix.
TABLES = {
    "MAIN": BY_HAND,
    "SECOND_PARENT": {
        "": (0.05, 0.55, 0.40),
        "a": (0.80, 0.12, 0.08),
        "b": (0.05, 0.90, 0.05),
        "ba": (0.90, 0.06, 0.04),
        "else": (0.10, 0.30, 0.60),
    },
    "ONE_PARENT": {
        "": (0.04, 0.90, 0.06),
        "a": (0.10, 0.50, 0.40),
        "aa": (0.60, 0.30, 0.10),
        "ab": (0.90, 0.06, 0.04),
        "else": (0.50, 0.30, 0.20),
    },
}


def _beam(table: str, k: int, max_length: int, alpha: float, **right: float) -> Example:
    settings = {"beam_size": k, "max_length": max_length, "alpha": alpha}
    case = from_table((_EOS, _A, _B, _BOS), settings, TABLES[table])
    return Example(
        BEAM_TESTS,
        "search",
        {"model": case.model, "state": case.state, "settings": case.settings},
        f"beam_search in the table {table} of tests/test_beam.py with k = {k}, "
        f"max_length = {max_length}, alpha = {alpha:g}: the list of tokens and scores",
        [list(item) for item in right.items()],
        _spelled,
    )


BEAM = [
    _beam("MAIN", 1, 6, 1.0, aab=-0.426509),
    _beam("MAIN", 2, 6, 1.0, aab=-0.426509, b=-0.565051),
    _beam("MAIN", 2, 6, 0.0, b=-1.130103, aab=-1.706036),
    _beam("SECOND_PARENT", 2, 6, 1.0, ba=-0.375671, a=-0.410490),
    _beam("ONE_PARENT", 2, 6, 1.0, ab=-0.375671, aa=-0.436444),
    _beam("MAIN", 2, 2, 1.0, b=-0.565051),
    _beam("MAIN", 2, 1, 1.0, a=-0.653926),
]

# --- bleu ---

CORPUS_TESTS = (
    *("test_clipping", "test_brevity_penalty", "test_sums_and_mean", "test_empty_segments"),
    "test_random_corpora",
)
SENTENCE_TESTS = ("test_sentence_bleu",)
_CAT = ["the cat is on the mat", "there is a cat on the mat"]


def _corpus(pairs: list[tuple[str, list[str]]], max_n: int, right: float) -> Example:
    candidates = [candidate.split() for candidate, _ in pairs]
    references = [[reference.split() for reference in group] for _, group in pairs]
    named = "; ".join(
        f"{_quoted([candidate])} against {_quoted(group)}" for candidate, group in pairs
    )
    return Example(
        CORPUS_TESTS,
        "score",
        {"function": "corpus_bleu", "arguments": [candidates, references, max_n]},
        f"The score of corpus_bleu of {named}, with max_n = {max_n},",
        right,
        lambda answer: answer[0]["bleu"][0],
    )


def _sentence(candidate: str, right: list[float]) -> Example:
    references = [reference.split() for reference in _CAT]
    return Example(
        SENTENCE_TESTS,
        "score",
        {"function": "sentence_bleu", "arguments": [candidate.split(), references]},
        f"Score and precisions of sentence_bleu of `{candidate}` against {_quoted(_CAT)}",
        right,
        lambda answer: [answer[0]["bleu"][0], *answer[0]["bleu"][1]],
    )


def _quoted(texts: Sequence[str]) -> str:
    return " and ".join(f"`{text}`" if text else "nothing" for text in texts)


BLEU = [
    _corpus([("the the the the the the the", ["the cat is on the mat"])], 1, 0.285714),
    _corpus([("a b c d e", ["a b c d e f g"])], 1, 0.670320),
    _corpus([("a b c d e f", ["a b c d"])], 1, 0.666667),
    _corpus([("a b x d", ["a b c d"])], 2, 0.5),
    _corpus([("a b c d e f", ["a b c d e X", "Y b c d e f"])], 4, 1.0),
    _corpus([("c d", ["a b"]), ("a b", ["c d"])], 1, 0.0),
    _corpus([("a b x y", ["a b c d"]), ("a b c d e f g h", ["a b c d e f g h"])], 2, 0.816497),
    _corpus([("a b c d e", ["a", "a b c d e f"])], 1, 0.818731),
    _corpus([("a b c d", ["a b c d x", "a b c"])], 2, 1.0),
    _corpus([("a b", ["a b"]), ("a b c d e f", ["a b c d e f"])], 4, 1.0),
    _corpus([("", ["w x y z"]), ("a b c d e", ["a b c d e"])], 4, 0.449329),
    _corpus([("", ["a b c d"])], 4, 0.0),
    _corpus([("d c b a", ["a b c d"])], 2, 0.0),
    _sentence("the cat sat on the mat", [0.420448, 0.833333, 0.6, 0.25, 0.25]),
    _sentence("mat the on is cat the", [0.302138, 1.0, 0.166667, 0.2, 0.25]),
    _sentence("the cat", [0.135335, 1.0, 1.0, 1.0, 1.0]),
]

EXAMPLES: Mapping[str, Sequence[Example]] = {
    "lstm": LSTM,
    "masking": MASKING,
    "attention": ATTENTION,
    "beam": BEAM,
    "bleu": BLEU,
}
