"""The model worker process: `python -m rtc_inspector.core.models.worker`, JSON lines on stdin and stdout.

Operations: `load`, `count`, `generate`, `embed`, `cancel`, `quit`. Events: `loaded`, `refused`, `counted`, `started`,
`progress`, `text`, `finished`, `embedded`, `idle`, `alive`. Ends when stdin closes or its parent is gone.
"""

from __future__ import annotations

import hashlib
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Prompt, Request, is_plain
from rtc_inspector.core.models.answers import TURN, Ending, begun_by, formats
from rtc_inspector.core.models.devices import available_memory
from rtc_inspector.core.models.engine import Aborted, Counters, Engine, Job, Listener, find_shape, twinned
from rtc_inspector.core.models.native import NativeModel, VectorSession, loading
from rtc_inspector.core.models.process import HEARTBEAT, Wire, decode, encode, unpack_prompt, unpack_request
from rtc_inspector.core.models.template import COMPLETION_STOP, Renderer

WINDOW_STEP = 1024  # windows are opened in multiples of this many tokens, as large as the requests at hand need
STREAMS = 10  # a wave of two regions writes eight samples at a time; two more keep what the other pass has read
SHARE = 0.25  # of the memory that is free after loading: what the key-value cache may take
LEAST_CACHE = 256 << 20
Send = Callable[..., None]  # writes one event: its name, and its values by theirs


