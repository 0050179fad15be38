"""One question to an OpenAI-compatible server over HTTP, and every way it can fail, as a value with a sentence."""

from __future__ import annotations

import json
import math
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    import ssl

    from httpx2 import Response

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


class _Deadline:
    """Shuts the connections of one exchange when its time is over; who reads from them then sees their end.

    The client itself bounds each silence, which an answer, or its head, that trickles in never reaches.
    """

    def __init__(self, seconds: float) -> None:
        """The time runs from `with` on."""
        self.over = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        """Start the clock."""
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the clock."""
        self._timer.cancel()

    def watch(self, event: str, about: Mapping[str, Any]) -> None:
        """Take note of a connection; the client tells its `trace` of each."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._sockets.append(about["return_value"].get_extra_info("socket"))
            if self.over:  # the time ended while the connection was being made
                self._end()

    def _end(self) -> None:
        self.over = True
        for connection in self._sockets:
            with suppress(OSError):
                # Not an encrypted connection's own way, which another thread may not take while one reads.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


def ask(url: str, key: str, body: dict[str, object] | None, timeout: float) -> Any:
    """The JSON that the server answers: to `body`, or to a plain question without one. Raises HttpFailure.

    `timeout` bounds the whole exchange, also where the answer only trickles in.
    """
    # Not packed, so that the limit on what is read is one on what comes out.
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    with _Deadline(timeout) as deadline:
        try:
            return json.loads(_fetch(url, headers, body, timeout, deadline))
        except HttpFailure as failure:
            found = failure
        except (ValueError, RecursionError):
            # May be a server that is just starting: worth another try.
            found = HttpFailure("The server's answer is not JSON.", passing=True, status=200)
    if deadline.over:
        found = HttpFailure(f"The server at {url} took more than {timeout:g} seconds.", passing=True, status=200)
    raise found


def _fetch(
    url: str, headers: dict[str, str], body: dict[str, object] | None, timeout: float, deadline: _Deadline
) -> bytes:
    """One request. No redirect is followed: a key must not follow it to another server. Raises HttpFailure."""
    import httpx2  # only here: most runs ask no server

    method, sent = ("GET", None) if body is None else ("POST", json.dumps(body).encode())
    data, proxy = bytearray(), _proxy(url)
    encrypted = any(str(each).startswith("https:") for each in (url, proxy))
    try:
        with (
            # The environment is not trusted: by the client's own rules ALL_PROXY may name a kind that it cannot use.
            httpx2.Client(
                # Not read where nobody is asked to vouch: the file that the environment names may be missing.
                verify=_authorities() if encrypted else False,
                timeout=timeout + GRACE,
                proxy=proxy,
                trust_env=False,
            ) as client,
            client.stream(method, url, content=sent, headers=headers, extensions={"trace": deadline.watch}) as response,
        ):
            if not response.is_success:
                raise _refusal(response)
            for piece in response.iter_raw(PIECE):
                data += piece
                if len(data) > MOST_BYTES:
                    raise HttpFailure("The server's answer is longer than 16 MiB.", passing=False, status=200)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ImportError, ValueError) as error:  # the last two: of a proxy
        reason = _line(str(error)).rstrip(".") or type(error).__name__
        raise HttpFailure(f"The server at {url} cannot be reached: {reason}.", passing=True) from None
    return bytes(data)


def complete(address: str, key: str, body: dict[str, object], timeout: float) -> Answer:
    """Have the server go on with the body's `messages`, a conversation, or its `prompt`, a text. Raises HttpFailure."""
    chat = "messages" in body
    return _read(ask(f"{address.rstrip('/')}/{'chat/' if chat else ''}completions", key, body, timeout), chat)


@cache
def _authorities() -> ssl.SSLContext:
    """Who vouches for servers on this machine; kept, since to read them takes a tenth of a second."""
    import httpx2

    return httpx2.create_ssl_context()


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for a server; a company's does not know this machine's own servers."""
    parts = urlsplit(url)
    try:
        here = parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        here = False
    found = None if here or proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    return f"http://{found}" if found and "://" not in found else found


def _refusal(response: Response) -> HttpFailure:
    status, reason = response.status_code, f" {_line(response.reason_phrase)}".rstrip()
    sentence = f"The server answered with status {status}{reason}{_said(response)}."
    return HttpFailure(sentence, status in PASSING, _wait(response.headers.get("Retry-After", "")), status)


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


def _said(response: Response) -> str:
    """What the server says of it, e.g. that the prompt is too long."""
    import httpx2

    try:
        said = json.loads(next(response.iter_raw(PIECE), b""))["error"]
        words = _line(str(said["message"] if isinstance(said, dict) else said)).rstrip(".")
    except (httpx2.HTTPError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    return f": {words}" if words else ""


def _line(words: str) -> str:
    """A server's own words as one line that any terminal can show."""
    shown = "".join(sign if sign.isprintable() else " " for sign in words)
    line = " ".join(shown.split())
    return f"{line[:SAID]}{'…' if len(line) > SAID else ''}"


def _read(whole: Any, chat: bool) -> Answer:
    """The first choice. Raises HttpFailure for an answer of the wrong shape, which may pass."""
    try:
        choice = whole["choices"][0]
        text = _content(choice) if chat else choice["text"]
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


def _content(choice: Any) -> Any:
    """The answer itself; empty where a model that thinks aloud had no room left to answer."""
    content = choice["message"]["content"]
    return "" if content is None and choice.get("finish_reason") == "length" else content


def _count(value: Any) -> int:
    """A number of tokens, as far as it is one: figures beside the text must not cost the text."""
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0
