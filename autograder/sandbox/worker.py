"""Run in the worker: load one task's files of the student, then answer calls until told to stop.

The worker sees only inputs. Whatever it sends is checked by the grader, so it has nothing to gain
from lying, and nothing in it is secret: a student may read this file.
"""

from __future__ import annotations

import importlib
import linecache
import os
import random
import socket
import sys
import traceback
import warnings
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))  # isolated mode leaves it out
wire, confine = (importlib.import_module(name) for name in ("wire", "confine"))

MAX_MESSAGE = 1 << 26  # bytes; requests are ours, this only bounds a confusion
MAX_TEXT = 600  # characters of an exception's text


def main() -> None:
    """Serve the channel whose descriptor is the first argument; the second one limits memory."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    confine.volunteer()
    confine.limit_memory(int(sys.argv[2]))
    layers = confine.confine(FOLDER)
    wire.send(channel, {"layers": layers, **confine.identity()})
    _silence()
    probe: ModuleType | None = None
    while True:
        try:
            request = wire.receive(channel, limit=MAX_MESSAGE)
        except wire.Closed:
            return
        if "override" in request:
            reply, probe = _lay_over(**request)
        elif "load" in request:
            reply, probe = _load(request["load"])
        else:
            reply = _call(probe, request)
        _answer(channel, reply)


def _silence() -> None:
    """Send the student's prints nowhere: they could carry inputs out, or fill a disk."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def _load(task: str) -> tuple[dict[str, Any], ModuleType | None]:
    for name in [name for name in sys.modules if name.split(".")[0] in ("nmt", "probes")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    try:
        # Before any line of the student's runs: this process can still be believed.
        importlib.import_module("probes.shortcuts").read(task)
        return {"value": None}, importlib.import_module(f"probes.{task}")
    except BaseException as error:
        return {"error": _describe(error)}, None


def _lay_over(load: str, file: str, override: str) -> tuple[dict[str, Any], ModuleType | None]:
    """Load a file of `nmt` that was loaded before, and code after it: quicker than anew."""
    try:
        _execute(f"nmt.{Path(file).stem}", _compiled(FOLDER / file), override)
        return {"value": None}, _execute(
            f"probes.{load}", _compiled(FOLDER / "probes" / f"{load}.py")
        )
    except BaseException as error:
        return {"error": _describe(error)}, None


def _execute(name: str, *parts: Any) -> ModuleType:
    """Make a module of pieces of code, and put it in the place of the one that has its name."""
    package, _, short = name.partition(".")
    module = ModuleType(name)
    module.__package__ = package
    sys.modules[name] = module
    setattr(sys.modules[package], short, module)
    for part in parts:
        exec(part, vars(module))
    return module


@cache
def _compiled(path: Path) -> Any:
    return compile(path.read_text(encoding="utf-8"), path, "exec", dont_inherit=True)


def _call(probe: ModuleType | None, request: dict[str, Any]) -> dict[str, Any]:
    random.seed(request["seed"])
    torch.manual_seed(request["seed"])
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    try:
        return {"value": getattr(probe, request["call"])(**request["inputs"])}
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: the next call goes on
        return {"error": _describe(error)}


def _answer(channel: socket.socket, reply: dict[str, Any]) -> None:
    try:
        wire.send(channel, reply)
    except OSError:
        raise
    except BaseException as error:  # a value whose own methods fail while it is being sent
        wire.send(channel, {"error": _describe(error)})


def _describe(error: BaseException) -> dict[str, Any]:
    try:
        return _details(error)
    except BaseException:  # the exception's own methods, or its class's, fail
        return {"type": "an exception", "text": "(it cannot be described)"}


def _details(error: BaseException) -> dict[str, Any]:
    text, module = "(the exception has no readable text)", None
    try:
        text = str(error)
        module = error.name if isinstance(error, ImportError) else None
    except BaseException:
        pass
    linecache.clearcache()
    return {
        "type": type(error).__name__,
        "not_implemented": isinstance(error, NotImplementedError),
        "contract": getattr(error, "breaks_contract", None) is True,
        "shortcut": getattr(error, "is_shortcut", None) is True,
        "text": text[:MAX_TEXT],
        "module": module[:MAX_TEXT] if type(module) is str else None,
        **_place(error),
    }


def _place(error: BaseException) -> dict[str, Any]:
    """Name the innermost line of the student's files that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename:
        return {"file": _short(error.filename), "line": error.lineno, "code": ""}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(str(FOLDER / "nmt")):
            code = (frame.line or "")[:MAX_TEXT]
            return {"file": _short(frame.filename), "line": frame.lineno, "code": code}
    return {}


def _short(filename: str) -> str:
    path = Path(filename)
    return path.relative_to(FOLDER).as_posix() if path.is_relative_to(FOLDER) else path.name


if __name__ == "__main__":
    main()
