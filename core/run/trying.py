"""One small question of each kind to a model behind a server: what came, what is read from it, how fast it is."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Extraction, Fits, Generation, ModelInfo, Prompt, Request
from rtc_inspector.core.models.answers import answer_of
from rtc_inspector.core.models.extraction import extract_code, extract_description
from rtc_inspector.core.models.loading import open_endpoint
from rtc_inspector.core.models.prompts import backward_prompt, forward_prompt
from rtc_inspector.core.models.remote import RemoteModel
from rtc_inspector.core.settings import EndpointSettings, ModelSettings
from rtc_inspector.core.types import Item, Span, plain
from rtc_inspector.core.waiting import Poll, no_poll

SOURCE = '''def area(width: float, height: float) -> float:
    """Return the area of a rectangle; nothing has a negative side."""
    if width < 0 or height < 0:
        raise ValueError("a side is negative")
    return width * height


def test_area() -> None:
    assert area(2, 3) == 6
'''
_SPAN = Span(SOURCE.index("if width"), SOURCE.index("height\n\n\n") + len("height"))
_ITEM = Item("area", "region", "area.py", _SPAN, 3, 5, SOURCE[_SPAN.start : _SPAN.end])
ASKED = "Raise a ValueError when a side is negative, else return the width times the height."
STYLES = {"chat": "in turns", "code": "as a file that it goes on writing", "fim": "as a gap to fill"}
"""Prompt styles and what they are, for people."""
DESCRIPTION_TOKENS, CODE_TOKENS = 128, 256
_Make = Callable[[ModelInfo, Fits], Prompt]


@dataclass(frozen=True, slots=True)
class Tried:
    """One question and its answer."""

    asked: str  # what for, and in which style
    came: str = ""  # what the model wrote; thoughts that the server sends apart stand in `thoughts`
    thoughts: str = ""
    read: str = ""  # what a run would take for its answer; `steps`: how
    steps: tuple[str, ...] = ()
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    error: str = ""  # why there is no answer

    @property
    def speed(self) -> float:
        """Tokens written a second, the reading of the prompt included; 0 where the server does not count."""
        return self.completion_tokens / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """The findings about a model behind a server."""

    name: str
    server: str  # the program, as far as it can be told
    window: int  # tokens that a run would use
    at_a_time: int  # requests that a run would begin with
    refused: str  # what it does not take, as a run records it
    notices: tuple[str, ...]  # what a run would say
    tried: tuple[Tried, ...]


def try_server(settings: EndpointSettings, generation: ModelSettings, poll: Poll = no_poll) -> Trial:
    """Ask the server for a description, for code in turns, for code in a file, and for a gap.

    `poll` is called on the way, and raising from it gives up. Raises ModelError where the server cannot be used at all.
    """
    notices: list[str] = []
    tried: list[Tried] = []
    settings = replace(settings, attempts=1)
    with closing(open_endpoint(settings, replace(generation, prompt_style="chat"), poll, notices.append)) as model:
        tried.append(_asked(model, "a description, in turns", _forward, DESCRIPTION_TOKENS, poll))
        tried.append(_asked(model, "code, in turns", _backward, CODE_TOKENS, poll))
        trial = Trial(model.info.name, model.kind, model.info.context_size, model.at_a_time, "", (), ())
        generation = replace(generation, context_size=model.info.context_size)  # found out already
        refused = [model.info.conditions]
    for style in ("code", "fim"):
        asked = f"code, {STYLES[style]}"
        try:
            opened = open_endpoint(settings, replace(generation, prompt_style=style), poll, notices.append)
        except ModelError as error:
            tried.append(Tried(asked, error=error.problem))
            continue
        with closing(opened) as model:
            tried.append(_asked(model, asked, _backward, CODE_TOKENS, poll))
            refused.append(model.info.conditions)
    parts = dict.fromkeys(part for each in refused for part in each.split(", ") if part)
    return replace(trial, refused=", ".join(parts), notices=tuple(dict.fromkeys(notices)), tried=tuple(tried))


def words(trial: Trial) -> Iterator[str]:
    """Return the lines in which a person is told of it."""
    slots = f"{trial.at_a_time} request{'s' if trial.at_a_time > 1 else ''} at a time to begin with"
    yield f"{trial.name}: {trial.server or 'server of an unknown kind'}, a window of {trial.window:,} tokens, {slots}"
    yield f"Not taken, or found out: {trial.refused}" if trial.refused else "It takes every field that is sent."
    yield from trial.notices
    for each in trial.tried:
        yield ""
        if each.error:
            yield f"{each.asked}: no answer. {each.error}"
            continue
        counts = f"{each.prompt_tokens:,} tokens read, {each.completion_tokens:,} written"
        yield f"{each.asked}: {counts} in {each.seconds:.1f} s ({each.speed:.0f} a second), {each.finish_reason}"
        yield from _shown("thoughts", each.thoughts)
        yield from _shown("came", each.came)
        yield from _shown(f"read ({', '.join(each.steps) or 'as it came'})", each.read)


def _shown(name: str, text: str) -> Iterator[str]:
    if text or name == "came":
        yield f"  {name}:" if text else f"  {name}: nothing"
        yield from (f"    {line}" for line in text.strip("\n").split("\n") if text)


def _forward(info: ModelInfo, fits: Fits) -> Prompt:
    return forward_prompt(SOURCE, _SPAN, fits, info.prompt_style, info.prompt_layout)


def _backward(info: ModelInfo, fits: Fits) -> Prompt:
    return backward_prompt(SOURCE, _SPAN, ASKED, fits, info.backward_style, info.prompt_layout)


def _asked(model: RemoteModel, asked: str, make: _Make, room: int, poll: Poll) -> Tried:
    """Ask one question. Raises ModelError where the server refuses whatever it is asked, and what `poll` raises."""
    prompt = make(model.info, lambda prompt: True)

    def heed(id_: str, text: str) -> None:
        poll()

    (answer,) = model.generate([Request("try", prompt, 0.0, 0, room)], heed)
    if answer.error:
        return Tried(asked, seconds=answer.seconds, error=answer.error)
    found = _read(answer, prompt, description=make is _forward)
    counts = plain(answer, "finish_reason", "prompt_tokens", "completion_tokens", "seconds")
    return Tried(asked, answer.text, answer.thoughts, found.text, found.steps, **counts)


def _read(answer: Generation, prompt: Prompt, description: bool) -> Extraction:
    told = answer_of(answer, prompt)
    found = (
        extract_description(told.text) if description else extract_code(told.text, _ITEM, SOURCE, told.prompt.prefill)
    )
    return replace(found, steps=(*told.steps, *found.steps))
