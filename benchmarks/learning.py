"""Learning a project's tests against plain pytest: how long it takes, and which tests that pass there are trusted.

    python benchmarks/learning.py PROJECT [PROJECT ...] [--python EXE] [--candidates 24] [--seed 0]

Plain pytest is `EXE -m pytest` in a copy of the project's folder, with compiled code at hand, and without a sandbox:
name projects that you trust. Prints one `name=value` a line for each project, and at last the medians:

- `learning_against_plain`: seconds of a first opening over seconds of plain pytest, run before and after it.
- `trusted_share`: of the tests that pass under plain pytest; each other one is named on standard error, with why.
- `judge_command_seconds`: what `rtc-inspector judge` takes beside judging, where the suite is known; with judging, and
  the start of the process that judges, it is `judge_command_whole_seconds`.
- `failure_beyond_tests`: seconds of a judged failure beyond those of the tests that ran; the median over candidates.
- `failure_processor_beyond_tests`: the same of the processors' time, the mean, which other work on the machine disturbs
  less. (It is too small where tests wait.)
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from judging.agreement import Figures
from judging.candidates import make_trials
from judging.fresh import copy_project, note, processor_seconds

from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.sessionplan import read_options
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Candidate, Codebase, Oracle, Outcome, Suite

MEDIANS = (
    "learning_against_plain",
    "judge_command_seconds",
    "judge_command_whole_seconds",
    "failure_beyond_tests",
    "failure_processor_beyond_tests",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path, nargs="+", metavar="PROJECT")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs the tests")
    parser.add_argument("--candidates", type=int, default=24, help="of each project, at most; 0: judge none")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    each: list[Figures] = []
    for project in options.projects:
        with tempfile.TemporaryDirectory(prefix="rtc-benchmark-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
            each.append(figures(copy_project(project.resolve(), folder), options))
        for key, value in each[-1].items():
            print(f"{project.resolve().name}_{key}={value:.6g}", flush=True)
    for key in MEDIANS:
        values = [found[key] for found in each if key in found]
        if values:
            print(f"median_{key}={statistics.median(values):.6g}")
    plain, trusted = (sum(found[key] for found in each) for key in ("plain_passed", "plain_passed_and_trusted"))
    if plain:
        print(f"trusted_share={trusted / plain:.6g}")


def figures(root: Path, options: argparse.Namespace) -> Figures:
    """Of one project; `root` is a copy."""
    settings = OracleSettings(sandbox="bubblewrap", python=options.python, workers=1)
    passed, _ = plain(root, options.python)
    _, before = plain(root, options.python)
    codebase = open_codebase(root)
    with closing(open_oracle(codebase, settings, lambda text: note(f"  {text}"))) as oracle:
        started = time.perf_counter()
        suite = oracle.suite(_Stages())
        learning = time.perf_counter() - started
        _, after = plain(root, options.python)
        lost = [test for test in passed if test not in {case.node_id for case in suite.tests}]
        found: Figures = {
            "plain_passed": len(passed),
            "plain_passed_and_trusted": len(passed) - len(lost),
            "plain_seconds": (before + after) / 2,
            "learning_seconds": learning,
            "learning_against_plain": 2 * learning / (before + after),
        }
        note(f"{root.name}: {json.dumps(found)}")
        for test in lost:
            note(f"  not trusted: {test}: {suite.excluded.get(test, 'not found')}")
        if options.candidates:
            found |= _failures(codebase, suite, oracle, options)
            found |= _command(root, make_trials(codebase, suite, 1, options.seed)[0].candidate, options.python)
    return found


class _Stages:
    """Tells on standard error how long each stage of learning takes."""

    def __init__(self) -> None:
        self._stage, self._since = "", time.perf_counter()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if stage != self._stage:
            if self._stage:
                note(f"    {now - self._since:6.2f} s {self._stage}")
            self._stage, self._since = stage, now


def plain(root: Path, python: str) -> tuple[list[str], float]:
    """Node ids of what passes, and the seconds it took."""
    source = root / "src" if (root / "src").is_dir() else root
    own = ["-q", "-rp", "--tb=no", "-o", "addopts=", *read_options(root).kept]
    started = time.perf_counter()
    ended = subprocess.run(
        [python, "-m", "pytest", *own],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(source)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    return re.findall(r"^PASSED (.+)$", ended.stdout.decode(errors="replace"), re.MULTILINE), seconds


def _failures(codebase: Codebase, suite: Suite, oracle: Oracle, options: argparse.Namespace) -> Figures:
    """Of candidates that fail, the second half: the first starts the processes."""
    beyond, processors = [], []
    for trial in make_trials(codebase, suite, options.candidates, options.seed):
        used = processor_seconds()
        verdict = oracle.judge(trial.candidate, trial.tests)
        if verdict.outcome is Outcome.FAIL:
            ran = sum(test.seconds for test in verdict.tests)
            beyond.append(verdict.seconds - ran)
            processors.append(processor_seconds() - used - ran)
    later = len(beyond) // 2
    if not beyond:
        return {}
    return {
        "failures": len(beyond) - later,
        "failure_beyond_tests": statistics.median(beyond[later:]),
        "failure_processor_beyond_tests": statistics.mean(processors[later:]),
    }


def _command(root: Path, candidate: Candidate, python: str) -> Figures:
    """Seconds of the whole command, and less those of judging."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as replacement:
        replacement.write(candidate.replacement)
        replacement.flush()
        span = ["--start", str(candidate.span.start), "--end", str(candidate.span.end)]
        words = ["judge", str(root), "--path", candidate.file.path, *span, "--sandbox", "bubblewrap"]
        words += ["--replacement", replacement.name, "--python", python, "--json"]
        started = time.perf_counter()
        ended = subprocess.run(
            [sys.executable, "-m", "rtc_inspector", *words], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - started
    judging = float(json.loads(ended.stdout)["seconds"])
    return {"judge_command_seconds": seconds - judging, "judge_command_whole_seconds": seconds}


if __name__ == "__main__":
    main()
