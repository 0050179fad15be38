"""The programs that people have behind an OpenAI-compatible interface differ; all of them are asked and read alike."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from chat_server import KINDS, PLAIN, Answer, Kind, chat_server, completion, events, forbidden

from rtc_inspector.core.errors import Cancelled, ModelError, UserError
from rtc_inspector.core.generation import INFILL, Generation, Infill, Message, Prompt, Request
from rtc_inspector.core.models.chat_http import Dialect, HttpFailure
from rtc_inspector.core.models.loading import open_endpoint
from rtc_inspector.core.models.remote import Gate, RemoteModel
from rtc_inspector.core.run.trying import try_server, words
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, RunSettings
from rtc_inspector.core.settings.setting import check

STREAMED = replace(PLAIN, streams=True)


def requests(count: int, tokens: int = 9) -> list[Request]:
    return [Request(str(i), Prompt((Message("user", f"n{i}"),)), 0.5, i, tokens) for i in range(count)]


OPENED: list[RemoteModel] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close every model in the end."""
    yield
    while OPENED:
        OPENED.pop().close()


class Told:
    """A model behind a server, and what was said of it."""

    def __init__(
        self, address: str, style: str = "chat", thinking: str = "off", context: int | None = 4096, **more: object
    ) -> None:
        self.notices: list[str] = []
        self.heard: dict[str, str] = {}
        settings = EndpointSettings(address, **({"concurrency": 1, "timeout": 5.0} | more))  # type: ignore[arg-type]
        generation = ModelSettings(prompt_style=style, thinking=thinking, context_size=context)
        self.model: RemoteModel = open_endpoint(settings, generation, notify=self.notices.append)
        self.model._first_wait = 0.01
        OPENED.append(self.model)

    def draw(self, count: int = 1) -> list[Generation]:
        def hear(id_: str, text: str) -> None:
            self.heard[id_] = self.heard.get(id_, "") + text

        return sorted(self.model.generate(requests(count), hear), key=lambda each: each.id)


@pytest.mark.parametrize("style", ["chat", "completion"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_server_is_read_alike(kind: Kind, style: str) -> None:
    with chat_server(lambda n, body: (200, completion("def f():\n    return 1\n"), {}), kind) as server:
        told = Told(server.address, style)
        found = told.draw(3)
    assert [(g.text, g.finish_reason, g.error) for g in found] == [("def f():\n    return 1\n", "stop", "")] * 3
    assert {(g.prompt_tokens, g.completion_tokens) for g in found} == {(7, 3)}
    assert set(told.heard.values()) == {"def f():\n    return 1\n"}


def test_what_a_server_refuses_is_renamed_or_left_out_once() -> None:
    with chat_server(lambda n, body: (200, completion("x"), {}), KINDS["OpenAI"]) as server:
        told = Told(server.address)
        assert [g.text for g in told.draw(3)] == ["x"] * 3
        whole = [asked for asked in server.asked if not set(asked) & set(KINDS["OpenAI"].refuses)]
    assert len(server.asked) == 5 + 3, "each of five fields is refused once"
    assert {asked["max_completion_tokens"] for asked in whole} == {9} and {asked["seed"] for asked in whole} == {
        0,
        1,
        2,
    }
    conditions = "-chat_template_kwargs, max_tokens=max_completion_tokens, -min_p, -temperature, -top_k"
    assert told.model.info.conditions == conditions
    (of_temperature,) = (text for text in told.notices if "temperature" in text)
    assert of_temperature.endswith("left out: samples are drawn at the temperature that the server sets.")
    assert sum("max_completion_tokens" in text for text in told.notices) == 1


@pytest.mark.parametrize("name", ["seed", "top_p", "stop", "max_tokens", "stream", "temperature"])
def test_a_field_may_be_refused_in_any_words(name: str) -> None:
    kind = Kind(refuses={name: forbidden(name)}, streams=False)
    with chat_server(lambda n, body: (200, completion("x"), {}), kind) as server:
        model = Told(server.address).model
        prompt = Prompt((Message("user", "code"),), stop=("\n\n",))
        (found,) = model.generate([Request("a", prompt, 0.5, 1, 9)])
    assert found.text == "x" and name not in server.asked[-1]


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 2048 tokens; you requested 3000: reduce max_tokens or the prompt.",
        "'max_tokens' is too large: 4096. This model's context is 2048.",
        "the seed of all trouble",
    ],
)
def test_a_complaint_of_something_else_is_none_about_a_field(words: str) -> None:
    data = json.dumps({"error": {"message": words}}).encode()
    with chat_server(lambda n, body: (400, data, {})) as server:
        (found,) = Told(server.address).draw()
    assert words.rstrip(".")[:40] in found.error and len(server.asked) == 1


