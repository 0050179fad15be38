"""A real HTTP server that answers slowly, wrongly, with 429 and 500, and dies: every sample is accounted for."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from chat_server import Script, chat_server, completion

from rtc_inspector.core.errors import Cancelled, ModelError
from rtc_inspector.core.generation import Message, Prompt, Request
from rtc_inspector.core.models.answers import answer_of
from rtc_inspector.core.models.chat_http import HttpFailure, Line
from rtc_inspector.core.models.loading import check_address, key_of, open_endpoint
from rtc_inspector.core.models.remote import RemoteModel, Served
from rtc_inspector.core.settings import EndpointSettings, ModelSettings


@contextmanager
def server(script: Script) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yields its address and what it was asked."""
    with chat_server(script) as running:
        yield running.address, running.asked


def requests(count: int) -> list[Request]:
    return [Request(str(i), Prompt((Message("user", f"n{i}"),)), 0.5, i, 9) for i in range(count)]


def remote(address: str, attempts: int = 5, timeout: float = 5.0, concurrency: int = 4) -> RemoteModel:
    settings = EndpointSettings(address, "m", attempts=attempts, timeout=timeout, concurrency=concurrency)
    return RemoteModel(settings, ModelSettings(), Served("m"), key="k", first_wait=0.01)


def test_answers_come_back_with_their_figures() -> None:
    with server(lambda n, body: (200, completion(str(body["messages"])), {})) as (address, asked):
        found = {g.id: g for g in remote(address).generate(requests(6))}
    assert all(f"n{i}" in found[str(i)].text for i in range(6))
    assert {(g.prompt_tokens, g.completion_tokens, g.finish_reason) for g in found.values()} == {(7, 3, "stop")}
    assert {(a["seed"], a["temperature"], a["max_tokens"]) for a in asked} == {(i, 0.5, 9) for i in range(6)}
    assert {a["authorization"] for a in asked} == {"Bearer k"}


def test_passing_trouble_is_tried_again() -> None:
    def script(number: int, body: dict[str, object]) -> tuple[int, bytes, dict[str, str]]:
        bad = {1: (429, b"", {"Retry-After": "0.05"}), 2: (500, b"oops", {}), 3: (200, b"<html>", {})}
        return bad.get(number, (200, completion("fine"), {}))

    with server(script) as (address, asked):
        found = list(remote(address).generate(requests(4)))
    assert [g.text for g in found] == ["fine"] * 4 and len(asked) == 7


@pytest.mark.parametrize(("status", "times"), [(400, 1), (503, 3)])
def test_what_stays_bad_is_failed_with_a_reason(status: int, times: int) -> None:
    with server(lambda n, body: (status, b"", {})) as (address, asked):
        found = list(remote(address, attempts=3).generate(requests(1)))
    assert found[0].finish_reason == "failed" and str(status) in found[0].error
    assert len(asked) == times


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_server_that_refuses_is_not_asked_for_every_sample(status: int) -> None:
    """A key that was withdrawn during a run: each of its 160 samples would be refused alike."""
    refusal = b'{"error": {"message": "no such key"}}'
    with server(lambda n, body: (200, completion("x"), {}) if n <= 2 else (status, refusal, {})) as (address, asked):
        found = remote(address).generate(requests(160))
        with pytest.raises(ModelError, match=f"status {status} .*: no such key") as error:
            list(found)
    assert "resume" in error.value.remedy
    assert len(asked) <= 2 + 2 * 4, "at most what was on its way"


def test_a_server_that_is_gone_is_said() -> None:
    with server(lambda n, body: (200, b"", {})) as (address, _):
        pass
    found = list(remote(address, attempts=2).generate(requests(3)))
    assert len(found) == 3 and all("cannot be reached" in g.error for g in found)


def test_a_slow_server_can_be_left() -> None:
    release = threading.Event()

    def script(number: int, body: dict[str, object]) -> tuple[int, bytes, dict[str, str]]:
        release.wait(10)
        return 200, completion("late"), {}

    with server(script) as (address, _):
        model = remote(address)
        threading.Timer(0.2, model.cancel).start()
        start = time.monotonic()
        with pytest.raises(Cancelled):
            list(model.generate(requests(8)))
        assert time.monotonic() - start < 8
        release.set()


