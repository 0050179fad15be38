"""The model worker process: `python -m rtc_inspector.core.models.worker`, JSON lines on stdin and stdout.

Operations: `load`, `count`, `generate`, `embed`, `cancel`, `quit`. Events: `loaded`, `refused`, `counted`, `started`,
`progress`, `text`, `finished`, `embedded`, `idle`, `alive`. Ends when stdin closes or its parent is gone.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from typing import Any, BinaryIO

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.session import Session
from rtc_inspector.core.models.vectors import VectorSession
from rtc_inspector.core.models.wire import HEARTBEAT, Wire, decode, encode, unpack_prompt, unpack_request


class Worker:
    """Main thread evaluates; one thread reads (and counts tokens); one thread says that we live."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        """Speak over the two streams."""
        self._source, self._sink = source, sink
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[Wire] = queue.SimpleQueue()
        self._parent = os.getppid()
        self._session: Session | None = None
        self._vectors: VectorSession | None = None

    def serve(self) -> None:
        """Answer until told to quit."""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()
        while (message := self._inbox.get())["op"] != "quit":
            if message["op"] == "load":
                self._load(message)
            elif message["op"] == "generate" and self._session is not None:
                self._session.generate(message["run"], list(map(unpack_request, message["requests"])), self.send)
            elif message["op"] == "embed" and self._vectors is not None:
                self._embed(self._vectors, message)

    def send(self, event: str, **values: Any) -> None:
        """Write one event whole."""
        with self._lock:
            self._sink.write(encode({"event": event} | values))
            self._sink.flush()

    def _load(self, message: Wire) -> None:
        """Load a model that writes text, or one that gives vectors."""
        try:
            if message.get("kind") == "embedding":
                self._vectors = VectorSession(message)
                description = self._vectors.description()
            else:
                self._session = Session(message)
                description = self._session.description()
        except ModelError as error:
            self.send("refused", problem=error.problem, remedy=error.remedy)
        else:
            self.send("loaded", **description)

    def _embed(self, vectors: VectorSession, message: Wire) -> None:
        try:
            self.send("embedded", **vectors.embed(message["text"], message["pooled"]))
        except ModelError as error:
            self.send("refused", problem=error.problem, remedy=error.remedy)

    def _read(self) -> None:
        """Take what comes in until the pipe is closed; an error here must end the process, not only its thread."""
        try:
            self._sort()
        except BaseException:
            traceback.print_exc()  # the parent shows the last line of it
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)

    def _sort(self) -> None:
        """Sort what comes in; a closed pipe means that nobody wants us any more."""
        for line in self._source:
            message = decode(line)
            if message["op"] == "cancel":
                if self._session is not None:
                    self._session.cancel(message["run"])
            elif message["op"] == "count":
                self._count(message)
            else:
                self._inbox.put(message)

    def _count(self, message: Wire) -> None:
        try:
            if self._session is None:
                raise ModelError("No model is loaded.", "Load one first.")
            self.send("counted", ticket=message["ticket"], tokens=self._session.count(unpack_prompt(message["prompt"])))
        except ModelError as error:
            self.send("counted", ticket=message["ticket"], problem=error.problem, remedy=error.remedy)

    def _beat(self) -> None:
        pause = threading.Event()
        while not pause.wait(HEARTBEAT):
            if os.getppid() != self._parent:
                os._exit(0)
            self.send("alive")


def main() -> None:
    """Keep stdout for messages only: whatever C code prints goes to stderr."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    status = 0
    try:
        Worker(sys.stdin.buffer, sink).serve()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    except BaseException:
        traceback.print_exc()  # the parent shows the last line of it
        status = 1
    sys.stderr.flush()
    # Freeing weights in order takes time and can crash; the system takes everything back at once.
    os._exit(status)


if __name__ == "__main__":
    main()
