"""mutmut on the same project, in the same kind of sandbox, against our judge on small mutations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from judging.candidates import mutants
from judging.fresh import note, output_of
from rtc_inspector.core.oracle.interpreter import describe
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits
from rtc_inspector.core.regions.candidates import draw, find_regions
from rtc_inspector.core.settings import OracleSettings, RegionSettings
from rtc_inspector.core.types import Candidate, Codebase, Oracle, Outcome, Region, Suite

BUDGET = 40.0
"""Seconds each side spends on mutants, beside what it needs to begin."""

# Runs mutmut on a copy in the scratch space; an interrupt after the budget makes it print what it has.
_INSIDE = r"""
import json, os, re, shutil, signal, subprocess, sys, threading, time
root, config, budget = sys.argv[1], sys.argv[2], float(sys.argv[3])
os.makedirs(os.environ["HOME"], exist_ok=True)
shutil.copytree(root, "work", ignore=shutil.ignore_patterns(".git")); os.chdir("work")
for name in ("pytest.ini", "tox.ini", "pyproject.toml"):  # options of coverage and display, as we leave them out
    if os.path.exists(name):
        text = re.sub(r"(?ms)^addopts *= *(\[.*?\]|[^\n]*(\n[ \t]+[^\n]*)*)", "", open(name).read())
        open(name, "w").write(text)
open("setup.cfg", "w").write(config)
begun, said = time.monotonic(), b""
command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1"]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
started = None
while piece := os.read(process.stdout.fileno(), 65536):
    said += piece
    if started is None and b"Running mutation testing" in said:
        started = time.monotonic()
        threading.Timer(budget, process.send_signal, [signal.SIGINT]).start()
rate = re.findall(rb"([0-9.]+) mutations/second", said)
begin = (started or time.monotonic()) - begun
print(json.dumps([float(rate[-1]) if rate else 0.0, begin, said.decode(errors="replace")[-1500:]]), flush=True)
os._exit(0)
"""


def mutation_figures(
    codebase: Codebase, suite: Suite, oracle: Oracle, settings: OracleSettings, mutmut: str
) -> dict[str, float]:
    """Mutants judged in a second by one process each."""
    theirs, begin = _theirs(codebase, suite, settings, mutmut)
    ours, killed = _ours(codebase, suite, oracle)
    return {
        "mutmut_mutants_per_second": theirs,
        "mutmut_seconds_to_begin": begin,
        "our_mutants_per_second": ours,
        "our_mutants_killed_share": killed,
        "mutants_against_mutmut": ours / theirs if theirs else 0.0,
    }


def _theirs(codebase: Codebase, suite: Suite, settings: OracleSettings, mutmut: str) -> tuple[float, float]:
    sandbox, python = choose_sandbox("bubblewrap", None, note), describe(Path(mutmut).absolute())
    launch = Launch(
        argv=(str(python.executable), "-c", _INSIDE, str(codebase.root), _config(codebase, suite), str(BUDGET)),
        cwd=sandbox.scratch,
        readonly=(codebase.root, *python.readonly),
        environment={"PATH": "/usr/bin:/bin", "HOME": f"{sandbox.scratch}/home", "PYTHONUTF8": "1"},
        limits=Limits(settings.memory_mib, settings.processes, 1024),
    )
    _, data = output_of(sandbox, launch, 900.0)
    rate, begin, said = json.loads(data.decode().splitlines()[-1])
    if not rate:
        note(f"mutmut judged nothing:\n{said}")
    return rate, begin


def _config(codebase: Codebase, suite: Suite) -> str:
    """Its settings file: the folders that hold covered code, and those of the tests."""
    code = {file.path for file in codebase.files if not file.is_test} & suite.coverage.lines.keys()
    tests = {test.node_id.partition("::")[0].partition("/")[0] for test in suite.tests}
    lines = ["[mutmut]", "source_paths=", *_listed(path.partition("/")[0] for path in code)]
    lines += ["do_not_mutate=", *_listed(f"{name}/*" for name in tests), "pytest_add_cli_args_test_selection="]
    return "\n".join([*lines, *_listed(tests)])


def _listed(words: Iterator[str] | set[str]) -> list[str]:
    return [f"    {word}" for word in sorted(set(words))]


def _ours(codebase: Codebase, suite: Suite, oracle: Oracle) -> tuple[float, float]:
    """Mutants of a second, with whole-suite confirmation of those that live, and the share that died."""
    first = {region.path: (region, text) for region, text in _drawn(codebase, suite)}
    for drawn in first.values():  # starts the processes, and asks once for each file whether tests import it
        oracle.judge(*_candidate(codebase, drawn))
    started, killed, judged = time.perf_counter(), 0, 0
    for drawn in _drawn(codebase, suite):
        killed += oracle.judge(*_candidate(codebase, drawn)).outcome is not Outcome.PASS
        judged += 1
        if time.perf_counter() - started > BUDGET:
            break
    return judged / (time.perf_counter() - started), killed / judged


def _drawn(codebase: Codebase, suite: Suite) -> Iterator[tuple[Region, str]]:
    """Mutants of regions in drawn order, the same every time."""
    found = find_regions(codebase.files, suite.coverage, RegionSettings(), _silent)
    for region in draw(found.regions, 0, allow_overlap=False):
        yield from mutants(codebase.file(region.path), [region])


def _candidate(codebase: Codebase, drawn: tuple[Region, str]) -> tuple[Candidate, tuple[str, ...]]:
    region, text = drawn
    return Candidate(codebase.file(region.path), region.span, text), region.tests


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""
