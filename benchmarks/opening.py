"""Open a project as a user does, against plain pytest: until a model is asked, until all is drawn, again, and to judge.

What somebody waits for is measured by the clock, so the machine must be quiet, with at least two cores, which our
program may both use. The processor's time over plain pytest's stands beside each as `..._cpu_vs_plain`, which other
work disturbs less; the whole opening, during which models would write, is held to that alone.

    python benchmarks/opening.py PROJECT [PROJECT ...] [--python EXE] [--regions 12] [--seed 0] [--passes 3]
                                 [--tree FOLDER]

Plain pytest is `EXE -m pytest` in a copy of the project's folder, without a sandbox: name projects that you trust. The
faster of two runs by the clock counts, after one that compiles.
`--tree`: another checkout of this program to measure in place of this one. Prints one `name=value` a line for each
project, and at last the medians:

- `first_request_vs_plain`: `sample` until its first admitted region, which is when a model would be asked.
- `opening_cpu_vs_plain`: `sample` to its end; `second_opening_vs_plain`: the same once more, all being kept.
- `judge_cold_vs_plain`: `judge` of a deletion with nothing kept.
- `pass_vs_plain`: the median verdict on regions with a comment behind them, by a judge for each core.

`..._in_STAGE` are seconds of `sample` and `judge` by the clock, by the stage that our program says it is in; `start` is
what comes before the first one.

Standard error says what the verdicts were, and the last words of a `sample` that did not end well.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from judging.fresh import copy_project, note, processor_seconds

HERE = Path(__file__).parent.parent
RATIOS = ("first_request", "opening_cpu", "second_opening", "judge_cold", "pass")
FOLLOWED = """
import sys, time
from rtc_inspector.app.console import Display
stages = []
def report(self, stage, done, total):
    if not stages or stages[-1] != stage:
        stages.append(stage)
        print(f"STAGE {{time.time()}} {{stage}}", file=sys.stderr, flush=True)
Display.report = report
from rtc_inspector.app.cli import main
sys.exit(main({words!r}))
"""
PASSES = """
import json, sys, time
from pathlib import Path
sys.path.insert(0, {benchmarks!r})
from judging.fresh import processor_seconds
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.settings import OracleSettings, with_workers
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Candidate, Span
codebase = open_codebase(Path({root!r}))
settings = with_workers(OracleSettings(sandbox="bubblewrap", python={python!r}), usable_cores())
oracle = open_oracle(codebase, settings, lambda text: None)
oracle.suite(lambda *_: None)
for number, (item, comment) in enumerate(json.loads(sys.stdin.read())):
    candidate = Candidate(codebase.file(item["path"]), Span(item["start"], item["end"]), item["text"] + comment)
    used, since = processor_seconds(), time.perf_counter()
    verdict = oracle.judge(candidate, item["tests"])
    print(json.dumps([str(verdict.outcome), processor_seconds() - used, time.perf_counter() - since]), flush=True)
