"""A project folder as it is opened: its source files, which of them are tests, and its place in history."""

import hashlib
import os
import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.languages import PYTHON, Language, language_for, language_of
from rtc_inspector.core.pytest_files import configuration, words
from rtc_inspector.core.source.reading import Unreadable, check_syntax, check_written, read
from rtc_inspector.core.source.walk import Walk, history_of
from rtc_inspector.core.types import Codebase, SkippedFile, SourceFile

_CONVENTIONS = ("test_*.py", "*_test.py", "conftest.py", "tests.py", "test.py")
_TEST_FOLDERS = {"test", "tests"}
_LIKE_TESTS = re.compile(r"(.+[_-])?tests?([_-].+)?")
_CATCH_ALL = {"*.py", "*", "**/*.py"}
_DEFINES_TESTS = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+(?:test|load_tests\b)|class[ \t]+\w+[ \t]*\([^)]*TestCase)", re.MULTILINE
)


def find_test_files(texts: Mapping[str, str], root: Path, top: Path) -> frozenset[str]:
    """Return the paths among `texts` (path relative to `root` -> text) that hold test code.

    pytest's configuration is looked for in `root` and above it, up to `top`.

    1. By name: `test_*.py`, `*_test.py`, `conftest.py`, `test.py`, `tests.py`; all under a folder `test` or `tests`.
    2. unittest's wider `test*.py`, where the file does define tests (`testing.py` never is one).
    3. The configured `python_files`, inside `testpaths` where both are given.
    4. All under a folder of `testpaths`, or a top-level folder named like tests, that holds tests in the main.
    """
    named = {path for path, text in texts.items() if _by_convention(path, text)}
    folders = [folder for folder in (root, *root.parents) if folder.is_relative_to(top)]
    file, section = next(filter(None, map(configuration, folders)), (root / "pytest.ini", dict[str, str]()))
    outer = root.relative_to(file.parent).as_posix() if root != file.parent else ""
    inner = [entry for word in words(section.get("testpaths")) if (entry := _inside(word, outer)) is not None]
    named |= texts.keys() & set(inner)  # a file that `testpaths` names is collected whatever it is called
    patterns, tests = words(section.get("python_files")), set[str]()
    for path, text in texts.items():
        if not inner or any(_matches_entry(path, entry) for entry in inner):
            named |= {path} if _configured(path, text, outer, patterns) else set()
    # Everything under the folders that are test code as a whole, helpers and data modules included.
    tops = {path.partition("/")[0] for path in texts if "/" in path}
    for entry in {*inner, *(each for each in tops if _LIKE_TESTS.fullmatch(each))}:
        inside = {path for path in texts if _matches_entry(path, entry)}
        tests |= inside if _mostly_tests(inside, named) else set()
    return frozenset(named | tests)


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
    """Return an entry of `testpaths` as seen from the root: None when it is the root itself or lies outside."""
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


def _mostly_tests(inside: set[str], named: set[str]) -> bool:
    """Return whether a folder is for tests, not code with its tests beside it.

    At least a quarter of its files are tests, and most of those are not named after a module next to them.
    Folders called `test` or `tests` inside are left out of the count.
    """
    counted = {path for path in inside if _TEST_FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])}
    tests = {path for path in counted & named if not path.endswith("conftest.py")}
    others = {path for path in counted - named if not path.endswith("__init__.py")}
    # The module a test file would be named after: `a/test_b.py` and `a/b_test.py` give `a/b.py`.
    split = (path.rpartition("/") for path in tests)
    names = ((above + slash, name.removeprefix("test_").removesuffix(".py")) for above, slash, name in split)
    beside = sum(f"{folder}{name.removesuffix('_test')}.py" in others for folder, name in names)
    # A quarter of all files is a third of the others. Where most tests are named after modules beside them (`a.py`,
    # `test_a.py`), the folder is the code's own.
    return bool(tests) and 3 * len(tests) >= len(others) and 2 * beside <= len(tests)


_LOOKED_AT = 10_000  # entries of a folder without code, for the language that it has instead


