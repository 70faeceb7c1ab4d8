"""Tests of reference/release/verify.py: what a stripped file must not be."""

import pytest
from release.markers import ReleaseError
from release.strip import strip
from release.verify import check

RIGHT = '''\
"""A task."""

import torch


def f(x: int, *, y: float = 1.0) -> int:
    """Return x."""
    # BEGIN SOLUTION lstm
    return x
    # END SOLUTION lstm
'''
FILE = "nmt/lstm.py"


def stripped(source: str) -> str:
    """Strip and check a source as the release does."""
    released = strip(source, FILE, "lstm")
    check(source, released, FILE, "lstm")
    return released


def test_right() -> None:
    """Does a file pass that is as it should be?"""
    assert "return x" not in stripped(RIGHT)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            RIGHT + "# BEGIN SOLUTION lstm\ndef g() -> None:\n    pass\n# END SOLUTION lstm\n",
            "signature or docstring of g is not the reference's",
        ),
        (RIGHT + "\n\ndef g() -> int:\n    return 2\n", "g has no solution block"),
        (RIGHT.replace("import torch", "import math"), "the import math"),
        (RIGHT + "\n\ndef _g() -> int:\n    return 2\n", "the helper _g"),
        (
            "def f(\n# BEGIN SOLUTION lstm\nx\n# END SOLUTION lstm\n): return 1\n"
            "# BEGIN SOLUTION lstm\ny = 1\n# END SOLUTION lstm\n",
            "holds no statement",
        ),
        (
            "if 1:\n    # BEGIN SOLUTION lstm\n    x = 1\n    # END SOLUTION lstm\n",
            "does not parse once stripped",
        ),
    ],
)
def test_faults(source: str, message: str) -> None:
    """Is what would reach students by mistake, or not reach them, refused?"""
    with pytest.raises(ReleaseError, match=message):
        stripped(source)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y: float = 1.0", "y: float = 2.0"),
        ("x: int", "z: int"),
        ("-> int", "-> float"),
        ("Return x.", "Return y."),
        ('"""A task."""', '"""Another."""'),
    ],
)
def test_interface(old: str, new: str) -> None:
    """Is every difference of signatures and docstrings noticed?"""
    with pytest.raises(ReleaseError, match="signature or docstring"):
        check(RIGHT, strip(RIGHT, FILE, "lstm").replace(old, new), FILE, "lstm")