def test_a_cancel_before_the_first_answer_counts() -> None:
    with server(lambda n, body: (200, completion("x"), {})) as (address, _):
        model = remote(address)
        samples = model.generate(requests(3))
        model.cancel()
        with pytest.raises(Cancelled):
            next(samples)
        assert len(list(model.generate(requests(3)))) == 3


def test_what_a_server_says_is_kept_as_it_came() -> None:
    """No text of the prompt is looked for in it: what was never sent is not taken to be open."""
    said = "Sure:\n```python\nx = 1\n```\nDone."
    fenced = Prompt((Message("user", "code"),), prefill="```python\n", stop=("\n```",))
    with server(lambda n, body: (200, completion(said), {})) as (address, asked):
        found = list(remote(address).generate([Request("a", fenced, 0.0, 0, 9)]))
    assert found[0].text == said and "stop" not in asked[0]
    assert answer_of(found[0], fenced).prompt.prefill == ""


def choice(**fields: object) -> bytes:
    return json.dumps({"choices": [fields]}).encode()


WRONG = {
    "no choices": b'{"choices": []}',
    "choices missing": b'{"id": 1}',
    "a list": b"[1, 2]",
    "a number": b"7",
    "message is text": choice(message="x"),
    "content is a number": completion(5),
    "content is nothing": completion(None),
    "choice is text": b'{"choices": ["x"]}',
    "not JSON": b"<html>busy</html>",
    "not even text": b"\xff\xfe\x00",
    "nested too deeply": b"[" * 100_000,
    "nothing": b"",
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
def test_wrong_answers_are_failed_with_a_sentence(data: bytes) -> None:
    with server(lambda n, body: (200, data, {})) as (address, asked):
        found = list(remote(address, attempts=2).generate(requests(1)))
    assert [g.finish_reason for g in found] == ["failed"] and found[0].error.endswith(".")
    assert "Traceback" not in found[0].error and len(asked) == 2


@pytest.mark.parametrize("usage", [None, [], "much", {"prompt_tokens": None, "completion_tokens": 1e400}])
def test_odd_figures_cost_no_text(usage: object) -> None:
    data = completion("fine \ud800", usage=usage)
    with server(lambda n, body: (200, data, {})) as (address, _):
        (found,) = remote(address).generate(requests(1))
    assert (found.text, found.prompt_tokens, found.completion_tokens) == ("fine ?", 0, 0)


def test_what_the_server_says_of_a_refusal_is_said() -> None:
    data = json.dumps({"error": {"message": "the request exceeds\nthe context size"}}).encode()
    with server(lambda n, body: (400, data, {})) as (address, asked):
        (found,) = remote(address).generate(requests(1))
    assert found.error == "The server answered with status 400 Bad Request: the request exceeds the context size."
    assert len(asked) == 1


def test_a_key_does_not_follow_a_redirect() -> None:
    with server(lambda n, body: (200, completion("stolen"), {})) as (other, stolen):
        moved = {"Location": f"{other}/chat/completions"}
        with server(lambda n, body: (307, b"", moved)) as (address, _):
            (found,) = remote(address).generate(requests(1))
    assert found.finish_reason == "failed" and "307" in found.error and stolen == []


def test_an_answer_that_trickles_in_is_left_in_time() -> None:
    def script(number: int, body: dict[str, object]) -> tuple[int, bytes, dict[str, str]]:
        time.sleep(0.3)
        return 200, completion("late"), {}

    with server(script) as (address, _):
        (found,) = remote(address, attempts=2, timeout=0.1).generate(requests(1))
    assert found.finish_reason == "failed" and "took more than 0.1 seconds" in found.error


@contextmanager
def trickling(head: bytes) -> Iterator[str]:
    """The address of a server that says `head`, then a blank every moment and never ends; never idle for long."""
    left = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):  # who asked shuts it
            connection.recv(1 << 16)
            connection.sendall(head)
            while not left.wait(0.02):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            left.set()
            thread.join()


HEADS = {"head": b"HTTP/1.0", "body": b"HTTP/1.0 200 OK\r\n\r\n", "error": b"HTTP/1.0 500 Broken\r\n\r\n"}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_no_part_of_an_answer_may_trickle_in_for_ever(head: bytes) -> None:
    with trickling(head) as address:
        (found,) = remote(address, attempts=1, timeout=0.2).generate(requests(1))
    assert found.finish_reason == "failed" and "took more than 0.2 seconds" in found.error
    assert found.seconds < 2


