"""GGUF files: what a header says, the tokens of its vocabulary that are more than text, and the file's fingerprint.

Headers are read here and not by `gguf.GGUFReader`, which makes an array of each token: 9 s for a vocabulary of 150,000
words with its merges, where stepping over the texts takes 0.05 s. Tables of types are that package's.

Layout (little-endian): magic, version, tensor count, metadata count, metadata pairs, tensor descriptions, padding,
tensor data.
"""

import hashlib
import json
import math
import mmap
import re
import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.waiting import Poll, no_poll

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
CHOOSE_TEXT = "Choose the GGUF file of an instruct or base language model."

FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
KEPT_ARRAY = 512
"""Arrays of numbers up to this length are kept (head counts per layer); longer ones and texts are only stepped over."""
VOCABULARY, TOKEN_KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_CUT_OFF = "the file ends inside its header"


class _BrokenError(Exception):
    """The bytes do not make sense; the message says where."""


# --------------------------------------------------------------------------- the header as bytes


@dataclass(frozen=True, slots=True)
class RawHeader:
    """The header as it stands in one file."""

    metadata: Mapping[str, Any]
    arrays: Mapping[str, tuple[int, int]]  # number of values of each array, and the byte at which they begin, by key
    parameters: int  # numbers in all tensors
    data_end: int  # the byte after the last tensor whose type is known
    file_size: int
    has_gap_mark: bool  # whether the vocabulary has the mark of a gap that a known family of models fills


class _Cursor:
    """A reader over the file's bytes; `struct.error` past their end."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return found

    def skip(self, size: int) -> int:
        if size > len(self.data) - self.at:
            raise struct.error
        self.at += size
        return self.at - size

    def text(self) -> str:
        (size,) = self.take("Q")
        start = self.skip(size)
        return self.data[start : self.at].decode("utf-8", errors="replace")


def read_raw(path: Path) -> RawHeader:
    """Return the header of one file.

    Raises ModelError: not a GGUF, big-endian, an unknown version, truncated inside the header, unreadable.
    """
    try:
        if path.stat().st_size == 0:
            raise ModelError(f"{path.name} is empty.", "Download the model file again.")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parse(_Cursor(data))
    except (_BrokenError, struct.error, OverflowError) as error:
        reason = error if isinstance(error, _BrokenError) else _CUT_OFF
        raise ModelError(f"{path.name} cannot be used: {reason}.", "Download the model file again.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path} cannot be read: {reason}.", "Check the path and its permissions.") from None


def _parse(cursor: _Cursor) -> RawHeader:
    data, size = cursor.data, len(cursor.data)
    if data[:4] != b"GGUF":
        raise _BrokenError("it is not a GGUF file")
    cursor.at = 4
    (version,) = cursor.take("I")
    if version & 0xFFFF == 0:
        raise _BrokenError("it is a big-endian GGUF, made for another kind of machine")
    if version not in (2, 3):
        raise _BrokenError(f"it is GGUF version {version}, and only versions 2 and 3 are known")
    tensor_count, pair_count = cursor.take("QQ")
    if pair_count * 12 > size or tensor_count * 24 > size:
        raise _BrokenError("its header promises more entries than the file could hold")
    metadata: dict[str, Any] = {}
    arrays: dict[str, tuple[int, int]] = {}
    for _ in range(pair_count):
        key = cursor.text()
        (kind,) = cursor.take("I")
        value: Any
        if kind == ARRAY:
            value = _array(cursor, key, arrays)
        elif kind == STRING:
            value = cursor.text()
        elif kind in FORMATS:
            (value,) = cursor.take(FORMATS[kind])
        else:
            raise _BrokenError(f"its header holds a value of unknown kind {kind}")
        if value is not None:
            metadata[key] = value
    # Marks are looked for as the file stores them, length first: much faster than reading a vocabulary text by text.
    _, vocabulary = arrays.get(VOCABULARY, (0, cursor.at))
    middles = [middle.encode() for _, _, middle in FAMILIES]
    gap = any(data.find(struct.pack("<Q", len(mark)) + mark, vocabulary, cursor.at) >= 0 for mark in middles)
    tensors = [_tensor(cursor) for _ in range(tensor_count)]
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0:
        raise _BrokenError("its header names an impossible alignment")
    start = math.ceil(cursor.at / alignment) * alignment
    end = start + max((end for _, end in tensors), default=0)
    return RawHeader(metadata, arrays, sum(elements for elements, _ in tensors), end, size, gap)


def _array(cursor: _Cursor, key: str, arrays: dict[str, tuple[int, int]], depth: int = 0) -> tuple[Any, ...] | None:
    kind, count = cursor.take("IQ")
    arrays.setdefault(key, (count, cursor.at))
    if count > len(cursor.data):
        raise _BrokenError(_CUT_OFF)
    if kind == STRING:
        at, unpack = cursor.at, struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + unpack(cursor.data, at)[0]
        cursor.skip(at - cursor.at)
    elif kind == ARRAY:
        if depth > 3:
            raise _BrokenError("its header nests arrays too deeply")
        for _ in range(count):
            _array(cursor, key, arrays, depth + 1)
    elif kind not in FORMATS:
        raise _BrokenError(f"its header holds an array of unknown kind {kind}")
    elif count <= KEPT_ARRAY:
        return cursor.take(f"{count}{FORMATS[kind]}")
    else:
        cursor.skip(count * struct.calcsize(f"<{FORMATS[kind]}"))
    return None


def _tensor(cursor: _Cursor) -> tuple[int, int]:
    """Return how many numbers the next tensor has, and the offset of its end from where all tensors' data begins."""
    from gguf.constants import GGML_QUANT_SIZES  # here: the package takes a quarter of a second to load

    cursor.text()  # its name
    (dimensions,) = cursor.take("I")
    if dimensions > 8:
        raise _BrokenError(f"its header describes a tensor of {dimensions} dimensions")
    *shape, kind, offset = cursor.take(f"{dimensions}QIQ")
    elements = math.prod(shape)
    block, size = GGML_QUANT_SIZES.get(kind, (1, 0))
    return elements, offset + elements // block * size


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """One model as its header describes it; a multi-part model is one."""

    path: Path
    name: str
    architecture: str
    kind: str
    parameters: int  # numbers in all tensors
    quantization: str  # name of the file type, e.g. `Q4_K_M`
    context_length: int  # tokens it was trained for; 0 when unsaid
    chat_template: str | None  # Jinja source, or None for a base model
    is_embedding: bool  # gives vectors, not text
    fim_tokens: tuple[int, ...]  # ids of the tokens of prefix, suffix and middle; empty without fill-in-the-middle
    fills_gaps: bool  # whether the vocabulary has marks for fill-in-the-middle, named above or known by their texts
    kv_bytes: int  # bytes of 16-bit key-value cache per token; 0 when the header does not say
    fixed_context: bool  # rotary factors depend on the window's size, so the window must not vary between runs
    files: tuple[Path, ...]  # the parts, in order
    file_bytes: int  # of all parts

    @property
    def label(self) -> str:
        """Return the name for people: the file's, which tells quantizations apart, or for a blob the header's."""
        return file_label(self.path.name) if self.path.suffix.lower() == ".gguf" else self.name


