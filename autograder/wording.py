"""Say in plain words what common exceptions of Python and torch mean, and what to look at."""

from __future__ import annotations

import re

SHAPES = "Write the shape of every tensor beside it, with all sizes different."
INDEX = "An index is a float here; rows and tokens are integers: // and %, never /."
IN_PLACE = "Something is changed in place that a gradient needs; give the result a new tensor."
GRAPH = (
    "Something cuts the graph: .data, .detach(), .item(), .tolist(), torch.tensor(...) or "
    "torch.no_grad()."
)
DTYPE = "Two dtypes meet: take dtype from the inputs, never from a constant such as torch.float32."
DEVICE = "Two devices meet: make every new tensor on the device of the inputs."
DIMENSIONS = (
    "A tensor has fewer dimensions than you think. squeeze() without a dimension drops a batch of "
    "one, too: name the dimension."
)
MASK = "A mask is torch.bool; it is negated by ~ and is no number."
NUMBER = "A number is 0 here: which case of the contract is that, and what does it say of it?"

# (pattern in "type: text" of an exception, what to say)
WORDS = [
    (r"tensors used as indices must be|indices must be integers|as an integer|only integer", INDEX),
    (r"in-place operation|inplace operation|an in-place", IN_PLACE),
    (r"does not require grad|does not have a grad_fn", GRAPH),
    (r"same dtype|expected scalar type|expected m1 and m2", DTYPE),
    (r"on the same device", DEVICE),
    (r"Dimension out of range|too many indices", DIMENSIONS),
    (r"boolean mask|with a bool tensor|only supports boolean", MASK),
    (r"^ZeroDivisionError|math domain error|float division by zero", NUMBER),
    (
        r"mat1 and mat2|mat2 must|size of tensor|must match|inconsistent tensor|is invalid for"
        r" input|subscript|Expected size|batch1 and batch2|not broadcastable|must be broadcastable",
        SHAPES,
    ),
]


def hint(kind: str, text: str) -> str | None:
    """Return what to look at for an exception; None if it is not a common one."""
    for pattern, words in WORDS:
        if re.search(pattern, f"{kind}: {text}"):
            return words
    return None
