"""A benchmark written as a project with tests of its own, so that the oracle of projects judges it.

Its files:

    pyproject.toml           what the benchmark is called
    pytest.ini               the tests' names, so that nothing of a solution is taken for a test
    rtc_recording.py         records what a program gave, see `inside`
    problems/p_0007.py       the reference; `candidate` is the function that is asked for
    tests/test_p_0007.py     one test function a check
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from rtc_inspector.core.oracle.bench.splitting import CANDIDATE, split
from rtc_inspector.core.types import Problem, Span

VERSION = 1
"""Of what the tests of a problem are; a run is resumed on the same only."""
KEPT = 20
"""Generated projects that stay; the oldest go first."""
_INSIDE = Path(__file__).parent / "inside"
_RECORDING = _INSIDE / "rtc_recording.py"
_CELLS = _INSIDE / "rtc_cells.py"
_DONE = "complete"
ORIGIN_FILE = "rtc-origin.json"
"""For people, see `Origin`; no test reads it, so that a benchmark that was moved is not learned again."""
_BINDING = re.compile(rf"\n\n\n{CANDIDATE} = \w+\n\Z")
_PYTEST = """\
[pytest]
testpaths = tests
python_files = test_p_*.py
python_functions = test_[0-9]*
python_classes = NoClassIsATest
"""
_TEST_FILE = '''\
"""Tests of {key}."""

import problems.{module} as _problem

globals().update({{name: value for name, value in vars(_problem).items() if not name.startswith("__")}})

from rtc_recording import checked as _rtc_checked
from rtc_recording import near as _rtc_near
from rtc_recording import reference as _rtc_reference

{shared}
'''
_TEST = """

@_rtc_checked(_problem.{candidate})
def test_{number:03}({candidate}):
{body}
"""


def module_name(problem: Problem) -> str:
    """Return the name of the module that holds the problem's program."""
    return f"p_{problem.line:04}"


def program_path(problem: Problem) -> str:
    """Return the path of the problem's program in the generated project."""
    return f"problems/{module_name(problem)}.py"


def program_file(problem: Problem, program: str) -> str:
    """The whole file for a program: the tests take the function by the name `candidate`."""
    entry = problem.entry
    binding = "" if entry == CANDIDATE else f"\n\n\n{CANDIDATE} = {entry}"
    return program.rstrip("\n") + binding + "\n"


def without_binding(file: str) -> str:
    """The text of such a file as people know its program: without the name that the tests take the function by."""
    return _BINDING.sub("\n", file)


def file_of_tests(problem: Problem) -> str:
    """The problem's tests; no test function where no test calls the program."""
    parts = split(problem)
    head = _TEST_FILE.format(key=problem.key, module=module_name(problem), shared=parts.shared)
    tests = (_TEST.format(candidate=CANDIDATE, number=n, body=body) for n, body in enumerate(parts.bodies))
    return head + "".join(tests)


def node_ids(problem: Problem) -> tuple[str, ...]:
    """The node ids of the problem's tests."""
    count = len(split(problem).bodies)
    return tuple(f"tests/test_{module_name(problem)}.py::test_{number:03}" for number in range(count))


def project_folder() -> Path:
    """Return the folder where generated projects are kept."""
    return user_cache_path("rtc-inspector") / "benchmarks"


def write_project(problems: Sequence[Problem], name: str, folder: Path | None = None, source: str = "") -> Path:
    """The generated project of these problems; written when it is not there. Raises OSError.

    `name`: for people. `source`: the benchmark's file, for `origin_of`.
    """
    files = {f"tests/test_{module_name(problem)}.py": file_of_tests(problem) for problem in problems}
    files |= {program_path(problem): program_file(problem, problem.program) for problem in problems}
    keys = {program_path(problem): problem.key for problem in problems}
    return write_files(files, name, folder or project_folder(), Origin(source, keys))


@dataclass(frozen=True, slots=True)
class Origin:
    """What people know a generated project by: the benchmark's file, and the key of each problem by its program."""

    file: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)


