"""The bundled model without most of its layers: a real file, loaded for real, several times as fast.

What it says is noise, drawn as from any model: enough wherever a test asks what becomes of samples, not what they say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rtc_inspector.core.models.discovery import bundled_model

LAYERS = 2
ALIGNMENT = 32
BLOCK_COUNT = b"llama.block_count" + struct.pack("<I", 4)
FIRST = b"token_embd.weight"


@dataclass(frozen=True)
class _Tensor:
    """One entry of the table of tensors. `offset`: bytes after the start of all tensors' data."""

    name: bytes
    shape: bytes
    offset: int

    @property
    def kept(self) -> bool:
        return not self.name.startswith(b"blk.") or int(self.name.split(b".")[1]) < LAYERS

    def entry(self, offset: int) -> bytes:
        return struct.pack("<Q", len(self.name)) + self.name + self.shape + struct.pack("<Q", offset)


def write_small_model(path: Path) -> Path:
    """Copy the bundled model's vocabulary, template and first layers."""
    data = bundled_model().read_bytes()
    (count,) = struct.unpack_from("<Q", data, 8)
    table = data.index(struct.pack("<Q", len(FIRST)) + FIRST)
    tensors, at = [], table
    for _ in range(count):
        tensor, at = _read(data, at)
        tensors.append(tensor)
    start = at + -at % ALIGNMENT
    ends = dict(_ends(tensors, len(data) - start))
    head = bytearray(data[:table])
    struct.pack_into("<Q", head, 8, sum(tensor.kept for tensor in tensors))
    struct.pack_into("<I", head, head.index(BLOCK_COUNT) + len(BLOCK_COUNT), LAYERS)
    content = bytearray()
    for tensor in filter(lambda tensor: tensor.kept, tensors):
        head += tensor.entry(len(content))
        content += data[start + tensor.offset : start + ends[tensor]]
    path.write_bytes(bytes(head) + b"\0" * (-len(head) % ALIGNMENT) + bytes(content))
    return path


def _read(data: bytes, at: int) -> tuple[_Tensor, int]:
    """The entry at `at`, and where the next one begins."""
    (length,) = struct.unpack_from("<Q", data, at)
    named = at + 8 + length
    (dimensions,) = struct.unpack_from("<I", data, named)
    shaped = named + 4 + 8 * dimensions + 4
    (offset,) = struct.unpack_from("<Q", data, shaped)
    return _Tensor(data[at + 8 : named], data[named:shaped], offset), shaped + 8


def _ends(tensors: list[_Tensor], size: int) -> Iterator[tuple[_Tensor, int]]:
    """Each tensor with the offset at which its data, filling included, ends."""
    ordered = sorted(tensors, key=lambda tensor: tensor.offset)
    yield from zip(ordered, [*(t.offset for t in ordered[1:]), size], strict=True)
