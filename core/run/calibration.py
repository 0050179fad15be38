"""Measure how a model is best asked: a dozen tiny functions, described and written again, judged by their tests."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.generation import Generation, Model, Prompt, Request, Window
from rtc_inspector.core.languages import PYTHON, Language, language_for
from rtc_inspector.core.languages.trees import statements
from rtc_inspector.core.models.answers import answer_of
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.extraction import extract_description
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.models.prompts import UNINFORMATIVE
from rtc_inspector.core.models.styles import Calibration, StyleScore, calibration_key, possible_styles
from rtc_inspector.core.settings import ModelSettings, OracleSettings, RunSettings
from rtc_inspector.core.trips.judged import Judged, open_judged, selected_item
from rtc_inspector.core.trips.roundtrip import InFile
from rtc_inspector.core.trips.synthesis import SynthesisTrip
from rtc_inspector.core.types import Item, Notify, Outcome, Report, Span
from rtc_inspector.resources import path as resource

DESCRIPTION_TOKENS, CODE_TOKENS = 80, 120  # room for answers about functions of a few lines


def calibrate(
    path: Path,
    settings: ModelSettings,
    oracle: OracleSettings,
    notify: Notify,
    report: Report,
    on_model: Callable[[Model], None],
    styles: Sequence[str] = (),
    language: Language = PYTHON,
) -> Calibration:
    """Try the styles that the model at `path` can be asked in, or those that are named. Keeps nothing.

    Everything is greedy, so that a figure can be repeated. `on_model` sees each model once it is loaded. Raises
    UserError, and what `report` raises.
    """
    header = read_header(path)
    with ExitStack() as stack:
        oracle = replace(oracle, language="")  # the folder tells
        judged = open_judged(stack, resource(language.calibration), oracle, notify, report, python_only=False)
        trip = SynthesisTrip(judged, RunSettings(), notify, ())
        functions = list(_functions(judged))
        scores = []
        for style in styles or possible_styles(header):
            report(f"asking by {style}", 0, len(functions))
            told = replace(settings, prompt_style=style)
            with closing(LocalModel(path, told, poll=lambda: report("loading the model", 0, 1))) as model:
                on_model(model)
                scores.append(_score(style, model, functions, trip, report))
                sha256 = model.info.sha256
    return Calibration(calibration_key(sha256, language), tuple(scores))


def _functions(judged: Judged) -> Iterator[Item]:
    """Yield the body of every function of the set, in the order of its files."""
    for source in judged.codebase.files:
        if source.is_test:
            continue
        file = statements(source.text, language_for(source.path))
        for block in (block for each in (file.statements if file else ()) for block in each.blocks):
            if block.name and block.statements:
                body = Span(block.statements[0].span.start, block.statements[-1].span.end)
                yield selected_item(judged, source.path, body)


def _score(style: str, model: LocalModel, functions: Sequence[Item], trip: InFile, report: Report) -> StyleScore:
    """Describe every function, write each from its description and from none, and count the passes."""
    fits = Window(model, CODE_TOKENS)
    asked = [trip.forward_prompt(each, model.info, fits) for each in functions]
    described = _draw(model, asked, DESCRIPTION_TOKENS)
    answers = [answer_of(each, prompt) for each, prompt in zip(described, asked, strict=True)]
    descriptions = [extract_description(answer.text).text for answer in answers]
    pairs = [(each, words) for each, words in zip(functions, descriptions, strict=True)]
    # Beside the descriptions the baseline: a style that lets a model guess without words would look good for nothing.
    pairs += [(each, UNINFORMATIVE) for each in functions]
    prompts = [trip.backward_prompt(each, words, model.info, fits) for each, words in pairs]
    written = _draw(model, prompts, CODE_TOKENS)
    passes: list[bool] = []
    for (item, _), prompt, generation in zip(pairs, prompts, written, strict=True):
        report(f"judging {style}", len(passes), len(pairs))
        answer = answer_of(generation, prompt)
        code = trip.read_code(item, answer.text, answer.prompt)
        passes.append(trip.judged.judge(item, code.text).outcome is Outcome.PASS)
    count = len(functions)
    own = [*described, *written[:count]]
    tokens = sum(answer.prompt_tokens + answer.completion_tokens for answer in own)
    return StyleScore(style, sum(passes[:count]), sum(passes[count:]), count, tokens)


def _draw(model: LocalModel, prompts: Sequence[Prompt], most: int) -> list[Generation]:
    requests = [Request(str(at), prompt, 0.0, 0, most) for at, prompt in enumerate(prompts)]
    answers = {answer.id: answer for answer in model.generate(requests)}
    return [answers[request.id] for request in requests]
