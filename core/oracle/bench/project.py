"""A benchmark written as a project with tests of its own, so that the oracle of projects judges it."""

import ast
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from rtc_inspector.core.syntax import parse
from rtc_inspector.core.types import Problem, Span

MOST_TESTS = 100  # of one problem whose tests are inputs only: more inputs share tests
CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class Split:
    """The tests of one problem, as source: statements before all of them, and one function's indented body each."""

    shared: str
    bodies: tuple[str, ...]


def split(problem: Problem) -> Split:
    """Return the problem's tests. No bodies: no test calls the program."""
    if problem.test:
        return _split_check(problem)
    if problem.inputs:
        return Split(_REFERENCE.format(source=problem.program, entry=problem.entry), tuple(_input_bodies(problem)))
    names = {CANDIDATE, *problem.names}
    bodies = (_snippet_body(source, names) for source in problem.asserts)
    return Split(problem.setup, tuple(_renamed(problem) + body for body in bodies if body))


def _renamed(problem: Problem, indent: str = "    ") -> str:
    """Bind the function's own names to the recording one: HumanEval/33 and all of MBPP call it by its name."""
    return "".join(f"{indent}{name} = {CANDIDATE}\n" for name in problem.names if name != CANDIDATE)


def _split_check(problem: Problem) -> Split:
    """Split a source with a function `check(candidate)`; what stands around the function is shared."""
    source, lines = problem.test, problem.test.split("\n")
    tree = parse(source)
    check = next(n for n in reversed(tree.body) if isinstance(n, ast.FunctionDef) and n.name == "check")
    calls = [node for node in tree.body if isinstance(node, ast.Expr) and _mentions(node, {"check"})]
    around = [_lines(lines, node, "") for node in tree.body if node is not check and node not in calls]
    parameter = check.args.args[0].arg if check.args.args else CANDIDATE
    indent = _indent(lines, check.body[0])
    head = _renamed(problem, indent) + (f"{indent}{parameter} = {CANDIDATE}\n" if parameter != CANDIDATE else "")
    bodies = _bodies(source, check.body, {CANDIDATE, parameter, *problem.names})
    return Split("\n".join([problem.setup, *around]).strip("\n"), tuple(head + body for body in bodies))


def _bodies(source: str, statements: Sequence[ast.stmt], names: set[str]) -> Iterator[str]:
    """Yield one body a check, with the statements above it that are no check.

    `names` are those of the program; a name that is assigned from what it gave counts as one too.
    """
    lines = source.split("\n")
    above: list[str] = []
    meaning = set(names)
    for node in statements:
        text = _lines(lines, node, _indent(lines, node))
        meant = _mentions(node, meaning)
        if isinstance(node, ast.Assert):
            if meant:
                yield "\n".join([*above, _with_message(source, lines, node)])
        elif not meant:
            above.append(text)
        elif (bound := _assigned(node)) is not None:
            meaning |= bound
            above.append(text)
        elif any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
            yield "\n".join([*above, text])


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))


