"""Parse the bytes of a GGUF header: metadata and tensor descriptions, without loading the model.

Layout (little-endian): magic, version, tensor count, metadata count, metadata pairs, tensor descriptions, padding,
tensor data. Long arrays (vocabularies) are stepped over, so a header takes a few milliseconds.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.tensor_types import tensor_bytes

MAGIC = b"GGUF"
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
KEPT_ARRAY = 512
"""Arrays of numbers up to this length are kept (head counts per layer); longer ones and texts are only counted."""

NEXT_KEYS = (b"tokenizer.ggml.", b"tokenizer.chat_template", b"general.", b"split.")
TEXT_BYTES = 64
"""More than an average text of a vocabulary takes, its length included."""

VOCABULARY, VOCABULARY_END = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
GAP_MARKS = ("<|fim_middle|>", "<fim_middle>", "<fim-middle>", "<｜fim▁end｜>", "▁<MID>", "<|code_middle|>")
"""Tokens after which models of the known families fill in the middle."""

Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...]


class _BrokenError(Exception):
    """The bytes do not make sense; the message says where."""


@dataclass(frozen=True, slots=True)
class RawHeader:
    """The header as it stands in one file.

    Attributes:
        array_offsets: byte at which the values of an array start, by key.
        parameters: numbers in all tensors.
        data_end: the byte after the last tensor whose type is known.
        file_size: bytes of the file when it was read.
        has_gap_mark: whether the vocabulary has one of GAP_MARKS.
    """

    metadata: Mapping[str, Value]
    array_lengths: Mapping[str, int]
    array_offsets: Mapping[str, int]
    parameters: int
    data_end: int
    file_size: int
    has_gap_mark: bool


class _Cursor:
    """A bounds-checked reader over the file's bytes."""

    def __init__(self, data: mmap.mmap, careful: bool = False) -> None:
        self.data = data
        self.careful = careful
        self.at = 0
        self.end = len(data)

    def skip(self, count: int) -> int:
        """Step over `count` bytes; where they started. Raises _BrokenError past the end."""
        start = self.at
        if count < 0 or count > self.end - start:
            raise _BrokenError("the file ends inside its header")
        self.at = start + count
        return start

    def number(self, code: str) -> int | float | bool:
        """Read one little-endian number of struct format `code`."""
        size = struct.calcsize("<" + code)
        value: int | float | bool = struct.unpack_from("<" + code, self.data, self.skip(size))[0]
        return value

    def unsigned(self, code: str) -> int:
        """Read one unsigned whole number of struct format `code`."""
        return int(self.number(code))

    def text(self) -> str:
        """A length and that many UTF-8 bytes."""
        start = self.skip(self.unsigned("Q"))
        return bytes(self.data[start : self.at]).decode("utf-8", errors="replace")

    def skip_vocabulary(self, count: int) -> None:
        """Step over `count` texts by looking for the next key: a hundred times faster than one by one.

        Right unless a token reads like a key of ours, length and all; a parse that fails goes one by one.
        """
        limit = min(self.end, self.at + count * TEXT_BYTES)
        found = False
        for start in NEXT_KEYS:
            hit = self.data.find(b"\0" * 7 + start, self.at, limit)
            if hit > 0:
                found, limit = True, hit  # a key further on is of no interest
        if found and limit - 1 - self.at >= count * 8:
            self.at = limit - 1
        else:
            self.skip_texts(count)

    def skip_texts(self, count: int) -> None:
        """Step over `count` texts one by one."""
        at, end, data, unpack = self.at, self.end, self.data, struct.Struct("<Q").unpack_from
        for _ in range(count):
            if at + 8 > end:
                raise _BrokenError("the file ends inside its header")
            at += 8 + unpack(data, at)[0]
        if at > end:
            raise _BrokenError("the file ends inside its header")
        self.at = at


def read_raw(path: Path) -> RawHeader:
    """The header of one file.

    Raises ModelError: not a GGUF, big-endian, an unknown version, truncated inside the header, unreadable.
    """
    try:
        size = path.stat().st_size
        if size == 0:
            raise ModelError(f"{path.name} is empty.", "Download the model file again.")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _parse(_Cursor(data), size)
            except _BrokenError:
                return _parse(_Cursor(data, careful=True), size)
    except _BrokenError as error:
        raise ModelError(f"{path.name} cannot be used: {error}.", "Download the model file again.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path} cannot be read: {reason}.", "Check the path and its permissions.") from None