oracle.close()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path, nargs="+", metavar="PROJECT")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs the tests")
    parser.add_argument("--regions", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--passes", type=int, default=3, help="honest rewrites to judge; 0: none")
    parser.add_argument("--tree", type=Path, default=HERE, help="checkout of this program to measure")
    options = parser.parse_args()
    each: list[dict[str, float]] = []
    for project in options.projects:
        with tempfile.TemporaryDirectory(prefix="rtc-benchmark-") as name:
            Path(name).chmod(0o755)
            each.append(Opening(copy_project(project.resolve(), Path(name)), options).figures())
        for key, value in each[-1].items():
            print(f"{project.resolve().name}_{key}={value:.4g}", flush=True)
    for key in RATIOS:
        values = [found[f"{key}_vs_plain"] for found in each if f"{key}_vs_plain" in found]
        if values:
            print(f"{key}_vs_plain={statistics.median(values):.4g}")


class Opening:
    """One project, `root` being a copy of it."""

    def __init__(self, root: Path, options: argparse.Namespace) -> None:
        self._root, self._options = root, options
        self._items: list[dict[str, Any]] = []
        self._stages: dict[str, float] = {}

    def figures(self) -> dict[str, float]:
        """Return the project's figures; a part that does not end well is said and left out."""
        self._plain()  # compiles what is to be compiled
        plain = min(self._plain(), self._plain(), key=lambda each: each[1])
        found = {"plain_cpu_seconds": plain[0], "plain_seconds": plain[1]}
        for cache, name in (("one", "opening"), ("one", "second_opening"), ("two", "judge_cold")):
            measured = self._judge(cache) if name == "judge_cold" else self._sample(cache, first=name == "opening")
            for key, (cpu, seconds) in measured.items():
                key = key or name
                clock = "opening_clock" if key == "opening" else key
                found |= {f"{clock}_vs_plain": seconds / plain[1], f"{key}_cpu_vs_plain": cpu / plain[0]}
            found |= {f"{name}_in_{stage}": seconds for stage, seconds in self._stages.items()}
        passes = self._passes("two") if self._options.passes else []
        if passes:
            cpu, seconds = (statistics.median(each) for each in zip(*passes, strict=True))
            found |= {"pass_vs_plain": seconds / plain[1], "pass_cpu_vs_plain": cpu / plain[0]}
        return found

    def _plain(self) -> tuple[float, float]:
        used, since = processor_seconds(), time.perf_counter()
        source = self._root / "src" if (self._root / "src").is_dir() else self._root
        words = [self._options.python, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        subprocess.run(words, cwd=self._root, env=environment, capture_output=True, check=False)
        return processor_seconds() - used, time.perf_counter() - since

    def _program(self, words: list[str], cache: str, given: str = "") -> subprocess.Popen[str]:
        home = self._root.parent / cache
        environment = {**os.environ, "XDG_CACHE_HOME": str(home), "PYTHONPATH": str(self._options.tree)}
        pipe = subprocess.PIPE
        log = (self._root.parent / "log").open("a")
        started = subprocess.Popen(
            [sys.executable, *words], stdin=pipe, stdout=pipe, stderr=log, text=True, env=environment, cwd="/"
        )
        if started.stdin is not None:
            started.stdin.write(given)
            started.stdin.close()
        return started

    def _sample(self, cache: str, *, first: bool) -> dict[str, tuple[float, float]]:
        """Measure `sample`: until its first admitted region, and to its end."""
        used, since, found = processor_seconds(), time.perf_counter(), dict[str, tuple[float, float]]()
        words = ["sample", str(self._root), "--json", "--python", self._options.python]
        words += ["--sandbox", "bubblewrap", "--regions", str(self._options.regions), "--seed", str(self._options.seed)]
        program = self._followed(words, cache)
        for line in program.stdout or ():
            item = json.loads(line)
            if first and item.get("admitted"):
                found.setdefault("first_request", (processor_seconds() - used, time.perf_counter() - since))
                self._items.append(item)
        if program.wait():
            note(f"{self._root.name}: sample ended with {program.returncode}")
            note((self._root.parent / "log").read_text()[-800:])
            return found
        self._take_stages()
        return found | {"": (processor_seconds() - used, time.perf_counter() - since)}

    def _followed(self, words: list[str], cache: str) -> subprocess.Popen[str]:
        """Start our program so that it says when it enters a stage."""
        self._begun = time.time()
        (self._root.parent / "log").write_text("")
        return self._program(["-c", FOLLOWED.format(words=words)], cache)

    def _take_stages(self) -> None:
        self._stages = {}
        stage, since = "start", self._begun
        log = (self._root.parent / "log").read_text(errors="replace")
        for line in [*log.splitlines(), f"STAGE {time.time()} end"]:
            if line.startswith("STAGE "):
                _, at, following = line.split(" ", 2)
                self._stages[stage] = self._stages.get(stage, 0.0) + float(at) - since
                stage, since = following.replace(" ", "_").replace(":", ""), float(at)

    def _judge(self, cache: str) -> dict[str, tuple[float, float]]:
        """Measure `judge` of the first admitted region's deletion."""
        if not self._items:
            return {}
        item = self._items[0]
        replacement = self._root.parent / "replacement"
        replacement.write_text("pass")
        used, since = processor_seconds(), time.perf_counter()
        words = ["judge", str(self._root), "--json", "--python", self._options.python, "--path", item["path"]]
        words += ["--start", str(item["start"]), "--end", str(item["end"]), "--replacement", str(replacement)]
        program = self._followed([*words, "--sandbox", "bubblewrap"], cache)
        said = json.loads((program.stdout.read() if program.stdout else "") or "{}")
        program.wait()
        note(f"{self._root.name}: judge says {said.get('outcome')}")
        self._take_stages()
        return {"": (processor_seconds() - used, time.perf_counter() - since)}

    def _passes(self, cache: str) -> list[tuple[float, float]]:
        """Measure verdicts on honest rewrites; the first starts the processes and is left out."""
        asked = [
            (self._items[n % len(self._items)], f"  # {n}") for n in range(self._options.passes + 1) if self._items
        ]
        code = PASSES.format(
            benchmarks=str(HERE / "benchmarks"), root=str(self._root), python=str(self._options.python)
        )
        program = self._program(["-c", code], cache, json.dumps(asked))
        said = [json.loads(line) for line in program.stdout or ()]
        program.wait()
        note(f"{self._root.name}: {[outcome for outcome, *_ in said]}")
        return [(cpu, seconds) for outcome, cpu, seconds in said[1:] if outcome == "pass"]


if __name__ == "__main__":
    main()