def _assigned(node: ast.stmt) -> set[str] | None:
    """Return the names that a statement binds, where it is there for that; else None."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets: Sequence[ast.expr]
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    else:
        return None
    return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}


def _with_message(source: str, lines: Sequence[str], node: ast.Assert) -> str:
    """Return the assert with its condition as it stands; its message says what the program gave."""
    condition = ast.get_source_segment(source, node.test) or ast.unparse(node.test)
    return f"{_indent(lines, node)}assert ({condition}), {CANDIDATE}.said()"


def _lines(lines: Sequence[str], node: ast.stmt, indent: str) -> str:
    """Return the statement as it stands, where it has that indentation and its lines to itself; else written anew."""
    first = node.lineno - 1
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
        first = node.decorator_list[0].lineno - 1
    line = lines[first]
    behind = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset or 0 :].decode().strip()
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode().strip()
    shared = before or (behind and not behind.startswith("#"))
    if line[: len(line) - len(line.lstrip())] != indent or shared:
        return "\n".join(indent + line for line in ast.unparse(node).split("\n"))
    return "\n".join(lines[first : node.end_lineno])


def _indent(lines: Sequence[str], node: ast.stmt) -> str:
    line = lines[node.lineno - 1]
    space = line[: len(line) - len(line.lstrip())]
    return space or "    "


def _snippet_body(source: str, names: set[str]) -> str:
    lines = source.split("\n")
    statements = parse(source).body
    if not any(_mentions(node, names) for node in statements):
        return ""
    return "\n".join(
        _with_message(source, lines, node) if isinstance(node, ast.Assert) else _lines(lines, node, "    ")
        for node in statements
    )


# --------------------------------------------------------------------------- inputs without outputs (HumanEval+)

_REFERENCE = """\
_expected = _rtc_reference({source!r}, {entry!r})"""
POLYNOMIAL = "find_zero"
"""HumanEval/32 has many right answers: the polynomial at the answer must be zero, as EvalPlus has it."""
POLYNOMIAL_TOLERANCE = 1e-4


def _input_bodies(problem: Problem) -> Iterator[str]:
    size = -(-len(problem.inputs) // MOST_TESTS)
    for first in range(0, len(problem.inputs), size):
        asserts = []
        for given in problem.inputs[first : first + size]:
            call = f"{CANDIDATE}({given})"
            condition = f"_rtc_near({call}, _expected({given}), {problem.tolerance!r}) == _expected({given})"
            if problem.entry == POLYNOMIAL and "def poly(" in problem.program:
                condition = f"abs(poly({given}, {call})) <= {max(problem.tolerance, POLYNOMIAL_TOLERANCE)!r}"
            asserts.append(f"    assert ({condition}), {CANDIDATE}.said()")
        yield "\n".join(asserts)


VERSION = 1  # of what the tests of a problem are; a run is resumed on the same only
KEPT = 20  # generated projects that stay; the oldest go first
_INSIDE = Path(__file__).parent / "inside"
_RECORDING = _INSIDE / "rtc_recording.py"
_CELLS = _INSIDE / "rtc_cells.py"
_DONE = "complete"
ORIGIN_FILE = "rtc-origin.json"
"""For people, see `Origin`; no test reads it, so that a benchmark that was moved is not learned again."""
_BINDING = re.compile(rf"\n\n\n(?:{CANDIDATE} = \w+|from rtc_recording import \w+ as {CANDIDATE})\n\Z")
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
    """Return the whole file for a program: the tests take the function by the name `candidate`."""
    entry = problem.entry
    binding = "" if entry == CANDIDATE else f"\n\n\n{CANDIDATE} = {entry}"
    return program.rstrip("\n") + binding + "\n"


def without_binding(file: str) -> str:
    """Return such a file as people know its program: without the name that the tests take the function by."""
    return _BINDING.sub("\n", file)


def file_of_tests(problem: Problem) -> str:
    """Return the problem's tests; no test function where no test calls the program."""
    parts = split(problem)
    head = _TEST_FILE.format(key=problem.key, module=module_name(problem), shared=parts.shared)
    tests = (_TEST.format(candidate=CANDIDATE, number=n, body=body) for n, body in enumerate(parts.bodies))
    return head + "".join(tests)


def node_ids(problem: Problem) -> tuple[str, ...]:
    """Return the node ids of the problem's tests."""
    count = len(split(problem).bodies)
    return tuple(f"tests/test_{module_name(problem)}.py::test_{number:03}" for number in range(count))


def project_folder() -> Path:
    """Return the folder where generated projects are kept."""
    return user_cache_path("rtc-inspector") / "benchmarks"


def write_project(problems: Sequence[Problem], name: str, folder: Path | None = None, source: str = "") -> Path:
    """Return the generated project of these problems; written when it is not there. Raises OSError.

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
    """Return a generated project of these files, by path; written when it is not there. Raises OSError."""
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
        same = ours and (project / _RECORDING.name).read_bytes() == _RECORDING.read_bytes()
    except OSError:
        return False
    return same and not any(project.glob("problems/c_*.py"))  # cells of notebooks are not to run outside of a test


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
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
    try:
        for path, text in {**texts, _DONE: ""}.items():
            (part / path).parent.mkdir(parents=True, exist_ok=True)
            (part / path).write_text(text, encoding="utf-8")
        part.chmod(0o755)
        shutil.rmtree(project, ignore_errors=True)
        part.rename(project)
    except OSError:
        if not (project / _DONE).is_file():  # else another process wrote the same
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    kept = sorted(folder.glob(f"*/{_DONE}"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in kept[KEPT:]:
        shutil.rmtree(file.parent, ignore_errors=True)
    return project


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
CELL_MARK = "\n\n\n# %%\n"  # between the cells before and the cell


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
    """Make the file and tests of a cell; `names`: what later cells read, with the cells up to the first that does."""
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
