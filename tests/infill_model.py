"""The bundled model under names that make it a base model with fill-in-the-middle: a real file, loaded for real.

Its weights never learnt what the marks mean; what is tested is that they reach the model as single tokens.
"""

from __future__ import annotations

import os
from pathlib import Path

from rtc_inspector.core.models.discovery import bundled_model

RENAMED = {
    b"<jupyter_text>": b"<|fim_prefix|>",
    b"<jupyter_code>": b"<|fim_suffix|>",
    b"<issue_closed>": b"<|fim_middle|>",
}
TEMPLATE = b"tokenizer.chat_template"


def write_infill_model(path: Path, template: bool = False, weights: bool = True) -> Path:
    """Rename three control tokens and, unless it is to stay, the key of the chat template; all lengths stay.

    Without `weights` there is a hole in their place: enough for whoever reads the header.
    """
    with bundled_model().open("rb") as file:
        data = bytearray(file.read(-1 if weights else 3 << 20))
    names = RENAMED if template else RENAMED | {TEMPLATE: TEMPLATE[:-1] + b"_"}
    for old, new in names.items():
        at = data.index(old)
        data[at : at + len(old)] = new
    path.write_bytes(data)
    os.truncate(path, bundled_model().stat().st_size)
    return path
