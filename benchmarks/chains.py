"""What an identity chain costs with the bundled model, beside the plain loop that the method's authors publish.

    python benchmarks/chains.py [FILE] [--problems N] [--steps N] [--threads N] [--db FILE]

Ours is a whole run: prompts that share a beginning, several chains at a time, judging beside the writing, and an end
where a chain repeats itself. The plain loop asks the same model for the same prompts with llama-cpp-python's own
interface, one after the other, makes all 1 + 2n answers of every chain (what ours left out is its last pair again), and
runs each program in one fresh process. It writes as many tokens as ours did, so that neither gains by stopping sooner.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import llama_cpp
from problems import forked

from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import BenchmarkSettings, ChainSettings, ModelSettings, RunSettings
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.benchmark import masked_problem
from rtc_inspector.core.types import Form
from rtc_inspector.resources import path as resource_path


def used() -> float:
    """Seconds of processor of this process and of all that have ended below it."""
    own, below = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + below.ru_utime + below.ru_stime


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, nargs="?", default=resource_path("benchmark", "pocket.jsonl"))
    parser.add_argument("--problems", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--db", type=Path, help="keep the run here")
    options = parser.parse_args(words)
    settings = replace(
        RunSettings(task="chain", regions=options.problems, forward_temperature=0.0, backward_max_tokens=512),
        benchmark=BenchmarkSettings(str(options.file)),
        chain=ChainSettings(options.steps),
        generation=ModelSettings(threads=options.threads),
    )
    problems = {each.key: each for each in read_benchmark(options.file).problems}
    with tempfile.TemporaryDirectory() as folder:
        database = options.db or Path(folder) / "runs.sqlite"
        began, before = time.perf_counter(), used()
        with open_store(database) as store:
            start(settings, Path(folder), store, lambda event: None, Control())
        ours, ours_cpu = time.perf_counter() - began, used() - before
        with open_reader(database) as reader:
            items = [item for item in reader.items(1) if item.admitted]
            chains = {item.key: reader.samples(item.id) for item in items}
            prompts = {row.id: reader.prompt(row.prompt_hash) for rows in chains.values() for row in rows}
            kept = {item.key: item.measures for item in items}
    made = [row for rows in chains.values() for row in rows if row.author == "model"]
    loop = [row for rows in chains.values() for row in whole(rows, options.steps)]
    began, before = time.perf_counter(), used()
    model = llama_cpp.Llama(
        str(bundled_model()), n_ctx=3072, n_threads=options.threads, n_threads_batch=options.threads, verbose=False
    )
    for row in loop:
        model.create_completion(prompts[row.id], max_tokens=max(1, row.completion_tokens), temperature=0.0)
    asked = time.perf_counter() - began
    for key, rows in chains.items():
        for row in whole(rows, options.steps):
            if row.form == Form.CODE:
                forked(problems[key] if row.role == "solve" else masked_problem(problems[key]), row.text)
    plain, plain_cpu = time.perf_counter() - began, used() - before
    count = len(chains)
    print(f"chains={count}")
    print(f"ended_early={sum('fixed_after' in measures for measures in kept.values())}")
    print(f"ours_answers={len(made) / count:.1f}")
    print(f"plain_answers={len(loop) / count:.1f}")
    print(f"ours_tokens={sum(row.completion_tokens for row in made) / count:.0f}")
    print(f"plain_tokens={sum(row.completion_tokens for row in loop) / count:.0f}")
    print(f"plain_judging_seconds_a_chain={(plain - asked) / count:.2f}")
    print(f"ours_cpu_seconds_a_chain={ours_cpu / count:.2f}")
    print(f"plain_cpu_seconds_a_chain={plain_cpu / count:.2f}")
    print(f"ours_seconds_a_chain={ours / count:.2f}")
    print(f"plain_seconds_a_chain={plain / count:.2f}")
    print(f"ratio_vs_plain={plain / ours:.2f}")


def whole(rows: Sequence[SampleRow], steps: int) -> list[SampleRow]:
    """All answers of a chain that is followed to its end: where it repeats itself, its last pair again and again."""
    made = [row for row in rows if row.author == "model"]
    words, code = ([row for row in made if row.form == form and row.step] for form in (Form.TEXT, Form.CODE))
    missing = 1 + 2 * steps - len(made)
    last = [words[-1], code[-1]] if words and code else made[-1:]
    return made + [last[at % len(last)] for at in range(missing)]


if __name__ == "__main__":
    main()
