"""The judge against plain pytest: verdicts, speed, sandboxes, workers, second openings, and a mutation tester.

    python benchmarks/oracle.py PROJECT [PROJECT ...] [--python EXE] [--minutes 10] [--candidates 70] [--covering 30]
                                [--some 24] [--parts agreement,opening,sandboxes,workers,mutmut] [--mutmut EXE]

Each PROJECT is a folder with tests that pass; nothing is written there, for a copy is judged. EXE has pytest and what
the tests need; the EXE of --mutmut has mutmut (3 or later) beside that, in an environment made for the purpose. The
minutes are shared out to the projects; what they do not suffice for is left out, and said on standard error, where it
is told too how far it has come, and which verdicts differ. Prints one `name=value` a line, for each project and at last
over all.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from judging.agreement import Figures, Pair, compared, covering_ratio
from judging.budget import Budget, shares
from judging.candidates import Trial, make_trials
from judging.fresh import FreshRuns, copy_project, note
from judging.mutation import mutation_figures

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Candidate, Codebase, Oracle, Span, Suite, Verdict

_WORST: dict[str, Callable[[list[float]], float]] = {
    "speed_against_whole_fresh": min,
    "speed_against_covering_fresh": min,
    "docker_against_bubblewrap": max,
    "two_workers_against_one": min,
    "second_opening_ratio": min,
    "mutants_against_mutmut": min,
}
PARTS = ("opening", "agreement", "sandboxes", "workers", "mutmut")
_WHOLE_SHARE, _COVERING_SHARE = 0.7, 0.4
"""Of the time that a project has left when each of these comparisons begins."""


def main() -> None:
    options = _options()
    each: dict[str, Figures] = {}
    for project, seconds in shares(60 * options.minutes, options.projects):
        budget = Budget(seconds, project.resolve().name)
        with tempfile.TemporaryDirectory(prefix="rtc-benchmark-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
            root = copy_project(project.resolve(), folder)
            each[project.resolve().name] = Bench(root, folder, options, budget).figures()
        _print(f"{project.resolve().name}_", each[project.resolve().name])
    _print("", _over_all(each))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path, nargs="+", metavar="PROJECT")
    parser.add_argument("--python", help="interpreter that runs the tests")
    parser.add_argument("--sandbox", default="bubblewrap")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all projects together")
    parser.add_argument("--candidates", type=int, default=70, help="of each project, at most")
    parser.add_argument(
        "--covering", type=int, default=30, help="how many of them are run by their covering tests afresh"
    )
    parser.add_argument("--some", type=int, default=24, help="how many of them compare sandboxes and workers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutmut", help="interpreter that has mutmut")
    parser.add_argument("--parts", default=",".join(PARTS), type=lambda text: text.split(","))
    return parser.parse_args()


def _print(prefix: str, figures: Figures) -> None:
    for name, value in figures.items():
        print(f"{prefix}{name}={value:.6g}", flush=True)


class Bench:
    """All figures of one project."""

    def __init__(self, root: Path, folder: Path, options: argparse.Namespace, budget: Budget) -> None:
        """`root`: a copy in `folder`, which is thrown away. The suite is learned here: a first opening."""
        self._root, self._folder, self._options, self._budget = root, folder, options, budget
        self._settings = OracleSettings(sandbox=options.sandbox, python=options.python, workers=1)
        self._codebase: Codebase = open_codebase(root)
        budget.begin("the suite is learned")
        self._suite, self._first = self._opened()
        note(f"{root.name}: {len(self._suite.tests)} tests, learned in {self._first:.1f} s")
        self._trials = make_trials(self._codebase, self._suite, options.candidates, options.seed)
        self._some = self._trials[: options.some]

    def figures(self) -> Figures:
        """Of the parts asked for."""
        found: Figures = {"tests": len(self._suite.tests), "tests_set_aside": len(self._suite.excluded)}
        parts: dict[str, Callable[[], Figures]] = {
            "opening": self._opening,
            "agreement": self._agreement,
            "sandboxes": self._sandboxes,
            "workers": self._workers,
            "mutmut": self._mutmut,
        }
        for name, part in parts.items():
            if name in self._options.parts and self._budget.begin(name):
                try:
                    found |= part()
                except SandboxError as error:
                    note(f"{self._root.name}: {name} is left out: {error}")
        return found

    @contextmanager
    def _oracle(self, **changes: object) -> Iterator[Oracle]:
        settings = replace(self._settings, **changes)  # type: ignore[arg-type]
        with closing(open_oracle(self._codebase, settings, note)) as oracle:
            yield oracle

    def _opened(self) -> tuple[Suite, float]:
        """The suite, and the seconds it took to have it."""
        started = time.perf_counter()
        with self._oracle() as oracle:
            suite = oracle.suite(_silent)
            return suite, time.perf_counter() - started

    def _opening(self) -> Figures:
        """The second opening has the cache of the first."""
        second = self._opened()[1]
        return {"first_opening_seconds": self._first, "second_opening_ratio": self._first / second}

    def _agreement(self) -> Figures:
        """Each candidate by us and afresh, one after the other, so that a busy machine slows both alike.

        The fresh runs change the copy and restore it.
        """
        each, fresh = self._budget.each, self._fresh_runs()
        with self._oracle() as oracle:
            _warm_up(oracle, self._trials)
            pairs = [
                Pair(trial, *_timed(oracle, trial), fresh.whole(trial.candidate))
                for _, trial in each(self._trials, "judged by us and by the whole suite afresh", _WHOLE_SHARE)
            ]
        swappable = [pair.trial for pair in pairs if pair.trial.swappable][: self._options.covering]
        alone, covering = list[float](), list[float]()
        with self._oracle(confirm_whole_suite=False) as oracle:
            _warm_up(oracle, self._trials)
            for _, trial in each(swappable, "judged by us and by covering tests afresh", _COVERING_SHARE):
                alone.append(_timed(oracle, trial)[1])
                covering.append(fresh.covering(trial.candidate, trial.tests).seconds)
        return compared(pairs) | covering_ratio(alone, covering)

    def _fresh_runs(self) -> FreshRuns:
        """With compiled code at hand, and a limit by the time of the unmodified project."""
        sandbox = choose_sandbox(self._options.sandbox, None, note)
        fresh = FreshRuns(self._root, sandbox, self._settings, [*self._suite.excluded])
        fresh.compile_into(self._folder / "compiled")
        plain = fresh.whole(None)
        if not plain.passed:
            raise SystemExit(f"The unmodified {self._root.name} fails under plain pytest:\n{plain.said}")
        fresh.limit = 5 + 5 * plain.seconds
        return fresh

    def _sandboxes(self) -> Figures:
        """Each candidate in both, one after the other, so that a busy machine slows both alike."""
        with self._oracle(sandbox="docker") as docker, self._oracle(sandbox="bubblewrap") as bubblewrap:
            _warm_up(docker, self._some)
            _warm_up(bubblewrap, self._some)
            pairs = []
            for number, trial in self._budget.each(self._some, "judged in both sandboxes", 0.5):
                order = (docker, bubblewrap) if number % 2 else (bubblewrap, docker)
                seconds = {oracle.name: _timed(oracle, trial)[1] for oracle in order}
                pairs.append((seconds[docker.name], seconds[bubblewrap.name]))
        first, second = zip(*pairs, strict=True)
        return {
            "docker_mean_seconds": statistics.mean(first),
            "bubblewrap_mean_seconds": statistics.mean(second),
            "docker_against_bubblewrap": statistics.median(one / other for one, other in pairs),
        }

    def _workers(self) -> Figures:
        """Halves of the candidates in the order one, two, two, one worker, against drift."""
        half = len(self._some) // 2
        halves = self._some[:half], self._some[half : 2 * half]
        with self._oracle(workers=1) as one, self._oracle(workers=2) as two:
            for oracle, workers in ((one, 1), (two, 2)):
                _seconds(oracle, workers, self._some[2 * half - 4 :])  # starts the processes
            plan = ((one, 1, 0), (two, 2, 0), (two, 2, 1), (one, 1, 1))
            spent = {1: 0.0, 2: 0.0}
            for oracle, workers, part in plan:
                spent[workers] += _seconds(oracle, workers, halves[part])
        rates = {workers: 2 * half / seconds for workers, seconds in spent.items()}
        return {
            "one_worker_candidates_per_second": rates[1],
            "two_workers_candidates_per_second": rates[2],
            "two_workers_against_one": rates[2] / rates[1],
        }

    def _mutmut(self) -> Figures:
        if self._options.mutmut is None:
            note("no --mutmut, so no comparison with it")
            return {}
        with self._oracle() as oracle:
            return mutation_figures(self._codebase, self._suite, oracle, self._settings, self._options.mutmut)


def _timed(oracle: Oracle, trial: Trial) -> tuple[Verdict, float]:
    started = time.perf_counter()
    return oracle.judge(trial.candidate, trial.tests), time.perf_counter() - started


def _warm_up(oracle: Oracle, trials: Sequence[Trial]) -> None:
    """Start the processes, and have asked what is asked once a file: by a text that passes and one that fails."""
    for trial in {trial.candidate.file.path: trial for trial in trials}.values():
        file = trial.candidate.file
        for text in ("\n# benchmark\n", "\nraise ImportError\n"):
            oracle.judge(Candidate(file, Span(len(file.text), len(file.text)), text), trial.tests)


def _seconds(oracle: Oracle, workers: int, trials: Sequence[Trial]) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda trial: oracle.judge(trial.candidate, trial.tests), trials))
    return time.perf_counter() - started


def _over_all(each: Mapping[str, Figures]) -> Figures:
    """Sums of counts, means over all candidates, and of ratios the worst."""
    totals: Figures = {"projects": len(each)}
    for name in ("candidates", "passes", "not_judged", "disagreements"):
        if any(name in figures for figures in each.values()):
            totals[name] = sum(figures.get(name, 0) for figures in each.values())
    mine = sum(figures.get("ours_total_seconds", 0.0) for figures in each.values())
    if mine:
        theirs = sum(figures.get("whole_fresh_total_seconds", 0.0) for figures in each.values())
        totals["mean_speed_against_whole_fresh"] = theirs / mine
    for name, choose in _WORST.items():
        values = [figures[name] for figures in each.values() if name in figures]
        if values:
            totals[f"worst_{name}"] = choose(values)
    return totals


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""


if __name__ == "__main__":
    main()
