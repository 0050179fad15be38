"""Which files are test code, by the conventions of pytest and unittest and the project's own configuration."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

_CONVENTIONS = ("test_*.py", "*_test.py", "conftest.py", "tests.py", "test.py")
_TEST_FOLDERS = {"test", "tests"}
_LIKE_TESTS = re.compile(r"(.+[_-])?tests?([_-].+)?")
_CATCH_ALL = {"*.py", "*", "**/*.py"}
_DEFINES_TESTS = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+(?:test|load_tests\b)|class[ \t]+\w+[ \t]*\([^)]*TestCase)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class PytestConfig:
    """Where pytest looks; empty tuples mean its defaults.

    Attributes:
        folder: that of the configuration file, which the paths below are relative to.
        python_files: patterns of test file names.
        testpaths: files, folders or patterns of folders.
    """

    folder: Path
    python_files: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()


def find_test_files(texts: Mapping[str, str], root: Path, config: PytestConfig) -> frozenset[str]:
    """The paths among `texts` (path relative to `root` -> text) that hold test code.

    1. By name: `test_*.py`, `*_test.py`, `conftest.py`, `test.py`, `tests.py`; all under a folder `test` or `tests`.
    2. unittest's wider `test*.py`, where the file does define tests (`testing.py` never is one).
    3. The configured `python_files`, inside `testpaths` where both are given.
    4. All under a folder of `testpaths`, or a top-level folder named like tests, that holds tests in the main.
    """
    named = {path for path, text in texts.items() if _by_convention(path, text)}
    outer = root.relative_to(config.folder).as_posix() if root != config.folder else ""
    inner = [entry for word in config.testpaths if (entry := _inside(word, outer)) is not None]
    named |= texts.keys() & set(inner)  # a file that `testpaths` names is collected whatever it is called
    for path, text in texts.items():
        if not inner or any(_matches_entry(path, entry) for entry in inner):
            named |= {path} if _configured(path, text, outer, config.python_files) else set()
    return frozenset(named | _in_test_folders(texts, named, inner))


def _by_convention(path: str, text: str) -> bool:
    pure = PurePosixPath(path)
    if not _TEST_FOLDERS.isdisjoint(pure.parts[:-1]):
        return True
    if any(fnmatchcase(pure.name, pattern) for pattern in _CONVENTIONS):
        return True
    unittest_name = fnmatchcase(pure.name, "test*.py") and pure.name != "testing.py"
    return unittest_name and _DEFINES_TESTS.search(text) is not None


def _configured(path: str, text: str, outer: str, patterns: Iterable[str]) -> bool:
    """Return whether a file is one of tests by `python_files`.

    A pattern with a slash is held against the whole path, as pytest does. A pattern that takes every file says nothing
    of its own; then the text decides.
    """
    name, whole = path.rpartition("/")[2], f"/{outer}/{path}"
    for pattern in patterns:
        if pattern in _CATCH_ALL:
            if _DEFINES_TESTS.search(text):
                return True
        elif fnmatchcase(whole, f"*/{pattern}") if "/" in pattern else fnmatchcase(name, pattern):
            return True
    return False


def _inside(word: str, outer: str) -> str | None:
    """An entry of `testpaths` as seen from the root: None when it is the root itself or lies outside."""
    entry = PurePosixPath(word)
    if entry.is_absolute() or ".." in entry.parts:
        return None
    if not outer:
        return str(entry) if entry.parts else None
    return str(entry.relative_to(outer)) if entry.is_relative_to(outer) and str(entry) != outer else None


def _matches_entry(path: str, entry: str) -> bool:
    """Return whether `path` is the entry, or lies under it; an entry may be a pattern."""
    pure = PurePosixPath(path)
    return any(fnmatchcase(str(part), entry) for part in (pure, *pure.parents[:-1]))


def _in_test_folders(texts: Mapping[str, str], named: set[str], testpaths: list[str]) -> set[str]:
    """Everything under the folders that are test code as a whole, helpers and data modules included."""
    tops = {path.partition("/")[0] for path in texts if "/" in path}
    entries = {*testpaths, *(folder for folder in tops if _LIKE_TESTS.fullmatch(folder))}
    found: set[str] = set()
    for entry in entries:
        inside = {path for path in texts if _matches_entry(path, entry)}
        if _mostly_tests(inside, named):
            found |= inside
    return found


def _mostly_tests(inside: set[str], named: set[str]) -> bool:
    """Return whether a folder is for tests, not code with its tests beside it.

    At least a quarter of its files are tests, and most of those are not named after a module next to them.
    Folders called `test` or `tests` inside are left out of the count.
    """
    counted = {path for path in inside if _TEST_FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])}
    tests = {path for path in counted & named if not path.endswith("conftest.py")}
    others = {path for path in counted - named if not path.endswith("__init__.py")}
    beside = sum(_tested_module(path) in others for path in tests)
    # A quarter of all files is a third of the others. Where most tests are named after modules beside them (`a.py`,
    # `test_a.py`), the folder is the code's own.
    return bool(tests) and 3 * len(tests) >= len(others) and 2 * beside <= len(tests)


def _tested_module(path: str) -> str:
    """The module a test file would be named after: `a/test_b.py` and `a/b_test.py` give `a/b.py`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removeprefix('test_').removesuffix('.py').removesuffix('_test')}.py"


# --------------------------------------------------------------------------- the project's configuration


def read_pytest_config(root: Path, top: Path) -> PytestConfig:
    """The configuration pytest would take: the first file that has one, in `root` or above it, up to `top`."""
    for folder in (root, *root.parents):
        if not folder.is_relative_to(top):
            break
        for section in _sections(folder):
            return PytestConfig(folder, _words(section.get("python_files")), _words(section.get("testpaths")))
    return PytestConfig(root)


def _sections(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Sections about pytest, in pytest's own order of precedence."""
    readers: dict[str, Callable[[Path], Mapping[str, Any] | None]] = {
        "pytest.toml": lambda file: _toml(file, "pytest") or {},
        ".pytest.toml": lambda file: _toml(file, "pytest") or {},
        "pytest.ini": lambda file: _ini(file, "pytest") or {},
        ".pytest.ini": lambda file: _ini(file, "pytest") or {},
        "pyproject.toml": _pyproject,
        "tox.ini": lambda file: _ini(file, "pytest"),
        "setup.cfg": lambda file: _ini(file, "tool:pytest"),
    }
    for name, reader in readers.items():
        file = folder / name
        section = reader(file) if file.is_file() else None
        if section is not None:
            yield section


def _pyproject(file: Path) -> Mapping[str, Any] | None:
    """`[tool.pytest.ini_options]`, or `[tool.pytest]` as pytest 9 reads it."""
    old = _toml(file, "tool", "pytest", "ini_options")
    return old if old is not None else _toml(file, "tool", "pytest")


def _toml(file: Path, *keys: str) -> Mapping[str, Any] | None:
    """The table under `keys`; None when it is missing or the file is broken."""
    try:
        value: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _ini(file: Path, section: str) -> Mapping[str, Any] | None:
    """The section; None when it is missing or the file is broken."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(file.read_text(encoding="utf-8", errors="replace"))
    except (OSError, configparser.Error):
        return None
    return dict(parser[section]) if parser.has_section(section) else None


def _words(value: object) -> tuple[str, ...]:
    """A list, or words as a shell splits them."""
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    try:
        return tuple(shlex.split(value)) if isinstance(value, str) else ()
    except ValueError:
        return ()
