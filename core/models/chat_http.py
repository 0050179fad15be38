"""One question to an OpenAI-compatible server over HTTP, and every way it can fail, as a value with a sentence."""

from __future__ import annotations

import http.client
import json
import math
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from core.models.deadline import Deadline

MOST_BYTES = 16 << 20
"""An answer longer than this is refused, not kept in memory."""
PIECE = 1 << 16
PASSING = {408, 409, 425, 429, 500, 502, 503, 504}
SAID = 300
"""Characters of a server's own words that a sentence repeats; a cut is marked."""
GRACE = 1.0
"""Seconds that one silence may last beyond the time of the whole exchange, which thus is what ends it."""
LONGEST_WAIT = 60.0
"""Seconds between two tries, whatever a server asks for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said. `model`: what it calls the model that answered; empty when it does not say."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    model: str = ""


class HttpFailure(Exception):
    """A request without a usable answer.

    Attributes:
        sentence: for people.
        passing: whether trying again may help.
        wait: seconds the server asks for; 0 when it does not say.
        status: of HTTP; 0 when there was no answer.
    """

    def __init__(self, sentence: str, passing: bool, wait: float = 0.0, status: int = 0) -> None:
        """Keep all four."""
        super().__init__(sentence)
        self.sentence, self.passing, self.wait, self.status = sentence, passing, wait, status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key must not follow a redirect to another server, so none is followed."""

    def redirect_request(self, *arguments: Any) -> None:
        """Refuse; the redirect comes back as an error with its status."""


def ask(url: str, key: str, body: dict[str, object] | None, timeout: float) -> Any:
    """The JSON that the server answers: to `body`, or to a plain question without one. Raises HttpFailure.

    `timeout` bounds the whole exchange, also where the answer only trickles in.
    """
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    data = None if body is None else json.dumps(body).encode()
    with Deadline(timeout) as deadline:
        try:
            return _exchange(url, data, headers, timeout, deadline)
        except HttpFailure:
            if not deadline.over:
                raise
    raise HttpFailure(f"The server at {url} took more than {timeout:g} seconds.", passing=True, status=200)


def _exchange(url: str, data: bytes | None, headers: dict[str, str], timeout: float, deadline: Deadline) -> Any:
    try:
        return json.loads(_fetch(urllib.request.Request(url, data, headers), timeout, deadline))
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error) from None
    except (OSError, http.client.HTTPException) as error:
        reason = _line(str(getattr(error, "reason", None) or error)) or type(error).__name__
        raise HttpFailure(f"The server at {url} cannot be reached: {reason}.", passing=True) from None
    except (ValueError, RecursionError):
        # May be a server that is just starting: worth another try.
        raise HttpFailure("The server's answer is not JSON.", passing=True, status=200) from None


def post_chat(address: str, key: str, body: dict[str, object], timeout: float) -> Answer:
    """Ask `address`/chat/completions. Raises HttpFailure."""
    whole = ask(address.rstrip("/") + "/chat/completions", key, body, timeout)
    return _read(whole, lambda choice: _content(choice["message"], choice))


def post_completion(address: str, key: str, body: dict[str, object], timeout: float) -> Answer:
    """Ask `address`/completions, where the prompt is plain text. Raises HttpFailure."""
    whole = ask(address.rstrip("/") + "/completions", key, body, timeout)
    return _read(whole, lambda choice: choice["text"])


def _fetch(request: urllib.request.Request, timeout: float, deadline: Deadline) -> bytes:
    handlers = [_NoRedirect(), *deadline.handlers()]
    if _is_here(request.host):
        # A company's proxy does not know this machine's own servers.
        handlers.append(urllib.request.ProxyHandler({}))
    data = bytearray()
    with urllib.request.build_opener(*handlers).open(request, timeout=timeout + GRACE) as response:
        while piece := response.read1(PIECE):
            data += piece
            if len(data) > MOST_BYTES:
                raise HttpFailure("The server's answer is longer than 16 MiB.", passing=False, status=200)
    return bytes(data)


def _is_here(host: str) -> bool:
    """Whether a server runs on this machine: no proxy leads there."""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _refusal(error: urllib.error.HTTPError) -> HttpFailure:
    reason = f" {_line(error.reason)}".rstrip()
    sentence = f"The server answered with status {error.code}{reason}{_said(error)}."
    return HttpFailure(sentence, error.code in PASSING, _wait(error.headers.get("Retry-After") or ""), error.code)


def _wait(asked: str) -> float:
    """Seconds that a server asks to be left alone, given as such or as a date; 0 where that makes no sense."""
    seconds = 0.0
    try:
        seconds = float(asked)
    except ValueError:
        with suppress(ValueError, OverflowError):
            date = parsedate_to_datetime(asked)
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_WAIT)


def _said(error: urllib.error.HTTPError) -> str:
    """What the server says of it, e.g. that the prompt is too long."""
    try:
        said = json.loads(error.read(PIECE))["error"]
        words = _line(str(said["message"] if isinstance(said, dict) else said)).rstrip(".")
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError):
        return ""
    return f": {words}" if words else ""


def _line(words: str) -> str:
    """A server's own words as one line that any terminal can show."""
    shown = "".join(sign if sign.isprintable() else " " for sign in words)
    line = " ".join(shown.split())
    return f"{line[:SAID]}{'…' if len(line) > SAID else ''}"


def _read(whole: Any, text_of: Any) -> Answer:
    """The first choice. Raises HttpFailure for an answer of the wrong shape, which may pass."""
    try:
        choice = whole["choices"][0]
        text = text_of(choice)
        if not isinstance(text, str):
            raise TypeError
        reason = "length" if choice.get("finish_reason") == "length" else "stop"
        model = whole.get("model")
    except (LookupError, TypeError, AttributeError):
        raise HttpFailure("The server's answer is not a completion.", passing=True, status=200) from None
    used = whole.get("usage")
    counts = used if isinstance(used, dict) else {}
    return Answer(
        text=text.encode("utf-8", "replace").decode(),
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        finish_reason=reason,
        model=_line(model) if isinstance(model, str) else "",
    )


def _content(message: Any, choice: Any) -> Any:
    """The answer itself; empty where a model that thinks aloud had no room left to answer."""
    content = message["content"]
    return "" if content is None and choice.get("finish_reason") == "length" else content


def _count(value: Any) -> int:
    """A number of tokens, as far as it is one: figures beside the text must not cost the text."""
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0