def _parse(cursor: _Cursor, size: int) -> RawHeader:
    _check_version(cursor)
    tensor_count, pair_count = cursor.unsigned("Q"), cursor.unsigned("Q")
    if pair_count * 12 > size or tensor_count * 24 > size:
        raise _BrokenError("its header promises more entries than the file could hold")
    arrays: dict[str, tuple[int, int]] = {}
    metadata = dict(_pairs(cursor, pair_count, arrays))
    tensors = [_tensor(cursor) for _ in range(tensor_count)]
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0:
        raise _BrokenError("its header names an impossible alignment")
    start = math.ceil(cursor.at / alignment) * alignment
    lengths, offsets = ({key: array[part] for key, array in arrays.items()} for part in (0, 1))
    return RawHeader(
        metadata=MappingProxyType(metadata),
        array_lengths=lengths,
        array_offsets=offsets,
        parameters=sum(elements for elements, _ in tensors),
        data_end=start + max((end for _, end in tensors), default=0),
        file_size=size,
        has_gap_mark=_has_gap_mark(cursor, offsets),
    )


def _has_gap_mark(cursor: _Cursor, offsets: Mapping[str, int]) -> bool:
    """A look at the bytes: much faster than reading a vocabulary text by text."""
    start = offsets.get(VOCABULARY, cursor.at)
    vocabulary = cursor.data[start : max(start, offsets.get(VOCABULARY_END, cursor.at))]
    return any(_stored(mark) in vocabulary for mark in GAP_MARKS)


def _stored(text: str) -> bytes:
    """Return a text as the file stores it, its length before its bytes, so that no longer text matches."""
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _check_version(cursor: _Cursor) -> None:
    if cursor.end < 4 or bytes(cursor.data[:4]) != MAGIC:
        raise _BrokenError("it is not a GGUF file")
    cursor.skip(4)
    version = cursor.unsigned("I")
    if version & 0xFFFF == 0:
        raise _BrokenError("it is a big-endian GGUF, made for another kind of machine")
    if version not in (2, 3):
        raise _BrokenError(f"it is GGUF version {version}, and only versions 2 and 3 are known")


def _pairs(cursor: _Cursor, count: int, arrays: dict[str, tuple[int, int]]) -> Iterator[tuple[str, Value]]:
    for _ in range(count):
        key = cursor.text()
        kind = cursor.unsigned("I")
        if kind == ARRAY:
            kept = _array(cursor, key, arrays)
            if kept is not None:
                yield key, kept
        else:
            yield key, _scalar(cursor, kind)


def _scalar(cursor: _Cursor, kind: int) -> Scalar:
    if kind == STRING:
        return cursor.text()
    if kind not in SCALARS:
        raise _BrokenError(f"its header holds a value of unknown kind {kind}")
    return cursor.number(SCALARS[kind])


def _array(cursor: _Cursor, key: str, arrays: dict[str, tuple[int, int]], depth: int = 0) -> tuple[Scalar, ...] | None:
    kind, count = cursor.unsigned("I"), cursor.unsigned("Q")
    arrays.setdefault(key, (count, cursor.at))
    if kind == STRING and count > KEPT_ARRAY and not cursor.careful:
        cursor.skip_vocabulary(count)
        return None
    if kind == STRING:
        cursor.skip_texts(count)
        return None
    if kind == ARRAY:
        if depth > 3 or count > cursor.end:
            raise _BrokenError("its header nests arrays too deeply")
        for _ in range(count):
            _array(cursor, key, arrays, depth + 1)
        return None
    if kind not in SCALARS:
        raise _BrokenError(f"its header holds an array of unknown kind {kind}")
    if count > KEPT_ARRAY:
        cursor.skip(count * struct.calcsize("<" + SCALARS[kind]))
        return None
    return tuple(cursor.number(SCALARS[kind]) for _ in range(count))


def _tensor(cursor: _Cursor) -> tuple[int, int]:
    """Return how many numbers the next tensor has, and the offset of its end from where all tensors' data begins."""
    cursor.text()  # its name
    dimensions = cursor.unsigned("I")
    if dimensions > 8:
        raise _BrokenError(f"its header describes a tensor of {dimensions} dimensions")
    layout = _TENSORS[dimensions]
    *shape, kind, offset = layout.unpack_from(cursor.data, cursor.skip(layout.size))
    elements = math.prod(shape)
    return elements, offset + tensor_bytes(kind, elements)


_TENSORS = tuple(struct.Struct(f"<{dimensions}QIQ") for dimensions in range(9))
"""What follows a tensor's name and number of dimensions: shape, type, offset."""
