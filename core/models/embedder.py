"""A GGUF embedding model as an `Embedder`, in a model worker of its own."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.errors import ModelError, WorkerDied
from rtc_inspector.core.generation import SentenceVector, TokenVectors
from rtc_inspector.core.models.client import default_threads, recorded
from rtc_inspector.core.models.fingerprint import fingerprint
from rtc_inspector.core.models.gguf import GgufHeader, check_embedding, read_header
from rtc_inspector.core.models.process import SILENCE, WorkerLink
from rtc_inspector.core.models.wire import Wire
from rtc_inspector.core.settings import ModelSettings
from rtc_inspector.core.waiting import Beat, unheard

LONGEST = 2048
"""Tokens of a text at most, unless told otherwise: some embedding models could take far more, at a price in memory."""


class GgufEmbedder:
    """Implements `core.generation.Embedder`. One caller thread at a time."""

    def __init__(self, path: Path, settings: ModelSettings, silence: float = SILENCE, beat: Beat = unheard) -> None:
        """Check the header, start the worker and load; `beat` is called on the way, raising from it gives up.

        Raises ModelError: not a GGUF, truncated, a model that writes text, an unknown architecture, too little memory.
        """
        self._header = read_header(path)
        check_embedding(self._header)
        self._beat = beat
        self._link = WorkerLink(path, _options(self._header, settings), silence, beat)
        try:
            loaded = self._link.start()
            self._length = int(loaded["length"])
            sha256 = fingerprint(self._header.files, beat=beat)
            self.info = recorded(self._header, sha256, loaded, "embedding")
        except BaseException:
            self.close()
            raise

    def sentences(self, texts: Sequence[str]) -> Sequence[SentenceVector]:
        """Return one pooled vector of length 1 for each text. Raises ModelError, and what `beat` raises."""
        return [SentenceVector(_unit(_numbers(m)), m["truncated"]) for m in self._embed(texts, pooled=True)]

    def tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return one vector for each token of each text. Raises ModelError, and what `beat` raises."""
        return [
            TokenVectors(tuple(m["tokens"]), _numbers(m).reshape(-1, self._length), m["truncated"])
            for m in self._embed(texts, pooled=False)
        ]

    def close(self) -> None:
        """End the worker; idempotent."""
        self._link.close()

    def _embed(self, texts: Sequence[str], pooled: bool) -> Iterator[Wire]:
        """The `embedded` message of each text; a text that ends the worker is tried twice."""
        for text in texts:
            # Twice, as a sample is: a worker may be killed for want of memory that is there again a moment later.
            message = self._ask(text, pooled) or self._ask(text, pooled)
            if message is None:
                raise ModelError("The model worker ended twice on one text.", "Look at the model's log, or restart.")
            if "problem" in message:
                raise ModelError(message["problem"], message["remedy"])
            yield message

    def _ask(self, text: str, pooled: bool) -> Wire | None:
        """The answer, None when the worker died of it; a worker left in mid-question is not asked again."""
        worker = self._link.live()
        try:
            worker.send("embed", text=text, pooled=pooled)
            return self._link.next(worker, worker.inbox, self._beat)
        except WorkerDied:
            self._link.drop(worker)
            return None
        except BaseException:
            self._link.drop(worker)
            raise


def _options(header: GgufHeader, settings: ModelSettings) -> Wire:
    """The `load` message."""
    longest = header.context_length or LONGEST
    return {
        "kind": "embedding",
        "path": str(header.files[0].resolve()),
        "context_size": min(longest, settings.context_size or LONGEST),
        "threads": settings.threads or default_threads(),
        "gpu_layers": settings.gpu_layers,
    }


def _numbers(message: Wire) -> NDArray[np.float32]:
    return np.frombuffer(b64decode(message["values"]), dtype="<f4").astype(np.float32)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector scaled to length 1, so that a dot product is the cosine; a vector of zeros as it is."""
    norm = float(np.linalg.norm(vector))
    return (vector / norm).astype(np.float32) if norm else vector
