"""Run the cells of `written.ipynb` as Run All does, and read the numbers they give.

`check` and the grader read answers by this very code. An answer is known by its variable's name,
wherever in the notebook it stands. All cells are run top to bottom in one namespace, which has
`math` in it, statement by statement: one that fails costs what it would have assigned, and the next
one goes on. Answers that this gives no number, as other cells used up the time or broke what they
need, are then worked out question by question, by the statements that they depend on.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import signal
import time
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

from nmt.statements import Statement, needed, parse

ANSWERS = {  # the variables of each question that has numbers
    "q1": ("q1_slope", "q1_product", "q1_bound", "q1_limit"),
    "q2": ("q2_norm", "q2_tight_1", "q2_tight_2", "q2_loose_1", "q2_loose_2"),
    "q3": ("q3_c1", "q3_h1", "q3_c2", "q3_h2", "q3_c3", "q3_h3"),
    "q4": ("q4_product", "q4_power", "q4_bias", "q4_rnn"),
    "q5": ("q5_rnn", "q5_gru", "q5_lstm", "q5_torch"),
    "q6": ("q6_greedy", "q6_second", "q6_short", "q6_long", "q6_alpha"),
    "q7": ("q7_p1", "q7_p2", "q7_p3", "q7_bp", "q7_plain", "q7_smoothed"),
    "q8": ("q8_weight_1", "q8_weight_2", "q8_weight_3", "q8_context_1", "q8_context_2"),
    "q9": ("q9_padding", "q9_first", "q9_sum"),
    "q12": ("q12_multiplicative", "q12_additive", "q12_variance", "q12_scaled"),
}
TEXTS = (  # the parts that people read
    "q1_why",
    "q2_why",
    "q3_gates",
    "q4_why",
    "q5_formulas",
    "q6_why",
    "q7_why",
    "q8_why",
    "q9_why",
    "q10_steps",
    "q10_reversed",
    "q10_scores",
    "q10_feeding",
    "q11_ka",
    "q12_compare",
    "q13_gates",
)
STATES = ("missing", "open", "crash", "slow", "error", "odd", "number")  # the best last
SETTLED = ("open", "number")  # nothing else can come of running less
LONGEST_TEXT = 200  # characters of what is said of an exception
FRACTION_DIGITS = 15  # of each part of a fraction that is written as a text
# One statement gets half of the time that is left: however many do not end, there is some for the
# next one, until too little is left to tell a slow statement from a busy machine.
STATEMENT_SHARE = 0.5
LEAST_SHARE = 1 / 64


class Reading(NamedTuple):
    """Hold what became of one answer.

    state is `number`; `open`, still `...`; `missing`, never assigned; `odd`, not a number;
    `error`, the code failed; `slow`, it did not end; `crash`, it ended Python.
    """

    state: str
    value: float = 0.0  # of a `number`
    text: str = ""  # what it is, or what failed, of all others
    times: int = 0  # how often it was assigned


# Hears what a run does, as it does it: ("at", index, text) before a statement,
# ("took", seconds, stopped) behind it, and ("answer", name, *reading).
Tell = Callable[..., object]


class TooSlow(BaseException):
    """Stop a statement; no `except Exception` of the notebook's is to catch it."""


def evaluate(
    sources: Sequence[str],
    questions: Iterable[Sequence[str]],
    seconds: tuple[float, float] = (math.inf, math.inf),
    tell: Tell = lambda *_: None,
    lost: Mapping[int, Reading] | None = None,
) -> dict[str, Reading]:
    """Return a reading for each name of each question, all read in this process.

    sources are the notebook's code cells in order; seconds bound the run of the whole notebook, and
    that of what one question needs. Statements that are `lost` are left out.
    """
    statements = parse(sources)
    groups = [list(names) for names in questions]
    every = [name for names in groups for name in names]
    found = Run(statements, every, seconds[0], tell, lost).all()
    left_out = {id(statements[index]): reading for index, reading in (lost or {}).items()}
    for names in groups:
        again = unsettled(found, names)
        if again:
            part = needed(statements, again)
            own = {i: left_out[id(s)] for i, s in enumerate(part) if id(s) in left_out}
            readings = Run(part, again, seconds[1], lost=own).all()
            found.update({name: settled(found[name], readings[name]) for name in again})
    return found


def unsettled(found: Mapping[str, Reading], names: Iterable[str]) -> list[str]:
    """Return the names which are worth to be run by themselves."""
    return [name for name in names if found[name].state not in SETTLED]


def better(old: Reading, new: Reading) -> Reading:
    """Return which reading of the same answer counts: the later one, unless it says less."""
    return new if STATES.index(new.state) >= STATES.index(old.state) else old


def settled(whole: Reading, part: Reading) -> Reading:
    """Return what counts of an answer that was read twice: in the whole notebook, and by itself."""
    # Other cells took the time, or ended Python, and no statement was there to assign it.
    nowhere = whole.state in ("crash", "slow") and part.state == "missing"
    return part if nowhere else better(whole, part)


# Costs also a number that was read before: what was not reached might have replaced it.
UNREACHED = Reading("slow", text="was not reached: what stands before it takes too long")


