"""What the public tests share. They run from any folder and need nothing but the package `nmt`."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

FOLDER = Path(__file__).resolve().parents[1]  # the folder that holds nmt/
sys.path.insert(0, str(FOLDER))
torch.set_num_threads(1)  # the tensors are tiny: more threads only get in each other's way

Close = Callable[..., None]


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Give every test the same random numbers, whichever tests run before it."""
    torch.manual_seed(1)


@pytest.fixture
def close() -> Close:
    """Return the comparison that all tests use."""
    return _assert_close


@pytest.fixture
def reached() -> Callable[[Mapping[str, Tensor]], None]:
    """Return the check that gradients reach tensors, given by name."""
    return _assert_reached


def _assert_reached(tensors: Mapping[str, Tensor]) -> None:
    __tracebackhide__ = True
    for name, tensor in tensors.items():
        gradient = torch.zeros(1) if tensor.grad is None else tensor.grad
        assert gradient.any(), (
            f"no gradient reaches {name}: is it used? A `.detach()`, `.data`, `.item()` or "
            "`torch.tensor(...)` on the way cuts the graph."
        )
        assert gradient.isfinite().all(), f"the gradient of {name} has a NaN or an infinity in it"


def _assert_close(
    got: object,
    expected: Tensor,
    what: str,
    idea: str = "",
    mistakes: Mapping[str, float] | None = None,
) -> None:
    """Compare a tensor with what it should be; say what to look at if it is something else.

    mistakes maps a mistake to the first entry that it would give.
    """
    __tracebackhide__ = True
    assert isinstance(got, Tensor), f"{what}: expected a tensor, got {type(got).__name__}. {idea}"
    for name, value in (mistakes or {}).items():
        # Mistakes are told apart to 1e-4; the values beside them are rounded to six decimals.
        if got.numel() and abs(float(got.detach().flatten()[0]) - value) < 1e-5:
            idea = f"This is what comes out {name}."
    # Six decimals are given in the tests, float32 holds seven digits: 1e-5 leaves room for both.
    torch.testing.assert_close(
        got,
        expected,
        rtol=1e-5,
        atol=1e-5,
        msg=f"{what}: {_difference(got, expected)}. {idea}".rstrip(),
    )


def _difference(got: Tensor, expected: Tensor) -> str:
    """Name the kinds of two tensors if they are not the same, else their values."""
    kinds = [
        f"shape {tuple(tensor.shape)} in {str(tensor.dtype).removeprefix('torch.')}"
        for tensor in (expected, got)
    ]
    if kinds[0] != kinds[1]:
        return f"expected {kinds[0]}, got {kinds[1]}"
    if got.numel() > 20:  # nobody reads more
        return f"other values than expected, {kinds[0]}"
    values = [_rounded(tensor.detach().tolist()) for tensor in (expected, got)]
    return f"expected {values[0]}, got {values[1]}"


def _rounded(values: object) -> object:
    if isinstance(values, list):
        return [_rounded(value) for value in values]
    return round(values, 6) if isinstance(values, float) else values