class Session:
    """A model, its renderer, and the engine that fits the requests at hand."""

    def __init__(self, options: Wire) -> None:
        path = Path(options["path"])
        with loading(path):
            self.native = NativeModel(
                path,
                options["gpu_layers"],
                options["threads"],
                options["top_k"],
                options["top_p"],
                extra_buffers=options["extra_buffers"],
            )
            if not self.native.writes_text:
                raise ModelError(
                    f"{path.name} is an encoder: it cannot write text.", "Choose a model that writes text."
                )
            self._forms = formats(options["thought_tag"])
            self.renderer = Renderer(
                options["template"],
                bos=self.native.special_text("bos"),
                eos=self.native.special_text("eos"),
                thinking=options["thinking"],
                forms=self._forms,
                **options["prompt_style"],
            )
            self.shape = find_shape(self.native, self.native.vocabulary)
        # What a model thinks is told from its answer by tokens that are else left out of its text.
        self.native.shown = (TURN, *(mark for form in self._forms for mark in (form.opening, form.closing)))
        self.context_size, self._kv_bytes = options["context_size"], options["kv_bytes"]
        self._fixed = options["fixed_context"] or self.shape is None
        self._thought_tokens = options["thought_tokens"]
        self._template = options["template"] or ""
        self._engine: Engine | None = None
        self._counters = Counters()
        self._lock = threading.Lock()
        self._run = self._cancelled_run = 0

    def description(self) -> Wire:
        used = self._template if self.renderer.style == "chat" else ""
        return {
            "template_sha256": hashlib.sha256(used.encode()).hexdigest() if used else "",
            "build": self.native.build,
            "threads": self.native.threads,
            "context_size": self.context_size,
            "batched": self.shape is not None,
        }

    def count(self, prompt: Prompt) -> int:
        return len(self.native.tokenize(self._render(prompt)))

    def cancel(self, run: int) -> None:
        """Stop generation number `run`, in mid-batch if need be; may come from any thread, early or late."""
        with self._lock:
            # A cancel may overtake the generation that it is meant for: that one then ends as it begins.
            self._cancelled_run = max(self._cancelled_run, run)
            if run == self._run:
                self.native.set_abort(True)

    def generate(self, run: int, requests: Sequence[Request], send: Send) -> None:
        with self._lock:
            self._run = run
            self.native.set_abort(self._is_cancelled())
        try:
            self._generate(requests, send)
        except Aborted:
            pass
        except ModelError as error:
            send("refused", problem=error.problem, remedy=error.remedy)
        with self._lock:
            self._run = 0
            self.native.set_abort(False)
        send("idle", run=run, counters=asdict(self._counters))

    def _is_cancelled(self) -> bool:
        return self._cancelled_run >= self._run

    def _generate(self, requests: Sequence[Request], send: Send) -> None:
        rendered = {request.id: self._render(request.prompt) for request in requests}
        jobs, twins = twinned([self._job(request, rendered[request.id]) for request in requests])

        def to_each(event: str, id_: str, **values: object) -> None:
            for twin in twins[id_]:
                send(event, id=twin, **values)

        listener = Listener(
            started=lambda id_: to_each("started", id_),
            text=lambda id_, text: to_each("text", id_, text=text),
            progress=lambda id_, done, total: send("progress", id=id_, done=done, total=total),
        )
        need = max(min(self.context_size, len(job.tokens) + job.room + 1) for job in jobs)
        window = self.context_size if self._fixed else min(self.context_size, -(-need // WINDOW_STEP) * WINDOW_STEP)
        if self._engine is None or self._engine.window < window:
            self._engine = self._open_engine(window)
            self._engine.cancelled = self._is_cancelled
        for end in self._engine.run(jobs, listener):
            for id_ in twins[end.id]:
                seconds = end.seconds if id_ == end.id else 0.0
                send("finished", **asdict(replace(end, id=id_, rendered=rendered[id_], seconds=seconds)))

    def _render(self, prompt: Prompt) -> str:
        return self.renderer.render(prompt.messages, prompt.prefill, prompt.infill)

    def _job(self, request: Request, text: str) -> Job:
        prompt = request.prompt
        turns = self.renderer.style == "completion" and not is_plain(prompt.messages)
        stops = (*prompt.stop, COMPLETION_STOP) if turns else prompt.stop
        thinks = begun_by(text, self._forms)
        aware = any(form.opening in self._template for form in self._forms if not form.needs_both)
        return Job(
            id=request.id,
            tokens=tuple(self.native.tokenize(text)),
            temperature=request.temperature,
            seed=request.seed,
            max_tokens=request.max_tokens,
            # The answer's opening fence was not given: it would have stood among the thoughts.
            ending=Ending() if thinks else Ending(stops, prompt.block, prompt.most_characters),
            thinks=thinks,
            thought_tokens=self._thought_tokens if thinks or aware else 0,
            forms=self._forms,
        )

    def _open_engine(self, window: int) -> Engine:
        """Open an engine with as many streams as memory allows. Raises ModelError when there is not enough for one."""
        cache = max(LEAST_CACHE, int(available_memory() * SHARE))
        streams = max(1, min(STREAMS, cache // max(1, window * self._kv_bytes)))
        while True:
            try:
                return Engine(self.native, window, streams, self.shape, self._counters)
            except RuntimeError as error:
                if streams == 1:
                    raise ModelError(
                        f"There is not enough memory for a window of {window:,} tokens: {error}.",
                        "Choose a smaller context size or a smaller model, or close other programs.",
                    ) from None
                streams //= 2


# ---- the process


class Worker:
    """Main thread evaluates; one thread reads (and counts tokens); one thread says that we live."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[Wire] = queue.SimpleQueue()
        self._parent = os.getppid()
        self._session: Session | None = None
        self._vectors: VectorSession | None = None

    def serve(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()
        while (message := self._inbox.get())["op"] != "quit":
            try:
                self._do(message)
            except ModelError as error:
                self.send("refused", problem=error.problem, remedy=error.remedy)

    def send(self, event: str, **values: Any) -> None:
        with self._lock:
            self._sink.write(encode({"event": event} | values))
            self._sink.flush()

    def _do(self, message: Wire) -> None:
        if message["op"] == "load" and message.get("kind") == "embedding":
            self._vectors = VectorSession(message)
            self.send("loaded", **self._vectors.description())
        elif message["op"] == "load":
            self._session = Session(message)
            self.send("loaded", **self._session.description())
        elif message["op"] == "generate" and self._session is not None:
            self._session.generate(message["run"], list(map(unpack_request, message["requests"])), self.send)
        elif message["op"] == "embed" and self._vectors is not None:
            self.send("embedded", **self._vectors.embed(message["text"], message["pooled"]))

    def _read(self) -> None:
        """Take what comes in until the pipe is closed: then nobody wants us any more."""
        try:
            for line in self._source:
                message = decode(line)
                if message["op"] == "count":
                    self._count(message["ticket"], unpack_prompt(message["prompt"]))
                elif message["op"] != "cancel":
                    self._inbox.put(message)
                elif self._session is not None:
                    self._session.cancel(message["run"])
        except BaseException:  # it must end the process, not only its thread
            traceback.print_exc()  # the parent shows the last line of it
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)

    def _count(self, ticket: int, prompt: Prompt) -> None:
        assert self._session is not None, "nothing is counted before a model is loaded"
        try:
            self.send("counted", ticket=ticket, tokens=self._session.count(prompt))
        except ModelError as error:
            self.send("counted", ticket=ticket, problem=error.problem, remedy=error.remedy)

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
