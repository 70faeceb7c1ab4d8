"""Make a submitted notebook small, without trusting that it is one, and say what it lacks.

Outputs may have any size, and a document of a few megabytes can take hundreds once it is parsed. So
what nobody grades is cut out before that, by looking at quotes and brackets alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from autograder.sources import IntakeError

# Outputs, pasted images, and the state of widgets.
DROPPED = {b'"outputs"', b'"attachments"', b'"widgets"'}
LONGEST_STRING = 100_000  # bytes; longer ones are images that an editor has put into a text
# Bytes in another encoding than UTF-8: decoding takes six times as much memory. No editor of
# notebooks writes one.
MAX_RECODED = 8_000_000
MAX_BRACKETS = 5_000_000  # in outputs; they take some seconds to look through
TOKEN = re.compile(rb'"[^"]*"|[\[\]{}]')
# Many strings at a time: an endless loop of `print` leaves millions.
INSIDE = re.compile(rb'(?:"[^"]*"[^"\[\]{}]*){1,1000}|[\[\]{}]')
IMAGE = re.compile(rb"data:image/[\w.+-]+;base64,(?:[A-Za-z0-9+/=]|__)*")
VALUE = re.compile(rb"\s*:\s*([\[{])")
EMPTY = {b"[": b"[]", b"{": b"{}"}


def slim(content: bytes, limit: int) -> bytes:
    """Return the notebook in UTF-8 without its outputs.

    Raises:
        IntakeError: it is no text, or has more than `limit` bytes without them.
    """
    try:
        encoding = json.detect_encoding(content)
        if not encoding.startswith("utf-8"):
            if len(content) > MAX_RECODED:
                raise IntakeError(
                    f"written.ipynb is {encoding.upper()} with more than {MAX_RECODED:,} bytes: "
                    "clear its outputs, or save it as UTF-8, as Jupyter does."
                )
            content = content.decode(encoding).encode()
    except UnicodeError as error:
        raise IntakeError(f"written.ipynb is no text ({error}): save it again.") from error
    # Of the same length, and every quote that is left begins or ends a string.
    plain = content.replace(rb"\\", b"__").replace(rb"\"", b"__")
    pieces, begin, size = [], 0, 0
    for start, end, instead in _dropped(plain, limit):
        pieces += [content[begin:start], instead]
        size += start - begin + len(instead)
        begin = end
        _check(size, limit)
    _check(size + len(content) - begin, limit)
    return b"".join([*pieces, content[begin:]])


def _check(size: int, limit: int) -> None:
    if size > limit:
        raise IntakeError(
            f"written.ipynb has more than {limit:,} bytes without its outputs, and more is not "
            "read: take out what is not part of your answers."
        )


def _dropped(plain: bytes, limit: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield begin and end of what goes, and what comes in its place.

    It stops where more stays than may stay: the rest need not be looked at.
    """
    position = 0  # behind what was dropped last
    while True:
        for match in TOKEN.finditer(plain, position):
            if match.start() - position > limit:
                return
            value = VALUE.match(plain, match.end()) if match[0] in DROPPED else None
            if value is not None:
                end = _end(plain, value.end())
                yield value.start(1), end, EMPTY[value[1]]
            elif match.end() - match.start() > LONGEST_STRING:
                end = match.end()
                yield from _without_images(plain, match.start(), end)
            else:
                continue
            position = end
            break
        else:
            return


def _without_images(plain: bytes, begin: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the images of a long string, or the string itself if it is long without them."""
    images = list(IMAGE.finditer(plain, begin, end))
    if end - begin - sum(image.end() - image.start() for image in images) > LONGEST_STRING:
        yield begin, end, b'"(a long line was left out)"'
    else:
        for image in images:
            yield image.start(), image.end(), b"(an image was left out)"


def _end(plain: bytes, position: int) -> int:
    """Return the place behind the bracket that closes the one before this place."""
    depth = 1
    for count, match in enumerate(INSIDE.finditer(plain, position)):
        token = match[0]
        depth += (token in EMPTY) - (token in (b"]", b"}"))
        if not depth:
            return match.end()
        if count > MAX_BRACKETS:
            raise IntakeError(
                "written.ipynb has more outputs than can be looked through: clear them "
                "(Edit → Clear Outputs of All Cells in JupyterLab), and submit it again."
            )
    return len(plain)
