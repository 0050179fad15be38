"""Tokens of a vocabulary that are more than text: marks of a gap to fill, and what source code must not forge."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.gguf import GgufHeader
from rtc_inspector.core.models.gguf_bytes import VOCABULARY, VOCABULARY_END, RawHeader, read_raw

UNKNOWN, CONTROL, ADDED = 2, 3, 4
"""Kinds of tokens that a tokenizer reads out of text, whether the text means them or not."""
MARK = re.compile(r"<[|｜].+[|｜]>|</?(?:think|tool_call|tool_response)>")
"""Added tokens that steer a model; others are plain words, tags or white space, and are to be read as such."""
JOINER = "\u2060"
"""Word joiner: shows nothing and keeps what it stands in from being a special token."""
LEAST = 3
"""Characters below which a special token's text is no mark that somebody would write."""


@dataclass(frozen=True, slots=True)
class InfillMarks:
    """Texts of the tokens around what stands before and after a gap, in the order in which they are used."""

    prefix: str
    suffix: str
    middle: str


FAMILIES = (
    InfillMarks("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    InfillMarks("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    InfillMarks("<fim-prefix>", "<fim-suffix>", "<fim-middle>"),
    InfillMarks("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    InfillMarks("▁<PRE>", "▁<SUF>", "▁<MID>"),
    InfillMarks("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),
)
"""Those of Qwen and Gemma, StarCoder and Granite, SantaCoder, DeepSeek, Code Llama, GLM."""


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """What one vocabulary has: marks of fill-in-the-middle, if any, and texts that mean control tokens."""

    infill: InfillMarks | None = None
    control: tuple[str, ...] = ()


def special_tokens(header: GgufHeader) -> SpecialTokens:
    """Read them out of the file with the vocabulary. Raises ModelError."""
    raw = read_raw(header.files[0])
    if VOCABULARY not in raw.array_offsets:
        return SpecialTokens()
    try:
        with header.files[0].open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            special = list(_special(data, raw, set(header.fim_tokens.values())))
    except (struct.error, OverflowError):  # headers are read without looking at each token
        raise ModelError(
            f"{header.path.name} cannot be used: its vocabulary is damaged.", "Download the model file again."
        ) from None
    control = [token.text for token in special if token.kind != ADDED or MARK.fullmatch(token.text)]
    texts = {token.text for token in special}
    known = (marks for marks in FAMILIES if texts.issuperset(astuple(marks)))
    marks = _named(special, header.fim_tokens) or next(known, None)
    forged = {*control, *(astuple(marks) if marks else ())}
    return SpecialTokens(marks, tuple(sorted(text for text in forged if len(text.strip()) >= LEAST)))


def without_marks(text: str, control: Sequence[str]) -> str:
    """The text with a joiner in each control token's text, so that it is read as the text that it is."""
    # The longest first: a shorter mark inside it would break it at another place than where it begins.
    for mark in sorted((mark for mark in control if mark in text), key=len, reverse=True):
        text = text.replace(mark, mark[0] + JOINER + mark[1:])
    return text


def without_joiners(answer: str, shown: str, steps: list[str]) -> str:
    """An answer without the joiners that it may have copied from its prompt; what was `shown` had none of its own."""
    # Where the user's own file has joiners, those of an answer may well belong to the code.
    if JOINER not in answer or JOINER in shown:
        return answer
    steps.append("joiner-dropped")
    return answer.replace(JOINER, "")


class _Token(NamedTuple):
    number: int
    text: str
    kind: int


def _special(data: mmap.mmap, raw: RawHeader, wanted: Container[int]) -> Iterator[_Token]:
    """Tokens that are not plain text, those of these numbers, and those that a family of marks knows."""
    count, at = raw.array_lengths[VOCABULARY], raw.array_offsets[VOCABULARY]
    kinds: Sequence[int] = (1,) * count
    # A list of kinds of another length belongs to no token in particular: then all count as plain.
    if raw.array_lengths.get(VOCABULARY_END) == count:
        kinds = struct.unpack_from(f"<{count}i", data, raw.array_offsets[VOCABULARY_END])
    known = {mark.encode() for marks in FAMILIES for mark in astuple(marks)}
    longest = max(map(len, known))
    length_at = struct.Struct("<Q").unpack_from
    for number, kind in enumerate(kinds):
        start = at + 8
        at = start + length_at(data, at)[0]
        if kind in (UNKNOWN, CONTROL, ADDED) or number in wanted or (at - start <= longest and data[start:at] in known):
            yield _Token(number, data[start:at].decode("utf-8", "replace"), kind)


def _named(special: Sequence[_Token], ids: Mapping[str, int]) -> InfillMarks | None:
    """The marks that the header itself names."""
    texts = {token.number: token.text for token in special}
    found = [texts.get(ids.get(place, -1), "") for place in ("prefix", "suffix", "middle")]
    return InfillMarks(*found) if all(found) else None
