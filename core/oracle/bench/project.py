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
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from platformdirs import user_cache_path

from core.oracle.bench import splitting
from core.oracle.bench.splitting import CANDIDATE, split
from core.types import Problem

VERSION = 1
"""Of what the tests of a problem are; a run is resumed on the same only."""
KEPT = 20
"""Generated projects that stay; the oldest go first."""
_RECORDING = Path(__file__).parent / "inside" / "rtc_recording.py"
_DONE = "complete"
_SOURCE = "rtc-benchmark-file"
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
    """Of the file that holds the problem's program."""
    return f"p_{problem.line:04}"


def program_path(problem: Problem) -> str:
    """Of the problem's program in the generated project."""
    return f"problems/{module_name(problem)}.py"


def program_file(problem: Problem, program: str) -> str:
    """The whole file for a program: the tests take the function by the name `candidate`."""
    entry = problem.entry
    binding = "" if entry == CANDIDATE else f"\n\n\n{CANDIDATE} = {entry}"
    return program.rstrip("\n") + binding + "\n"


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
    """Where generated projects are kept."""
    return user_cache_path("rtc-inspector") / "benchmarks"


def write_project(problems: Sequence[Problem], name: str, folder: Path | None = None, source: str = "") -> Path:
    """The generated project of these problems; written when it is not there. Raises OSError.

    `name`: for people. `source`: the benchmark's file, for `source_of`.
    """
    project = _written(problems, name, folder or project_folder())
    if source_of(project) != source:
        (project / _SOURCE).write_text(source, encoding="utf-8")
    return project


def source_of(project: Path) -> str:
    """The benchmark file that a project was generated from; empty for any other project."""
    try:
        return (project / _SOURCE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _written(problems: Sequence[Problem], name: str, folder: Path) -> Path:
    project = folder / _digest(name, problems)[:32]
    if (project / _DONE).is_file():
        os.utime(project / _DONE)
        return project
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
    try:
        _write(made, name, problems)
        shutil.rmtree(project, ignore_errors=True)
        made.rename(project)
    except OSError:
        if not (project / _DONE).is_file():  # else another process wrote the same
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    _trim(folder)
    return project


def _write(made: Path, project_name: str, problems: Sequence[Problem]) -> None:
    for name in ("problems", "tests"):
        (made / name).mkdir()
    (made / "problems" / "__init__.py").write_text("", encoding="utf-8")
    (made / "pytest.ini").write_text(_PYTEST, encoding="utf-8")
    (made / "pyproject.toml").write_text(f"[project]\nname = {json.dumps(project_name)}\n", encoding="utf-8")
    shutil.copyfile(_RECORDING, made / _RECORDING.name)
    for problem in problems:
        (made / program_path(problem)).write_text(program_file(problem, problem.program), encoding="utf-8")
        tests = made / "tests" / f"test_{module_name(problem)}.py"
        tests.write_text(file_of_tests(problem), encoding="utf-8")
    (made / _DONE).write_text("", encoding="utf-8")
    made.chmod(0o755)


def _digest(name: str, problems: Sequence[Problem]) -> str:
    """Of all that the project is written from."""
    digest = hashlib.sha256(f"{VERSION} {name}\n".encode())
    for file in (Path(__file__), Path(splitting.__file__), _RECORDING):
        digest.update(file.read_bytes())
    for problem in problems:
        digest.update(json.dumps(asdict(problem), sort_keys=True).encode())
    return digest.hexdigest()


def _trim(folder: Path) -> None:
    kept = sorted(folder.glob(f"*/{_DONE}"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in kept[KEPT:]:
        shutil.rmtree(file.parent, ignore_errors=True)
