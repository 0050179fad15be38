"""Whether the judge refuses honest code: original text judged again and again, and functions written anew.

    python benchmarks/honest.py identities PROJECT [PROJECT ...] [--python EXE] [--regions 6] [--times 25]
    python benchmarks/honest.py survey FOLDER [FOLDER ...] [--functions 1500] [--seed 0]

`identities` judges the text that is there, for regions drawn as a run draws them; each PROJECT is a folder with tests
that pass, and EXE has pytest and what the tests need. `survey` takes public functions of any Python files below the
folders and screens each as the reconstruction of a function of its name and arguments with an empty body. Prints one
`name=value` a line; what is refused is told on standard error.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.inside.screening import LINE, screen
from rtc_inspector.core.regions.candidates import draw, find_regions
from rtc_inspector.core.settings import OracleSettings, RegionSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Candidate, Outcome

EQUALITY = ("__eq__", "__ne__")
Function = tuple[str, str, str, str]


def main() -> None:
    options = _options()
    if options.what == "identities":
        identities(options.folders, options.python, options.regions, options.times)
    else:
        survey(options.folders, options.functions, options.seed)


def identities(projects: Sequence[Path], python: str | None, wanted: int, times: int) -> None:
    """Judge the original text of some regions of each project, in a new process each time the text is."""
    whole: Counter[str] = Counter()
    for project in projects:
        found: Counter[str] = Counter()
        codebase = open_codebase(project)
        settings = OracleSettings(sandbox="bubblewrap", python=python, workers=1, cache=False)
        with closing(open_oracle(codebase, settings, _note)) as oracle:
            suite = oracle.suite(lambda stage, done, total: None)
            regions = find_regions(codebase.files, suite.coverage, RegionSettings(), lambda *_: None).regions
            chosen = list(islice(draw(regions, 0, allow_overlap=False), wanted))
            for number in range(times):
                for region in chosen:
                    # A comment behind the file makes each text another one, which nothing remembers.
                    file = codebase.file(region.path)
                    noted = replace(file, text=f"{file.text.rstrip()}\n# {number}\n")
                    verdict = oracle.judge(Candidate(noted, region.span, region.text), region.tests)
                    found[verdict.outcome] += 1
                    if verdict.outcome is not Outcome.PASS:
                        _note(f"{project.name} {region.path} {region.span}: {verdict.outcome} {verdict.detail}")
        _tell(f"{project.name}_identities", found)
        whole.update(found)
    _tell("all_identities", whole)


def _tell(name: str, found: Counter[str]) -> None:
    judged = found.total() - found[Outcome.NOT_EXECUTED]  # what no test imports is refused for that
    print(f"{name}={judged}\n{name}_refused={judged - found[Outcome.PASS]}", flush=True)


def survey(folders: Sequence[Path], wanted: int, seed: int) -> None:
    """Screen public functions, drawn by lot, as if each had been written anew; say how many are held up."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py")) if "test" not in str(path)]
    functions = [found for path in paths for found in _functions(path)]
    chosen = random.Random(seed).sample(functions, min(wanted, len(functions)))
    _screen("functions", chosen)
    _screen("comparisons", [found for found in functions if found[1] in EQUALITY])


def _screen(what: str, functions: Sequence[Function]) -> None:
    held = 0
    for where, name, emptied, text in functions:
        if reasons := screen(emptied, text):
            held += 1
            _note(f"{where} {name}: {', '.join(reasons)}")
    print(f"{what}={len(functions)}\n{what}_held_up={held}")


def _functions(path: Path) -> Iterator[Function]:
    """Place, name, the file with that function's body left out, and the file, of each public function and method."""
    try:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return
    lines = LINE.findall(text)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        public = not node.name.startswith("_") or node.name.startswith("__")
        first, last = node.body[0].lineno, node.end_lineno or 0
        margin = lines[first - 1][: node.body[0].col_offset]
        if public and not margin.strip():
            emptied = "".join([*lines[: first - 1], margin + "pass\n", *lines[last:]])
            with suppress(SyntaxError):  # a header that is continued by a backslash
                ast.parse(emptied)
                yield f"{path}:{node.lineno}", node.name, emptied, text


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("identities", "survey"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--python")
    parser.add_argument("--regions", type=int, default=6)
    parser.add_argument("--times", type=int, default=25)
    parser.add_argument("--functions", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
