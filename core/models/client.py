"""A local GGUF file as a `Model`: starts the worker, survives its death, never imports llama.cpp."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rtc_inspector.core.errors import Cancelled, ModelError, WorkerDied
from rtc_inspector.core.generation import Generation, ModelInfo, OnText, Prompt, Request
from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.models.devices import window_of
from rtc_inspector.core.models.gguf import GgufHeader, check_generative, fingerprint, read_header
from rtc_inspector.core.models.process import SILENCE, Wire, WorkerLink, WorkerProcess
from rtc_inspector.core.models.styles import ChosenStyle, choose_style, wire_style
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.settings import ModelSettings
from rtc_inspector.core.types import Report, plain
from rtc_inspector.core.waiting import Poll, no_poll

CANCEL_PATIENCE = 1.0
MOST_THREADS = 512  # of ggml, which would crash with more


class LocalModel:
    """Implements `core.generation.Model` over one worker process."""

    def __init__(
        self,
        path: Path,
        settings: ModelSettings,
        silence: float = SILENCE,
        poll: Poll = no_poll,
        extra_buffers: bool | None = None,
        language: Language = PYTHON,
    ) -> None:
        """Check the header, start the worker and load; `poll` is called on the way, raising from it gives up.

        `extra_buffers`: see `WorkerLink`; `language`: in which the model will be asked.

        Raises ModelError: not a GGUF, truncated, an embedding model, an unknown architecture, too little memory.
        """
        header = read_header(path)
        check_generative(header)
        sha256 = fingerprint(header.files, poll=poll)
        asked = choose_style(header, settings.prompt_style, sha256, language)
        self._link = WorkerLink(path, _options(header, settings, asked), silence, poll, extra_buffers)
        self._cancel = threading.Event()
        self._numbers = itertools.count(1)
        self._counted: dict[int, Counter[str]] = {}
        loaded = self._link.start()
        self.info = replace(
            recorded(header, sha256, loaded, asked.forward),
            template_sha256=loaded["template_sha256"] if asked.forward == "chat" else "",
            backward_style=asked.backward,
            calibration=asked.calibration,
            **plain(settings, "prompt_layout", "top_k", "top_p"),
            build=loaded["build"] + ("" if loaded["batched"] else ", one sequence at a time"),
        )

    def count_tokens(self, prompt: Prompt) -> int:
        ticket = next(self._numbers)

        def count(worker: WorkerProcess) -> Wire:
            worker.send("count", ticket=ticket, prompt=asdict(prompt))
            while (message := self._link.next(worker, worker.counts))["ticket"] != ticket:
                pass
            return message

        return int(self._link.asked(count, "while counting tokens")["tokens"])

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        self._cancel.clear()  # here and not in the generator: a cancel between call and first sample counts
        return self._generate(requests, on_text, on_progress)

    def _generate(
        self, requests: Sequence[Request], on_text: OnText | None, on_progress: Report | None
    ) -> Iterator[Generation]:
        open_requests = {r.id: r for r in requests}
        deaths = dict.fromkeys(open_requests, 0)
        sent_text = dict.fromkeys(open_requests, 0)
        while open_requests:
            # A worker that dies on one request must not cost the others their second try.
            started: set[str] = set()
            fresh = self._link.worker is None
            text = _resuming(on_text, sent_text)
            try:
                for generation in self._round(list(open_requests.values()), started, text, on_progress):
                    del open_requests[generation.id]
                    yield generation
            except WorkerDied as death:
                if not started and not fresh:
                    continue  # it had died idle, or of what came before: none of these is to blame
                # Those it was working on are suspected; where it had begun none, any of them may have been too much for
                # it.
                for id_ in (started & open_requests.keys()) or set(open_requests):
                    deaths[id_] += 1
                    if deaths[id_] > 1:
                        yield open_requests.pop(id_).failed(death.problem)

    def cancel(self) -> None:
        self._cancel.set()

    def close(self) -> None:
        self._link.close()

    @property
    def counters(self) -> Counter[str]:
        return sum(self._counted.values(), Counter())

    @property
    def worker_pid(self) -> int | None:
        return self._link.worker.pid if self._link.worker else None

    def _round(
        self, requests: Sequence[Request], started: set[str], on_text: OnText, on_progress: Report | None
    ) -> Iterator[Generation]:
        worker = self._link.live()
        run = next(self._numbers)

        def heed_cancel() -> None:
            if self._cancel.is_set():
                raise Cancelled

        try:
            worker.send("generate", run=run, requests=list(map(asdict, requests)))
            while (message := self._link.next(worker, worker.inbox, heed_cancel))["event"] != "idle":
                match message["event"]:
                    case "started":
                        started.add(message["id"])
                    case "text":
                        on_text(message["id"], message["text"])
                    case "progress" if on_progress is not None:
                        on_progress(message["id"], message["done"], message["total"])
                    case "finished":
                        yield Generation(**{name: value for name, value in message.items() if name != "event"})
                    case "refused":  # short of memory: a fresh worker may have more, and other samples may need less
                        raise WorkerDied(message["problem"], message["remedy"])
            self._counted[worker.pid] = Counter(message["counters"])
        except WorkerDied:
            self._link.drop(worker)
            raise
        except BaseException:  # a stop, and whoever draws no further
            if self._link.worker is worker:
                self._stop_run(worker, run)
            raise

    def _stop_run(self, worker: WorkerProcess, run: int) -> None:
        """Have the worker leave generation `run`; kill it when it does not in time."""
        end = time.monotonic() + CANCEL_PATIENCE

        def hurry() -> None:
            if time.monotonic() > end:
                raise WorkerDied("The model worker does not stop.", "It is started again.")

        try:
            worker.send("cancel", run=run)
            # An earlier generation's `idle` may still lie in the inbox.
            while (message := self._link.next(worker, worker.inbox, hurry))["event"] != "idle" or message["run"] != run:
                pass
        except WorkerDied:
            self._link.drop(worker)


def recorded(header: GgufHeader, sha256: str, loaded: Wire, style: str) -> ModelInfo:
    """Return the facts that a run records of any model file that a worker has loaded."""
    return ModelInfo(
        name=header.label,
        path=str(header.path),
        sha256=sha256,
        prompt_style=style,
        **plain(header, "architecture", "quantization", "parameters"),
        **{name: loaded[name] for name in ("context_size", "threads", "build")},
    )


def default_threads() -> int:
    """Return one less than the cores this process may use: ggml's threads spin, and the sandbox needs one."""
    return max(1, usable_cores() - 1)


def _options(header: GgufHeader, settings: ModelSettings, asked: ChosenStyle) -> Wire:
    if (settings.threads or 0) > MOST_THREADS:
        raise ModelError(f"llama.cpp takes at most {MOST_THREADS} threads, not {settings.threads:,}.", "Name fewer.")
    return {
        "path": str(header.files[0].resolve()),
        "context_size": window_of(header, settings),
        "threads": settings.threads or default_threads(),
        "prompt_style": wire_style(header, asked),
        "template": header.chat_template,
        **plain(header, "kv_bytes", "fixed_context"),
        **plain(settings, "gpu_layers", "top_k", "top_p", "thinking", "thought_tokens", "thought_tag"),
    }


def _resuming(on_text: OnText | None, sent: dict[str, int]) -> OnText:
    """Return what streams to `on_text`, but not again what an earlier worker had sent: a retry repeats the text."""
    skip = dict(sent)

    def forward(id_: str, text: str) -> None:
        repeated = min(skip[id_], len(text))
        skip[id_] -= repeated
        if on_text is not None and text[repeated:]:
            sent[id_] += len(text) - repeated
            on_text(id_, text[repeated:])

    return forward