def file_label(name: str) -> str:
    """Return a GGUF file's name without its ending and without the number of its part."""
    match = SPLIT_NAME.match(name)
    return match["stem"] if match else name[: -len(".gguf")]


def part_names(name: str) -> tuple[str, ...]:
    """Return the names of all files of a model by that of one."""
    match = SPLIT_NAME.match(name)
    if match is None:
        return (name,)
    count = int(match["count"])
    return tuple(f"{match['stem']}-{number:05d}-of-{count:05d}.gguf" for number in range(1, count + 1))


def read_header(path: Path) -> GgufHeader:
    """Return the header at `path`, with every part of a multi-part model checked.

    Raises ModelError: not a GGUF, truncated, a part missing, big-endian, unreadable.
    """
    files = tuple(path.with_name(name) for name in part_names(path.name))
    missing = [part.name for part in files if not part.exists()]
    if missing and SPLIT_NAME.match(path.name):
        raise ModelError(
            f"{len(missing)} of {len(files)} parts of this model are missing: {missing[0]}.",
            "Put all the parts into one folder.",
        )
    raws = [read_raw(file) for file in files]
    for file, raw in zip(files, raws, strict=True):
        if raw.data_end > raw.file_size:
            raise ModelError(
                f"{file.name} is truncated: {raw.file_size:,} of {raw.data_end:,} bytes are there.",
                "Download the model file again.",
            )
        # Of a model in several files the first may hold the header alone.
        if not raw.parameters and "split.count" not in raw.metadata:
            raise ModelError(f"{file.name} holds no weights.", "Choose a file with the model's weights.")
    return _describe(path, raws, files)


