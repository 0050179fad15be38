"""Questions to an OpenAI-compatible server over HTTP, and every way they can fail, as a value with a sentence.

An answer may come whole or in pieces (server-sent events); what came in pieces is put together into the shape of one
that came whole, so that there is one reader of answers.
"""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    import ssl

    from httpx2 import Client, Response

MOST_BYTES = 16 << 20  # an answer longer than this is refused, not kept in memory
PIECE = 1 << 16
PASSING = {408, 409, 425, 429, 500, 502, 503, 504}
SAID = 300  # characters of a server's own words that a sentence repeats; a cut is marked
GRACE = 1.0  # seconds that one silence may last beyond the time of the whole exchange, which thus is what ends it
LONGEST_WAIT, LONGEST_ASKED = 60.0, 86_400.0
"""Seconds between two tries at most, where a server asks for nothing, and where it does."""
Hear = Callable[[str, str], bool]
"""Is told of new text of an answer, and of new thoughts; True when nothing more is wanted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a server."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    model: str = ""  # what the server calls the model that answered; empty when it does not say
    thoughts: str = ""  # what the server sends apart as the model's reasoning
    thought_tokens: int = 0  # of `completion_tokens`; 0 when the server does not say


class HttpFailure(Exception):
    """A request without a usable answer.

    `sentence`: for people; `passing`: whether trying again may help; `wait`: seconds that the server asks for, if any;
    `status`: of HTTP, 0 without an answer; `details`: the server's words at length, and the field it complains of.
    """

    def __init__(self, sentence: str, passing: bool, wait: float = 0.0, status: int = 0, details: str = "") -> None:
        super().__init__(sentence)
        self.sentence, self.passing, self.wait, self.status, self.details = sentence, passing, wait, status, details


class Line:
    """A connection to one server, kept from question to question. For one thread at a time; `end` may come from any."""

    def __init__(self, key: str = "") -> None:
        # Not packed, so that the limit on what is read is one on what comes out.
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        self._headers |= {"Authorization": f"Bearer {key}"} if key else {}
        self._client: Client | None = None
        self._sockets: deque[socket.socket] = deque(maxlen=2)  # as it is, and its encrypted form
        self._over = self._connected = self.ended = False

    def ask(self, url: str, body: Mapping[str, object] | None, timeout: float, hear: Hear | None = None) -> Any:
        """Return the JSON that the server answers: to `body`, or to a plain question without one. Raises HttpFailure.

        `timeout` bounds the whole exchange, also where the answer only trickles in.
        """
        # The client itself bounds each silence, which an answer, or its head, that trickles in never reaches.
        deadline = threading.Timer(timeout, self._shut)
        deadline.daemon = True
        kept, self._connected, self._over = self._client is not None, False, False
        deadline.start()
        if self.ended:
            self._shut()
        try:
            try:
                return self._fetch(url, body, timeout, hear)
            except HttpFailure as failure:
                # A kept connection may have been closed by the server in between: then it is asked once more.
                if not kept or self._connected or failure.status or self._over:
                    raise
                return self._fetch(url, body, timeout, hear)
        except HttpFailure as failure:
            found = failure
        except (ValueError, RecursionError):
            # May be a server that is just starting: worth another try.
            found = HttpFailure("The server's answer is not JSON.", passing=True, status=200)
        finally:
            deadline.cancel()
        if self.ended:
            found = HttpFailure("The question was given up.", passing=False)
        elif self._over:
            found = HttpFailure(f"The server at {url} took more than {timeout:g} seconds.", passing=True, status=200)
        raise found

    def complete(
        self, address: str, body: Mapping[str, object], timeout: float, hear: Hear | None = None, route: str = ""
    ) -> Answer:
        """Have the server go on with the body's `messages`, a conversation, or its `prompt`, a text.

        `route`: asked in place of the usual one. Raises HttpFailure.
        """
        usual = f"{address.rstrip('/')}/{'chat/' if 'messages' in body else ''}completions"
        return _read(self.ask(route or usual, body, timeout, hear))

    def end(self) -> None:
        """Give up what is being asked, now, and whatever would be asked later."""
        self.ended = True
        self._shut()

    def _shut(self) -> None:
        """Shut the connections; who reads from them then sees their end."""
        self._over = True
        for connection in tuple(self._sockets):
            with suppress(OSError):
                # Closed without lingering: a server that goes on writing is to notice at once that nobody reads.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                # Not an encrypted connection's own way, which another thread may not take while one reads.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _watch(self, event: str, about: Mapping[str, Any]) -> None:
        """Take note of a connection; the client tells its `trace` of each."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._connected = True
            self._sockets.append(about["return_value"].get_extra_info("socket"))
            if self._over:  # the time ended while the connection was being made
                self._shut()

    def _fetch(self, url: str, body: Mapping[str, object] | None, timeout: float, hear: Hear | None) -> Any:
        """Send one request and return its answer. Raises HttpFailure.

        No redirect is followed: a key must not follow it to another server.
        """
        import httpx2  # only here: most runs ask no server

        method, sent = ("GET", None) if body is None else ("POST", json.dumps(body).encode())
        try:
            self._client = self._client or _client(url)
            with self._client.stream(
                method,
                url,
                content=sent,
                headers=self._headers,
                timeout=timeout + GRACE,
                extensions={"trace": self._watch},
            ) as response:
                self._connected = True  # it answers: what breaks from here on is no connection of long ago
                if not response.is_success:
                    raise _refusal(response)
                return _received(response, hear)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ImportError) as error:  # the last: of a proxy
            reason = _line(str(error)).rstrip(".") or type(error).__name__
            broken = isinstance(error, (httpx2.RemoteProtocolError, httpx2.ReadError))
            what = "closed the connection before its answer was whole" if broken else "cannot be reached"
            raise HttpFailure(f"The server at {url} {what}: {reason}.", passing=True) from None


