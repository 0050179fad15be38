"""What a GGUF file says of itself, for people and for the checks before loading."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.gguf_bytes import RawHeader, Value, read_raw
from rtc_inspector.core.models.tensor_types import FILE_TYPES

ENCODERS = (
    "bert",
    "nomic-bert",
    "nomic-bert-moe",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "eurobert",
)
NOT_MODELS = {"clip": "an image encoder", "imatrix": "a quantization aid", "controlvector": "a control vector"}
SPLIT_NAME = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """One model as its header describes it; a multi-part model is one.

    Attributes:
        parameters: numbers in all tensors.
        quantization: name of the file type, e.g. `Q4_K_M`.
        context_length: tokens it was trained for; 0 when unsaid.
        chat_template: Jinja source, or None for a base model.
        is_embedding: gives vectors, not text.
        fim_tokens: token ids by place (`prefix`, `suffix`, `middle`); empty without fill-in-the-middle.
        fills_gaps: whether the vocabulary has marks for fill-in-the-middle, named above or known by their texts.
        kv_bytes: bytes of 16-bit key-value cache per token; 0 when the header does not say.
        fixed_context: rotary factors depend on the window's size, so the window must not vary between runs.
        files: the parts, in order.
        file_bytes: of all parts.
    """

    path: Path
    name: str
    architecture: str
    kind: str
    parameters: int
    quantization: str
    context_length: int
    chat_template: str | None
    is_embedding: bool
    fim_tokens: dict[str, int]
    fills_gaps: bool
    kv_bytes: int
    fixed_context: bool
    files: tuple[Path, ...]
    file_bytes: int

    @property
    def label(self) -> str:
        """Return the name for people: the file's, which tells quantizations apart, or for a blob the header's."""
        return file_label(self.path.name) if self.path.suffix.lower() == ".gguf" else self.name


def file_label(name: str) -> str:
    """A GGUF file's name without its ending and without the number of its part."""
    match = SPLIT_NAME.match(name)
    return match["stem"] if match else name[: -len(".gguf")]


def read_header(path: Path) -> GgufHeader:
    """The header at `path`, with every part of a multi-part model checked.

    Raises ModelError: not a GGUF, truncated, a part missing, big-endian, unreadable.
    """
    files = _parts(path)
    raws = [read_raw(file) for file in files]
    for file, raw in zip(files, raws, strict=True):
        _check_whole(file, raw)
    return _describe(path, raws, files)


def check_generative(header: GgufHeader) -> None:
    """Raise ModelError when the file is no model that writes text."""
    if header.kind in NOT_MODELS:
        raise ModelError(
            f"{header.path.name} is {NOT_MODELS[header.kind]}, not a language model.",
            "Choose the GGUF file of an instruct or base language model.",
        )
    if header.is_embedding:
        raise ModelError(
            f"{header.path.name} is an embedding model ({header.architecture}): it cannot write text.",
            "Choose the GGUF file of an instruct or base language model.",
        )


def check_embedding(header: GgufHeader) -> None:
    """Raise ModelError when the file is no embedding model."""
    if header.kind in NOT_MODELS or not header.is_embedding:
        raise ModelError(
            f"{header.path.name} is no embedding model ({header.architecture}).",
            "Choose the GGUF file of an embedding model; `rtc-inspector models` says which are.",
        )


def part_names(name: str) -> tuple[str, ...]:
    """The files of a model, by the name of one: several where that says so."""
    match = SPLIT_NAME.match(name)
    if match is None:
        return (name,)
    count = int(match["count"])
    return tuple(f"{match['stem']}-{number:05d}-of-{count:05d}.gguf" for number in range(1, count + 1))


def _parts(path: Path) -> tuple[Path, ...]:
    """Return the paths of all files of the model. Raises ModelError where one of several is missing."""
    parts = tuple(path.with_name(name) for name in part_names(path.name))
    missing = [part.name for part in parts if not part.exists()]
    if missing and SPLIT_NAME.match(path.name):
        raise ModelError(
            f"{len(missing)} of {len(parts)} parts of this model are missing: {missing[0]}.",
            "Put all the parts into one folder.",
        )
    return parts


