"""Our model passes against the loop a user would write with llama-cpp-python's high-level interface.

Same regions, prompts, stop texts, token limits, seeds and threads. Prints ratios last, as `name=value`.

    python benchmarks/passes.py [--regions 4] [--threads 1] [--model FILE] [--files FILE ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from core.generation import Message, Prompt, Request
from core.models.client import LocalModel
from core.models.discovery import bundled_model
from core.models.prompts import UNINFORMATIVE, backward_prompt, forward_prompt
from core.regions.candidates import enumerate_candidates
from core.regions.sampling import draw, weigh
from core.settings import ModelSettings, RegionSettings
from core.types import Region, SourceFile

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTIONS = (
    "Checks the value and refuses to go on when it cannot be used.",
    "Goes through the entries one by one, keeps what is needed and remembers it for later.",
    "Puts the pieces together and gives the result back to the caller, in the order in which they were found.",
    UNINFORMATIVE,
)


@dataclass(frozen=True)
class Result:
    """What one side did. `evaluated`: prompt tokens really evaluated."""

    texts: dict[str, str]
    seconds: float
    cpu: float
    evaluated: int
    generated: int


def main() -> None:
    options = _options()
    if options.loop:
        _loop(options)
        return
    rounds = list(_rounds(options))
    _warm_up(options.model)
    ours = _ours(options, rounds)
    loop = _their_loop(options, rounds)
    _report(rounds, ours, loop)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--regions", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=None, help="for every sample, 0 to compare greedy texts")
    parser.add_argument("--files", type=Path, nargs="*", default=[ROOT / "core" / "models" / "textstream.py"])
    parser.add_argument("--loop", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.model = options.model or bundled_model()
    return options


def _rounds(options: argparse.Namespace) -> Iterator[list[Request]]:
    """Forward samples of a region, then its backward samples; region by region."""
    for path in options.files:
        text = path.read_text()
        source = SourceFile(path.name, text, "utf-8", False)
        regions = list(draw(weigh(enumerate_candidates(source, RegionSettings())), 0, False))
        for region in regions[: options.regions]:
            yield list(_forward(text, region, options.temperature))
            yield list(_backward(text, region, options.temperature))


def _forward(text: str, region: Region, temperature: float | None) -> Iterator[Request]:
    prompt = forward_prompt(text, region.span, lambda _: True)
    for i in range(3):
        yield Request(f"{region.path}:{region.span.start}/f{i}", prompt, _or(temperature, 0.8), i, 48)


def _backward(text: str, region: Region, temperature: float | None) -> Iterator[Request]:
    for i, description in enumerate(DESCRIPTIONS):
        prompt = replace(backward_prompt(text, region.span, description, lambda _: True), prefill="")
        yield Request(f"{region.path}:{region.span.start}/b{i}", prompt, _or(temperature, 0.1), i, 64)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _warm_up(model: Path) -> None:
    """Bring the file into the page cache, for both sides."""
    with model.open("rb") as file:
        while file.read(1 << 24):
            pass


def _ours(options: argparse.Namespace, rounds: Sequence[Sequence[Request]]) -> Result:
    model = LocalModel(options.model, ModelSettings(threads=options.threads))
    try:
        list(model.generate([Request("warm", Prompt((Message("user", "Hello"),)), 0.0, 0, 1)]))
        before, cpu, start = model.counters, _cpu(model.worker_pid), time.perf_counter()
        texts = {g.id: g.text for requests in rounds for g in model.generate(requests)}
        seconds = time.perf_counter() - start
        done = {k: v - before[k] for k, v in model.counters.items()}
        return Result(texts, seconds, _cpu(model.worker_pid) - cpu, done["evaluated"], done["generated"])
    finally:
        model.close()


def _cpu(pid: int | None) -> float:
    """Processor seconds of a process, children not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _their_loop(options: argparse.Namespace, rounds: Sequence[Sequence[Request]]) -> Result:
    command = [sys.executable, __file__, "--loop", "--model", str(options.model), "--threads", str(options.threads)]
    data = json.dumps([asdict(r) for requests in rounds for r in requests])
    done = subprocess.run(command, input=data, text=True, capture_output=True, check=True)
    return Result(**json.loads(done.stdout.splitlines()[-1]))


def _loop(options: argparse.Namespace) -> None:
    """The plain loop, in a process of its own."""
    import llama_cpp

    requests = json.loads(sys.stdin.read())
    threads = {"n_threads": options.threads, "n_threads_batch": options.threads}
    model = llama_cpp.Llama(str(options.model), n_ctx=8192, verbose=False, **threads)
    evaluated = 0
    evaluate = model.eval

    def counting(tokens: Sequence[int]) -> None:
        nonlocal evaluated
        evaluated += len(tokens)
        evaluate(tokens)

    model.eval = counting  # type: ignore[method-assign]
    texts, generated = {}, 0
    cpu, start = time.process_time(), time.perf_counter()
    for r in requests:
        answer = model.create_chat_completion(
            r["prompt"]["messages"],
            temperature=r["temperature"],
            seed=r["seed"],
            max_tokens=r["max_tokens"],
            stop=list(r["prompt"]["stop"]),
            top_k=40,
            top_p=0.95,
            min_p=0.0,
            repeat_penalty=1.0,
        )
        texts[r["id"]] = answer["choices"][0]["message"]["content"]
        generated += answer["usage"]["completion_tokens"]
    seconds = time.perf_counter() - start
    print(json.dumps(asdict(Result(texts, seconds, time.process_time() - cpu, evaluated - generated, generated))))


def _report(rounds: Sequence[Sequence[Request]], ours: Result, loop: Result) -> None:
    samples, regions = sum(len(r) for r in rounds), len(rounds) // 2
    same = sum(ours.texts[k] == loop.texts[k] for k in ours.texts)
    for name, side in (("ours", ours), ("loop", loop)):
        print(f"{name}_samples_per_second={samples / side.seconds:.3f}")
        print(f"{name}_processor_seconds_per_sample={side.cpu / samples:.3f}")
        print(f"{name}_evaluated_prompt_tokens_per_region={side.evaluated / regions:.0f}")
        print(f"{name}_generated_tokens={side.generated}")
    print(f"equal_texts={same}/{samples}")
    print(f"evaluated_ratio={loop.evaluated / max(1, ours.evaluated):.2f}")
    print(f"processor_ratio={loop.cpu / ours.cpu:.2f}")
    print(f"speed_ratio={loop.seconds / ours.seconds:.2f}")


if __name__ == "__main__":
    main()
