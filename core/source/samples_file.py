"""Files of programs that somebody's system wrote for a benchmark: HumanEval's samples and results, EvalPlus's.

    {"task_id": "HumanEval/0", "completion": "    return 1"}     what follows the prompt; results have `passed` too
    {"task_id": "HumanEval/0", "solution": "def f(): ..."}       a whole program
    HumanEval_0/0.py                                             a folder of whole programs, one folder a problem

One file is one system. Nothing of a file runs here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.benchmark import task_key
from rtc_inspector.core.source.json_lines import BadLine, Row, read_each, read_rows, refuse, text_of

_FORMS = "Each line is an object with `task_id` and `completion` or `solution`; a folder holds <task>/<n>.py."


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
        _, rows = read_rows(path, f"Name a file of samples, as .jsonl or .jsonl.gz. {_FORMS}")
        read = partial(_program, written, verdicts)
        found = read_each(path, rows, read, lambda program: str(program.line), "line")
    if not found:
        raise ProjectError(f"{path} holds no sample.", _FORMS)
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
