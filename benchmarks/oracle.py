"""The judge against plain pytest: verdicts, speed, sandboxes, workers, second openings, and a mutation tester.

    python benchmarks/oracle.py PROJECT [PROJECT ...] [--python EXE] [--candidates 80] [--fresh 80] [--covering 30]
                                [--seconds S]
                                [--parts agreement,sandboxes,workers,opening,mutmut] [--mutmut EXE]

Each PROJECT is a folder with tests that pass; nothing is written there, for a copy is judged. EXE has pytest and what
the tests need; the EXE of --mutmut has mutmut (3 or later) beside that, in an environment made for the purpose. Prints
one `name=value` a line, for each project and at last over all; disagreements of verdicts are told on standard error.
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

from judging.candidates import Trial, make_trials
from judging.fresh import Fresh, FreshRuns, copy_project, note
from judging.mutation import mutation_figures

from core.oracle.factory import open_oracle
from core.oracle.sandbox.choose import choose_sandbox
from core.settings import OracleSettings
from core.source.codebase import open_codebase
from core.types import Candidate, Codebase, Oracle, Outcome, Span, Verdict

Figures = dict[str, float]
Judged = Mapping[int, tuple[Verdict, float]]
_WORST: dict[str, Callable[[list[float]], float]] = {
    "speed_against_whole_fresh": min,
    "speed_against_covering_fresh": min,
    "docker_against_bubblewrap": max,
    "two_workers_against_one": min,
    "second_opening_ratio": min,
    "mutants_against_mutmut": min,
}
PARTS = ("agreement", "sandboxes", "workers", "opening", "mutmut")


def main() -> None:
    options = _options()
    each: dict[str, Figures] = {}
    for project in options.projects:
        with tempfile.TemporaryDirectory(prefix="rtc-benchmark-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
            root = copy_project(project.resolve(), folder)
            each[project.resolve().name] = Bench(root, folder, options).figures()
        _print(f"{project.resolve().name}_", each[project.resolve().name])
    _print("", _over_all(each))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path, nargs="+", metavar="PROJECT")
    parser.add_argument("--python", help="interpreter that runs the tests")
    parser.add_argument("--sandbox", default="bubblewrap")
    parser.add_argument("--candidates", type=int, default=80, help="of each project")
    parser.add_argument("--fresh", type=int, default=80, help="how many of them are run by the whole suite afresh")
    parser.add_argument("--covering", type=int, default=30, help="how many by their covering tests afresh")
    parser.add_argument("--seconds", type=float, default=1e6, help="begin no fresh run of a project after so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutmut", help="interpreter that has mutmut")
    parser.add_argument("--parts", default=",".join(PARTS), type=lambda text: text.split(","))
    return parser.parse_args()


def _print(prefix: str, figures: Figures) -> None:
    for name, value in figures.items():
        print(f"{prefix}{name}={value:.6g}", flush=True)


class Bench:
    """All figures of one project."""

    def __init__(self, root: Path, folder: Path, options: argparse.Namespace) -> None:
        """`root`: a copy in `folder`, which is thrown away."""
        self._root, self._folder, self._options = root, folder, options
        self._settings = OracleSettings(sandbox=options.sandbox, python=options.python, workers=1)
        self._codebase: Codebase = open_codebase(root)
        with self._oracle() as oracle:
            self._suite = oracle.suite(_silent)
        self._trials = make_trials(self._codebase, self._suite, options.candidates, options.seed)

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
            if name in self._options.parts:
                note(f"{self._root.name}: {name}")
                found |= part()
        return found

    @contextmanager
    def _oracle(self, **changes: object) -> Iterator[Oracle]:
        settings = replace(self._settings, **changes)  # type: ignore[arg-type]
        with closing(open_oracle(self._codebase, settings, note)) as oracle:
            yield oracle

    def _opening(self) -> Figures:
        """Two openings, the second with the cache of the first."""
        os.environ["XDG_CACHE_HOME"] = str(self._folder / "empty")
        seconds = []
        for _ in range(2):
            started = time.perf_counter()
            with self._oracle() as oracle:
                oracle.suite(_silent)
                seconds.append(time.perf_counter() - started)
        os.environ["XDG_CACHE_HOME"] = str(self._folder / "cache")
        return {"first_opening_seconds": seconds[0], "second_opening_ratio": seconds[0] / seconds[1]}

    def _agreement(self) -> Figures:
        """Our verdicts first, for the fresh runs change the copy."""
        trials = self._trials[: self._options.fresh]
        swappable = [number for number, trial in enumerate(self._trials) if trial.swappable][: self._options.covering]
        with self._oracle() as oracle:
            _warm_up(oracle, self._trials)
            ours = {n: _timed(oracle, trial) for n, trial in enumerate(trials)}
        note(f"{len(ours)} candidates judged")
        with self._oracle(confirm_whole_suite=False) as oracle:
            _warm_up(oracle, self._trials)
            alone = {n: _timed(oracle, self._trials[n]) for n in swappable}
        fresh = FreshRuns(
            self._root, choose_sandbox(self._options.sandbox, None, note), self._settings, [*self._suite.excluded]
        )
        fresh.compile_into(self._folder / "compiled")
        plain = fresh.whole(None)
        if not plain.passed:
            raise SystemExit(f"The unmodified {self._root.name} fails under plain pytest:\n{plain.said}")
        fresh.limit = 5 + 5 * plain.seconds
        end = time.monotonic() + self._options.seconds
        whole = {n: fresh.whole(trial.candidate) for n, trial in enumerate(trials) if time.monotonic() < end}
        note(f"{len(whole)} candidates run afresh")
        end = time.monotonic() + self._options.seconds / 4
        covering = {
            n: fresh.covering(self._trials[n].candidate, self._trials[n].tests)
            for n in swappable
            if time.monotonic() < end
        }
        return self._compared(ours, whole) | _covering_ratio({n: alone[n] for n in covering}, covering)

    def _compared(self, ours: Judged, whole: Mapping[int, Fresh]) -> Figures:
        ours = {n: ours[n] for n in whole}
        wrong = [n for n in ours if (ours[n][0].outcome is Outcome.PASS) != whole[n].passed]
        for n in wrong:
            self._explain(self._trials[n], ours[n][0], whole[n])
        ended = [n for n in ours if not whole[n].timed_out and ours[n][0].outcome is not Outcome.TIMEOUT]
        mine = statistics.mean(ours[n][1] for n in ended)
        theirs = statistics.mean(whole[n].seconds for n in ended)
        return {
            "candidates": len(ours),
            "passes": sum(fresh.passed for fresh in whole.values()),
            "timeouts": len(ours) - len(ended),
            "not_judged": sum(not verdict.outcome.judged for verdict, _ in ours.values()),
            "disagreements": len(wrong),
            "whole_fresh_mean_seconds": theirs,
            "ours_mean_seconds": mine,
            "speed_against_whole_fresh": theirs / mine,
        }

    def _explain(self, trial: Trial, verdict: Verdict, fresh: Fresh) -> None:
        file, span = trial.candidate.file, trial.candidate.span
        note(f"DISAGREEMENT {trial.kind} {file.path}:{span.start}-{span.end}")
        note(f"  original: {file.text[span.start : span.end]!r}\n  candidate: {trial.candidate.replacement!r}")
        note(f"  ours: {verdict.outcome}: {verdict.detail}")
        note(f"  fresh: {'pass' if fresh.passed else 'not pass'}: {fresh.said[-1500:]}")

    def _sandboxes(self) -> Figures:
        """Each candidate in both, one after the other, so that a busy machine slows both alike."""
        with self._oracle(sandbox="docker") as docker, self._oracle(sandbox="bubblewrap") as bubblewrap:
            _warm_up(docker, self._trials)
            _warm_up(bubblewrap, self._trials)
            pairs = []
            for number, trial in enumerate(self._trials):
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
        half = len(self._trials) // 2
        halves = self._trials[:half], self._trials[half : 2 * half]
        with self._oracle(workers=1) as one, self._oracle(workers=2) as two:
            for oracle, workers in ((one, 1), (two, 2)):
                _seconds(oracle, workers, self._trials[2 * half - 4 :])  # starts the processes
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
    """Start the processes and ask once for each file whether tests import it: that costs once a run."""
    for trial in {trial.candidate.file.path: trial for trial in trials}.values():
        file = trial.candidate.file
        oracle.judge(Candidate(file, Span(len(file.text), len(file.text)), "\n# benchmark\n"), trial.tests)


def _seconds(oracle: Oracle, workers: int, trials: Sequence[Trial]) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda trial: oracle.judge(trial.candidate, trial.tests), trials))
    return time.perf_counter() - started


def _covering_ratio(ours: Judged, fresh: Mapping[int, Fresh]) -> Figures:
    """Medians over candidates in functions; whole-suite confirmation is left out on both sides."""
    if not ours:
        return {}
    mine = statistics.median(seconds for _, seconds in ours.values())
    theirs = statistics.median(run.seconds for run in fresh.values())
    return {
        "covering_fresh_median_seconds": theirs,
        "ours_covering_median_seconds": mine,
        "speed_against_covering_fresh": theirs / mine,
    }


def _over_all(each: Mapping[str, Figures]) -> Figures:
    """Sums of counts, and of ratios the worst."""
    totals: Figures = {"projects": len(each)}
    for name in ("candidates", "passes", "not_judged", "disagreements"):
        if any(name in figures for figures in each.values()):
            totals[name] = sum(figures.get(name, 0) for figures in each.values())
    smallest = (
        "speed_against_whole_fresh",
        "speed_against_covering_fresh",
        "second_opening_ratio",
        "two_workers_against_one",
    )
    for name, choose in [*((name, min) for name in smallest), ("docker_against_bubblewrap", max)]:
        values = [figures[name] for figures in each.values() if name in figures]
        if values:
            totals[f"worst_{name}"] = choose(values)
    return totals


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""


if __name__ == "__main__":
    main()