class Run:
    """Run statements in one namespace, and read the answers as they are assigned."""

    def __init__(
        self,
        statements: Sequence[Statement],
        names: Sequence[str],
        seconds: float = math.inf,
        tell: Tell = lambda *_: None,
        lost: Mapping[int, Reading] | None = None,
    ) -> None:
        """Begin with nothing assigned; `lost` says of which statements what became before."""
        self.readings = {name: Reading("missing") for name in names}
        self._statements = statements
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        self._tell = tell
        self._lost = lost or {}
        self._seen: dict[str, Any] = {}  # the objects that were read
        self._failures: dict[str, str] = {}  # names that were not bound, and why
        self._space: dict[str, Any] = {
            "__name__": "__main__",
            "math": math,
            "display": _nothing,
            "get_ipython": _Shell,
        }

    def all(self) -> dict[str, Reading]:
        """Run top to bottom; then again what lacked a name, as its cell may stand further down."""
        waiting = [i for i in range(len(self._statements)) if self._lacks_a_name(i)]
        while waiting:
            left = [i for i in waiting if not self._is_done(i) and self._lacks_a_name(i)]
            if len(left) == len(waiting):
                break
            waiting = left
        for name in self.readings:
            # A loop may have assigned before it failed, and arrays may have been changed in place.
            plain = type(self._seen.get(name)) in (int, float)
            if self._state(name) in ("missing", "error") or not (plain or self._is_slow(name)):
                self._read(name, again=0)
        return self.readings

    def _lacks_a_name(self, index: int) -> bool:
        statement, limit = self._statements[index], self._limit()
        failed, began = self._lost.get(index), time.monotonic()
        if failed is None and limit < self._seconds * LEAST_SHARE * STATEMENT_SHARE:
            failed = UNREACHED
        lacks = False
        if failed is None:
            self._tell("at", index, statement.text)
            failed, lacks = self._fault(statement, limit)
            stopped = failed is not None and failed.state == "slow"
            self._tell("took", time.monotonic() - began, stopped)
        for name in self.readings:
            self._look(name, statement, failed)
        return lacks

    def _fault(self, statement: Statement, limit: float) -> tuple[Reading | None, bool]:
        """Run a statement; return what it costs its answers, and whether it lacked a name."""
        try:
            with limited(limit):
                self._execute(statement)
        except TooSlow:
            return Reading("slow", text=f"did not end at `{statement.text}`"), False
        except BaseException as error:  # SystemExit, too
            text = f"raised {describe(error)} at `{statement.text}`"
            lacks = isinstance(error, NameError)
            # What is to be mended is not here, if another statement should have given the name.
            reason = self._failures.get(getattr(error, "name", None) or "") if lacks else None
            text += f", as it {reason}" if reason is not None and reason not in text else ""
            self._failures.update(dict.fromkeys(statement.binds, reason or text))
            return Reading("error", text=text), lacks
        return None, False

    def _execute(self, statement: Statement) -> None:
        if statement.error is not None:
            raise statement.error
        code = compile(
            statement.tree, "<notebook>", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, self._space))
        else:
            exec(code, self._space)

    def _limit(self) -> float:
        return (self._deadline - time.monotonic()) * STATEMENT_SHARE

    def _is_slow(self, name: str) -> bool:
        return self._state(name) in ("slow", "crash")

    def _state(self, name: str) -> str:
        return self.readings[name].state

    def _is_done(self, index: int) -> bool:
        """Tell whether a statement that failed would only assign what is known by now."""
        own = self._statements[index].binds & self.readings.keys()
        return bool(own) and not any(self._state(name) in ("missing", "error") for name in own)

    def _look(self, name: str, statement: Statement, failed: Reading | None) -> None:
        """Note what a statement did to an answer, in whatever way: also `exec` assigns."""
        binds = name in statement.binds
        if failed is not None and binds:
            self._seen[name] = self._space.get(name)
            # A number that was assigned before stays.
            if failed is UNREACHED or self._state(name) != "number":
                self._note(name, failed._replace(times=self.readings[name].times))
        elif name in self._space and (binds or self._space[name] is not self._seen.get(name)):
            self._read(name)

    def _read(self, name: str, again: int = 1) -> None:
        """Note the value of an answer; a copy that is not filled in undoes nothing."""
        old, value = self.readings[name], self._space.get(name, self)
        self._seen[name] = value
        if value is self:
            return
        if value is Ellipsis:
            self._note(name, old if old.state != "missing" else Reading("open"))
            return
        try:
            with limited(max(self._limit(), self._seconds * LEAST_SHARE)):
                new = read_number(value)
        except TooSlow:
            new = Reading("slow", text="did not end when its value was read")
        self._note(name, new._replace(times=old.times + again))

    def _note(self, name: str, reading: Reading) -> None:
        if reading != self.readings[name]:
            self.readings[name] = reading
            self._tell("answer", name, *reading)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what runs after some seconds, where the system can (not on Windows).

    Raises:
        TooSlow: out of whatever runs then.
    """
    if seconds == math.inf or not hasattr(signal, "setitimer"):
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
    except TooSlow:
        raise
    except BaseException as error:  # an object whose own methods fail, or a number beyond floats
        return Reading("odd", text=f"is no number that can be read ({describe(error)})")


def _read_number(value: Any) -> Reading:
    if hasattr(value, "item") and getattr(value, "size", None) is not None:
        value = value.item()  # numpy's and torch's, which fail here if they hold more than one
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
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
    top, _, bottom = text.replace("\N{MINUS SIGN}", "-").partition("/")
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
