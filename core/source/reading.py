"""One file from bytes to text that is known to compile."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

LARGEST = 1_000_000
"""Bytes; a larger file is generated code or data, and would stall every later stage."""

_NEWLINE = re.compile(rb"\r\n|\r|\n")


class Unreadable(Exception):
    """A file that must be left out; the message is the reason."""


def read(file: Path) -> tuple[str, str]:
    """Text and encoding; `text.encode(encoding)` is the file's very bytes. Raises Unreadable."""
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise Unreadable(f"{size / 1e6:.1f} MB, larger than {LARGEST / 1e6:.0f} MB")
        return decode(file.read_bytes())
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error


def decode(data: bytes) -> tuple[str, str]:
    """Text and encoding of a source file by PEP 263, newlines as they stand. Raises Unreadable."""
    lines = iter(_NEWLINE.split(data, maxsplit=2)[:2])
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(lines) + b"\n")
        text = data.decode(encoding)
        # Some codecs read bytes that they would not write so; what is judged would then differ beside the region, too.
        same = text.encode(encoding) == data
    except (SyntaxError, UnicodeError, LookupError, ValueError) as error:
        raise Unreadable(f"does not decode: {error}") from error
    if not same:
        raise Unreadable(f"does not decode: {encoding} gives other bytes back")
    return text, encoding


def check_syntax(text: str) -> None:
    """Raises Unreadable for text that is no Python; the caller silences the compiler's warnings.

    Compiling takes a quarter of the time of building a syntax tree of Python objects, and is stricter.
    """
    try:
        compile(text, "<source>", "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise Unreadable(f"does not parse: {where}{error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise Unreadable("does not parse: nested too deeply") from error
    except (ValueError, OverflowError) as error:
        raise Unreadable(f"does not parse: {error}") from error
