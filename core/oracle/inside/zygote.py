"""The long-lived process: imports pytest once, then forks a child for each request."""

from __future__ import annotations

import gc
import importlib
import os
import platform
import random
import signal
import sys
from typing import Any

from .supervise import Supervisor, Wakeup
from .wire import Wire


def main() -> None:
    """Serve the host until it closes the line."""
    wire = Wire()
    config = wire.receive()
    if config is None:
        return
    os.chdir(config["root"])
    sys.path[:0] = config["paths"]
    sys.argv = ["pytest"]
    missing = _missing_pytest()
    if missing:
        wire.send({"ready": False, "missing": missing, "python": platform.python_version()})
        return
    Zygote(wire, config).serve()


def _missing_pytest() -> str:
    try:
        importlib.import_module("pytest")
    except ImportError as error:
        return str(error)
    return ""


class Zygote:
    """Holds the warm interpreter."""

    def __init__(self, wire: Wire, config: dict[str, Any]) -> None:
        """Import what children will need, and guard this process against them."""
        from . import child, cold

        self._wire = wire
        self._config = config
        self._child = child
        self._cold = cold
        self._learned: dict[str, Any] = {}
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        child.control(child.SET_DUMPABLE, 0)
        child.control(child.SET_CHILD_SUBREAPER, 1)
        self._supervisor = Supervisor(config["wipe"], Wakeup())
        self._preload(config.get("preload", []))

    def _preload(self, names: list[str]) -> None:
        """Import foreign modules that the tests will need anyway."""
        for name in names:
            try:
                importlib.import_module(name)
            except BaseException:
                continue

    def serve(self) -> None:
        """Answer requests one after another."""
        pytest = sys.modules["pytest"]
        gc.collect()
        gc.freeze()
        ready = {"ready": True, "python": platform.python_version(), "pytest": pytest.__version__}
        self._wire.send({**ready, "threads": len(os.listdir("/proc/self/task"))})
        while True:
            request = self._wire.receive()
            if request is None:
                return
            if request["do"] == "learn":
                self._learned = request
            elif request["do"] == "run":
                self._run({**self._learned, **request})

    def _run(self, request: dict[str, Any]) -> None:
        request["bits"] = [1, *(random.SystemRandom().getrandbits(1) for _ in range(3)), 0]
        stream = bool(request.get("stream"))
        frames: list[list[Any]] = []

        def listen(kind: str, values: list[Any]) -> None:
            if stream:
                self._wire.send({"frame": kind, "values": values})
            else:
                frames.append([kind, *values])

        def body(report: int, output: int, nonce: str) -> None:
            self._wire.close()
            send = self._child.settle(report, output, nonce, self._config)
            self._cold.run(send, request, self._config)

        ending = self._supervisor.run(body, request, listen)
        self._wire.send({"done": request["id"], "frames": frames, "bits": request["bits"], **ending})
