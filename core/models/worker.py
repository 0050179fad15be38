"""The model worker process: `python -m rtc_inspector.core.models.worker`, JSON lines on stdin and stdout.

Operations: `load`, `count`, `generate`, `embed`, `cancel`, `quit`. Events: `loaded`, `refused`, `counted`, `started`,
`progress`, `text`, `finished`, `embedded`, `idle`, `alive`. Ends when stdin closes or its parent is gone.

First stands the thin layer over llama.cpp's C interface, then the session and the process. Every sequence has its
own stream of the key-value cache (`kv_unified` off) and flash attention is off: then the numbers of one sequence do not
depend on what the others do (docs/model-passes.md).
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import queue
import sys
import threading
import traceback
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import llama_cpp.llama_cpp as lib
from llama_cpp import __version__ as binding_version

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Prompt, Request, is_plain
from rtc_inspector.core.models.answers import TURN, Ending, begun_by, formats
from rtc_inspector.core.models.devices import WITHOUT_EXTRA_BUFFERS, available_memory
from rtc_inspector.core.models.engine import Aborted, Counters, Engine, Job, Row, find_shape, twinned
from rtc_inspector.core.models.process import HEARTBEAT, Wire, encode
from rtc_inspector.core.models.template import COMPLETION_STOP, Renderer
from rtc_inspector.core.settings.setting import read_back

BATCH = 512
PIECE = 256  # bytes that nearly every token fits


@cache
def process_log() -> LogTail:
    """Return the one log of this process, installed at the first call and never freed.

    llama.cpp keeps the callback's bare address and calls it at any later time, e.g. when a context is opened. A ctypes
    callback that Python has collected by then is a jump into freed memory.
    """
    return LogTail()


class LogTail:
    """Copies llama.cpp's log to stderr and keeps the last lines for error messages. Use `process_log`."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=20)
        self._callback = lib.llama_log_callback(self._write)
        lib.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _write(self, level: int, text: bytes, _: object) -> None:
        if level in (3, 4):
            line = text.decode("utf-8", errors="replace")
            if level == 4 and line.strip():
                self.lines.append(line.strip())
            sys.stderr.write(line)

    def reason(self) -> str:
        """Return the cause of a failure: the last line that says why a model did not load, else the last line.

        It is empty when nothing was logged.
        """
        telling = [line for line in self.lines if "error loading model" in line]
        return (telling or [*self.lines] or [""])[-1].rsplit("error loading model: ", 1)[-1].strip()


@contextmanager
def loading(path: Path) -> Iterator[None]:
    """Raise ModelError where llama.cpp refuses to load the model at `path`, with what it says of it."""
    log = process_log()
    log.lines.clear()
    try:
        yield
    except RuntimeError as error:
        raise ModelError(
            f"{path.name} cannot be loaded: {log.reason() or error}.",
            "Check that the file is whole and that this llama.cpp knows its architecture.",
        ) from None


