"""One loaded embedding model inside the worker: texts in, vectors out.

One text a batch: then a text's vector does not depend on the texts beside it.
"""

from __future__ import annotations

import ctypes
from base64 import b64encode
from pathlib import Path

import llama_cpp.llama_cpp as lib

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.native import NativeModel, loading
from rtc_inspector.core.models.wire import Wire

OWN_POOLING = -1
NO_POOLING = 0
MEAN_POOLING = 1


class VectorSession:
    """An embedding model that answers `embed` messages.

    Two contexts of the model, each opened when it is first needed: pooled vectors, and one vector a token.
    """

    def __init__(self, options: Wire) -> None:
        """Load the model a `load` message names. Raises ModelError."""
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
            tokens, cut = self._tokenize(text)
            if pooled:
                return {"values": _packed(self._pooled_vector(tokens)), "truncated": cut}
            every = self._vectors(tokens)
        except RuntimeError as error:
            raise ModelError(f"A text could not be embedded: {error}.", "Choose another embedding model.") from None
        kept = [i for i, token in enumerate(tokens) if not self._is_mark(token)]
        pieces = [self._native.piece(tokens[i]).decode("utf-8", errors="replace") for i in kept]
        return {"values": _packed(b"".join(every[i] for i in kept)), "tokens": pieces, "truncated": cut}

    def _tokenize(self, text: str) -> tuple[list[int], bool]:
        """Tokens with the model's own marks at both ends, and whether the text was cut to the window."""
        tokens = self._native.tokens(text.encode("utf-8", errors="replace"), marks=True, special=False)
        if len(tokens) <= self._window:
            return tokens, False
        end = tokens[-1:] if self._is_mark(tokens[-1]) else []
        return tokens[: self._window - len(end)] + end, True

    def _is_mark(self, token: int) -> bool:
        """Return whether a token marks a place, such as start and end, and stands for no text."""
        return bool(lib.llama_vocab_is_control(self._native.vocab, token))

    def _pooled_vector(self, tokens: list[int]) -> bytes:
        """Return one vector for the whole text, 32-bit floats."""
        if self._pooled is None:
            self._pooled = self._open(OWN_POOLING)
            if lib.llama_pooling_type(self._pooled) == NO_POOLING:
                lib.llama_free(self._pooled)
                self._pooled = self._open(MEAN_POOLING)
        self._evaluate(self._pooled, tokens)
        return ctypes.string_at(lib.llama_get_embeddings_seq(self._pooled, 0), self._bytes)

    def _vectors(self, tokens: list[int]) -> list[bytes]:
        """Return one vector for each token, 32-bit floats."""
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
