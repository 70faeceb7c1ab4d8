"""Is a notebook made small by what nobody grades, and by nothing else?"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from autograder import notebook
from autograder.notebook import LONGEST_STRING, slim
from autograder.sources import IntakeError

LIMIT = 10_000
SIGNS = ('"', "\\", "[", "]", "{", "}", "outputs", ":", ",", "\n", "é", "x", '"outputs": [')


def text(rng: random.Random) -> str:
    """Return a text of signs that mean something elsewhere in JSON."""
    return "".join(rng.choices(SIGNS, k=rng.randrange(8)))


def value(rng: random.Random, depth: int = 0) -> Any:
    """Return some JSON."""
    kind = rng.randrange(5 if depth < 4 else 2)
    if kind < 3:
        return [text(rng), rng.random(), None][kind]
    if kind == 3:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {text(rng): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def document(rng: random.Random) -> tuple[Any, Any]:
    """Return a notebook with outputs of all kinds, and the same without."""
    cells, bare = [], []
    for _ in range(rng.randrange(5)):
        cell = {"source": [text(rng) for _ in range(3)], "note": text(rng)}
        outputs = [value(rng) for _ in range(rng.randrange(4))]
        cells.append({**cell, "outputs": outputs, "attachments": {text(rng): value(rng)}})
        bare.append({**cell, "outputs": [], "attachments": {}})
    return {"cells": cells, "nbformat": 4}, {"cells": bare, "nbformat": 4}


@pytest.mark.parametrize("indent", [None, 1])
def test_outputs_go_and_all_else_stays(indent: int | None) -> None:
    """Is a document the same but for its outputs, whatever signs stand in its texts?"""
    for seed in range(200):
        whole, bare = document(random.Random(seed))
        content = json.dumps(whole, indent=indent, ensure_ascii=bool(seed % 2)).encode()
        assert json.loads(slim(content, LIMIT)) == bare, seed


SMALL: dict[str, Any] = {"cells": [{"cell_type": "code", "source": ["a = 1"], "outputs": []}]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(encoding: str) -> None:
    """Is every encoding that JSON may have turned into UTF-8?"""
    assert json.loads(slim(json.dumps(SMALL).encode(encoding), LIMIT)) == SMALL


def test_outputs_of_any_size() -> None:
    """Are millions of short lines and one long image cut out?"""
    lines = ["0\n"] * 1_000_000
    outputs = [{"text": lines}, {"data": {"image/png": "A" * 10_000_000}}]
    large = {"cells": [{**SMALL["cells"][0], "outputs": outputs}]}
    content = json.dumps(large).encode()
    assert len(content) > 15_000_000
    assert json.loads(slim(content, LIMIT)) == SMALL


def test_long_lines_are_left_out() -> None:
    """Is an image in the middle of a text cut out, and does the rest of the text stay?"""
    source = ["before", "A" * (LONGEST_STRING + 1), "behind", "B" * 100]
    kept = json.loads(slim(json.dumps({"source": source}).encode(), LIMIT))["source"]
    assert kept == ["before", "(a long line was left out)", "behind", "B" * 100]


def test_images_in_a_text_are_left_out() -> None:
    """Does the text around pasted images stay, also where all of it is one string?"""
    image = "![x](data:image/png;base64," + "A" * (LONGEST_STRING + 1) + ")"
    kept = json.loads(slim(json.dumps(f"before {image} in \n{image} behind").encode(), LIMIT))
    left = "![x]((an image was left out))"
    assert kept == f"before {left} in \n{left} behind"


def test_a_key_that_is_a_value_drops_nothing() -> None:
    """Does the word "outputs" drop only what it names?"""
    kept = {"a": "outputs", "b": ["outputs", ["x"]], "outputs": "a text", "outputs ": ["y"]}
    assert json.loads(slim(json.dumps(kept).encode(), LIMIT)) == kept


REFUSED = {
    "too long": (b'{"a": [' + b"1," * LIMIT, "more than 10,000 bytes without its outputs"),
    "too many brackets": (b"[]," * LIMIT, "more than 10,000 bytes without its outputs"),
    "too many strings": (b'"",' * LIMIT, "more than 10,000 bytes without its outputs"),
    "brackets without end in outputs": (b'{"outputs": [' + b"[]," * 1000, "more outputs than"),
    "no text": (b"\xff\xfe\xff", "is no text"),
    "large, and not in UTF-8": (
        json.dumps({**SMALL, "outputs": ["x" * 1000]}).encode("utf-16"),
        "is UTF-16 with more than 2,000 bytes: clear its outputs",
    ),
}


@pytest.mark.parametrize("content,words", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(content: bytes, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a document that would cost too much refused, in one line that says what to do?"""
    monkeypatch.setattr(notebook, "MAX_BRACKETS", 1000)
    monkeypatch.setattr(notebook, "MAX_RECODED", 2000)
    with pytest.raises(IntakeError, match=words) as caught:
        slim(content, LIMIT)
    assert "\n" not in str(caught.value)


CUT_OFF = {
    b"": b"",
    b'"': b'"',
    b"\\": b"\\",
    b"]}": b"]}",
    b'{"outputs": [': b'{"outputs": []',
    b'{"outputs": ["': b'{"outputs": []',
}


@pytest.mark.parametrize("content,left", CUT_OFF.items(), ids=range(len(CUT_OFF)))
def test_what_is_no_notebook_passes(content: bytes, left: bytes) -> None:
    """Is what is cut off or no JSON left to who parses it?"""
    assert slim(content, LIMIT) == left