class NativeModel:
    """One loaded model and its current context."""

    def __init__(
        self, path: Path, gpu_layers: int, threads: int, top_k: int = 0, top_p: float = 1.0, extra_buffers: bool = True
    ) -> None:
        """Load the weights. Raises RuntimeError when llama.cpp refuses.

        `top_k`, `top_p`: only the likeliest tokens are drawn from; 0 and 1.0 leave the model's own distribution whole.
        `extra_buffers`: weights are packed anew for this processor's widest instructions, such as AMX.
        """
        lib.llama_backend_init()
        params = lib.llama_model_default_params()
        params.n_gpu_layers = gpu_layers if lib.llama_supports_gpu_offload() else 0
        params.use_extra_bufts = self._extra_buffers = extra_buffers
        self.model = lib.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise RuntimeError("llama.cpp could not load the model")
        vocab = lib.llama_model_get_vocab(self.model)
        assert vocab is not None
        self.vocab = vocab
        self.threads = threads
        self._top_k, self._top_p = top_k, top_p
        self.shown: Sequence[str] = ()
        """Texts of special tokens, also several in a row, that are part of what the model writes."""
        self.context: lib.llama_context_p | None = None
        self.batch = lib.llama_batch_init(BATCH, 0, 1)
        self.abort_flag = ctypes.create_string_buffer(2)
        # strlen(flag) is the abort test: C code on every graph node, where a Python callback would cost a tenth.
        address = ctypes.cast(ctypes.CDLL(None).strlen, ctypes.c_void_p).value
        assert address is not None
        self._abort_test = lib.ggml_abort_callback(address)
        self._samplers: dict[int, lib.llama_sampler_p] = {}

    @property
    def can_rewind(self) -> bool:
        """Return whether part of a sequence can be taken back (recurrent models cannot)."""
        return not (lib.llama_model_is_recurrent(self.model) or lib.llama_model_is_hybrid(self.model))

    @property
    def vocabulary(self) -> int:
        return int(lib.llama_vocab_n_tokens(self.vocab))

    @property
    def build(self) -> str:
        flags = [f for f in lib.llama_print_system_info().decode().split("|") if "= 1" in f]
        names = " ".join(f.split("=")[0].split(":")[-1].strip() for f in flags)
        device = "GPU" if lib.llama_supports_gpu_offload() else "CPU"
        version = lib.llama_version().decode()
        build = f"llama-cpp-python {binding_version}, llama.cpp {version}, {device}, {names}"
        return build if self._extra_buffers else f"{build}, {WITHOUT_EXTRA_BUFFERS}"

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of rendered text; special ones are recognised, a missing start token is added once."""
        data = text.encode("utf-8", errors="replace")
        start = self.piece(lib.llama_vocab_bos(self.vocab), special=True)
        return self.tokens(data, marks=not (start and data.startswith(start)), special=True)

    def tokens(self, data: bytes, marks: bool, special: bool) -> list[int]:
        """Return the tokens of UTF-8 text. `marks`: with the model's own at its ends; `special`: heeded in the text."""
        buffer = (lib.llama_token * (len(data) + 8))()
        count = lib.llama_tokenize(self.vocab, data, len(data), buffer, len(buffer), marks, special)
        if count < 0:
            raise RuntimeError("the tokenizer failed")
        return list(buffer[:count])

    def piece(self, token: int, special: bool = False) -> bytes:
        """Return the bytes one token stands for; special tokens are empty unless asked."""
        if token < 0:
            return b""
        count = -PIECE
        while count < 0:  # the token needs so many
            buffer = ctypes.create_string_buffer(-count)
            count = int(lib.llama_token_to_piece(self.vocab, token, buffer, len(buffer), 0, special))
        if count == 0 and not special and self.shown:
            mark = self.piece(token, special=True)
            return mark if any(mark.decode("utf-8", "replace") in text for text in self.shown) else b""
        return buffer.raw[:count]

    def ends(self, token: int) -> bool:
        return bool(lib.llama_vocab_is_eog(self.vocab, token))

    def special_text(self, which: str) -> str:
        token = lib.llama_vocab_bos(self.vocab) if which == "bos" else lib.llama_vocab_eos(self.vocab)
        return self.piece(token, special=True).decode("utf-8", errors="replace")

    def open_context(self, tokens: int, streams: int) -> None:
        """Open a fresh context of `streams` sequences with `tokens` each. Raises RuntimeError when memory is short."""
        if self.context is not None:
            lib.llama_free(self.context)
            self.context = None
        params = lib.llama_context_default_params()
        params.n_ctx = tokens * streams
        params.n_seq_max = streams
        params.n_batch = params.n_ubatch = BATCH
        # Logits of the last rows only: those of a whole prompt of 512 tokens would take hundreds of megabytes.
        params.n_outputs_max = streams
        params.n_threads = params.n_threads_batch = self.threads
        # A cache of its own for each sequence: shared cells would let one answer's numbers depend on the others'.
        params.kv_unified = False
        # A window that slides would drop what a later prompt could build on.
        params.swa_full = True
        params.flash_attn_type = 0
        params.no_perf = True
        self.context = lib.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError("llama.cpp could not make a context")
        lib.llama_set_abort_callback(self.context, self._abort_test, ctypes.addressof(self.abort_flag))

    def decode(self, rows: Sequence[Row]) -> None:
        """Evaluate `rows` in one batch. Raises Aborted, RuntimeError."""
        assert self.context is not None
        batch = self.batch
        batch.n_tokens = len(rows)
        for i, row in enumerate(rows):
            batch.token[i], batch.pos[i], batch.logits[i] = row.token, row.position, row.wanted
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = row.stream
        result = lib.llama_decode(self.context, batch)
        if result == 2:
            raise Aborted
        if result != 0:
            raise RuntimeError(f"llama_decode failed with {result}")

    def set_abort(self, wanted: bool) -> None:
        """Ask a running `decode` to stop, or take that back; any thread."""
        self.abort_flag.value = b"x" if wanted else b""

    def forget(self, stream: int, start: int) -> None:
        lib.llama_memory_seq_rm(self._memory(), stream, start, -1)

    def copy(self, source: int, target: int) -> None:
        memory = self._memory()
        lib.llama_memory_seq_rm(memory, target, -1, -1)
        lib.llama_memory_seq_cp(memory, source, target, -1, -1)

    def _memory(self) -> lib.llama_memory_t:
        assert self.context is not None
        memory: lib.llama_memory_t | None = lib.llama_get_memory(self.context)
        assert memory is not None
        return memory

    def logits(self, row: int) -> bytes:
        """Return the raw logits of one row of the last batch, for comparing bit by bit."""
        assert self.context is not None
        pointer = lib.llama_get_logits_ith(self.context, row)
        return ctypes.string_at(pointer, lib.llama_vocab_n_tokens(self.vocab) * ctypes.sizeof(ctypes.c_float))

    def open_sampler(self, temperature: float, seed: int) -> int:
        """Open a sampler chain with its own random numbers; give it back to `close_sampler`."""
        if temperature <= 0:
            samplers = [lib.llama_sampler_init_greedy()]
        else:
            samplers = [lib.llama_sampler_init_top_k(self._top_k)] if self._top_k > 0 else []
            samplers += [lib.llama_sampler_init_top_p(self._top_p, 1)] if self._top_p < 1 else []
            # 0xFFFFFFFF would ask for a random seed.
            samplers += [lib.llama_sampler_init_temp(temperature), lib.llama_sampler_init_dist(seed % 0xFFFFFFFF)]
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        for sampler in samplers:
            lib.llama_sampler_chain_add(chain, sampler)
        handle = max(self._samplers, default=0) + 1
        self._samplers[handle] = chain
        return handle

    def sample(self, sampler: int, row: int) -> int:
        assert self.context is not None
        return int(lib.llama_sampler_sample(self._samplers[sampler], self.context, row))

    def close_sampler(self, sampler: int) -> None:
        lib.llama_sampler_free(self._samplers.pop(sampler))


