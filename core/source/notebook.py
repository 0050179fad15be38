"""Notebooks read for round trips: each code cell with the cells before it and the words of a person about it.

ARCADE's episodes are read as the notebooks they were taken from: turns of a question and the cell that answers it,
behind the cells that came before. The form is known from others' scripts, not from the data.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.json_lines import LARGEST, refuse
from rtc_inspector.core.syntax import parsed

ENDING = ".ipynb"
EPISODES = ".json"
CONTEXT = "context"  # kind of what stands before an episode: it is run and shown, and never an item
_REMEDY = "Name a notebook (.ipynb) of Python, format 4 or later, or a folder of them."


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell."""

    key: str  # file and number of the cell among all cells of its notebook, from 1, e.g. `tour.ipynb:7`
    context: str  # the code of the cells before it that can run, one after the other
    code: str  # without its leading comments
    words: str  # markdown since the code cell before, and the leading comments: what a person asked for
    # what it binds that a later cell reads, each with the code from the next cell to the first that reads it
    names: tuple[tuple[str, str], ...]
    reason: str = ""  # why it cannot be judged; empty where it can


@dataclass(frozen=True, slots=True)
class Notebooks:
    """The cells of one or more notebooks; `fingerprint` is the SHA-256 of their bytes."""

    fingerprint: str
    cells: tuple[Cell, ...]


def is_notebook(path: Path) -> bool:
    """Return whether a path is named as notebooks are; the content is not looked at."""
    return path.name.lower().endswith(ENDING)


def has_notebooks(path: Path) -> bool:
    """Return whether a path is a folder with notebooks directly in it."""
    try:
        return path.is_dir() and any(map(is_notebook, path.iterdir()))
    except OSError:
        return False


def is_episodes(path: Path) -> bool:
    """Return whether a file is one of ARCADE's: a JSON list of episodes, each with turns."""
    try:
        if not path.name.lower().endswith(EPISODES) or path.stat().st_size > LARGEST:
            return False
        values = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, list) and bool(values) and isinstance(values[0], dict) and "turns" in values[0]


def read_notebooks(path: Path) -> Notebooks:
    """Return the code cells of one notebook, of all directly in a folder, or of ARCADE's episodes.

    Raises ProjectError that names each bad file.
    """
    files = sorted(file for file in path.iterdir() if is_notebook(file)) if path.is_dir() else [path]
    if not files:
        raise ProjectError(f"{path} holds no notebook.", _REMEDY)
    digest, cells, bad = hashlib.sha256(), list[Cell](), list[str]()
    for file in files:
        try:
            data = _read(file)
            digest.update(hashlib.sha256(data).digest())
            if is_episodes(file):
                for number, sources in enumerate(_episodes(data), start=1):
                    cells += _cells(f"{file.name}#{number}", sources)
            else:
                cells += _cells(file.name, _sources(data))
        except ValueError as error:
            bad += [f"{file.name} {fault}." for fault in error.args]
    refuse(bad, _REMEDY)
    if not cells:
        raise ProjectError(f"{path} holds no code cell.", _REMEDY)
    return Notebooks(digest.hexdigest(), tuple(cells))


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise ValueError(f"is larger than {LARGEST >> 20} MiB")
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None


def _sources(data: bytes) -> list[tuple[str, str]]:
    if not data.strip():
        raise ValueError("is empty")
    try:
        values: Any = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    cells = values.get("cells") if isinstance(values, dict) else None
    if not isinstance(cells, list):
        raise ValueError("is no notebook of format 4 or later: it has no list of `cells`")
    written = values.get("nbformat")
    if not isinstance(written, int) or written < 4:
        raise ValueError(f"is no notebook of format 4 or later: its `nbformat` is {json.dumps(written)}")
    if (language := _within(values, "metadata", "kernelspec", "language") or "python").lower() != "python":
        raise ValueError(f"is a notebook of {language}, not of Python")
    found, bad = [], []
    for number, cell in enumerate(cells, start=1):
        source = cell.get("source") if isinstance(cell, dict) else None
        lines = source if isinstance(source, list) else [source]
        texts = [line for line in lines if isinstance(line, str)]
        if len(texts) < len(lines):
            bad.append(f"has no text in cell {number}")
        else:
            found.append((str(cell.get("cell_type")), "".join(texts).replace("\r\n", "\n")))
    if bad:
        raise ValueError(*bad)
    return found


