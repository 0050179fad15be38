"""One chat completion over HTTP, and every way it can fail, as a value with a sentence."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass

MOST_BYTES = 16 << 20
"""An answer longer than this is refused, not kept in memory."""
PASSING = {408, 409, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


class HttpFailure(Exception):
    """A request without a usable answer.

    Attributes:
        sentence: for people.
        passing: whether trying again may help.
        wait: seconds the server asks for; 0 when it does not say.
    """

    def __init__(self, sentence: str, passing: bool, wait: float = 0.0) -> None:
        """Keep all three."""
        super().__init__(sentence)
        self.sentence, self.passing, self.wait = sentence, passing, wait


def post_chat(address: str, key: str, body: dict[str, object], timeout: float) -> Answer:
    """Ask `address`/chat/completions. Raises HttpFailure."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    url = address.rstrip("/") + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            data = response.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:
            raise HttpFailure(*_refusal(error)) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise HttpFailure(f"The server at {address} cannot be reached: {reason}.", passing=True) from None
    if len(data) > MOST_BYTES:
        raise HttpFailure("The server's answer is longer than 16 MiB.", passing=False)
    return _read(data)


def _refusal(error: urllib.error.HTTPError) -> tuple[str, bool, float]:
    try:
        wait = float(error.headers.get("Retry-After") or 0)
    except ValueError:
        wait = 0.0
    return f"The server answered with status {error.code} {error.reason}.", error.code in PASSING, min(wait, 60.0)


def _read(data: bytes) -> Answer:
    """The first choice. An answer of the wrong shape may be a server that is just starting: worth another try."""
    try:
        whole = json.loads(data)
        choice = whole["choices"][0]
        text, usage = choice["message"]["content"], whole.get("usage") or {}
        reason = "length" if choice.get("finish_reason") == "length" else "stop"
        if not isinstance(text, str):
            raise TypeError
        return Answer(text, int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0)), reason)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise HttpFailure("The server's answer is not a chat completion.", passing=True) from None