PARTS = {
    "text": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    "words": ["a", "b"],
    "thoughts": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ab"}],
}


@pytest.mark.parametrize("kind", [PLAIN, STREAMED], ids=["whole", "streamed"])
@pytest.mark.parametrize("content", PARTS.values(), ids=PARTS)
def test_an_answer_may_come_as_a_list_of_parts(content: object, kind: Kind) -> None:
    with chat_server(lambda n, body: (200, completion(content), {}), kind) as server:
        (found,) = Told(server.address).draw()
    assert found.text == "ab"


@pytest.mark.parametrize("kind", [replace(KINDS["Ollama"], streams=False), *KINDS.values()], ids=["whole", *KINDS])
@pytest.mark.parametrize("form", ["apart", "inline", "hidden"])
def test_a_model_that_thinks_gets_room_for_it(form: str, kind: Kind) -> None:
    """Its first answer is cut among its thoughts and asked for again; later ones have room from the start."""

    def script(number: int, body: dict[str, object]) -> Answer:
        room = body.get("max_tokens", body.get("max_completion_tokens"))
        text, thoughts = {"apart": (None, "hm " * 9), "inline": ("<think>hm", ""), "hidden": ("", "")}[form]
        if room == 9:
            return 200, completion(text, thoughts, reason="length"), {}
        return 200, completion("x = 1", thoughts), {}

    with chat_server(script, kind) as server:
        told = Told(server.address)
        assert [g.text for g in told.draw(3)] == ["x = 1"] * 3
        asked = [a.get("max_tokens", a.get("max_completion_tokens")) for a in server.asked]
    assert asked[-3:] == [9 + 1024] * 3 and set(asked[:-3]) == {9}
    said = "m: The model thinks before it answers, and is given 1,024 tokens more (--thought-tokens)."
    assert told.notices.count(said) == 1 and told.model.info.conditions.endswith("+1024 tokens for thoughts")


@pytest.mark.parametrize(("kind", "effort"), [("vLLM", None), ("Ollama", "none")])
def test_a_model_is_told_whether_to_think(kind: str, effort: str | None) -> None:
    with chat_server(lambda n, body: (200, completion("x"), {}), KINDS[kind]) as server:
        for thinking in ("off", "free", "high"):
            Told(server.address, thinking=thinking).draw()
    found = [(a.get("chat_template_kwargs"), a.get("reasoning_effort"), a["max_tokens"]) for a in server.asked]
    high = {"enable_thinking": True, "reasoning_effort": "high"}
    assert found == [({"enable_thinking": False}, effort, 9), (None, None, 9), (high, "high", 9 + 1024)]


def test_a_template_without_a_system_turn_gets_it_with_the_question() -> None:
    refusal = json.dumps({"error": {"message": "Jinja Exception: System role not supported", "code": 500}}).encode()

    def script(number: int, body: dict[str, object]) -> Answer:
        turns = body["messages"]
        assert isinstance(turns, list)
        return (500, refusal, {}) if turns[0]["role"] == "system" else (200, completion(turns[0]["content"]), {})

    with chat_server(script) as server:
        told = Told(server.address)
        prompt = Prompt((Message("system", "Be brief."), Message("user", "code")))
        (found,) = told.model.generate([Request("a", prompt, 0.5, 1, 9)])
    assert (found.text, told.model.info.conditions) == ("Be brief.\n\ncode", "system turn merged")


