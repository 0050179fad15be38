"""Our model passes against the loop a user would write, and against llama.cpp's own server.

Same regions, prompts, stop texts, token limits, seeds and threads; that an answer ends where it leaves its block, grows
far too long or goes round in a loop is ours alone. The sides take turns, wave by wave, so that whatever else the
machine does falls on all of them. Prints ratios last, as `name=value`.

    python benchmarks/passes.py [--regions 4] [--wave 2] [--threads 1] [--model FILE] [--files FILE ...]
                                [--style code|chat] [--temperature 0] [--server LLAMA-SERVER [--slots 8]]
                                [--seconds 3600]

`--temperature 0` compares greedy texts, and tells for each that differs how far apart the two tokens' logits are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from passes_sides import SLOTS, Engine, Loop, Server, Side, Tally

from rtc_inspector.core.generation import PLAIN, Message, Request
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.prompts import UNINFORMATIVE, backward_prompt, forward_prompt
from rtc_inspector.core.regions.candidates import draw, enumerate_candidates, weigh
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.types import Region, SourceFile

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTIONS = (
    "Checks the value and refuses to go on when it cannot be used.",
    "Goes through the entries one by one, keeps what is needed and remembers it for later.",
    "Puts the pieces together and gives the result back to the caller, in the order in which they were found.",
    UNINFORMATIVE,
)


def main() -> None:
    options = _options()
    regions = [pair for path in options.files for pair in _regions(path, options.regions)]
    with ExitStack() as stack:
        sides = [stack.enter_context(side) for side in _sides(options)]
        start, asked, count = time.monotonic(), [], 0
        while count < len(regions) and time.monotonic() - start < options.seconds:
            wave = regions[count : count + options.wave]
            for side in sides:
                for requests in _turns(side, wave, options):
                    side.draw(requests)
            asked += [request for requests in _rounds(wave, options) for request in requests]
            count += len(wave)
        _report(sides, count, len(asked))
        if options.temperature == 0:
            _explain(asked, {side.name: side for side in sides})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--regions", type=int, default=4, help="of each file")
    parser.add_argument("--wave", type=int, default=RunSettings().wave, help="regions asked for together")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--style", choices=("chat", "code"), default="code", help="in which the model is asked")
    parser.add_argument("--temperature", type=float, default=None, help="for every sample")
    parser.add_argument("--seconds", type=float, default=3600, help="begin no further wave after that time")
    parser.add_argument("--files", type=Path, nargs="*", default=[ROOT / "core" / "models" / "answers.py"])
    parser.add_argument("--sides", nargs="*", choices=("ours", "loop", "server"), help="all, unless named")
    parser.add_argument("--server", type=Path, default=None, help="path of a llama-server to compare with as well")
    parser.add_argument("--slots", type=int, default=SLOTS, help="of that server: requests it answers side by side")
    options = parser.parse_args()
    options.model = options.model or bundled_model()
    return options


def _sides(options: argparse.Namespace) -> list[Side]:
    make: dict[str, Callable[[], Side]] = {
        "ours": lambda: Engine(options.model, options.threads),
        "loop": lambda: Loop(options.model, options.threads),
    }
    if options.server:
        make["server"] = lambda: Server(options.model, options.threads, options.server, options.slots)
    return [make[name]() for name in options.sides or make]


def _regions(path: Path, count: int) -> list[tuple[str, Region]]:
    text = path.read_text()
    source = SourceFile(path.name, text, "utf-8", False)
    drawn = list(draw(weigh(enumerate_candidates(source, RegionSettings())), 0, False))
    return [(text, region) for region in drawn[:count]]


def _turns(side: Side, wave: Sequence[tuple[str, Region]], options: argparse.Namespace) -> Iterator[list[Request]]:
    """A plain loop takes its regions one by one, each whole."""
    for part in [[pair] for pair in wave] if side.name == "loop" else [wave]:
        yield from _rounds(part, options)


def _rounds(wave: Sequence[tuple[str, Region]], options: argparse.Namespace) -> Iterator[list[Request]]:
    """Forward samples of a wave of regions, then their backward samples."""
    yield [request for text, region in wave for request in _forward(text, region, options)]
    yield [request for text, region in wave for request in _backward(text, region, options)]


def _forward(text: str, region: Region, options: argparse.Namespace) -> Iterator[Request]:
    prompt = forward_prompt(text, region.span, lambda _: True, options.style)
    for i in range(3):
        yield Request(f"{region.path}:{region.span.start}/f{i}", prompt, _or(options.temperature, 0.8), i, 48)


def _backward(text: str, region: Region, options: argparse.Namespace) -> Iterator[Request]:
    """Without the start of the answer, which the loop's chat interface cannot give; a plain text has it at its end."""
    for i, description in enumerate(DESCRIPTIONS):
        prompt = backward_prompt(text, region.span, description, lambda _: True, options.style)
        turns = prompt.messages
        if turns[0].role == PLAIN:
            turns = (Message(PLAIN, turns[0].content + prompt.prefill),)
        prompt = replace(prompt, messages=turns, prefill="")
        yield Request(f"{region.path}:{region.span.start}/b{i}", prompt, _or(options.temperature, 0.1), i, 64)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _report(sides: Sequence[Side], regions: int, samples: int) -> None:
    tallies = {side.name: side.tally for side in sides}
    print(f"regions={regions}")
    for name, tally in tallies.items():
        print(f"{name}_samples_per_second={samples / tally.seconds:.3f}")
        print(f"{name}_processor_seconds_per_sample={tally.cpu / samples:.3f}")
        print(f"{name}_evaluated_prompt_tokens_per_region={tally.evaluated / regions:.0f}")
        print(f"{name}_generated_tokens={tally.generated}")
    ours = tallies.get("ours", Tally())
    for name, tally in reversed(tallies.items()):
        if ours.texts and tally is not ours:
            start = "" if name == "loop" else f"{name}_"
            print(f"{start}equal_texts={_equal(ours, tally)}/{samples}")
            print(f"{start}evaluated_ratio={tally.evaluated / max(1, ours.evaluated):.2f}")
            print(f"{start}processor_ratio={tally.cpu / ours.cpu:.2f}")
            print(f"{start}speed_ratio={tally.seconds / ours.seconds:.2f}")


def _equal(one: Tally, other: Tally) -> int:
    return sum(text == other.texts[id_] for id_, text in one.texts.items())


def _explain(requests: Sequence[Request], sides: Mapping[str, Side]) -> None:
    """For every text that differs from the loop's: how near to one another the tokens were where the two part."""
    loop = sides.get("loop")
    if isinstance(loop, Loop) and "ours" in sides:
        ours = sides["ours"].tally.texts
        for request in requests:
            if ours[request.id] != loop.tally.texts[request.id]:
                found = loop.compare(request, ours[request.id])
                print(f"{request.id}: " + ", ".join(f"{name}={value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