def check_generative(header: GgufHeader) -> None:
    """Raise ModelError when the file is no model that writes text."""
    if header.kind in NOT_MODELS:
        raise ModelError(f"{header.path.name} is {NOT_MODELS[header.kind]}, not a language model.", CHOOSE_TEXT)
    if header.is_embedding:
        raise ModelError(
            f"{header.path.name} is an embedding model ({header.architecture}): it cannot write text.", CHOOSE_TEXT
        )


def check_embedding(header: GgufHeader) -> None:
    """Raise ModelError when the file is no embedding model."""
    if header.kind in NOT_MODELS or not header.is_embedding:
        raise ModelError(
            f"{header.path.name} is no embedding model ({header.architecture}).",
            "Choose the GGUF file of an embedding model; `rtc-inspector models` says which are.",
        )


def _describe(path: Path, raws: Sequence[RawHeader], files: tuple[Path, ...]) -> GgufHeader:
    data = raws[0].metadata
    fim_tokens: list[int] = []
    for keys in (("fim_pre", "prefix"), ("fim_suf", "suffix"), ("fim_mid", "middle")):
        ids = (data.get(f"tokenizer.ggml.{key}_token_id") for key in keys)
        fim_tokens += [each for each in ids if isinstance(each, int)][:1]
    architecture = _text(data.get("general.architecture")) or "unknown"
    own = {key.removeprefix(f"{architecture}."): value for key, value in data.items()}
    return GgufHeader(
        path=path,
        name=_text(data.get("general.name")) or path.stem,
        architecture=architecture,
        kind=architecture if architecture in NOT_MODELS else _text(data.get("general.type")) or "model",
        parameters=sum(raw.parameters for raw in raws),
        quantization=_quantization(data.get("general.file_type"), path),
        context_length=_whole(own.get("context_length")),
        chat_template=_text(data.get("tokenizer.chat_template")) or None,
        is_embedding=(
            architecture in ENCODERS or _whole(own.get("pooling_type")) > 0 or own.get("attention.causal") is False
        ),
        fim_tokens=tuple(fim_tokens) if len(fim_tokens) == 3 else (),
        fills_gaps=len(fim_tokens) == 3 or raws[0].has_gap_mark,
        kv_bytes=_kv_bytes(own),
        fixed_context="rope.scaling.original_context_length" in own,
        files=files,
        file_bytes=sum(raw.file_size for raw in raws),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    """Return a figure as far as it makes sense, else 0: unsaid."""
    return int(value) if isinstance(value, int | float) and math.isfinite(value) and value > 0 else 0


def _quantization(value: Any, path: Path) -> str:
    from gguf.constants import LlamaFileType

    with suppress(ValueError):
        return re.sub("^(?:ALL|MOSTLY)_|_MOE$", "", LlamaFileType(value).name)
    # The header names no file type, or one that is newer than the list: the file's name most often tells.
    match = re.search(r"(?i)\b(I?Q\d\w*|BF16|F16|F32|MXFP4)\b", path.stem.replace("-", " ").replace(".", " "))
    return match.group(1).upper() if match else "unknown"


def _kv_bytes(own: Mapping[str, Any]) -> int:
    """Return the bytes of an f16 cache per token: layers x key-value heads x (key + value length) x 2."""
    layers, heads = _whole(own.get("block_count")), own.get("attention.head_count")
    # Models whose layers differ give a list, one number a layer.
    most_heads = max(map(_whole, heads), default=0) if isinstance(heads, tuple) else _whole(heads)
    if not layers or not most_heads:
        return 0
    length = _whole(own.get("embedding_length")) // most_heads
    width = sum(_whole(own.get(f"attention.{name}_length")) or length for name in ("key", "value"))
    kv_heads = own.get("attention.head_count_kv", heads)
    return width * 2 * (sum(map(_whole, kv_heads)) if isinstance(kv_heads, tuple) else _whole(kv_heads) * layers)


# --------------------------------------------------------------------------- tokens that are more than text

UNKNOWN, CONTROL, ADDED = 2, 3, 4
"""Kinds of tokens that a tokenizer reads out of text, whether the text means them or not."""
MARK = re.compile(r"<[|｜].+[|｜]>|</?(?:think|tool_call|tool_response)>")
"""Added tokens that steer a model; others are plain words, tags or white space, and are to be read as such."""
JOINER = "\u2060"  # word joiner: shows nothing and keeps what it stands in from being a special token
LEAST = 3  # characters below which a special token's text is no mark that somebody would write


InfillMarks = tuple[str, ...]
"""Texts of the tokens before what stands before a gap, before what stands behind it, and before what fills it."""
FAMILIES: tuple[InfillMarks, ...] = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen, Gemma
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder, Granite
    ("<fim-prefix>", "<fim-suffix>", "<fim-middle>"),  # SantaCoder
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),  # Code Llama
    ("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # GLM
)


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """Marks of fill-in-the-middle of one vocabulary, if any, and its texts that mean control tokens."""

    infill: InfillMarks | None = None
    control: tuple[str, ...] = ()