def test_further_fields_are_sent_as_given() -> None:
    with chat_server(lambda n, body: (200, completion("x"), {})) as server:
        told = Told(server.address, extra_body='{"num_ctx": 32768, "min_p": 0.1}')
        told.draw()
    assert (server.asked[0]["num_ctx"], server.asked[0]["min_p"]) == (32768, 0.1)
    kind = Kind(refuses={"num_ctx": forbidden("num_ctx")})
    with (
        chat_server(lambda n, body: (200, completion("x"), {}), kind) as server,
        pytest.raises(ModelError, match="not permitted") as refused,
    ):
        Told(server.address, extra_body='{"num_ctx": 1}').draw()
    assert "Leave num_ctx out of --extra-body" in refused.value.remedy
    with pytest.raises(UserError, match="not a JSON object"):
        check(RunSettings(endpoint=EndpointSettings("http://127.0.0.1:1/v1", extra_body="[1]")).endpoint)


# --------------------------------------------------------------------------- gaps, and a trial


@pytest.mark.parametrize(("kind", "path"), [("llama-server", "/infill"), ("Ollama", "/v1/completions")])
def test_a_gap_is_filled_at_the_address_that_the_server_has_for_it(kind: str, path: str) -> None:
    with chat_server(lambda n, body: (200, completion("gap"), {}), KINDS[kind]) as server:
        model = Told(server.address, "fim").model
        assert (model.info.prompt_style, model.info.backward_style) == ("chat", INFILL)
        prompt = Prompt((), infill=Infill("before\n", "\nafter"))
        (found,) = model.generate([Request("a", prompt, 0.5, 1, 9)])
    asked = server.asked[-1]
    assert (found.text, found.rendered, asked["path"]) == ("gap", "before\n<GAP>\nafter", path)
    sides = ("input_prefix", "input_suffix") if path == "/infill" else ("prompt", "suffix")
    assert [asked[side] for side in sides] == ["before\n", "\nafter"]


def test_a_server_that_fills_no_gap_says_so_before_the_run() -> None:
    with (
        chat_server(lambda n, body: (200, completion("x"), {}), KINDS["vLLM"]) as server,
        pytest.raises(ModelError, match=r"does not fill in the middle: .*suffix is not currently supported"),
    ):
        Told(server.address, "fim")


CODE = "    if width < 0 or height < 0:\n        raise ValueError\n    return width * height\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_shows_what_came_and_what_was_read(kind: str) -> None:
    def script(number: int, body: dict[str, object]) -> Answer:
        words = f"Here you are:\n\n```python\n{CODE}```" if "TODO" in json.dumps(body) else "Checks the sides."
        return 200, completion(words), {}

    with chat_server(script, KINDS[kind]) as server:
        trial = try_server(EndpointSettings(server.address), ModelSettings())
    described, written, _, gap = trial.tried
    assert (described.read, described.came, described.error) == ("Checks the sides.", "Checks the sides.", "")
    assert "return width * height" in written.read and written.came.startswith("Here you are")
    assert bool(gap.error) == (kind == "vLLM") and trial.server in (kind, "")
    shown = "\n".join(words(trial))
    assert f"a window of {trial.window:,} tokens" in shown
    assert ("-temperature" in shown) == (kind == "OpenAI") and ("-seed" in shown) == (kind == "strict")


# --------------------------------------------------------------------------- windows


@pytest.mark.parametrize(
    ("kind", "window", "slots"),
    [("llama-server", 8192, 3), ("Ollama", 6144, 0), ("LM Studio", 5120, 0), ("vLLM", 7168, 0), ("strict", 3072, 0)],
)
def test_every_kind_of_server_says_its_window_in_its_own_way(kind: str, window: int, slots: int) -> None:
    with chat_server(lambda n, body: (200, completion("x"), {}), KINDS[kind]) as server:
        told = Told(server.address, context=None, concurrency=None)
        assert not server.asked, "none is tried out"
    assert (told.model.info.context_size, told.model._served.slots) == (window, slots)
    assert told.model.at_a_time == (slots or 8)
    smaller = kind in ("llama-server", "Ollama", "LM Studio")
    assert [f"a window of {window:,} tokens" in text for text in told.notices] == [True] * smaller


