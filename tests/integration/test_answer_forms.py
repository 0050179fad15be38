"""What a server sends is stored byte for byte, whatever its form; and every method reads the answer in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from answer_forms import APART, CUT, FORMS, PROGRAMS
from chat_server import PLAIN, Answer, chat_server, completion

from core.generation import Message, Prompt, Request
from core.models.answers import answer_of
from core.models.extraction import extract_code
from core.models.remote import RemoteModel
from core.models.served import Served
from core.settings import EndpointSettings, ModelSettings
from core.types import Item, Span

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
