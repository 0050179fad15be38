"""Vectors from an embedding model over llama.cpp; lives in the worker process only.

One text a batch: then a text's vector does not depend on the texts beside it.
"""

from __future__ import annotations

import ctypes

import llama_cpp.llama_cpp as lib

from core.models.native import NativeModel

OWN_POOLING = -1
NO_POOLING = 0
MEAN_POOLING = 1


class VectorContexts:
    """Two contexts of one model, each opened when it is first needed: pooled vectors, and one vector a token."""

    def __init__(self, native: NativeModel, window: int) -> None:
        """`window`: tokens of a text at most."""
        self._native = native
        self._window = window
        self._pooled: lib.llama_context_p | None = None
        self._each: lib.llama_context_p | None = None

    @property
    def length(self) -> int:
        """Numbers in one vector."""
        return int(lib.llama_model_n_embd_out(self._native.model))

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        """Tokens with the model's own marks at both ends, and whether the text was cut to the window."""
        data = text.encode("utf-8", errors="replace")
        buffer = (lib.llama_token * (len(data) + 8))()
        count = lib.llama_tokenize(self._native.vocab, data, len(data), buffer, len(buffer), True, False)
        if count < 0:
            raise RuntimeError("the tokenizer failed")
        tokens = list(buffer[:count])
        if count <= self._window:
            return tokens, False
        end = tokens[-1:] if self.is_mark(tokens[-1]) else []
        return tokens[: self._window - len(end)] + end, True

    def is_mark(self, token: int) -> bool:
        """Whether a token marks a place, such as start and end, and stands for no text."""
        return bool(lib.llama_vocab_is_control(self._native.vocab, token))

    def pooled(self, tokens: list[int]) -> bytes:
        """One vector for the text: 32-bit floats."""
        if self._pooled is None:
            self._pooled = self._open(OWN_POOLING)
            if lib.llama_pooling_type(self._pooled) == NO_POOLING:
                lib.llama_free(self._pooled)
                self._pooled = self._open(MEAN_POOLING)
        self._evaluate(self._pooled, tokens)
        return ctypes.string_at(lib.llama_get_embeddings_seq(self._pooled, 0), 4 * self.length)

    def each(self, tokens: list[int]) -> list[bytes]:
        """One vector a token: 32-bit floats."""
        if self._each is None:
            self._each = self._open(NO_POOLING)
        self._evaluate(self._each, tokens)
        return [
            ctypes.string_at(lib.llama_get_embeddings_ith(self._each, i), 4 * self.length) for i in range(len(tokens))
        ]

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
