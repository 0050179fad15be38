"""How often a rewrite that is not refused changes what a project's tests say, and what such rewrites look like.

    python benchmarks/rewrites.py PROJECT... [--kinds rename swap ...] [--seeds 3] [--most 200] [--failures FILE]

Every function that the tests run is rewritten, by several seeds; each distinct text is judged by the project's tests.
One line a project and kind: refused (then the commonest reasons), kept, changed the meaning; `same` texts equal their
original, `undone` swaps were restored by a second one. `--failures` keeps the differences of what changed the meaning.
"""

from __future__ import annotations

import argparse
import difflib
import random
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from rtc_inspector.core.regions.candidates import as_region
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.rewrites.program import Program, Refused, Rewritten
from rtc_inspector.core.rewrites.transformations import TRANSFORMATIONS, document
from rtc_inspector.core.settings import OracleSettings, RegionSettings
from rtc_inspector.core.source.functions import functions
from rtc_inspector.core.syntax import Lines
from rtc_inspector.core.trips.judged import Judged, open_judged
from rtc_inspector.core.trips.versions import changed
from rtc_inspector.core.types import Candidate, Outcome, SourceFile, Verdict

WORDS = (
    "Return what is asked for.",
    'Say "why" it fails, e.g. on C:\\new, and go on\nwith the next line; `"""` ends nothing here "',
    "It goes through the values one by one, keeps those that are wanted, and gives them back in the order they came.",
)
"""What a model might write into a docstring: with quotes and backslashes, and longer than a line."""


def rewritten(kind: str, program: Program, path: str, start: int, seed: int) -> Rewritten:
    """By a transformation, `document` included, which alone needs words."""
    if kind == "document":
        return document(program, path, start, WORDS[seed % len(WORDS)])
    return TRANSFORMATIONS[kind](program, path, start, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path, nargs="+")
    parser.add_argument("--kinds", nargs="*", default=["rename", "swap", "logging", "permute", "document"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=200, help="texts judged of each kind and project")
    parser.add_argument("--failures", type=Path)
    parser.add_argument("--python", help="interpreter with the projects' requirements")
    options = parser.parse_args()
    for project in options.projects:
        began = time.monotonic()
        try:
            with ExitStack() as stack:
                judged = open_judged(stack, project, OracleSettings(python=options.python), quiet, quiet)
                tests = len(judged.suite.tests)
                print(f"{project.name}: {tests} tests, {time.monotonic() - began:.0f} s to learn", flush=True)
                for kind in options.kinds:
                    on_project(project.name, judged, kind, options.seeds, options.most, options.failures)
        except Exception as error:  # the next project is worth trying whatever became of this one
            print(f"{project.name}: {type(error).__name__}: {error}", flush=True)


def quiet(*_: object) -> None:
    """Nobody reads what is under way."""


def on_project(name: str, judged: Judged, kind: str, seeds: int, most: int, failures: Path | None) -> None:
    files = {file.path: file for file in judged.codebase.files}
    program = Program({path: file.text for path, file in files.items()})
    counts, reasons = Counter[str](), Counter[str]()
    places = []
    for file in files.values():
        if not file.is_test:
            regions = [as_region(file, each.body, Lines(file.text)) for each in functions(file)]
            starts = {each.body: each.span.start for each in functions(file)}
            settings = RegionSettings(coverage="any")
            places += [
                (file.path, starts[r.span], r.tests) for r in cover(regions, judged.suite.coverage, settings, file)
            ]
    random.Random(1).shuffle(places)
    began = time.monotonic()
    for path, start, tests in places:
        if counts["judged"] >= most:
            break
        seen = set[str]()
        for seed in range(seeds):
            try:
                found = rewritten(kind, program, path, start, seed)
            except Refused as refused:
                counts["refused"] += 1
                reasons[str(refused)] += 1
                break
            text = found.text(path, files[path].text)
            if text in seen:
                continue
            seen.add(text)
            counts["same"] += text == files[path].text
            counts["undone"] += kind == "swap" and undone(program, path, start, seed, text)
            verdict = judged.oracle.judge(candidate_of(files, path, found), tests)
            counts["judged"] += 1
            counts["passed" if verdict.outcome is Outcome.PASS else "failed"] += 1
            if verdict.outcome is not Outcome.PASS and failures is not None:
                tell(failures, f"{name} {kind} {seed} {path}", files[path].text, text, verdict)
    undone_swaps = f" undone={counts['undone']}" if kind == "swap" else ""
    share = counts["passed"] / counts["judged"] if counts["judged"] else float("nan")
    print(
        f"  {kind}: functions={len(places)} refused={counts['refused']} judged={counts['judged']} "
        f"passed={counts['passed']} failed={counts['failed']} share={share:.4f} same={counts['same']}"
        f"{undone_swaps} seconds={time.monotonic() - began:.0f}",
        flush=True,
    )
    for reason, count in reasons.most_common(4):
        print(f"    refused {count}: {reason}", flush=True)


def candidate_of(files: Mapping[str, SourceFile], path: str, rewritten: Rewritten) -> Candidate:
    """A rewrite as something to judge: the file at `path`, and those that had to follow."""
    changes = {each: changed(files[each], rewritten.text(each, files[each].text)) for each in {path, *rewritten.edits}}
    home = changes.pop(path)
    return Candidate(home.file, home.span, home.replacement, tuple(changes.values()))


def undone(program: Program, path: str, start: int, seed: int, text: str) -> bool:
    """Whether the same swap of what came out gives back the original."""
    try:
        again = TRANSFORMATIONS["swap"](Program({path: text}), path, start, seed)
    except Refused:
        return False
    return again.text(path, text) == program.files[path]


def tell(failures: Path, where: str, before: str, after: str, verdict: Verdict) -> None:
    changed = "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))
    bad = [f"{test.node_id}: {test.message[-300:]}" for test in verdict.tests if test.outcome != "passed"][:2]
    with failures.open("a") as file:
        file.write(f"=== {where}: {verdict.outcome} {verdict.detail}\n{changed}\n" + "\n".join(bad) + "\n")


if __name__ == "__main__":
    main()