def test_ollama_says_it_of_a_model_that_is_loaded() -> None:
    listed = {"models": [{"name": "m", "context_length": 12288}]}
    kind = replace(KINDS["Ollama"], pages={**KINDS["Ollama"].pages, "/api/ps": listed})
    with chat_server(lambda n, body: (200, completion("x"), {}), kind) as server:
        assert Told(server.address, context=None).model.info.context_size == 12288


REFUSALS = {
    "OpenAI": "This model's maximum context length is 5000 tokens. However, your messages resulted in 16320 tokens.",
    "llama-server": "request (16320 tokens) exceeds the available context size (5,000 tokens), try increasing it",
    "vLLM": "The decoder prompt (length 16320) is longer than the maximum model length of 5000. Make sure of it.",
}


@pytest.mark.parametrize("words", REFUSALS.values(), ids=REFUSALS)
def test_a_window_that_nobody_states_is_tried_out(words: str) -> None:
    data = json.dumps({"error": {"message": words}}).encode()
    with chat_server(lambda n, body: (400, data, {}), Kind()) as server:
        told = Told(server.address, context=None)
        assert (told.model.info.context_size, told.notices, len(server.asked)) == (5000, [], 1)


@pytest.mark.parametrize(("read", "window"), [(16320, 16384), (0, 16384), (4096, 4096), (7, 3072)])
def test_a_window_is_told_by_what_was_read(read: int, window: int) -> None:
    data = completion("x", usage={"prompt_tokens": read, "completion_tokens": 1})
    with chat_server(lambda n, body: (200, data, {}), Kind()) as server:
        told = Told(server.address, context=None)
    assert told.model.info.context_size == window
    assert ["--context" in text for text in told.notices] == ([True] if window == 3072 else [])


