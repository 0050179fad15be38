"""A llama.cpp that crashes as builds with AMX do: the worker is ended by a signal at its first evaluation."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

SITE = """
import os, sys
if "rtc_inspector.core.models.worker" in sys.orig_argv:
    import llama_cpp.llama_cpp as lib

    load, extra = lib.llama_model_load_from_file, []

    def loads(path, params):
        extra.append(params.use_extra_bufts)
        return load(path, params)

    def crashing(evaluate):
        def evaluates(*arguments):
            with open({log!r}, "a") as log:
                log.write("with\\n" if extra[-1] else "without\\n")
            if extra[-1] or not {helped}:
                os.kill(os.getpid(), {number})
            lib.llama_decode, lib.llama_encode = evaluations
            return evaluate(*arguments)

        return evaluates

    lib.llama_model_load_from_file = loads
    evaluations = lib.llama_decode, lib.llama_encode
    lib.llama_decode, lib.llama_encode = map(crashing, evaluations)
"""


class CrashingBuild:
    """Loads in this process' model workers from now on, with an empty cache folder."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, number: signal.Signals, helped: bool = True) -> None:
        """`helped`: whether it evaluates without extra buffers."""
        self._log = folder / "evaluations"
        (folder / "sitecustomize.py").write_text(SITE.format(log=str(self._log), number=int(number), helped=helped))
        patch.setenv("PYTHONPATH", str(folder))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))

    @property
    def evaluations(self) -> list[str]:
        """Of each worker its first evaluation: `with` or `without` extra buffers."""
        return self._log.read_text().split()