def _check_whole(path: Path, raw: RawHeader) -> None:
    if raw.data_end > raw.file_size:
        raise ModelError(
            f"{path.name} is truncated: {raw.file_size:,} of {raw.data_end:,} bytes are there.",
            "Download the model file again.",
        )
    # Of a model in several files the first may hold the header alone.
    if not raw.parameters and "split.count" not in raw.metadata:
        raise ModelError(f"{path.name} holds no weights.", "Choose a file with the model's weights.")


def _describe(path: Path, raws: Sequence[RawHeader], files: Sequence[Path]) -> GgufHeader:
    """Return the header of a model as its first part gives it; parameters and bytes are those of all parts."""
    raw = raws[0]
    data = raw.metadata
    architecture = _text(data.get("general.architecture")) or "unknown"
    template = _text(data.get("tokenizer.chat_template")) or None
    return GgufHeader(
        path=path,
        name=_text(data.get("general.name")) or path.stem,
        architecture=architecture,
        kind=architecture if architecture in NOT_MODELS else _text(data.get("general.type")) or "model",
        parameters=sum(raw.parameters for raw in raws),
        quantization=_quantization(data.get("general.file_type"), path),
        context_length=_whole(data.get(f"{architecture}.context_length")),
        chat_template=template,
        is_embedding=_is_embedding(raw, architecture),
        fim_tokens=_fim_tokens(raw),
        fills_gaps=bool(_fim_tokens(raw)) or raw.has_gap_mark,
        kv_bytes=_kv_bytes(raw, architecture),
        fixed_context=f"{architecture}.rope.scaling.original_context_length" in data,
        files=tuple(files),
        file_bytes=sum(raw.file_size for raw in raws),
    )


def _text(value: Value | None) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Value | None) -> int:
    """A figure as far as it makes sense, else 0: unsaid."""
    return int(value) if isinstance(value, int | float) and math.isfinite(value) and value > 0 else 0


def _quantization(value: Value | None, path: Path) -> str:
    if isinstance(value, int) and value in FILE_TYPES:
        return FILE_TYPES[value]
    # The header names no file type, or one that is newer than our list: the file's name most often tells.
    match = re.search(r"(?i)\b(I?Q\d\w*|BF16|F16|F32|MXFP4)\b", path.stem.replace("-", " ").replace(".", " "))
    return match.group(1).upper() if match else "unknown"


def _is_embedding(raw: RawHeader, architecture: str) -> bool:
    pooling = raw.metadata.get(f"{architecture}.pooling_type")
    causal = raw.metadata.get(f"{architecture}.attention.causal", True)
    return architecture in ENCODERS or _whole(pooling) > 0 or causal is False


def _fim_tokens(raw: RawHeader) -> dict[str, int]:
    keys = {"prefix": ("fim_pre", "prefix"), "suffix": ("fim_suf", "suffix"), "middle": ("fim_mid", "middle")}
    found: dict[str, int] = {}
    for place, names in keys.items():
        for name in names:
            value = raw.metadata.get(f"tokenizer.ggml.{name}_token_id")
            if isinstance(value, int):
                found.setdefault(place, value)
    return found if len(found) == len(keys) else {}


def _kv_bytes(raw: RawHeader, architecture: str) -> int:
    """Bytes of an f16 key-value cache per token: layers x key-value heads x (key + value length) x 2."""

    def number(key: str) -> Value | None:
        return raw.metadata.get(f"{architecture}.{key}")

    layers, heads = _whole(number("block_count")), number("attention.head_count")
    # Models whose layers differ give a list, one number a layer.
    most_heads = max(map(_whole, heads), default=0) if isinstance(heads, tuple) else _whole(heads)
    if not layers or not most_heads:
        return 0
    length = _whole(number("embedding_length")) // most_heads
    width = (_whole(number("attention.key_length")) or length) + (_whole(number("attention.value_length")) or length)
    kv_heads = number("attention.head_count_kv")
    if kv_heads is None:
        kv_heads = heads
    total = sum(map(_whole, kv_heads)) if isinstance(kv_heads, tuple) else _whole(kv_heads) * layers
    return total * width * 2
