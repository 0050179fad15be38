"""Write small GGUF files for the tests: real headers, a few weights."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

Value = str | int | float | bool | Sequence[str] | Sequence[int]


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(item: Value) -> bytes:
    if isinstance(item, bool):
        return struct.pack("<I?", 7, item)
    if isinstance(item, int):
        return struct.pack("<II", 4, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    if isinstance(item, str):
        return struct.pack("<I", 8) + text(item)
    if item and isinstance(item[0], str):
        return struct.pack("<IIQ", 9, 8, len(item)) + b"".join(text(str(t)) for t in item)
    return struct.pack("<IIQ", 9, 5, len(item)) + b"".join(struct.pack("<i", int(n)) for n in item)


METADATA: Mapping[str, Value] = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "general.file_type": 0,
    "llama.context_length": 512,
    "llama.embedding_length": 64,
    "llama.block_count": 2,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": [f"t{i}" for i in range(2000)],
    "tokenizer.ggml.token_type": [1] * 2000,
    "tokenizer.chat_template": "{{ messages[0].content }}",
}


def gguf_bytes(extra: Mapping[str, Value] | None = None, drop: Sequence[str] = ()) -> bytes:
    """A whole file: two F32 tensors of 64 numbers."""
    metadata = {k: v for k, v in (dict(METADATA) | dict(extra or {})).items() if k not in drop}
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, len(metadata))
    head += b"".join(text(k) + value(v) for k, v in metadata.items())
    for i, name in enumerate(("a.weight", "b.weight")):
        head += text(name) + struct.pack("<IQQIQ", 2, 8, 8, 0, i * 256)
    return head + b"\0" * (-len(head) % 32) + b"\1" * 512


def write_gguf(path: Path, extra: Mapping[str, Value] | None = None, drop: Sequence[str] = ()) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf_bytes(extra, drop))
    return path