def test_far_more_than_was_asked_for_is_no_answer() -> None:
    with server(lambda n, body: (200, completion("x = 1\n" * 20_000), {})) as (address, asked):
        (found,) = remote(address).generate(requests(1))
    assert (found.text, len(asked)) == ("", 1)
    assert found.error == "The server's answer has 120,000 characters, for 9 tokens at most."


DATE = "a date"


@pytest.mark.parametrize(
    ("asked", "low", "high"),
    [
        ("7", 7, 7),
        (DATE, 20, 30),
        ("3600", 3600, 3600),
        ("inf", 86_400, 86_400),
        ("nan", 0, 0),
        ("-3", 0, 0),
        ("soon", 0, 0),
    ],
)
def test_how_long_a_server_asks_to_be_left_alone(asked: str, low: float, high: float) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    head = {"Retry-After": soon if asked == DATE else asked}
    with server(lambda n, body: (429, b"", head)) as (address, _), pytest.raises(HttpFailure) as failure:
        Line().complete(address, {}, 5.0)
    assert low <= failure.value.wait <= high and failure.value.passing


def test_a_server_that_asks_for_an_hour_is_left_alone_until_somebody_stops() -> None:
    said: list[str] = []

    def hear(text: str) -> None:
        said.append(text)
        model.cancel()

    with server(lambda n, body: (429, b"", {"Retry-After": "3600"})) as (address, asked):
        settings = EndpointSettings(address, "m", attempts=5, timeout=5.0, concurrency=1)
        model = RemoteModel(settings, ModelSettings(), Served("m"), key="k", notify=hear)
        with pytest.raises(Cancelled):
            list(model.generate(requests(1)))
    assert said == [
        "m: The server asks to be left alone for 60 minutes (status 429), and is asked again then. Whoever stops the "
        "run can go on with it later."
    ]
    assert len(asked) == 1


def test_a_server_that_hangs_up_in_the_middle_is_not_called_out_of_reach() -> None:
    """It says that more is to come than it sends."""
    with server(lambda n, body: (200, completion("x"), {"Content-Length": "4000"})) as (address, _):
        (found,) = remote(address, attempts=1).generate(requests(1))
    assert "closed the connection before its answer was whole" in found.error


def test_a_servers_own_words_are_one_line_for_any_terminal() -> None:
    data = json.dumps({"error": {"message": "\x1b[31mbad \ud800\r\nthing"}}).encode()
    with server(lambda n, body: (400, data, {})) as (address, _):
        (found,) = remote(address).generate(requests(1))
    assert found.error == "The server answered with status 400 Bad Request: [31mbad thing."


def test_a_dead_server_does_not_keep_every_sample_waiting() -> None:
    with server(lambda n, body: (500, b"", {})) as (address, asked):
        model = remote(address, concurrency=1, attempts=4)
        assert all(g.finish_reason == "failed" for g in model.generate(requests(10)))
        assert len(asked) == 4 + 9


def test_another_model_in_mid_run_is_refused() -> None:
    with server(lambda n, body: (200, completion("x", model="a" if n < 3 else "b"), {})) as (address, _):
        model = remote(address, concurrency=1)
        found = list(model.generate(requests(3)))
    assert [g.finish_reason for g in found] == ["stop", "stop", "failed"]
    assert "model b, where a had answered" in found[2].error


def test_a_base_model_is_asked_for_a_completion() -> None:
    data = json.dumps({"choices": [{"text": " = 1", "finish_reason": "length"}]}).encode()
    with chat_server(lambda n, body: (200, data, {})) as running:
        model = open_endpoint(EndpointSettings(running.address), ModelSettings(prompt_style="completion"))
        prompt = Prompt((Message("user", "code"),), prefill="x", stop=("\n```",))
        (found,) = model.generate([Request("a", prompt, 0.0, 0, 9)])
        (asked,) = running.asked
    assert asked["path"] == "/v1/completions" and asked["prompt"] == "### Task\ncode\n\n### Answer\nx"
    assert asked["stop"] == ["\n```", "\n### "] and "messages" not in asked
    assert (found.text, found.rendered, found.finish_reason) == (" = 1", asked["prompt"], "length")


# --------------------------------------------------------------------------- opening