def write_files(files: Mapping[str, str], name: str, folder: Path, origin: Origin) -> Path:
    """A generated project of these files, by path; written when it is not there. Raises OSError."""
    project = _written({**files, "pytest.ini": _PYTEST, "problems/__init__.py": ""}, name, folder)
    if origin_of(project) != origin:
        (project / ORIGIN_FILE).write_text(json.dumps(asdict(origin)), encoding="utf-8")
    return project


def is_generated(project: Path) -> bool:
    """Return whether it was written here from a file of problems or cells."""
    return (project / ORIGIN_FILE).is_file()


def needs_no_pytest(project: Path) -> bool:
    """Return whether it is a generated project of problems: their tests are functions that any program can call."""
    try:
        ours = (project / "pytest.ini").read_text(encoding="utf-8") == _PYTEST
        return ours and (project / _RECORDING.name).read_bytes() == _RECORDING.read_bytes() and not _cells(project)
    except OSError:
        return False


def _cells(project: Path) -> bool:
    """Return whether it holds cells of notebooks, whose code is not to run outside of a test."""
    return any(project.glob("problems/c_*.py"))


def origin_of(project: Path) -> Origin:
    """Return what a project was generated from; an empty origin for any other project."""
    try:
        return Origin(**json.loads((project / ORIGIN_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # earlier versions wrote the path alone
        return Origin()


def _written(files: Mapping[str, str], name: str, folder: Path) -> Path:
    texts = {**files, "pyproject.toml": f"[project]\nname = {json.dumps(name)}\n"}
    texts |= {file.name: file.read_text(encoding="utf-8") for file in (_RECORDING, _CELLS)}
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()
    # The window calls a project by its folder.
    project = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)[:40]}-{digest[:12]}"
    if (project / _DONE).is_file():
        os.utime(project / _DONE)
        return project
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
    try:
        for path, text in {**texts, _DONE: ""}.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, encoding="utf-8")
        made.chmod(0o755)
        shutil.rmtree(project, ignore_errors=True)
        made.rename(project)
    except OSError:
        if not (project / _DONE).is_file():  # else another process wrote the same
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    _trim(folder)
    return project


def _trim(folder: Path) -> None:
    kept = sorted(folder.glob(f"*/{_DONE}"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in kept[KEPT:]:
        shutil.rmtree(file.parent, ignore_errors=True)


# --------------------------------------------------------------------------- notebook cells

_CELL_TESTS = """\
import rtc_cells

CONTEXT = {context!r}
ORIGINAL = {code!r}


def ran():
    return rtc_cells.both({module!r}, CONTEXT, ORIGINAL)


def test_000_printed(record_property):
    rtc_cells.check_printed(ran(), record_property)


def test_001_value(record_property):
    rtc_cells.check_value(ran(), record_property)
"""
_NAME_TEST = """

def test_{number:03}_{name}(record_property):
    rtc_cells.check_name(ran(), {name!r}, {later!r}, record_property)
"""
CELL_MARK = "\n\n\n# %%\n"
"""Between the cells before and the cell."""


@dataclass(frozen=True, slots=True)
class CellFiles:
    """A cell in the generated project: its file with the cells before it, and its tests."""

    path: str
    text: str
    span: Span
    tests_path: str
    tests_text: str
    tests: tuple[str, ...]


def cell_files(number: int, context: str, code: str, names: Sequence[tuple[str, str]]) -> CellFiles:
    """Return the file and tests of a cell.

    `names` are those that later cells read, with the cells up to the first that does.
    """
    module = f"c_{number:04}"
    before = context + CELL_MARK if context else ""
    tests = _CELL_TESTS.format(context=before, code=code, module=f"problems.{module}")
    ids = ["test_000_printed", "test_001_value"]
    for at, (name, later) in enumerate(names, start=2):
        tests += _NAME_TEST.format(number=at, name=name, later=later)
        ids.append(f"test_{at:03}_{name}")
    tests_path = f"tests/test_p_{module}.py"
    return CellFiles(
        path=f"problems/{module}.py",
        text=before + code,
        span=Span(len(before), len(before) + len(code)),
        tests_path=tests_path,
        tests_text=tests,
        tests=tuple(f"{tests_path}::{each}" for each in ids),
    )
