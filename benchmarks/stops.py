"""Whether ending answers early changes verdicts, and how many tokens it saves.

    python benchmarks/stops.py [--model FILE] [--style code] [--project FOLDER ...] [--regions 25] [--each 20]
                               [--tokens 256] [--threads 1]

Regions of each project (without `--project`: of the demo) are described once, and written `--each` times at
temperature 0.8 with nothing that ends an answer but the model, the limit of tokens, and a loop. Then each text is ended
where a run would have ended it, and held against

- `cut`: the same text cut only where it leaves the region's block (its code fence, in a conversation), as whoever
  reads answers afterwards has to cut them;
- `whole`: all that the model wrote.

Code that differs is judged by the region's tests. Prints a line for each region, and last, one `name=value` a line.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.generation import PLAIN, Generation, Message, Model, Prompt, Request, Window
from rtc_inspector.core.models.answers import Ending, TextStream
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.settings import ModelSettings, OracleSettings, RunSettings
from rtc_inspector.core.trips.judged import Judged, open_judged
from rtc_inspector.core.trips.synthesis import SynthesisTrip
from rtc_inspector.core.types import Candidate, Item
from rtc_inspector.resources import path as resource

TEMPERATURE, DESCRIPTION_TOKENS = 0.8, 80


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--style", default="code")
    parser.add_argument("--project", type=Path, nargs="*", default=[])
    parser.add_argument("--regions", type=int, default=25, help="of each project")
    parser.add_argument("--each", type=int, default=20, help="samples of a region")
    parser.add_argument("--tokens", type=int, default=256, help="of an answer, at most")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    told = ModelSettings(threads=options.threads, prompt_style=options.style)
    counts: Counter[str] = Counter()
    with closing(LocalModel(options.model or bundled_model(), told)) as model:
        for project in options.project or [resource("demo")]:
            with ExitStack() as stack:
                judged = open_judged(stack, project, OracleSettings(), print_nothing, print_nothing)
                of_project(Side(model, judged), options, counts)
    for name in ("samples", "loops", "passes"):
        print(f"{name}={counts[name]}")
    for name in ("cut", "whole"):
        for what in ("differ", "passes_lost", "passes_won"):
            print(f"{name}_{what}={counts[f'{name} {what}']}")
    print(f"tokens_saved={1 - counts['early tokens'] / max(1, counts['whole tokens']):.3f}")
    print(f"verdicts_changed={counts['cut passes_lost'] + counts['cut passes_won']}")


class Side:
    """A model and the judge of one project."""

    def __init__(self, model: Model, judged: Judged) -> None:
        self.model, self._judged = model, judged
        self._files = {source.path: source for source in judged.codebase.files}
        self.trip = SynthesisTrip(judged, RunSettings(), print_nothing)

    def passes(self, item: Item, prompt: Prompt, text: str) -> tuple[str, bool]:
        """The code that is taken out of an answer, and whether it passes; judged once, since equal code is kept."""
        code = self.trip.read_code(item, text, prompt).text
        verdict = self._judged.oracle.judge(Candidate(self._files[item.path], item.span, code), item.tests)
        return code, verdict.outcome == "pass"

    def tokens(self, text: str) -> int:
        return self.model.count_tokens(Prompt((Message(PLAIN, text),)))


def of_project(side: Side, options: argparse.Namespace, counts: Counter[str]) -> None:
    """Count what becomes of every sample of every region."""
    fits = Window(side.model, options.tokens)
    for item in side.trip.items(options.regions, 0, {}, print_nothing):
        if not item.admitted:
            continue
        asked = side.trip.forward_prompt(item, side.model.info, fits)
        described = draw(side.model, asked, 1, DESCRIPTION_TOKENS)[0]
        words = side.trip.read_description(described.text).text
        prompt = side.trip.backward_prompt(item, words, side.model.info, fits)
        open_ended = replace(prompt, stop=(), block=None, most_characters=0)
        for answer in draw(side.model, open_ended, options.each, options.tokens):
            count(side, item, prompt, answer, counts)
        print(item.key, dict(counts), flush=True)


def count(side: Side, item: Item, prompt: Prompt, answer: Generation, counts: Counter[str]) -> None:
    """Hold one answer, ended early, against what it would have been."""
    fence = prompt.stop if prompt.block is None else ()
    texts = {
        "early": ended(answer.text, Ending(prompt.stop, prompt.block, prompt.most_characters)),
        "cut": ended(answer.text, Ending(fence, prompt.block)),
        "whole": answer.text,
    }
    counts["samples"] += 1
    counts["loops"] += answer.finish_reason == "loop"
    counts["early tokens"] += side.tokens(texts["early"])
    counts["whole tokens"] += side.tokens(texts["whole"])
    code, passed = side.passes(item, prompt, texts["early"])
    counts["passes"] += passed
    for name in ("cut", "whole"):
        other, does = (code, passed) if texts[name] == texts["early"] else side.passes(item, prompt, texts[name])
        counts[f"{name} differ"] += other != code
        counts[f"{name} passes_lost"] += does and not passed
        counts[f"{name} passes_won"] += passed and not does


def ended(text: str, ending: Ending) -> str:
    """The text as a run keeps it."""
    stream = TextStream(ending)
    stream.push(text.encode("utf-8", "replace"))
    stream.finish()
    return stream.text


def draw(model: Model, prompt: Prompt, times: int, most: int) -> list[Generation]:
    """So many samples, in the order of their seeds."""
    requests = [Request(str(seed), prompt, TEMPERATURE, seed, most) for seed in range(times)]
    answers = {answer.id: answer for answer in model.generate(requests)}
    return [answers[request.id] for request in requests]


def print_nothing(*_: object) -> None:
    """Nobody watches."""


if __name__ == "__main__":
    main()
