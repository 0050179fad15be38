"""Open the oracle of a project: interpreter, sandbox, plan and cache put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from core.oracle.cache import BaselineCache, cache_folder
from core.oracle.fingerprint import fingerprint
from core.oracle.interpreter import find_interpreter
from core.oracle.project_oracle import ProjectOracle
from core.oracle.pytest_options import read_options
from core.oracle.sandbox.choose import choose_sandbox
from core.oracle.sandbox.protocol import Sandbox
from core.oracle.sessionplan import make_plan
from core.settings import OracleSettings
from core.types import Codebase, Oracle


def open_oracle(codebase: Codebase, settings: OracleSettings, notice: Callable[[str], None]) -> Oracle:
    """An oracle for the codebase; nothing of the project runs yet. Close it when done.

    Raises TargetError (interpreter missing, not Python, too old) and SandboxError.
    """
    root = codebase.root.resolve()
    interpreter = find_interpreter(root, settings.python, notice)
    sandbox = choose_sandbox(settings.sandbox, settings.image, notice)
    options = read_options(root)
    if options.dropped:
        notice(f"Left out of the project's pytest options: {' '.join(options.dropped)}")
    plan = make_plan(root, interpreter, options, settings)
    key = partial(fingerprint, root, interpreter, plan, settings, (sandbox.name, sandbox.image_digest))
    cache = (BaselineCache(cache_folder()), key) if settings.cache else None
    another = partial(_another, sandbox, settings)
    return ProjectOracle(sandbox, another, interpreter, plan, settings, notice, cache)


def _another(sandbox: Sandbox, settings: OracleSettings) -> Sandbox:
    """A sandbox for one more process: without any, each has a scratch folder of its own."""
    return choose_sandbox("none", settings.image, _ignore) if sandbox.name == "none" else sandbox


def _ignore(text: str) -> None:
    """Said once already."""
