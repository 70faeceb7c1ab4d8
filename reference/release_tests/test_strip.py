"""Tests of reference/release/strip.py."""

import pytest
from release.markers import ReleaseError
from release.strip import strip

BEFORE = '''\
"""A task."""

# BEGIN SOLUTION lstm
import math

# END SOLUTION lstm
import torch

LIMIT = 3


# BEGIN SOLUTION lstm
def _helper():
    return math.pi


# END SOLUTION lstm
class Cell:
    def __init__(self):
        self.size = LIMIT

    def forward(self, x):
        """Do it."""
        # BEGIN SOLUTION lstm
        def inner():
            return _helper()

        return inner() + x
        # END SOLUTION lstm

    # BEGIN SOLUTION lstm
    def _more(self):
        pass

    # END SOLUTION lstm
    def last(self):
        # BEGIN SOLUTION lstm
        return 1
        # END SOLUTION lstm


def a_function_whose_name_is_so_long_that_its_stub_needs_three_lines(x):
    if x:
        # BEGIN SOLUTION lstm
        return torch.ones(1)
        # END SOLUTION lstm
'''

AFTER = '''\
"""A task."""

import torch

LIMIT = 3


class Cell:
    def __init__(self):
        self.size = LIMIT

    def forward(self, x):
        """Do it."""
        raise NotImplementedError("Task lstm is not implemented yet: Cell.forward in nmt/lstm.py")

    def last(self):
        raise NotImplementedError("Task lstm is not implemented yet: Cell.last in nmt/lstm.py")


def a_function_whose_name_is_so_long_that_its_stub_needs_three_lines(x):
    if x:
        raise NotImplementedError(
            "Task lstm is not implemented yet: \
a_function_whose_name_is_so_long_that_its_stub_needs_three_lines in nmt/lstm.py"
        )
'''


def test_strip() -> None:
    """Do blocks in functions become stubs, and all others go without a trace?"""
    assert strip(BEFORE, "nmt/lstm.py", "lstm") == AFTER


def test_nothing_to_strip() -> None:
    """Does a file without markers stay as it is, without a newline at its end too?"""
    assert strip("x = 1\n\n\n\ny = 2", "nmt/lstm.py", "lstm") == "x = 1\n\n\n\ny = 2"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "    # BEGIN SOLUTION lstm\n    # nothing\n    # END SOLUTION lstm\n    return",
            "holds no",
        ),
        (
            "    # BEGIN SOLUTION lstm\n    x = 1\n    # END SOLUTION lstm\n"
            "    # BEGIN SOLUTION lstm\n    return x\n    # END SOLUTION lstm\n",
            "nmt/lstm.py:2: a second solution block in f",
        ),
    ],
)
def test_faults(body: str, message: str) -> None:
    """Is a block refused that leaves nothing to write, or a stub that is never reached?"""
    with pytest.raises(ReleaseError, match=message):
        strip(f"def f():\n{body}", "nmt/lstm.py", "lstm")
