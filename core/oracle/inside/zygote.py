"""The long-lived process: imports pytest once, then forks a child for each request."""

from __future__ import annotations

import binascii
import contextlib
import gc
import importlib
import json
import os
import platform
import signal
import sys
from collections.abc import Callable
from typing import Any

from .child import Send
from .scratch import Scratch

assert sys.platform != "win32"  # inside a sandbox

from .supervise import Body, Supervisor, Wakeup  # noqa: E402


class Wire:
    """Requests in, replies out. Made once, before anything else runs."""

    def __init__(self) -> None:
        """Move standard input and output out of reach; what the target prints goes nowhere."""
        self._input = os.dup(0)
        self._output = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        self._rest = b""

    def receive(self) -> dict[str, Any]:
        """Return the next request; the process ends where the host has closed the line."""
        while b"\n" not in self._rest:
            data = os.read(self._input, 1 << 16)
            if not data:
                raise SystemExit
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        request: dict[str, Any] = json.loads(line.decode())
        return request

    def send(self, reply: dict[str, Any]) -> None:
        data = json.dumps(reply).encode() + b"\n"
        while data:
            data = data[os.write(self._output, data) :]

    def close(self) -> None:
        """Let go of the host; in a child."""
        os.close(self._input)
        os.close(self._output)


def main() -> None:
    """Serve the host until it closes the line."""
    wire = Wire()
    config = wire.receive()
    os.chdir(config["root"])
    for path, mode, data in config.get("copies", []):  # data of the project that its tests may change, in our folders
        with open(path, "wb") as file:
            file.write(binascii.a2b_base64(data))
        os.chmod(path, mode)
    sys.path[:0] = config["paths"]
    sys.argv, missing = ["pytest"], ""
    try:
        if not config.get("plain"):
            gc.disable()  # nearly all that is made now stays
            importlib.import_module("pytest")
            gc.enable()
    except ImportError as error:
        missing = str(error)
    if config.get("begun"):  # the rest is told once it is known
        config = wire.receive()
    if missing:
        wire.send({"ready": False, "missing": missing, "python": platform.python_version()})
        return
    Zygote(wire, config).serve()


class Zygote:
    """Holds the warm interpreter."""

    def __init__(self, wire: Wire, config: dict[str, Any]) -> None:
        """Import what children will need, and guard this process against them."""
        from . import candidate, child, screening

        self._wire = wire
        self._config = config
        self._child = child
        self._announce = candidate.announce
        self._prepare_screen = screening.prepare
        self._collected: Any = None
        self._plain: Any = None
        self._session: Any
        self._bare: Any = None
        self._rewrite: Callable[[dict[str, Any]], None] = lambda request: None
        self._learned: dict[str, Any] = {}
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        child.control(child.SET_DUMPABLE, 0)
        child.control(child.SET_CHILD_SUBREAPER, 1)
        os.makedirs(os.environ["HOME"], exist_ok=True)
        self._preload(config.get("preload", []))
        self._trouble = self._prepare()
        scratch = Scratch(config["wipe"])
        if self._session is not None and not scratch.guarded:
            self._trouble = self._trouble or "too much is left in the temporary folder before any test"
        self._supervisor = Supervisor(scratch, Wakeup())

    def _preload(self, names: list[str]) -> None:
        """Import foreign modules that the tests will need anyway; a child meets and reports what fails here."""
        root = self._config["root"] + os.sep
        for name in names:
            before = set(sys.modules)
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
            new = set(sys.modules) - before
            files = [getattr(sys.modules[each], "__file__", None) for each in new]
            # The project's own modules must be fresh for a candidate: whatever imports them goes with them.
            if any(isinstance(file, str) and file.startswith(root) for file in files):
                for each in new:
                    del sys.modules[each]

    def _prepare(self) -> str:
        """Go as far as was asked; return why that cannot be done."""
        self._session = None
        try:
            self._session = self._ready()
            threads = len(os.listdir("/proc/self/task"))
            return "" if self._session is None or threads == 1 else "%d threads run before any test" % threads
        except BaseException as error:
            return self._child.describe(error)
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)

    def _ready(self) -> Any:
        """Return what runs the tests, made as far as it can be before a fork; None where each child makes its own."""
        config = self._config
        if config.get("plain"):
            from .bench import Plain

            self._plain = Plain(config)
            return self._plain
        # pytest names the running test in PYTEST_CURRENT_TEST, where code under test could behave by it.
        sys.modules["_pytest.runner"]._update_current_test_var = lambda *_: None  # type: ignore[attr-defined]
        from .sessions import Bare, Configured, remember

        self._bare = Bare
        if config.get("collect"):
            from .sessions import Collected

            self._collected = Collected(config)
            return self._collected
        self._rewrite = remember(config)
        return Configured(config) if config.get("configure") else None

    def serve(self) -> None:
        gc.collect()
        gc.freeze()
        found = self._collected.found if self._collected is not None and not self._trouble else {}
        self._wire.send({"ready": True, "python": platform.python_version(), "trouble": self._trouble, **found})
        while True:
            request = self._wire.receive()
            if request["do"] == "learn":
                self._learned = request
            elif request["do"] == "run":
                self._run({**self._learned, **request})

    def _run(self, request: dict[str, Any]) -> None:
        request["bits"] = [1, *(byte & 1 for byte in os.urandom(3))]
        frames: list[list[Any]] = []
        refusal = self._collected.refusal(request) if self._collected is not None else ""
        if refusal:
            self._wire.send({"done": request["id"], "frames": [["fallback", refusal]]})
            return

        def listen(kind: str, values: list[Any]) -> None:
            if request.get("stream"):
                self._wire.send({"frame": kind, "values": values})
            else:
                frames.append([kind, *values])

        def forked(run: Callable[[Send, int], None]) -> Body:
            def body(report: int, output: int, nonce: str, asked: int) -> None:
                self._wire.close()
                send = self._child.settle(report, output, nonce, self._config)
                self._announce()
                self._child.guarded(send, lambda: run(send, asked))

            return body

        def alone(send: Send, asked: int) -> None:
            os.close(asked)
            (self._session or self._bare(self._config)).run(send, request)

        def shared(send: Send, asked: int) -> None:
            # As many calls deep as the other: some programs end where Python allows no deeper recursion.
            self._plain.share(send, asked)

        ending = None
        if self._plain is not None:
            self._plain.prepare(request)
            if self._plain.may_share(request):
                ending = self._supervisor.share(forked(shared), request, listen)
        if ending is None:
            self._rewrite(request)
            for change in request.get("changes", ()):
                self._prepare_screen(change["original"])
            frames.clear()
            ending = self._supervisor.run(forked(alone), request, listen)
        self._wire.send({"done": request["id"], "frames": frames, "bits": request["bits"], **ending})
