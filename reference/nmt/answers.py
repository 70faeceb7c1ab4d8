"""Run the cells of `written.ipynb` that answers depend on, and read the numbers they give.

`check` and the grader read answers by this very code. An answer is known by its variable's name,
wherever in the notebook it stands. What runs is what it depends on: the top-level statements that
assign it, those that assign (or change) what they use, and so on, top to bottom in a namespace of
its own with `math` in it. Only where that does not give an answer, the whole notebook is run.
A statement that fails costs what it would have assigned, and the next one goes on.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import signal
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

from nmt.statements import Statement, needed, statements_of

ANSWERS = {  # the variables of each question that has numbers
    "q1": ("q1_slope", "q1_product", "q1_bound", "q1_limit"),
    "q2": ("q2_norm", "q2_tight_1", "q2_tight_2", "q2_loose_1", "q2_loose_2"),
    "q3": ("q3_c1", "q3_h1", "q3_c2", "q3_h2", "q3_c3", "q3_h3"),
    "q4": ("q4_product", "q4_power", "q4_bias", "q4_rnn"),
    "q5": ("q5_rnn", "q5_gru", "q5_lstm", "q5_torch"),
    "q6": ("q6_greedy", "q6_second", "q6_short", "q6_long"),
    "q7": ("q7_p1", "q7_p2", "q7_p3", "q7_bp", "q7_plain", "q7_smoothed"),
    "q8": ("q8_weight_1", "q8_weight_2", "q8_weight_3", "q8_context_1", "q8_context_2"),
    "q9": ("q9_padding", "q9_first", "q9_sum"),
    "q12": ("q12_multiplicative", "q12_additive", "q12_variance", "q12_scaled"),
}
LONGEST_TEXT = 200  # characters of what is said of an exception
FRACTION_DIGITS = 15  # of each part of a fraction that is written as a text


class Reading(NamedTuple):
    """Hold what became of one answer.

    state is `number`; `open`, still `...`; `missing`, never assigned; `odd`, not a number;
    `error`, the code failed; `slow`, it did not end.
    """

    state: str
    value: float = 0.0  # of a `number`
    text: str = ""  # what it is, or what failed, of all others
    times: int = 0  # how often it was assigned


class TooSlow(BaseException):
    """Stop a statement; no `except Exception` of the notebook's is to catch it."""


def evaluate(
    sources: Sequence[str], names: Sequence[str], seconds: float | None = None
) -> dict[str, Reading]:
    """Return a reading for each name.

    sources are the notebook's code cells in order; seconds, if given, bounds each statement.
    """
    statements = [statement for source in sources for statement in statements_of(source)]
    run = Run(names, seconds)
    run.all(needed(statements, names))
    lost = [name for name in names if run.readings[name].state in ("missing", "error")]
    if lost:
        whole = Run(lost, seconds)
        whole.all(statements)
        found = {n: r for n, r in whole.readings.items() if r.state in ("number", "odd")}
        run.readings.update(found)
    return run.readings


