"""Whole runs against a server: forward and backward apart, trouble of every kind, resuming, and the record."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from chat_server import Answer, ChatServer, Kind, chat_server, completion

from rtc_inspector.core.analyses.costs import spent
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.errors import ModelError, ProjectError, UserError
from rtc_inspector.core.models.styles import as_recorded
from rtc_inspector.core.run.estimate import estimate
from rtc_inspector.core.run.events import Control, Event, Notice, RunFinished, RunStarted
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import EditSettings, EndpointSettings, ModelSettings, RunSettings
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.ui.presenters import provenance

EDITS = [
    {"old": f"def area_{n}(side):\n    return side\n", "new": f"def area_{n}(side):\n    return side * {n}\n"}
    for n in range(2, 6)
]


def right(number: int, body: dict[str, object]) -> Answer:
    """Describe an edit by its number, and apply it as described."""
    question = str(body["messages"][-1]["content"])  # type: ignore[index]
    at = next((n for n in range(2, 6) if f"side * {n}" in question), None)
    if at is not None:
        return 200, completion(f"Multiply by {at}.", model="m"), {}
    code = next((e["new"] for n, e in enumerate(EDITS, 2) if f"Multiply by {n}." in question), "pass")
    return 200, completion(f"```\n{code}```", model="m"), {}


class Place:
    """A project of a few edits, judged by exact match, and its database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        edits = folder / "edits.jsonl"
        edits.write_text("".join(json.dumps(edit) + "\n" for edit in EDITS))
        self.database = folder / "runs.sqlite"
        self.settings = RunSettings(
            task="editing", regions=4, forward_samples=2, backward_temperature=0.0, edit=EditSettings(file=str(edits))
        )

    def started(self, **models: object) -> tuple[RunFinished, list[Event]]:
        with self.store() as store:
            settings = replace(self.settings, **models)  # type: ignore[arg-type]
            events: list[Event] = []
            return start(settings, self.folder, store, events.append, Control()), events

    def resumed(self, run_id: int = 1) -> RunFinished:
        with self.store() as store:
            return resume(run_id, store, lambda event: None, Control())

    @contextmanager
    def store(self) -> Iterator[Store]:
        with open_store(self.database) as store:
            yield store


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def at(server: ChatServer, **more: object) -> EndpointSettings:
    return EndpointSettings(server.address, **({"attempts": 2, "timeout": 5.0} | more))  # type: ignore[arg-type]


def traces(store: Store, run_id: int = 1) -> list[list[SampleRow]]:
    return [store.reader.samples(item.id) for item in store.reader.items(run_id)]


def accounted(place: Place, finished: RunFinished) -> None:
    """Every sample of every edit is there: whole and judged, or with an error; what it stood for is in `problems`."""
    with place.store() as store:
        for samples in traces(store, finished.run_id):
            forward = [row for row in samples if row.role == "forward"]
            assert {row.index for row in forward} == {0, 1}
            whole = [row.id for row in forward if not row.error]
            code = [row for row in samples if row.role != "forward"]
            assert {row.parent_id for row in code} == {*whole, None}
            assert all(bool(row.error) or row.verdict is not None for row in code)
    with place.store() as store:
        errors = sum(bool(row.error) for samples in traces(store, finished.run_id) for row in samples)
    assert (finished.status, bool(finished.problems)) == (("incomplete", True) if errors else ("finished", False))


