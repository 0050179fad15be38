"""Seeds that depend on what is drawn, never on when: a resumed run draws what the uninterrupted one would have."""

from __future__ import annotations

import hashlib


def sample_seed(run_seed: int, item_key: str, role: str, *indices: int) -> int:
    """A 31-bit seed for one sample of a run; the same on every machine."""
    text = "\x1f".join([str(run_seed), item_key, role, *map(str, indices)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
