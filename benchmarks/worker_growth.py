"""How our engine grows: samples per second with 1, 4 and 16 at a time, and the worker's memory as a run goes on.

    python benchmarks/worker_growth.py [--regions 50] [--sequences 1 4 16] [--threads 1] [--model FILE] [--files ...]

Prints one `name=value` a line. `worker_growth`: resident memory after all regions over that after the first five.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from passes_sides import processor_seconds

from rtc_inspector.core.generation import Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.prompts import backward_prompt, forward_prompt
from rtc_inspector.core.regions.candidates import draw, enumerate_candidates, weigh
from rtc_inspector.core.settings import ModelSettings, RegionSettings
from rtc_inspector.core.types import Region, SourceFile

CORE = Path(__file__).resolve().parents[1] / "core"
FILES = [CORE / "models" / name for name in ("answers.py", "gguf.py", "extraction.py", "process.py", "discovery.py")]
EARLY = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--regions", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sequences", type=int, nargs="*", default=[1, 4, 16])
    parser.add_argument("--files", type=Path, nargs="*", default=FILES)
    options = parser.parse_args()
    regions = [pair for path in options.files for pair in _regions(path)]
    model = LocalModel(options.model or bundled_model(), ModelSettings(threads=options.threads))
    try:
        for count in options.sequences:
            _sequences(model, regions[0], count)
        _memory(model, regions, options.regions)
    finally:
        model.close()


def _regions(path: Path) -> list[tuple[str, Region]]:
    text = path.read_text()
    source = SourceFile(path.name, text, "utf-8", False)
    drawn = draw(weigh(enumerate_candidates(source, RegionSettings())), 0, True)
    return [(text, region) for region in islice(drawn, 12)]


def _sequences(model: LocalModel, region: tuple[str, Region], count: int) -> None:
    """Samples of one prompt that was evaluated before, 32 tokens each: what is measured is generation."""
    prompt = forward_prompt(region[0], region[1].span, lambda _: True)
    list(model.generate([Request("warm", prompt, 0.8, 0, 1)]))
    requests = [Request(f"{count}/{i}", prompt, 0.8, i, 32) for i in range(count)]
    cpu, start, before = processor_seconds(model.worker_pid), time.perf_counter(), model.counters["generated"]
    list(model.generate(requests))
    used, seconds = processor_seconds(model.worker_pid) - cpu, time.perf_counter() - start
    tokens = model.counters["generated"] - before
    print(f"samples_per_second_{count}={count / seconds:.3f}")
    print(f"tokens_per_processor_second_{count}={tokens / used:.1f}")


def _memory(model: LocalModel, regions: Sequence[tuple[str, Region]], wanted: int) -> None:
    """One sample a region, forward and backward by turns, the window opened for the longest at first."""
    early = now = 0.0
    longest = max(regions, key=lambda pair: len(pair[0]))
    for done, (text, region) in enumerate([longest, *regions][: wanted + 1]):
        if done % 2:
            prompt = forward_prompt(text, region.span, lambda _: True)
        else:
            prompt = backward_prompt(text, region.span, "Does what must be done.", lambda _: True)
        list(model.generate([Request("m", prompt, 0.8, done, 2)]))
        now = _resident(model.worker_pid)
        early = now if done == EARLY else early
        if done == EARLY or (done and done % 10 == 0):
            print(f"worker_mib_after_{done}={now:.1f}", flush=True)
    print(f"worker_growth={now / early:.4f}")


def _resident(pid: int | None) -> float:
    """Resident memory of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    main()