def test_a_run_on_a_server_and_its_record(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVER_KEY", "sk-very-secret")
    with chat_server(right) as server:
        finished, events = place.started(endpoint=at(server, key_variable="MY_SERVER_KEY"))
        assert {a["authorization"] for a in server.asked} == {"Bearer sk-very-secret"}
    assert (finished.status, finished.measures["rtc"].value, finished.samples) == ("finished", 1.0, 4 * (2 + 3))
    accounted(place, finished)
    (began,) = (event for event in events if isinstance(event, RunStarted))
    with place.store() as store:
        row = store.reader.run(1)
    models = json.loads(row.model_json)
    assert models["forward"] == models["backward"]
    assert (models["forward"]["path"], models["forward"]["served"]) == (server.address, "owned_by test")
    assert (began.model, began.backward_model) == ("m", "m")
    assert b"sk-very-secret" not in b"".join(path.read_bytes() for path in place.folder.iterdir())


def test_forward_and_backward_are_asked_apart(place: Place) -> None:
    with chat_server(right) as one, chat_server(right) as other:
        other.served = [{"id": "coder"}]
        finished, _ = place.started(endpoint=at(one), backward_endpoint=at(other))
        assert ["side * " in json.dumps(a["messages"][-1]) for a in one.asked] == [True] * 8  # type: ignore[index]
        assert ["side * " in json.dumps(a["messages"][-1]) for a in other.asked] == [False] * 12  # type: ignore[index]
    assert finished.measures["rtc"].value == 1.0
    with place.store() as store:
        row = store.reader.run(1)
    models = json.loads(row.model_json)
    assert (row.model_name, row.backward_model_name) == ("m", "coder")
    assert (models["forward"]["path"], models["backward"]["path"]) == (one.address, other.address)


def test_as_many_requests_at_a_time_as_were_allowed(place: Place) -> None:
    """Two descriptions a region: regions are taken together."""
    barrier = threading.Barrier(6)

    def script(number: int, body: dict[str, object]) -> Answer:
        if number <= 6:
            barrier.wait(5)
        return right(number, body)

    with chat_server(script) as server:
        finished, _ = place.started(endpoint=at(server, concurrency=6))
    assert (finished.status, finished.measures["rtc"].value) == ("finished", 1.0)


def test_no_request_waits_for_those_of_another_item(place: Place) -> None:
    """One description comes only when code was asked for, which is made from descriptions of other items."""
    code = threading.Event()

    def script(number: int, body: dict[str, object]) -> Answer:
        if "side * " not in json.dumps(body["messages"][-1]):  # type: ignore[index]
            code.set()
        elif number == 1:
            assert code.wait(5)
        return right(number, body)

    with chat_server(script) as server:
        finished, _ = place.started(endpoint=at(server, concurrency=3))
    assert (finished.status, finished.measures["rtc"].value) == ("finished", 1.0)
    accounted(place, finished)


def test_one_pass_on_this_machine_and_one_on_a_server(place: Place, small_model: Path) -> None:
    """A model file describes, in a window too small for examples; the code is the server's."""
    generation = ModelSettings(threads=1, context_size=256)
    place.settings = replace(
        place.settings,
        regions=1,
        forward_samples=1,
        forward_max_tokens=8,
        backward_max_tokens=64,
        generation=generation,
    )
    with chat_server(right) as server:
        finished, _ = place.started(model=str(small_model), backward_endpoint=at(server))
        assert len(server.asked) == 2
    with place.store() as store:
        row, (samples,) = store.reader.run(1), traces(store)
    models = json.loads(row.model_json)
    assert len(models["forward"]["sha256"]) == 64 and models["backward"]["path"] == server.address
    assert (finished.status, len(samples)) == ("finished", 3)


def test_what_a_run_cost_is_told_and_ends_it_where_it_may_cost_no_more(place: Place) -> None:
    """Each of the 20 answers reads 7 tokens and writes 30, 20 of them thoughts by their share of its text."""

    def script(number: int, body: dict[str, object]) -> Answer:
        answer = json.loads(right(number, body)[1])
        message = answer["choices"][0]["message"]
        message["reasoning_content"] = "x" * (2 * len(message["content"]))
        return 200, json.dumps(answer | {"usage": {"prompt_tokens": 7, "completion_tokens": 30}}).encode(), {}

    with chat_server(script) as server:
        priced = at(server, concurrency=1, price_read=100.0, price_written=1000.0)
        finished, events = place.started(endpoint=priced, budget_tokens=37 * 9 + 1)
        assert finished.status == "interrupted" and len(server.asked) <= 11
        assert any(isinstance(e, Notice) and "370 tokens, of 334" in e.text for e in events)
        with place.store() as store:
            assert "--budget-tokens" in store.reader.run(1).problems[0]
            again = resume(1, store, lambda event: None, Control(), {"budget_tokens": None})
            assert again.status == "finished"
            (cost,) = spent(store.reader, store.reader.run(1))
            (paces,) = [estimate(store.reader.settings(1), store.reader.paces())]
    assert (cost.samples, cost.prompt_tokens, cost.thought_tokens, cost.answer_tokens) == (20, 140, 400, 200)
    assert cost.money == pytest.approx(20 * (7 * 100 + 30 * 1000) / 1e6)
    assert paces.tokens == 20 * 37 and paces.money == pytest.approx(cost.money)


def test_a_run_pauses_once_it_cost_the_money_that_it_may(place: Place) -> None:
    with chat_server(right) as server:
        priced = at(server, concurrency=1, price_written=1e6)
        finished, _ = place.started(endpoint=priced, budget_money=9.5)
        assert finished.status == "interrupted" and 4 <= len(server.asked) <= 6, "three tokens written are three"


GERMAN = """system = "Du liest und schreibst Code."

[forward]
question = "Was wird anders von {old} zu {new}?"
"""


def test_a_run_asks_in_a_persons_words_and_goes_on_in_them(place: Place, tmp_path: Path) -> None:
    with chat_server(right) as server:
        priced = at(server, concurrency=1, price_written=1e6)
        finished, _ = place.started(endpoint=priced, budget_money=9.5, prompts=GERMAN)
        begun = len(server.asked)
        with place.store() as store:
            resumed = resume(finished.run_id, store, lambda event: None, Control(), {"budget_money": 1e9})
        assert (finished.status, resumed.status) == ("interrupted", "finished") and len(server.asked) > begun
        turns = [cast(list[dict[str, str]], body["messages"]) for body in server.asked]
        assert {each[0]["content"] for each in turns} == {"Du liest und schreibst Code."}
        described = [each for each in turns if "Was wird anders von" in each[-1]["content"]]
        assert described and all(each[1]["content"].startswith("Was wird anders von") for each in described)
        place.started(endpoint=at(server))
    with place.store() as store:
        (compared,) = compare_runs(store.reader, [1, 2])
        own = dict(provenance(store.reader.run(1)))["Words of the prompts"]
    assert {"words of system", "words of forward question"} <= {name for name, _, _ in compared.settings}
    assert [name for name, _ in own] == ["system", "forward question"]


def test_words_that_lack_a_placeholder_are_refused_before_anything_is_asked(place: Place) -> None:
    with chat_server(right) as server:
        with pytest.raises(UserError, match=r"forward.question lacks \{new\}") as refused:
            place.started(endpoint=at(server), prompts='[forward]\nquestion = "What became of {old}?"\n')
        assert not server.asked and "editing.toml" in refused.value.remedy


def seldom(wrong: Sequence[Answer]) -> Callable[[int, dict[str, object]], Answer]:
    """Every third answer is one of the wrong ones, in turn."""

    def script(number: int, body: dict[str, object]) -> Answer:
        return wrong[number // 3 % len(wrong)] if number % 3 == 0 else right(number, body)

    return script


TROUBLE: dict[str, Sequence[Answer]] = {
    "busy": [(429, b"", {"Retry-After": "0.01"})],
    "failing": [(500, b"oops", {"Retry-After": "0.01"})],
    "wrong": [(200, b"<html>", {}), (200, b'{"choices": []}', {}), (200, completion(5), {}), (400, b"{}", {})],
    "empty": [(200, completion(""), {})],
}


@pytest.mark.parametrize("wrong", TROUBLE.values(), ids=TROUBLE)
def test_every_sample_is_accounted_for(place: Place, wrong: Sequence[Answer]) -> None:
    with chat_server(seldom(wrong)) as server:
        finished, _ = place.started(endpoint=at(server, attempts=1))
        accounted(place, finished)
        if finished.status == "incomplete":
            failed = len(finished.problems)
            assert 0 < failed < 20 and finished.samples > 0


def test_what_does_not_fit_the_window_ends_no_run(place: Place) -> None:
    """One edit is too large for a small window: it is named, and the others count."""
    line = "    total = total + side * 2\n"
    large = {"old": "def big(side):\n" + line * 20, "new": "def big(side):\n" + line * 21}
    with (place.folder / "edits.jsonl").open("a") as file:
        file.write(json.dumps(large) + "\n")
    small = replace(place.settings, regions=5, forward_max_tokens=32, backward_max_tokens=64)
    place.settings = replace(small, generation=ModelSettings(context_size=384))
    with chat_server(right) as server:
        finished, _ = place.started(endpoint=at(server))
    accounted(place, finished)
    assert (finished.status, finished.measures["rtc"].value) == ("incomplete", 1.0)
    assert all("does not fit" in problem for problem in finished.problems)
    with place.store() as store:
        rows = [row for samples in traces(store) for row in samples if row.error]
    assert {row.finish_reason for row in rows} == {"context"} and {row.role for row in rows} == {"forward", "baseline"}


def test_a_slow_server_is_waited_for_and_left(place: Place) -> None:
    """Answers that come too late are failures with a reason, those in time count."""

    def script(number: int, body: dict[str, object]) -> Answer:
        time.sleep(1.0 if number == 2 else 0.02)
        return right(number, body)

    with chat_server(script) as server:
        finished, _ = place.started(endpoint=at(server, attempts=1, timeout=0.4))
    accounted(place, finished)
    assert finished.status == "incomplete" and "took more than 0.4 seconds" in finished.problems[0]


def test_a_server_that_dies_and_comes_back(place: Place) -> None:
    """The run ends soon, with all that came before; resumed on the same server it ends as if nothing had been."""
    back = threading.Event()

    def script(number: int, body: dict[str, object]) -> Answer:
        return (502, b"", {}) if number > 8 and not back.is_set() else right(number, body)

    with chat_server(script) as server:
        began = time.monotonic()
        finished, _ = place.started(endpoint=at(server))
        assert time.monotonic() - began < 6, "one sample is waited for, not every one"
        accounted(place, finished)
        assert (finished.status, finished.samples >= 8) == ("incomplete", True)
        with place.store() as store:
            kept = {row.id for samples in traces(store) for row in samples if not row.error}
        back.set()
        server.asked.clear()
        again = place.resumed()
        assert (again.status, again.measures["rtc"].value) == ("finished", 1.0)
        with place.store() as store:
            rows = {row.id for samples in traces(store) for row in samples if not row.error}
        assert kept < rows and len(rows) == 20 and len(server.asked) == 20 - len(kept)


def test_a_run_goes_on_in_the_window_that_it_began_in(place: Place) -> None:
    """What the server says of it then, prompts are cut as they were."""
    with chat_server(seldom([(400, b"", {})]), Kind(streams=False)) as server:
        server.served = [{"id": "m", "context_length": 6144}]
        assert place.started(endpoint=at(server))[0].status == "incomplete"
        server.served = [{"id": "m", "context_length": 12288}]
        with place.store() as store:
            models = json.loads(store.reader.run(1).model_json)
            settings = as_recorded(store.reader.settings(1).generation, models)
            assert store.reader.settings(1).generation.context_size is None and settings.context_size == 6144
        place.resumed()


def test_a_run_is_not_resumed_on_another_model(place: Place) -> None:
    """Neither on another one under the same name, nor when the server no longer has it, nor when it is away."""
    with chat_server(seldom([(400, b"", {})])) as server:
        server.served = [{"id": "m", "meta": {"size": 1}}]
        assert place.started(endpoint=at(server))[0].status == "incomplete"
        server.served = [{"id": "m", "meta": {"size": 2}}]
        with pytest.raises(ProjectError, match=r"another forward model.*size 2.*not m \(size 1\)"):
            place.resumed()
        server.served = [{"id": "n"}]
        with pytest.raises(ProjectError, match="another forward model"):
            place.resumed()
        server.stop()
        with pytest.raises(ModelError, match="cannot be reached"):
            place.resumed()