# ---- embedding


OWN_POOLING = -1
NO_POOLING = 0
MEAN_POOLING = 1


class VectorSession:
    """An embedding model that answers `embed` messages.

    Two contexts of the model, each opened when it is first needed: pooled vectors, and one vector a token.
    """

    def __init__(self, options: Wire) -> None:
        path = Path(options["path"])
        with loading(path):
            self._native = NativeModel(
                path, int(options["gpu_layers"]), int(options["threads"]), extra_buffers=options["extra_buffers"]
            )
        self._window = int(options["context_size"])
        self._bytes = 4 * int(lib.llama_model_n_embd_out(self._native.model))
        self._pooled: lib.llama_context_p | None = None
        self._each: lib.llama_context_p | None = None
        # A build that cannot evaluate on this processor is found out while the parent can still load otherwise.
        self.embed("One text, to see that this build can evaluate.", pooled=True)

    def description(self) -> Wire:
        """Return the facts about the worker that the model's record needs. `length`: the numbers in one vector."""
        return {
            "build": self._native.build,
            "threads": self._native.threads,
            "context_size": self._window,
            "length": self._bytes // 4,
        }

    def embed(self, text: str, pooled: bool) -> Wire:
        """Return one text's vectors, 32-bit floats as an `embedded` message carries them. Raises ModelError."""
        try:
            tokens = self._native.tokens(text.encode("utf-8", errors="replace"), marks=True, special=False)
            if cut := len(tokens) > self._window:
                end = tokens[-1:] if self._is_mark(tokens[-1]) else []
                tokens = tokens[: self._window - len(end)] + end
            if pooled:
                return {"values": _packed(self._pooled_vector(tokens)), "truncated": cut}
            every = self._vectors(tokens)
        except RuntimeError as error:
            raise ModelError(f"A text could not be embedded: {error}.", "Choose another embedding model.") from None
        kept = [i for i, token in enumerate(tokens) if not self._is_mark(token)]
        pieces = [self._native.piece(tokens[i]).decode("utf-8", errors="replace") for i in kept]
        return {"values": _packed(b"".join(every[i] for i in kept)), "tokens": pieces, "truncated": cut}

    def _is_mark(self, token: int) -> bool:
        """Return whether a token marks a place, such as start and end, and stands for no text."""
        return bool(lib.llama_vocab_is_control(self._native.vocab, token))

    def _pooled_vector(self, tokens: list[int]) -> bytes:
        if self._pooled is None:
            self._pooled = self._open(OWN_POOLING)
            if lib.llama_pooling_type(self._pooled) == NO_POOLING:
                lib.llama_free(self._pooled)
                self._pooled = self._open(MEAN_POOLING)
        self._evaluate(self._pooled, tokens)
        return ctypes.string_at(lib.llama_get_embeddings_seq(self._pooled, 0), self._bytes)

    def _vectors(self, tokens: list[int]) -> list[bytes]:
        if self._each is None:
            self._each = self._open(NO_POOLING)
        self._evaluate(self._each, tokens)
        found = (lib.llama_get_embeddings_ith(self._each, i) for i in range(len(tokens)))
        return [ctypes.string_at(vector, self._bytes) for vector in found]

    def _open(self, pooling: int) -> lib.llama_context_p:
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._window
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = self._native.threads
        params.embeddings = True
        params.pooling_type = pooling
        params.flash_attn_type = 0
        params.no_perf = True
        context: lib.llama_context_p | None = lib.llama_init_from_model(self._native.model, params)
        if context is None or not context:
            raise RuntimeError("llama.cpp could not make a context")
        return context

    def _evaluate(self, context: lib.llama_context_p, tokens: list[int]) -> None:
        memory = lib.llama_get_memory(context)
        if memory:
            lib.llama_memory_clear(memory, True)
        batch = lib.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.logits[i] = token, i, True
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
        try:
            result = lib.llama_decode(context, batch) if memory else lib.llama_encode(context, batch)
        finally:
            lib.llama_batch_free(batch)
        if result != 0:
            raise RuntimeError(f"llama.cpp failed with {result}")


def _packed(data: bytes) -> str:
    return b64encode(data).decode("ascii")


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
            if not lib.llama_model_has_decoder(self.native.model):
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
            # A prompt is read once for all of them.
            for twin in [id_] if event == "progress" else twins[id_]:
                send(event, id=twin, **values)

        need = max(min(self.context_size, len(job.tokens) + job.room + 1) for job in jobs)
        window = self.context_size if self._fixed else min(self.context_size, -(-need // WINDOW_STEP) * WINDOW_STEP)
        if self._engine is None or self._engine.window < window:
            self._engine = self._open_engine(window)
            self._engine.cancelled = self._is_cancelled
        for end in self._engine.run(jobs, to_each):
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
            requests = [read_back(Request, each) for each in message["requests"]]
            self._session.generate(message["run"], requests, self.send)
        elif message["op"] == "embed" and self._vectors is not None:
            self.send("embedded", **self._vectors.embed(message["text"], message["pooled"]))

    def _read(self) -> None:
        """Take what comes in until the pipe is closed: then nobody wants us any more."""
        try:
            for line in self._source:
                message: Wire = json.loads(line)
                if message["op"] == "count":
                    self._count(message["ticket"], read_back(Prompt, message["prompt"]))
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