def is_loopback(host: str) -> bool:
    """Return whether nothing that is sent to a host leaves this machine."""
    with suppress(ValueError):
        return host == "localhost" or ip_address(host).is_loopback
    return False


def _client(url: str) -> Client:
    import httpx2

    parts = urlsplit(url)
    # A company's proxy does not know this machine's own servers.
    proxy = None if is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    proxy = f"http://{proxy}" if proxy and "://" not in proxy else proxy
    encrypted = any(str(each).startswith("https:") for each in (url, proxy))
    try:
        return httpx2.Client(
            # Not read where nobody is asked to vouch: the file that the environment names may be missing.
            verify=_authorities() if encrypted else False,
            proxy=proxy,
            trust_env=False,  # by the client's own rules ALL_PROXY may name a kind that it cannot use
        )
    except ValueError as error:
        reason = _line(str(error)).rstrip(".")
        raise HttpFailure(f"The server at {url} cannot be reached: {reason}.", passing=True) from None


def _received(response: Response, hear: Hear | None) -> Any:
    import httpx2

    data, count = bytearray(), 0
    events = _Events(hear) if response.headers.get("Content-Type", "").startswith("text/event-stream") else None
    try:
        for piece in response.iter_raw(PIECE) if events is None else response.iter_raw():
            count += len(piece)
            if count > MOST_BYTES:
                raise HttpFailure("The server's answer is longer than 16 MiB.", passing=False, status=200)
            if events is None:
                data += piece
            elif events.push(piece):
                break  # the rest is not wanted; else read to its end, so that the connection can be kept
    except httpx2.HTTPError:
        if events is None or not events.ended:
            raise
    return json.loads(data) if events is None else events.whole()