def test_prompts_that_a_server_cuts_without_a_word_are_found() -> None:
    """It reads a token for four characters, 1,024 at most."""

    def script(number: int, body: dict[str, object]) -> Answer:
        sent = len(json.dumps(body["messages"]))
        return 200, completion("x", usage={"prompt_tokens": min(1024, sent // 4), "completion_tokens": 1}), {}

    with chat_server(script) as server:
        told = Told(server.address)
        sizes = (2400, 3000, 4000, 6200, 12000)
        asked = [Request(str(n), Prompt((Message("user", "x" * n),)), 0.0, 0, 9) for n in sizes]
        found = {int(each.id): each.cut for each in told.model.generate(asked)}
    assert found == {2400: False, 3000: False, 4000: False, 6200: True, 12000: True}
    assert [text for text in told.notices if "without a word" in text and "--context 1024" in text] == told.notices


def test_another_script_is_no_cut_prompt() -> None:
    """Chinese takes about a token for each character, English one for four: neither prompt was cut."""

    def script(number: int, body: dict[str, Any]) -> Answer:
        text = body["messages"][0]["content"]
        read = len(text) * 9 // 10 if text[0] == "字" else len(text) // 4
        return 200, completion("x", usage={"prompt_tokens": read, "completion_tokens": 1}), {}

    with chat_server(script) as server:
        told = Told(server.address)
        for text in ("字" * 2400, "word" * 1500):
            (found,) = told.model.generate([Request("0", Prompt((Message("user", text),)), 0.0, 0, 9)])
            assert not found.cut
    assert not told.notices


# --------------------------------------------------------------------------- streams


def streaming(*parts: bytes | float) -> Answer:
    return 200, b"".join(part for part in parts if isinstance(part, bytes)), {"Content-Type": "text/event-stream"}


def test_a_stream_that_breaks_off_is_asked_for_again() -> None:
    whole = events(completion("def f(): pass"))

    def script(number: int, body: dict[str, object]) -> Answer:
        return streaming(whole[: len(whole) // 2] if number == 1 else whole)

    with chat_server(script) as server:
        told = Told(server.address)
        (found,) = told.draw()
    assert (found.text, told.heard["0"], len(server.asked)) == ("def f(): pass", "def f(): pass", 2)
    for half in (whole[: len(whole) // 2], b"", b": only a comment\n\n"):
        with chat_server(lambda n, body, half=half: streaming(half)) as server:  # type: ignore[misc]
            (found,) = Told(server.address, attempts=1).draw()
        assert found.finish_reason == "failed" and found.error.startswith("The server's answer broke off")


def test_an_error_in_mid_stream_is_told() -> None:
    half = events(completion("def f(): pass"))[:200].rpartition(b"data:")[0]
    error = b'data: {"error": {"message": "out of memory"}}\n\n'
    with chat_server(lambda n, body: streaming(half, error)) as server:
        (found,) = Told(server.address, attempts=1).draw()
    assert found.error == "The server broke off its answer: out of memory."


def test_text_is_heard_as_it_comes_and_a_stop_stops_the_server() -> None:
    """The server writes for ever, as long as somebody reads."""
    left = threading.Event()

    def endless() -> bytes:
        return b'data: {"choices": [{"delta": {"content": "x = 1\\n"}}]}\n\n'

    with chat_server(lambda n, body: (200, b"", {})) as server:
        server.endless, server.left = endless, left.set
        told = Told(server.address, timeout=60.0)

        def hear(id_: str, text: str) -> None:
            told.heard[id_] = told.heard.get(id_, "") + text
            if len(told.heard[id_]) > 20:
                told.model.cancel()

        start = time.monotonic()
        with pytest.raises(Cancelled):
            list(told.model.generate(requests(1), hear))
        assert left.wait(5) and time.monotonic() - start < 10
        assert told.heard["0"].startswith("x = 1\nx = 1\n")


def test_connections_are_kept() -> None:
    with chat_server(lambda n, body: (200, completion("x"), {}), STREAMED) as server:
        model = Told(server.address, concurrency=2).model
        before = server.connections
        assert len(list(model.generate(requests(20)))) == len(list(model.generate(requests(20)))) == 20
        assert server.connections - before <= 2


# --------------------------------------------------------------------------- requests at a time


class Served:
    """A pretended server of so many slots behind a gate: it takes a second for as many requests as it has slots."""

    def __init__(self, slots: int, **how: int) -> None:
        self.now, self.slots = 0.0, slots
        self.gate = Gate(**how, clock=lambda: self.now)  # type: ignore[arg-type]

    def round(self) -> int:
        """One round of as many requests as the gate lets through; how many those were."""
        limit, never = self.gate.limit, threading.Event()
        for _ in range(limit):
            assert self.gate.enter(never)
        self.now += max(1.0, limit / self.slots)
        for _ in range(limit):
            self.gate.leave(100, more=True)
        return limit


def test_requests_at_a_time_grow_as_long_as_that_brings_more() -> None:
    server = Served(16, begin=4, most=64)
    assert [server.round() for _ in range(5)] == [4, 8, 16, 32, 16]
    server.gate.back_off()
    server.gate.back_off()
    assert server.gate.limit == 8, "many refusals at once are one"
    assert [server.round() for _ in range(20)][-3:] == [16, 32, 16], "after some rounds more is tried again"
    fixed = Served(16, begin=6, most=6)
    assert {fixed.round() for _ in range(5)} == {6}


def test_what_two_questions_under_way_find_refused_is_renamed_once_and_asked_for_no_third_time() -> None:
    said: list[str] = []
    dialect = Dialect(said.append)
    asked = dialect.fitted({"max_tokens": 9, "stream": True})
    openai = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    refusal = HttpFailure("", False, status=400, details=openai)
    assert dialect.learn(refusal, asked) and dialect.learn(refusal, asked)
    assert dialect.fitted({"max_tokens": 9}) == {"max_completion_tokens": 9} and len(said) == 1
    unknown = HttpFailure("", False, status=400, details="Unknown field foo. Supported parameters: seed, stream.")
    tries = 0
    while tries < 5 and dialect.learn(unknown, dialect.fitted({"max_tokens": 9, "seed": 1, "stream": True})):
        tries += 1
    assert tries == 2, "each field that is named is left out once; then the refusal stands"
