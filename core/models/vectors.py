"""One loaded embedding model inside the worker: texts in, vectors out."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from core.errors import ModelError
from core.models.native import NativeModel, process_log
from core.models.native_vectors import VectorContexts
from core.models.wire import Wire


class VectorSession:
    """An embedding model that answers `embed` messages."""

    def __init__(self, native: NativeModel, options: Wire) -> None:
        """Wrap a loaded model. Use `load`."""
        self.native = native
        self.context_size = int(options["context_size"])
        self.contexts = VectorContexts(native, self.context_size)

    @classmethod
    def load(cls, options: Wire) -> VectorSession:
        """Load the model a `load` message names. Raises ModelError."""
        log = process_log()
        log.lines.clear()
        path = Path(options["path"])
        try:
            native = NativeModel(path, int(options["gpu_layers"]), int(options["threads"]))
        except RuntimeError as error:
            raise ModelError(
                f"{path.name} cannot be loaded: {log.reason() or error}.",
                "Check that the file is whole and that this llama.cpp knows its architecture.",
            ) from None
        return cls(native, options)

    def description(self) -> Wire:
        """What the model's record needs from this side."""
        return {
            "build": self.native.build,
            "threads": self.native.threads,
            "context_size": self.context_size,
            "length": self.contexts.length,
        }

    def embed(self, text: str, pooled: bool) -> Wire:
        """One text's vectors, as an `embedded` message carries them. Raises ModelError."""
        try:
            tokens, cut = self.contexts.tokenize(text)
            if pooled:
                return {"values": _packed(self.contexts.pooled(tokens)), "truncated": cut}
            every = self.contexts.each(tokens)
        except RuntimeError as error:
            raise ModelError(f"A text could not be embedded: {error}.", "Choose another embedding model.") from None
        kept = [i for i, token in enumerate(tokens) if not self.contexts.is_mark(token)]
        pieces = [self.native.piece(tokens[i]).decode("utf-8", errors="replace") for i in kept]
        return {"values": _packed(b"".join(every[i] for i in kept)), "tokens": pieces, "truncated": cut}


def _packed(data: bytes) -> str:
    return b64encode(data).decode("ascii")