class _Token(NamedTuple):
    number: int
    text: str
    kind: int


def special_tokens(header: GgufHeader) -> SpecialTokens:
    """Read them out of the file with the vocabulary. Raises ModelError."""
    raw = read_raw(header.files[0])
    if VOCABULARY not in raw.arrays:
        return SpecialTokens()
    with header.files[0].open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        special = list(_special(data, raw, header.fim_tokens))
    control = [token.text for token in special if token.kind != ADDED or MARK.fullmatch(token.text)]
    texts, by_number = {token.text for token in special}, {token.number: token.text for token in special}
    named = tuple(by_number.get(each, "") for each in header.fim_tokens)
    family = next((marks for marks in FAMILIES if texts.issuperset(marks)), None)
    marks = named if named and all(named) else family
    forged = {*control, *(marks or ())}
    return SpecialTokens(marks, tuple(sorted(text for text in forged if len(text.strip()) >= LEAST)))


def _special(data: mmap.mmap, raw: RawHeader, wanted: Container[int]) -> Iterator[_Token]:
    """Yield the tokens that are not plain text, those of these numbers, and those that a family of marks knows."""
    count, at = raw.arrays[VOCABULARY]
    kinds: Sequence[int] = (1,) * count
    # A list of kinds of another length belongs to no token in particular: then all count as plain.
    many, start = raw.arrays.get(TOKEN_KINDS, (-1, 0))
    if many == count:
        kinds = struct.unpack_from(f"<{count}i", data, start)
    family_marks = {mark.encode() for marks in FAMILIES for mark in marks}
    longest = max(map(len, family_marks))
    length_at = struct.Struct("<Q").unpack_from
    for number, kind in enumerate(kinds):
        start = at + 8
        at = start + length_at(data, at)[0]
        special = kind in (UNKNOWN, CONTROL, ADDED) or number in wanted
        if special or (at - start <= longest and data[start:at] in family_marks):
            yield _Token(number, data[start:at].decode("utf-8", "replace"), kind)


def without_marks(text: str, control: Sequence[str]) -> str:
    """Return the text with a joiner in each control token's text, so that it is read as the text that it is."""
    # The longest first: a shorter mark inside it would break it at another place than where it begins.
    for mark in sorted((mark for mark in control if mark in text), key=len, reverse=True):
        text = text.replace(mark, mark[0] + JOINER + mark[1:])
    return text


def without_joiners(answer: str, shown: str, steps: list[str]) -> str:
    """Return an answer without joiners that it may have copied from its prompt; `shown` had none of its own."""
    # Where the user's own file has joiners, those of an answer may well belong to the code.
    if JOINER not in answer or JOINER in shown:
        return answer
    steps.append("joiner-dropped")
    return answer.replace(JOINER, "")


# --------------------------------------------------------------------------- fingerprints


_FINGERPRINTS = JsonCache("fingerprints", 500)


def fingerprint(files: Sequence[Path], poll: Poll = no_poll) -> str:
    """Return the SHA-256 over the bytes of all parts in order, remembered by path, size and modification time.

    `poll` is called as it goes; raising from it gives up. Raises ModelError when unreadable.
    """
    try:
        key = _key(files)
        found = _FINGERPRINTS.load(key)
        if not isinstance(found, str):
            digest = hashlib.sha256()
            for path in files:
                with path.open("rb") as file:
                    while block := file.read(1 << 22):
                        poll()
                        digest.update(block)
            found = digest.hexdigest()
            _FINGERPRINTS.save(key, found)
        return found
    except OSError as error:
        raise ModelError(
            f"{files[0]} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from None


def remembered_fingerprint(files: Sequence[Path]) -> str:
    """Return what `fingerprint` found for these files before; empty where they were never read or have changed."""
    with suppress(OSError):
        return str(_FINGERPRINTS.load(_key(files)) or "")
    return ""


def _key(files: Sequence[Path]) -> str:
    states = [[str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns] for f in files]
    return hashlib.sha256(json.dumps(states).encode()).hexdigest()
