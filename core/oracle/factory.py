"""Open the oracle of a project: interpreter, sandbox, plan and cache put together."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_inspector.core import platform
from rtc_inspector.core.oracle.begun import Begun, BegunSandbox
from rtc_inspector.core.oracle.cache import BaselineCache, fingerprint
from rtc_inspector.core.oracle.interpreter import Interpreter, find_interpreter, interpreter_of_image
from rtc_inspector.core.oracle.project_oracle import ProjectOracle
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.guarded import Guarded
from rtc_inspector.core.oracle.sandbox.host_system import closed_to_tests
from rtc_inspector.core.oracle.sandbox.protocol import Sandbox
from rtc_inspector.core.oracle.sessionplan import make_plan, only_unittest_finds_tests, read_options
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import Codebase, Oracle, Report
from rtc_inspector.core.waiting import Poll, no_poll

if TYPE_CHECKING:  # loads what reads requirements, which most projects have installed already
    from rtc_inspector.core.oracle.environment import Install


def open_oracle(
    codebase: Codebase,
    settings: OracleSettings,
    notice: Callable[[str], None],
    progress: Report | None = None,
    begun: Begun | None = None,
) -> Oracle:
    """Return an oracle for the codebase; nothing of the project runs yet. Close it when done.

    `progress` is called while requirements are installed. `begun`: for the same folder and settings. Raises TargetError
    (interpreter missing, not Python, too old), SandboxError, and what `progress` raises.
    """
    root = codebase.root.resolve()
    settings = replace(settings, image=settings.image or platform.image_to_show())
    install: Install | None = None
    if settings.install:
        from rtc_inspector.core.oracle.environment import read_install

        install = read_install(root, settings)
    poll = partial(progress, "installing", 0, 1) if progress is not None else no_poll
    if begun is not None:
        sandbox, interpreter = begun.found(notice, poll)
    else:
        sandbox = choose_sandbox(settings.sandbox, settings.image, notice, install if settings.image else None, poll)
        interpreter = _interpreter(root, sandbox, settings, install, notice, poll)
    if not isinstance(sandbox, Guarded) and (closed := closed_to_tests(root)):
        notice(closed)
    options = read_options(root)
    if only_unittest_finds_tests(options, (file.path for file in codebase.files if file.is_test)):
        notice("No test file is named as pytest expects; those called test*.py are taken, as unittest does.")
        options = replace(options, kept=(*options.kept, "-o", "python_files=test*.py"))
    if options.dropped:
        notice(f"Left out of the project's pytest options: {' '.join(options.dropped)}")
    plan = make_plan(root, interpreter, options, settings)
    key = partial(fingerprint, root, interpreter, plan, settings, (sandbox.name, sandbox.image_digest))
    cache = (BaselineCache(), key) if settings.cache else None
    first: list[Sandbox] = [BegunSandbox(sandbox, begun)] if begun is not None else []

    def another() -> Sandbox:
        """Return a sandbox for one more process: under a guardian, each has a scratch folder of its own."""
        with suppress(IndexError):
            return first.pop()
        return sandbox.another() if isinstance(sandbox, Guarded) else sandbox

    return ProjectOracle(sandbox, another, interpreter, plan, settings, notice, cache)


def _interpreter(
    root: Path,
    sandbox: Sandbox,
    settings: OracleSettings,
    install: Install | None,
    notice: Callable[[str], None],
    poll: Poll,
) -> Interpreter:
    """Return the image's own, one with what the project requires, or one that is there.

    Raises TargetError, SandboxError.
    """
    if settings.image is not None:
        return interpreter_of_image(sandbox, settings.python)
    if install is not None:
        from rtc_inspector.core.oracle.environment import environment_for, environments_folder

        base = find_interpreter(root, settings.python or sys.executable, notice)
        return environment_for(base, install, environments_folder(), notice, poll)
    return find_interpreter(root, settings.python, notice)
