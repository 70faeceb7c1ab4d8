"""Make sure that a Python file is text, before Python says in other words that it is not."""

from __future__ import annotations

import codecs
import io
import re
import tokenize

# The longer marks first: the one of UTF-32 begins like the one of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
SLOW = {"idna", "punycode"}  # decoding takes time quadratic in the length; left to the worker
ADVICE = "Save it in your editor as UTF-8."


class NotText(ValueError):
    """The content is no Python text; the message goes on after the name of the file."""


def to_python(content: bytes) -> bytes:
    """Return what Python understands as the same text: UTF-16 and UTF-32 become UTF-8.

    A UTF-8 mark, all three line ends and a declared encoding (PEP 263) are left to Python, which
    knows them.

    Raises:
        NotText: naming the line, the byte and what to do.
    """
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            content = _decode(content, encoding).encode()
            break
    if not content.strip():
        raise NotText(" is empty: submit it again, with your code in it.")
    lines = re.sub(rb"\r\n?", b"\n", content)
    encoding, refusal = _declared(lines)
    if encoding not in SLOW:
        _check_nul(_decode(lines, encoding))
    if refusal:
        raise NotText(f" declares its encoding wrongly ({refusal}). {ADVICE} Remove that line.")
    return content


def _declared(content: bytes) -> tuple[str, str]:
    """Return the encoding that Python would use, and what it has against it."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return codecs.lookup(name).name, ""
    except SyntaxError as error:  # also for bytes that are not UTF-8, which are found again below
        return "utf-8", str(error)


def _decode(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(encoding, errors="replace").count("\n") + 1
        raise NotText(
            f", line {line}: the byte 0x{content[error.start]:02x} is not {encoding.upper()} text. "
            f"{ADVICE}"
        ) from None
    except (UnicodeError, LookupError) as error:
        raise NotText(f" is not text in its declared encoding ({error}). {ADVICE}") from None


def _check_nul(text: str) -> None:
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise NotText(
            f", line {line}: the byte 0x00 (a NUL character) is there, which Python refuses. "
            f"{ADVICE}"
        )
