"""The fields of a question that a server takes: what it refuses is left out or renamed, once for all that follows."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

from rtc_inspector.core.models.chat_http import HttpFailure

RENAMED = {"max_tokens": "max_completion_tokens"}
"""Fields that some servers know by another name only."""
LEFT_OUT = {
    "top_k": "",
    "min_p": "",
    "stream": "",
    "stream_options": "",
    "chat_template_kwargs": "whether it thinks is left to the model",
    "reasoning_effort": "how much it thinks is left to the model",
    "seed": "another run draws other samples",
    "top_p": "samples are drawn from what the server draws from",
    "temperature": "samples are drawn at the temperature that the server sets",
    "stop": "answers are cut here",
    "max_tokens": "answers end where the server ends them",
    "max_completion_tokens": "answers end where the server ends them",
}
"""Fields without which a question can still be asked, and what that means for the run; empty where it means nothing."""
REFUSING = (400, 422, 500, 501)
"""Statuses under which servers refuse a field; 500 and 501 by those that forward it to another program."""
_REFUSAL = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|not permitted|unexpected|not allowed|invalid|extra|instead"
    r"|does not",
    re.IGNORECASE,
)
_THINKING = re.compile(r"think(?:ing)? value|reasoning value|support thinking", re.IGNORECASE)
"""Ollama's words for a refusal of `reasoning_effort`, which it does not name."""
_WINDOW = re.compile(r"context|too (large|long|many)|exceed|at most|limit was reached", re.IGNORECASE)
"""A complaint of the prompt's length may name `max_tokens` and is none about that field."""


class Dialect:
    """What one server takes. Any thread may ask and learn."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Everything is taken to be understood; `tell` is told, once, what turns out not to be."""
        self._tell = tell
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def conditions(self) -> str:
        """Return the fields that were left out (`-seed`) or renamed (`max_tokens=...`), for the run's record."""
        return ", ".join(f"{old}={new}" if new else f"-{old}" for old, new in sorted(self._names.items()))

    def takes(self, name: str) -> bool:
        """Return whether the field is sent, under whatever name."""
        return self._names.get(name, name) != ""

    def fitted(self, body: Mapping[str, object]) -> dict[str, object]:
        """Return the body as this server takes it."""
        names = dict(self._names)
        return {new: value for name, value in body.items() if (new := names.get(name, name))}

    def learn(self, failure: HttpFailure, asked: Mapping[str, object]) -> bool:
        """Heed a refusal of `asked`, as it was sent; whether to ask again without the field it complains of."""
        with self._lock:
            for name in LEFT_OUT:
                sent = self._names.get(name, name)
                if sent in asked and sent and refuses(failure, sent):
                    self._drop(name, sent)
                    return True
                was = next((each for each in (name, RENAMED.get(name, name)) if each in asked), "")
                if was and was != sent and refuses(failure, was):
                    return True  # another question, which was under way, has found the same
        return False

    def _drop(self, name: str, sent: str) -> None:
        new = RENAMED.get(name, "") if sent == name else ""
        self._names[name] = new
        if new:
            self._tell(f"The server takes {new} in place of {name}.")
        elif LEFT_OUT[name]:
            self._tell(f"The server refuses {sent}, which is left out: {LEFT_OUT[name]}.")


def refuses(failure: HttpFailure, name: str) -> bool:
    """Return whether a failure is the server's refusal of that very field."""
    said = failure.said
    named = re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", said)
    if failure.status not in REFUSING or not (named or (name == "reasoning_effort" and _THINKING.search(said))):
        return False
    if said.endswith(f" '{name}'"):  # the field that the server itself names as the one it complains of
        return not (_WINDOW.search(said) and "max" in name and not _REFUSAL.search(said))
    return bool(_REFUSAL.search(said)) and not _WINDOW.search(said)
