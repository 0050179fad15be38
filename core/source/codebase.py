"""A project folder as it is opened: its source files, which of them are tests, and its place in history."""

from __future__ import annotations

import hashlib
import os
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.languages import PYTHON, Language, language_for
from rtc_inspector.core.source.git import History
from rtc_inspector.core.source.reading import Unreadable, check_syntax, check_written, read
from rtc_inspector.core.source.testfiles import find_test_files, read_pytest_config
from rtc_inspector.core.source.walk import Walk
from rtc_inspector.core.types import Codebase, Report, SkippedFile, SourceFile

_EVERY = 50


def open_codebase(
    root: Path,
    progress: Report | None = None,
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
    history = History.of(root)
    walk = Walk(root, history, tuple(suffix for language in languages for suffix in language.suffixes))
    walk.run()
    texts, unreadable = _read_all(root, walk.found, progress, compiled)
    skipped = tuple(sorted((*walk.skipped, *unreadable), key=lambda file: file.path))
    if not texts and needed:
        raise _nothing(root, skipped, languages)
    config = read_pytest_config(root, history.top if history is not None else root)
    python = {path: text for path, (text, _) in texts.items() if language_for(path) is PYTHON}
    tests = find_test_files(python, root, config) | {path for path in texts if language_for(path).is_test(path)}
    files = tuple(SourceFile(path, text, code, path in tests) for path, (text, code) in texts.items())
    revision = history.revision if history is not None else None
    dirty = revision is not None and history is not None and history.dirty(texts)
    return Codebase(root, files, skipped, revision, dirty)


def without(codebase: Codebase, broken: Mapping[str, str]) -> Codebase:
    """The same project with the files of `broken` left out, for the reasons it gives."""
    left_out = (SkippedFile(path, reason) for path, reason in broken.items())
    return replace(
        codebase,
        files=tuple(file for file in codebase.files if file.path not in broken),
        skipped=tuple(sorted((*codebase.skipped, *left_out), key=lambda file: file.path)),
    )


def content_fingerprint(codebase: Codebase) -> str:
    """SHA-256 in hexadecimal over the path, encoding and text of every file."""
    digest = hashlib.sha256()
    for file in codebase.files:
        for part in (file.path, file.encoding, file.text):
            data = part.encode()
            # Lengths between the parts: else text could move from one file to the next unseen.
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
    return digest.hexdigest()


def project_name(root: Path) -> str:
    """The name in pyproject.toml (`[project]`, else `[tool.poetry]`), else the folder's."""
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
    """The real path of a folder that can be listed."""
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


def _read_all(
    root: Path, paths: list[str], progress: Report | None, compiled: bool
) -> tuple[dict[str, tuple[str, str]], list[SkippedFile]]:
    """Texts and encodings by path, and the files that could not be taken."""
    texts: dict[str, tuple[str, str]] = {}
    skipped: list[SkippedFile] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's, about the code that is read
        for done, path in enumerate(paths, start=1):
            try:
                texts[path] = read(root / path)
                check_written(path, texts[path][0])
                if compiled:
                    check_syntax(path, texts[path][0])
            except Unreadable as error:
                texts.pop(path, None)
                skipped.append(SkippedFile(path, str(error)))
            if progress is not None and (done % _EVERY == 0 or done == len(paths)):
                progress("reading files", done, len(paths))
    return texts, skipped


def _nothing(root: Path, skipped: tuple[SkippedFile, ...], languages: Sequence[Language]) -> ProjectError:
    names = " or ".join(each.name for each in languages)
    if not skipped:
        remedy = f"Give the folder of a {names} project, or take the task editing if it has a history."
        return ProjectError(f"{root} holds no {names} file.", remedy)
    first = skipped[0]
    return ProjectError(
        f"{root} holds no {names} file to use: {len(skipped)} passed over, first {first.path} ({first.reason}).",
        "Mend those files, or give the folder that holds the project's own code.",
    )