def opened(running_address: str, **more: object) -> RemoteModel:
    return open_endpoint(EndpointSettings(running_address, **more), ModelSettings())  # type: ignore[arg-type]


def test_what_a_server_says_of_its_model_is_recorded() -> None:
    with chat_server(lambda n, body: (200, completion("x"), {})) as running:
        meta = {"n_params": 134515008, "size": 98_000_000}
        running.served = [{"id": "tiny", "created": 1, "owned_by": "llamacpp", "max_model_len": 2048, "meta": meta}]
        info = opened(running.address).info
        assert (info.name, info.path, info.sha256) == ("tiny", running.address, "")
        assert info.served == "owned_by llamacpp, max_model_len 2048, n_params 134515008, size 98000000"
        assert (info.parameters, info.context_size, info.prompt_style) == (134515008, 2048, "chat")
        running.served = [running.served[0] | {"created": 2}]
        assert opened(running.address, model="tiny").info == info, "the time of the question is no sign of a change"
        running.served = [{"id": "/models/tiny-q4.gguf", "meta": {"n_ctx": 1024}}]
        llama_server = opened(running.address).info
        assert (llama_server.name, llama_server.context_size) == ("tiny-q4", 1024)
        running.served = [{"id": "a"}, {"id": "b"}]
        with pytest.raises(ModelError, match="several models") as several:
            opened(running.address)
        assert "a, b" in several.value.remedy
        with pytest.raises(ModelError, match="serves no model 'c'"):
            opened(running.address, model="c")
        running.served = None
        assert opened(running.address, model="any").info.name == "any"
        running.served = []
        with pytest.raises(ModelError, match="serves no model"):
            opened(running.address)


def test_a_server_that_is_not_there_is_said_before_the_run() -> None:
    with chat_server(lambda n, body: (200, b"", {})) as running:
        pass
    with pytest.raises(ModelError, match="cannot be reached"):
        opened(running.address)


def test_opening_can_be_given_up() -> None:
    def stop() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        open_endpoint(EndpointSettings("http://127.0.0.1:9/v1"), ModelSettings(), stop)


@pytest.mark.parametrize("listed", [False, True], ids=["its list", "its window"])
def test_a_stop_while_a_server_is_asked_what_it_serves_leaves_no_thread(listed: bool) -> None:
    """The server answers nothing, or its list alone, and keeps the connection open."""
    before, asked = set(threading.enumerate()), threading.Event()
    models = json.dumps({"data": [{"id": "m", "owned_by": "library"}]}).encode()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):  # who asked shuts it
                while request := connection.recv(1 << 16):
                    if listed and b"/v1/models" in request:
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(models), models))
                    elif b"/api/tags" in request:
                        connection.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
                    else:
                        asked.set()

        server = threading.Thread(target=serve, daemon=True)
        server.start()

        def stop() -> None:
            if asked.is_set():
                raise Cancelled

        start = time.monotonic()
        with pytest.raises(Cancelled):
            open_endpoint(EndpointSettings(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"), ModelSettings(), stop)
        assert time.monotonic() - start < 5
        server.join(5)  # it saw that nobody reads any more
        end = time.monotonic() + 2  # the threads' own last steps
        while (left := set(threading.enumerate()) - before) and time.monotonic() < end:
            time.sleep(0.01)
        assert not left


def test_keys_come_from_the_environment() -> None:
    settings = EndpointSettings("http://127.0.0.1:1/v1", key_variable="MY_KEY")
    assert key_of(settings, {"MY_KEY": " secret\n"}) == "secret"
    assert key_of(EndpointSettings("http://127.0.0.1:1/v1"), {"OPENAI_API_KEY": "secret"}) == "", "none unless named"
    for environment in ({}, {"MY_KEY": " "}, {"MY_KEY": "a\nb"}):
        with pytest.raises(ModelError, match="MY_KEY"):
            key_of(settings, environment)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("localhost:8080", "not an address"),
        ("file:///etc/passwd", "not an address"),
        ("http://", "not an address"),
        ("http://a b/v1", "not an address"),
        ("http://a:port/v1", "not an address"),
        ("http://me:secret@host/v1", "more than the server"),
        ("http://host/v1?key=secret", "more than the server"),
    ],
)
def test_an_address_that_is_none(address: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        check_address(address)
    assert "secret" not in caught.value.problem