def _episodes(data: bytes) -> list[list[tuple[str, str]]]:
    """Return each episode's cells: what came before, then each turn's question and code. Raises ValueError."""
    episodes: list[list[tuple[str, str]]] = []
    bad: list[str] = []
    for number, episode in enumerate(json.loads(data), start=1):
        turns = episode.get("turns") if isinstance(episode, dict) else None
        if not isinstance(turns, list) or not turns:
            bad.append(f"has no `turns` in episode {number}")
            continue
        found: list[tuple[str, str]] = []
        for at, each in enumerate(turns, start=1):
            turn = each.get("turn") if isinstance(each, dict) else None
            code = _within(turn, "code", "value")
            if code is None:
                bad.append(f"has no `turn.code.value` in turn {at} of episode {number}")
                continue
            if not found:
                found.append((CONTEXT, _within(turn, "code_context") or ""))
            asked = _within(turn, "metadata", "utterance_without_output_spec") or _within(turn, "intent", "value")
            found += [("markdown", asked or ""), ("code", code)]
        episodes.append([(kind, source.replace("\r\n", "\n")) for kind, source in found])
    if bad:
        raise ValueError(*bad)
    return episodes


def _within(value: object, *names: str) -> str | None:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def _cells(name: str, sources: Sequence[tuple[str, str]]) -> Iterator[Cell]:
    before: list[str] = []
    asked: list[str] = []
    for number, (kind, source) in enumerate(sources, start=1):
        if kind == "markdown":
            asked.append(source.strip())
        if kind == CONTEXT and source.strip():
            before.append(_blanked(source).strip("\n"))
        if kind != "code" or not source.strip():
            continue
        lines = source.strip("\n").split("\n")
        count = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
        comments = "\n".join(filter(None, (line.lstrip("#").strip() for line in lines[:count])))
        code = "\n".join(lines[count:]).strip("\n").rstrip()
        reason, later = _reason(code), [text for other, text in sources[number:] if other == "code"]
        names = () if reason else tuple(_read_later(code, later))
        words = "\n\n".join(part for part in [*asked, comments] if part)
        yield Cell(f"{name}:{number}", "\n\n".join(before), code, words, names, reason)
        runs = _blanked(source)
        if parsed(runs) is not None:
            before.append(runs.strip("\n"))
        asked = []


def _reason(code: str) -> str:
    if not code:
        return "it holds comments only"
    if any(line.lstrip().startswith(("%", "!")) for line in code.split("\n")):
        return "it holds commands of the notebook (% or !), which never run here"
    return "" if parsed(code) is not None else "it is not Python that can be read"


def _blanked(source: str) -> str:
    """Return a cell without commands of the notebook; a line for a line, so that errors name the right one."""
    lines = source.split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def _bound(code: str) -> set[str]:
    names: set[str] = set()
    waiting: list[ast.AST] = [parsed(code) or ast.Module([], [])]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        if not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return names - {"_", "*"}


def _read_later(code: str, later: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that the cell binds and a later one reads, with the later cells up to that one.

    Cells that do not parse are left out.
    """
    runs = [source for source in map(_blanked, later) if parsed(source) is not None]
    for name in sorted(_bound(code)):
        for count, source in enumerate(runs, start=1):
            nodes = ast.walk(parsed(source) or ast.Module([], []))
            if any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in nodes):
                yield name, "\n\n".join(runs[:count])
                break
