"""Whether a project's files compile, asked of a process of its own.

The compiler keeps every other thread of its process waiting: on a large project a window would not answer for seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

from rtc_inspector.core.errors import Bug
from rtc_inspector.core.source.reading import Unreadable, check_syntax, read
from rtc_inspector.core.types import Codebase

IN_PLACE = 200_000
"""Characters of a whole project up to which starting a process would take longer than compiling here."""
_LARGEST_IN_PLACE = 20_000


class Checking:
    """One question about one project; `stop` ends it from any thread."""

    def __init__(self, codebase: Codebase) -> None:
        """A project that was opened without the compiler."""
        self._codebase = codebase
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False

    def broken(self) -> dict[str, str]:
        """Why files must be left out, by path; nothing once stopped. Raises Bug."""
        sizes = [len(file.text) for file in self._codebase.files]
        if sum(sizes) <= IN_PLACE and max(sizes, default=0) <= _LARGEST_IN_PLACE:
            return dict(_broken((file.path, file.text) for file in self._codebase.files))
        paths = [file.path for file in self._codebase.files]
        return self._ask(json.dumps({"root": str(self._codebase.root), "paths": paths}))

    def stop(self) -> None:
        """End the process."""
        with self._turn:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def join(self, timeout: float | None = None) -> None:
        """Whoever asked collects what is left of it."""

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def _was_stopped(self) -> bool:
        with self._turn:
            return self._stopped

    def _ask(self, question: str) -> dict[str, str]:
        with self._turn:
            if self._stopped:
                return {}
            pipe, command = subprocess.PIPE, [sys.executable, "-P", "-m", "rtc_inspector.core.source.checking"]
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8")
            self._process = process
        answer, errors = process.communicate(question)
        if process.returncode and self._was_stopped():
            return {}
        if process.returncode:
            raise Bug(f"Files could not be checked: {errors[-500:]}")
        found: dict[str, str] = json.loads(answer)
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
    """Read one question from standard input and write its answer to standard output, both as JSON."""
    asked = json.load(sys.stdin)
    json.dump(dict(_broken(_texts(Path(asked["root"]), asked["paths"]))), sys.stdout)


if __name__ == "__main__":
    main()
