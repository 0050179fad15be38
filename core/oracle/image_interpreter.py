"""The interpreter that a container image brings along."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from core.errors import SandboxError, TargetError
from core.oracle.interpreter import OLDEST, QUESTION, Interpreter
from core.oracle.sandbox.protocol import Launch, Limits, Sandbox

NAMES = ("python3", "python")
_LIMITS = Limits(memory_mib=512, processes=16, scratch_mib=16)


def interpreter_of_image(sandbox: Sandbox, chosen: str | None) -> Interpreter:
    """Ask inside: `chosen` is a path or name there, else the first Python on the image's own path.

    Nothing of the host is shown for it. Raises TargetError, SandboxError.
    """
    for name in (chosen,) if chosen is not None else NAMES:
        answer = _ask(sandbox, name)
        if answer is None:
            continue
        major, minor, micro = map(int, answer["version"])
        if (major, minor) < OLDEST:
            raise TargetError(f"The image's {name} is Python {major}.{minor}, which is too old.", _remedy())
        return Interpreter(Path(answer["executable"]), (major, minor, micro), answer["implementation"], (), (), ())
    raise TargetError(f"The image has no Python interpreter called {chosen or 'python3'}.", _remedy())


def _ask(sandbox: Sandbox, name: str) -> dict[str, Any] | None:
    """None where there is no such program, or it does not answer as Python does. Variables are the image's own."""
    launch = Launch((name, "-I", "-S", "-B", "-c", QUESTION), "/", (), {}, _LIMITS)
    try:
        with closing(sandbox.start(launch)) as process:
            answer: dict[str, Any] = json.loads(process.stdout.read())
    except (SandboxError, ValueError):
        return None
    return answer


def _remedy() -> str:
    return "Name an image with Python 3.8 or later, or give the path of its interpreter inside with --python."