def open_codebase(
    root: Path,
    *,
    compiled: bool = True,
    languages: Sequence[Language] = (PYTHON,),
    needed: bool = True,
) -> Codebase:
    """Open the project at `root`, whose folder is only read: its files in these languages.

    Raises ProjectError: not a folder, a path that is not UTF-8, no file in these languages.

    `compiled` False takes files without asking the compiler, which is most of the work; `without` then leaves out
    those that `core.source.reading.Checking` finds broken. `needed` False takes a folder without any such file too.
    """
    root = _folder(root)
    history = history_of(root)
    walk = Walk(root, history, tuple(suffix for language in languages for suffix in language.suffixes))
    walk.run()
    texts, unreadable = _read_all(root, walk.found, compiled)
    skipped = tuple(sorted((*walk.skipped, *unreadable), key=lambda file: file.path))
    if not texts and needed:
        raise _nothing(root, skipped, languages)
    python = {path: text for path, (text, _) in texts.items() if language_for(path) is PYTHON}
    tests = find_test_files(python, root, history.top if history is not None else root)
    tests |= {path for path in texts if language_for(path).is_test(path)}
    files = tuple(SourceFile(path, text, code, path in tests) for path, (text, code) in texts.items())
    revision = history.revision if history is not None else None
    dirty = revision is not None and history is not None and history.dirty(texts)
    return Codebase(root, files, skipped, revision, dirty)


def without(codebase: Codebase, broken: Mapping[str, str]) -> Codebase:
    """Return the same project with the files of `broken` left out, for the reasons it gives."""
    left_out = (SkippedFile(path, reason) for path, reason in broken.items())
    return replace(
        codebase,
        files=tuple(file for file in codebase.files if file.path not in broken),
        skipped=tuple(sorted((*codebase.skipped, *left_out), key=lambda file: file.path)),
    )


def content_fingerprint(codebase: Codebase) -> str:
    """Return the SHA-256 in hexadecimal over the path, encoding and text of every file."""
    digest = hashlib.sha256()
    for file in codebase.files:
        for part in (file.path, file.encoding, file.text):
            data = part.encode()
            # Lengths between the parts: else text could move from one file to the next unseen.
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
    return digest.hexdigest()


def project_name(root: Path) -> str:
    """Return the name in pyproject.toml (`[project]`, else `[tool.poetry]`), else the folder's."""
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        table = {}
    for keys in (("project",), ("tool", "poetry")):
        section: object = table
        for key in keys:
            section = section.get(key) if isinstance(section, dict) else None
        name = section.get("name") if isinstance(section, dict) else None
        if isinstance(name, str) and name.strip():
            return name.strip()
    return root.resolve().name or str(root)


def _folder(root: Path) -> Path:
    if not root.exists():
        raise ProjectError(f"{root} does not exist.", "Give the folder of a project.")
    if not root.is_dir():
        raise ProjectError(f"{root} is not a folder.", "Give the folder that the file is in.")
    if not os.access(root, os.R_OK | os.X_OK):
        raise ProjectError(f"{root} may not be read.", "Give yourself the right to read the folder.")
    root = root.resolve()
    try:
        str(root).encode()
    except UnicodeEncodeError:
        # Coverage records no line below such a path: no statement would seem to be run by any test.
        raise ProjectError(
            f"The path of {root} has a name that is not UTF-8, below which no line can be traced.",
            "Rename that folder, or make a copy of the project elsewhere.",
        ) from None
    return root


def _read_all(root: Path, paths: list[str], compiled: bool) -> tuple[dict[str, tuple[str, str]], list[SkippedFile]]:
    texts: dict[str, tuple[str, str]] = {}
    skipped: list[SkippedFile] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's, about the code that is read
        for path in paths:
            try:
                texts[path] = read(root / path)
                check_written(path, texts[path][0])
                if compiled:
                    check_syntax(path, texts[path][0])
            except Unreadable as error:
                texts.pop(path, None)
                skipped.append(SkippedFile(path, str(error)))
    return texts, skipped


def _nothing(root: Path, skipped: tuple[SkippedFile, ...], languages: Sequence[Language]) -> ProjectError:
    names = " or ".join(each.name for each in languages)
    if not skipped:
        remedy = f"Give the folder of a {names} project, or take the task editing if it has a history."
        others = (language_of(path.name) for path in islice(root.glob("**/*.*"), _LOOKED_AT))
        if (other := next(filter(None, others), None)) is not None and other not in languages:
            remedy = f'Its {other.name} is judged by a test command: give one (--test-command "make check").'
        return ProjectError(f"{root} holds no {names} file.", remedy)
    first = skipped[0]
    return ProjectError(
        f"{root} holds no {names} file to use: {len(skipped)} passed over, first {first.path} ({first.reason}).",
        "Mend those files, or give the folder that holds the project's own code.",
    )