class Run:
    """Run statements in one namespace, and read the answers as they are assigned."""

    def __init__(self, names: Sequence[str], seconds: float | None) -> None:
        """Begin with nothing assigned."""
        self.readings = {name: Reading("missing") for name in names}
        self.seconds = seconds
        self.space: dict[str, Any] = {
            "__name__": "__main__",
            "math": math,
            "display": _nothing,
            "get_ipython": _Shell,
        }

    def all(self, statements: Sequence[Statement]) -> None:
        """Run top to bottom; then again what lacked a name, as its cell may stand further down."""
        waiting = [statement for statement in statements if self._lacks_a_name(statement)]
        while waiting:
            left = [s for s in waiting if not self._is_done(s) and self._lacks_a_name(s)]
            if len(left) == len(waiting):
                break
            waiting = left
        for name in self.readings:  # assigned in a way that is not seen, such as exec
            if self._is_unknown(name) and name in self.space:
                self._read(name)

    def _lacks_a_name(self, statement: Statement) -> bool:
        try:
            self._execute(statement)
        except TooSlow:
            self._lose(statement, Reading("slow", text=f"did not end at `{statement.text}`"))
        except BaseException as error:  # SystemExit, too
            reading = Reading("error", text=f"raised {describe(error)} at `{statement.text}`")
            self._lose(statement, reading)
            return isinstance(error, NameError)
        else:
            for name in statement.binds & self.readings.keys() & self.space.keys():
                self._read(name)
        return False

    def _execute(self, statement: Statement) -> None:
        if statement.error is not None:
            raise statement.error
        code = compile(
            statement.tree, "<notebook>", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        with limited(self.seconds):
            if code.co_flags & inspect.CO_COROUTINE:
                asyncio.run(eval(code, self.space))
            else:
                exec(code, self.space)

    def _is_done(self, statement: Statement) -> bool:
        """Tell whether a statement that failed would only assign what is known by now."""
        own = statement.binds & self.readings.keys()
        return bool(own) and not any(map(self._is_unknown, own))

    def _is_unknown(self, name: str) -> bool:
        return name in self.readings and self.readings[name].state in ("missing", "error")

    def _lose(self, statement: Statement, reading: Reading) -> None:
        """Note why an answer was not assigned; one that was assigned before stays."""
        for name in statement.binds & self.readings.keys():
            if self.readings[name].state != "number":
                self.readings[name] = reading._replace(times=self.readings[name].times)

    def _read(self, name: str) -> None:
        """Note the value of an answer; a copy that is not filled in undoes nothing."""
        old, value = self.readings[name], self.space[name]
        if value is not Ellipsis:
            self.readings[name] = read_number(value)._replace(times=old.times + 1)
        elif old.state == "missing":
            self.readings[name] = Reading("open")


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Stop what runs after some seconds, where the system can (not on Windows).

    Raises:
        TooSlow: out of whatever runs then.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_number(value: Any) -> Reading:
    """Take a value for a number, of whatever kind, or say what it is."""
    try:
        return _read_number(value)
    except Exception as error:  # an object whose own methods fail, or a number beyond floats
        return Reading("odd", text=f"is no number that can be read ({describe(error)})")


def _read_number(value: Any) -> Reading:
    if hasattr(value, "item") and getattr(value, "size", None) is not None:
        value = value.item()  # numpy's and torch's, which fail here if they hold more than one
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, bool):
        return Reading("odd", text=f"is {value}")
    if isinstance(value, tuple):
        return Reading("odd", text="is a tuple (is there a comma in the place of a point?)")
    if not (isinstance(value, Decimal) or hasattr(type(value), "__float__")):
        return Reading("odd", text=_kind(value))
    number = float(value)
    if not math.isfinite(number):
        return Reading("odd", text=f"is {number}")
    return Reading("number", number)


def _from_text(text: str) -> Any:
    """Read a text such as "0.75" or "3/4"; return it as it is where that fails."""
    top, _, bottom = text.partition("/")
    parts = [part.strip() for part in (top, bottom or "1")]
    try:
        above, below = (float(part) for part in parts if len(part) <= 2 * FRACTION_DIGITS)
        return above / below
    except (ValueError, ZeroDivisionError):
        return text


def _kind(value: Any) -> str:
    """Say what a value is that is no number."""
    if isinstance(value, str):
        return "is a text that is no number"
    name = type(value).__name__
    return "is None" if value is None else f"is {'an' if name[0] in 'aeiou' else 'a'} {name}"


def describe(error: BaseException) -> str:
    """Return one line on an exception, whatever its own methods do."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)  # without a file name
        text = text[: 2 * LONGEST_TEXT]  # before anything looks at every character of it
        line = " ".join(f"{type(error).__name__}: {text}".split())
        return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} …"
    except BaseException:
        return "an exception that has no readable text"


def _nothing(*_: object, **__: object) -> None:
    """Stand in the place of Jupyter's `display`."""


class _Shell:
    """Stand in the place of IPython's shell: whatever it is asked for does nothing."""

    def __getattr__(self, name: str) -> Any:
        return _nothing
