"""Whether a project's files compile, asked of a process of its own.

The compiler keeps every other thread of its process waiting: on a large project a window would not answer for seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from core.errors import Bug
from core.source.reading import Unreadable, check_syntax, read
from core.types import Codebase

IN_PLACE = 200_000
"""Characters of a whole project up to which starting a process would take longer than compiling here."""
_LARGEST_IN_PLACE = 20_000


def broken_files(codebase: Codebase) -> dict[str, str]:
    """Why files of a project opened without the compiler must be left out, by path. Raises Bug."""
    sizes = [len(file.text) for file in codebase.files]
    if sum(sizes) <= IN_PLACE and max(sizes, default=0) <= _LARGEST_IN_PLACE:
        return dict(_broken((file.path, file.text) for file in codebase.files))
    asked = json.dumps({"root": str(codebase.root), "paths": [file.path for file in codebase.files]})
    command = [sys.executable, "-P", "-m", "core.source.checking"]
    answer = subprocess.run(command, input=asked, capture_output=True, encoding="utf-8", check=False)
    if answer.returncode:
        raise Bug(f"Files could not be checked: {answer.stderr[-500:]}")
    found: dict[str, str] = json.loads(answer.stdout)
    return found


def _broken(texts: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's, about the code that is read
        for path, text in texts:
            try:
                check_syntax(text)
            except Unreadable as error:
                yield path, str(error)


def _texts(root: Path, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Files that cannot be read any more are left to the next reading of the project."""
    for path in paths:
        try:
            yield path, read(root / path)[0]
        except Unreadable:
            continue


def main() -> None:
    """One question from standard input, its answer to standard output; JSON both."""
    asked = json.load(sys.stdin)
    json.dump(dict(_broken(_texts(Path(asked["root"]), asked["paths"]))), sys.stdout)


if __name__ == "__main__":
    main()
