"""From token bytes to text: whole UTF-8 characters only, and stop texts cut off."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Collects one answer; text that may turn out to be the start of a stop text is held back."""

    def __init__(self, stops: Sequence[str]) -> None:
        """`stops`: texts that end the answer; not part of it."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stops = [s for s in stops if s]
        self._text = ""
        self._given = 0
        self.stopped = False

    def push(self, data: bytes) -> str:
        """Take one token's bytes; the new text that is sure."""
        return self._advance(self._decoder.decode(data))

    def finish(self) -> str:
        """No more tokens: the rest of the text."""
        self._advance(self._decoder.decode(b"", final=True))
        rest = self._text[self._given :]
        self._given = len(self._text)
        return rest

    @property
    def text(self) -> str:
        """Everything so far, stop text excluded."""
        return self._text

    def _advance(self, new: str) -> str:
        if self.stopped:
            return ""
        longest = max((len(s) for s in self._stops), default=1)
        start = max(0, len(self._text) - longest + 1)
        self._text += new
        found = [at for s in self._stops if (at := self._text.find(s, start)) >= 0]
        if found:
            self._text = self._text[: min(found)]
            self.stopped = True
        safe = len(self._text) if self.stopped else self._safe_end()
        given, self._given = self._given, max(self._given, safe)
        return self._text[given : self._given]

    def _safe_end(self) -> int:
        """Characters that cannot be part of a stop text any more."""
        for keep in range(max((len(s) for s in self._stops), default=1) - 1, 0, -1):
            tail = self._text[-keep:]
            if len(tail) == keep and any(s.startswith(tail) for s in self._stops):
                return len(self._text) - keep
        return len(self._text)