class _Events:
    """Puts the events of an answer together, and hands on what is new as it comes."""

    def __init__(self, hear: Hear | None) -> None:
        self._hear = hear
        self._rest = b""
        self._text, self._thoughts = list[str](), list[str]()
        self._seen: dict[str, Any] = {}
        self._reason: Any = None
        self.ended = False
        self._pieces = 0

    def push(self, data: bytes) -> bool:
        """Take what came and return whether nothing more is wanted. Raises HttpFailure, ValueError."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        texts, thoughts = len(self._text), len(self._thoughts)
        for line in lines:
            name, _, value = line.strip().partition(b":")
            if name == b"data" and value.strip() == b"[DONE]":
                self.ended = True
            elif name in (b"data", b"error") and value.strip():
                event = json.loads(value)
                self._take({"error": event} if name == b"error" else event)
        new = "".join(self._text[texts:]), "".join(self._thoughts[thoughts:])
        if self._hear is not None and any(new) and self._hear(*new):
            self.ended, self._reason = True, self._reason or "stop"
            return True
        return False

    def whole(self) -> Any:
        """Return the answer in the shape of one that came whole. Raises HttpFailure when it broke off."""
        text, thoughts = "".join(self._text), "".join(self._thoughts)
        if not self.ended and self._reason is None:
            came = f"after {len(text) + len(thoughts):,} characters" if self._pieces else "before it began"
            raise HttpFailure(f"The server's answer broke off {came}.", passing=True, status=200)
        message = {"content": text, "reasoning_content": thoughts}
        return {
            "usage": {"completion_tokens": self._pieces},
            **self._seen,
            "choices": [{"message": message, "finish_reason": self._reason}],
        }

    def _take(self, event: Any) -> None:
        if not isinstance(event, dict):
            raise HttpFailure("The server's answer is not a completion.", passing=True, status=200)
        if event.get("error"):
            words, details = _words(event)
            raise HttpFailure(f"The server broke off its answer{words}.", passing=True, status=200, details=details)
        self._seen |= {"model": event["model"]} if event.get("model") else {}
        event = _usual(event)
        self._seen |= {"usage": event["usage"]} if event.get("usage") else {}
        for choice in event.get("choices") or ():
            text, thoughts = _parts(choice)
            self._reason = choice.get("finish_reason") or self._reason
            self._pieces += bool(text or thoughts)
            self._text += [text] if text else []
            self._thoughts += [thoughts] if thoughts else []


@cache
def _authorities() -> ssl.SSLContext:
    """Return this machine's trusted authorities; kept, since to read them takes a tenth of a second."""
    import httpx2

    return httpx2.create_ssl_context()


def _refusal(response: Response) -> HttpFailure:
    import httpx2

    status, reason = response.status_code, f" {_line(response.reason_phrase)}".rstrip()
    try:
        words, details = _words(json.loads(next(response.iter_raw(PIECE), b"")))
    except (httpx2.HTTPError, ValueError, RecursionError):
        words, details = "", ""
    sentence = f"The server answered with status {status}{reason}{words}."
    return HttpFailure(sentence, status in PASSING, _wait(response.headers.get("Retry-After", "")), status, details)


def _wait(asked: str) -> float:
    """Return the seconds that a server asks to be left alone, at most `LONGEST_ASKED`; 0 where that makes no sense.

    A server gives them as such or as a date.
    """
    seconds = 0.0
    try:
        seconds = float(asked)
    except ValueError:
        with suppress(ValueError, OverflowError):
            date = parsedate_to_datetime(asked)
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_ASKED)


def _words(whole: Any) -> tuple[str, str]:
    """Return the reason that a server gives for a refusal, e.g. that the prompt is too long.

    The first text is the reason in one line behind a colon, or empty; the second is at length, with the field that the
    server blames. Most servers put it in `error`; vLLM, Mistral and whatever is made with FastAPI put it in `message`
    or `detail`.
    """
    found = whole
    for _ in range(4):
        if not isinstance(found, dict):
            break
        found = next((found[name] for name in ("error", "message", "detail") if found.get(name)), "")
    if isinstance(found, list):
        found = "; ".join(
            f"{'.'.join(map(str, each.get('loc', [])))}: {each.get('msg', '')}"
            for each in found
            if isinstance(each, dict)
        )
    error = whole.get("error") if isinstance(whole, dict) else None
    field = error.get("param") if isinstance(error, dict) else None
    words = _line(found).rstrip(".") if isinstance(found, str) else ""
    details = f"{found if isinstance(found, str) else ''} '{field}'" if isinstance(field, str) else str(found)
    return f": {words}" if words else "", details[:PIECE]


def _line(words: str) -> str:
    shown = "".join(sign if sign.isprintable() else " " for sign in words)
    line = " ".join(shown.split())
    return f"{line[:SAID]}{'…' if len(line) > SAID else ''}"


def _read(whole: Any) -> Answer:
    try:
        whole = _usual(whole)
        choice = whole["choices"][0]
        text, thoughts = _parts(choice)
        if not (text or thoughts):
            # Null is an answer only where a model that thinks aloud had no room left to answer.
            message = choice.get("message", choice)
            if message.get("content", message.get("text")) is None and choice.get("finish_reason") != "length":
                raise TypeError
        reason = "length" if choice.get("finish_reason") == "length" else "stop"
        model = whole.get("model")
    except (LookupError, TypeError, AttributeError):
        raise HttpFailure("The server's answer is not a completion.", passing=True, status=200) from None
    used = whole.get("usage")
    counts = used if isinstance(used, dict) else {}
    details = counts.get("completion_tokens_details")
    return Answer(
        text=text.encode("utf-8", "replace").decode(),
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        finish_reason=reason,
        model=_line(model) if isinstance(model, str) else "",
        thoughts=thoughts.encode("utf-8", "replace").decode(),
        thought_tokens=_count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0,
    )


THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers put what a model thinks: llama-server, vLLM and LM Studio; Ollama and newer vLLM; others."""


def _parts(choice: Any) -> tuple[str, str]:
    """Return the text and thoughts of a choice, whole or a piece. Raises TypeError, LookupError for a wrong shape."""
    message = choice.get("message", choice.get("delta"))
    if message is None:
        text = choice["text"]
        if not isinstance(text, str):
            raise TypeError
        return text, ""
    content = message.get("content")
    apart = next((message[name] for name in THOUGHT_FIELDS if isinstance(message.get(name), str)), "")
    if isinstance(content, list):
        return "".join(map(_text_of, content)), apart + "".join(map(_thoughts_of, content))
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or "", apart


def _text_of(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text", "") if part.get("type") in ("text", "output_text") else ""
    return text if isinstance(text, str) else ""


def _thoughts_of(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") not in ("thinking", "reasoning"):
        return ""
    found = next((part[name] for name in ("thinking", "reasoning", "text") if part.get(name)), "")
    return "".join(map(_text_of, found)) if isinstance(found, list) else str(found)


def _usual(whole: Any) -> Any:
    """Return an answer, or a piece of one, on llama-server's own routes in the usual shape, others as they are."""
    if "choices" in whole or not isinstance(whole.get("content"), str):
        return whole
    reason = "length" if whole.get("stop_type") == "limit" or whole.get("stopped_limit") else "stop"
    names = {"tokens_evaluated": "prompt_tokens", "tokens_predicted": "completion_tokens"}
    return {
        "usage": {usual: whole[own] for own, usual in names.items() if own in whole},
        "choices": [{"text": whole["content"], "finish_reason": reason if whole.get("stop", True) else None}],
    }


def _count(value: Any) -> int:
    """Return a number of tokens, as far as it is one: figures beside the text must not cost the text."""
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


# ---- fields that a server takes


RENAMED = {"max_tokens": "max_completion_tokens"}  # fields that some servers know by another name only
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
    """Fields and forms of a request that one server takes. Any thread may ask and learn."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def conditions(self) -> str:
        """Return the fields that were left out (`-seed`) or renamed (`max_tokens=...`), for the run's record."""
        return ", ".join(f"{old}={new}" if new else f"-{old}" for old, new in sorted(self._names.items()))

    def fitted(self, body: Mapping[str, object]) -> dict[str, object]:
        names = dict(self._names)
        return {new: value for name, value in body.items() if (new := names.get(name, name))}

    def learn(self, failure: HttpFailure, asked: Mapping[str, object]) -> bool:
        """Heed a refusal of `asked`, as it was sent; return whether to ask again without the field it complains of."""
        with self._lock:
            for name in LEFT_OUT:
                sent = self._names.get(name, name)
                if sent in asked and sent and refuses(failure, sent):
                    new = self._names[name] = RENAMED.get(name, "") if sent == name else ""
                    if new:
                        self._tell(f"The server takes {new} in place of {name}.")
                    elif LEFT_OUT[name]:
                        self._tell(f"The server refuses {sent}, which is left out: {LEFT_OUT[name]}.")
                    return True
                was = next((each for each in (name, RENAMED.get(name, name)) if each in asked), "")
                if was and was != sent and refuses(failure, was):
                    return True  # another question, which was under way, has found the same
        return False


def refuses(failure: HttpFailure, name: str) -> bool:
    """Return whether a failure is the server's refusal of that very field."""
    details = failure.details
    named = re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", details)
    if failure.status not in REFUSING or not (named or (name == "reasoning_effort" and _THINKING.search(details))):
        return False
    if details.endswith(f" '{name}'"):  # the field that the server itself names as the one it complains of
        return not (_WINDOW.search(details) and "max" in name and not _REFUSAL.search(details))
    return bool(_REFUSAL.search(details)) and not _WINDOW.search(details)
