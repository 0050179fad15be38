"""A real HTTP server that answers slowly, wrongly, with 429 and 500, and dies: every sample is accounted for."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.errors import Cancelled, ModelError
from core.generation import Message, Prompt, Request
from core.models.remote import Endpoint, RemoteModel

Script = Callable[[int, dict[str, object]], tuple[int, bytes, dict[str, str]]]


@contextmanager
def server(script: Script) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Answers by `script(number of the request, body)`; yields its address and what it was asked."""
    asked: list[dict[str, object]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked.append(body | {"authorization": self.headers.get("Authorization")})
                number = len(asked)
            status, data, headers = script(number, body)
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1", asked
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def completion(text: str) -> bytes:
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return json.dumps(message | {"usage": {"prompt_tokens": 7, "completion_tokens": 3}}).encode()


def requests(count: int) -> list[Request]:
    return [Request(str(i), Prompt((Message("user", f"n{i}"),)), 0.5, i, 9) for i in range(count)]


def endpoint(address: str, attempts: int = 5) -> Endpoint:
    return Endpoint(address, "m", key="k", attempts=attempts, first_wait=0.01, timeout=5.0)


def test_answers_come_back_with_their_figures() -> None:
    with server(lambda n, body: (200, completion(str(body["messages"])), {})) as (address, asked):
        found = {g.id: g for g in RemoteModel(endpoint(address)).generate(requests(6))}
    assert all(f"n{i}" in found[str(i)].text for i in range(6))
    assert {(g.prompt_tokens, g.completion_tokens, g.finish_reason) for g in found.values()} == {(7, 3, "stop")}
    assert {(a["seed"], a["temperature"], a["max_tokens"]) for a in asked} == {(i, 0.5, 9) for i in range(6)}
    assert {a["authorization"] for a in asked} == {"Bearer k"}


def test_passing_trouble_is_tried_again() -> None:
    def script(number: int, body: dict[str, object]) -> tuple[int, bytes, dict[str, str]]:
        bad = {1: (429, b"", {"Retry-After": "0.05"}), 2: (500, b"oops", {}), 3: (200, b"<html>", {})}
        return bad.get(number, (200, completion("fine"), {}))

    with server(script) as (address, asked):
        found = list(RemoteModel(endpoint(address)).generate(requests(4)))
    assert [g.text for g in found] == ["fine"] * 4 and len(asked) == 7


@pytest.mark.parametrize(("status", "times"), [(401, 1), (503, 3)])
def test_what_stays_bad_is_failed_with_a_reason(status: int, times: int) -> None:
    with server(lambda n, body: (status, b"", {})) as (address, asked):
        found = list(RemoteModel(endpoint(address, attempts=3)).generate(requests(1)))
    assert found[0].finish_reason == "failed" and str(status) in found[0].error
    assert len(asked) == times


def test_a_server_that_is_gone_is_said() -> None:
    with server(lambda n, body: (200, b"", {})) as (address, _):
        pass
    found = list(RemoteModel(endpoint(address, attempts=2)).generate(requests(3)))
    assert len(found) == 3 and all("cannot be reached" in g.error for g in found)


def test_a_slow_server_can_be_left() -> None:
    release = threading.Event()

    def script(number: int, body: dict[str, object]) -> tuple[int, bytes, dict[str, str]]:
        release.wait(10)
        return 200, completion("late"), {}

    with server(script) as (address, _):
        model = RemoteModel(endpoint(address))
        threading.Timer(0.2, model.cancel).start()
        start = time.monotonic()
        with pytest.raises(Cancelled):
            list(model.generate(requests(8)))
        assert time.monotonic() - start < 1.5
        release.set()


def test_an_answer_starts_after_its_prefill() -> None:
    fenced = Prompt((Message("user", "code"),), prefill="```python\n", stop=("\n```",))
    with server(lambda n, body: (200, completion("Sure:\n```python\nx = 1\n```\nDone."), {})) as (address, asked):
        found = list(RemoteModel(endpoint(address)).generate([Request("a", fenced, 0.0, 0, 9)]))
    assert found[0].text == "x = 1" and "stop" not in asked[0]


def test_an_address_that_is_none() -> None:
    with pytest.raises(ModelError, match="not an address"):
        RemoteModel(Endpoint("localhost:8080", "m"))
