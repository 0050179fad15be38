"""From token bytes to text, and where an answer ends: at a stop text, below its block, when it is too long."""

from __future__ import annotations

import codecs
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

from rtc_inspector.core.generation import Block
from rtc_inspector.core.models.thoughts import FORMATS, Format, end_of, opens


@dataclass(frozen=True, slots=True)
class Ending:
    """What ends an answer besides the model itself.

    Attributes:
        stops: texts that end it; not part of it.
        block: the lines of a file that it is; the first line outside ends it.
        most_characters: after so many it is cut; 0 for no such limit.
    """

    stops: tuple[str, ...] = ()
    block: Block | None = None
    most_characters: int = 0


class TextStream:
    """Collects one answer. Text that may turn out not to be part of it is held back.

    What a reasoning model thinks first is part of the text, but nothing in it ends the answer.
    """

    def __init__(self, ending: Ending, thinking: bool = False, known: Sequence[Format] = FORMATS) -> None:
        """`thinking`: the prompt has begun the model's thoughts for it; `known`: in what form thoughts may come."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._ending = ending
        self._stops = [s for s in ending.stops if s]
        self._text = ""
        self._given = 0
        self._looked = 0
        self._answer = 0
        self._known = known
        self.thinking = thinking
        self.reason = ""

    def push(self, data: bytes) -> str:
        """Take one token's bytes; the new text that is sure."""
        return self._advance(self._decoder.decode(data))

    def finish(self) -> str:
        self._advance(self._decoder.decode(b"", final=True))
        rest = self._text[self._given :]
        self._given = len(self._text)
        return rest

    @property
    def text(self) -> str:
        return self._text

    def _advance(self, new: str) -> str:
        if self.reason:
            return ""
        self._text += new
        self._follow_thoughts()
        if not self.thinking:
            self._end()
        safe = len(self._text) if self.reason else self._safe_end()
        given, self._given = self._given, max(self._given, safe)
        return self._text[given : self._given]

    def _follow_thoughts(self) -> None:
        if self._answer:
            return
        form = opens(self._text, self._known)
        if form is not None or self.thinking:
            begun = [form] if form is not None else self._known
            ends = [end for each in begun if (end := end_of(self._text, each, over=False)) >= 0]
            self.thinking = not ends
            self._answer = self._looked = min(ends, default=0)

    def _end(self) -> None:
        longest = max((len(s) for s in self._stops), default=1)
        # A stop text may have begun in what was looked at before.
        start = max(self._answer, self._looked - longest + 1)
        ends = [at for s in self._stops if (at := self._text.find(s, start)) >= 0]
        if self._ending.block is not None and (at := self._outside(self._ending.block)) >= 0:
            ends.append(at)
        self._looked = len(self._text)
        if ends:
            self._text, self.reason = self._text[: min(ends)], "stop"
        elif 0 < self._ending.most_characters < len(self._text) - self._answer:
            self.reason = "length"

    def _outside(self, block: Block) -> int:
        """Return the index at which the text before the first line outside the block ends; -1 while there is none."""
        at = self._text.find("\n", max(self._answer, self._line_start()))
        while at >= 0:
            line = self._text[at + 1 :].split("\n", 1)[0]
            body = line.lstrip(" \t")
            if body and not self._belongs(block, line, body, self._text[self._answer : at]):
                return max(self._answer, len(self._text[:at].rstrip()))
            at = self._text.find("\n", at + 1)
        return -1

    def _line_start(self) -> int:
        """Return the index from which lines may have become longer since the last look."""
        return max(0, self._text.rfind("\n", 0, self._looked))

    def _belongs(self, block: Block, line: str, body: str, before: str) -> bool:
        inside = line.startswith(block.indentation)
        if block.comment:
            return inside and body.startswith(block.comment)
        if block.quotes is not None:
            return inside or any(len(re.findall(rf"(?<!\\){quote}", before)) % 2 for quote in block.quotes)
        return inside or _open(block.indentation + before, body)

    def _safe_end(self) -> int:
        """Characters that cannot be part of a stop text, nor lead to a line outside the block, any more."""
        end = len(self._text)
        if self._ending.block is not None:
            bare = self._text.rstrip(" \t\r\n")
            end = len(bare) if "\n" in self._text[len(bare) :] else end
        for keep in range(max((len(s) for s in self._stops), default=1) - 1, 0, -1):
            tail = self._text[-keep:]
            if len(tail) == keep and any(s.startswith(tail) for s in self._stops):
                return min(end, len(self._text) - keep)
        return end


def _open(before: str, body: str) -> bool:
    """Return whether a line goes on what stands before it: the inside of a string, or the end of a bracket."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(textwrap.dedent(before)).readline):
            pass
    except tokenize.TokenError as error:
        # Python's own words for what was open: `EOF in multi-line string`, or `statement` for a bracket.
        return "string" in str(error) or body[0] in ")]}"
    except SyntaxError:
        return False
    return False
