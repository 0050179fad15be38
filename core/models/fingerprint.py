"""SHA-256 of a model file, remembered by path, size and modification time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_dir

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.waiting import Beat, unheard


def fingerprint(files: Sequence[Path], cache: Path | None = None, beat: Beat = unheard) -> str:
    """SHA-256 over the bytes of all parts in order; of one file it is the file's own.

    `cache`: where results are remembered, else the platform's cache folder. `beat` is called as it goes; raising from
    it gives up. Raises ModelError when unreadable.
    """
    cache = cache or _cache_file()
    try:
        key = _key(files)
        known = _load(cache)
        if key not in known:
            known[key] = _digest(files, beat)
            _save(cache, known)
        return known[key]
    except OSError as error:
        raise ModelError(
            f"{files[0]} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from None


def remembered_fingerprint(files: Sequence[Path], cache: Path | None = None) -> str:
    """Return what `fingerprint` found for these files before; empty where they were never read or have changed."""
    try:
        return _load(cache or _cache_file()).get(_key(files), "")
    except OSError:
        return ""


def _cache_file() -> Path:
    return Path(user_cache_dir("rtc-inspector")) / "fingerprints.json"


def _key(files: Sequence[Path]) -> str:
    return json.dumps([[str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns] for f in files])


def _digest(files: Sequence[Path], beat: Beat) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                beat()
                digest.update(block)
    return digest.hexdigest()


def _load(cache: Path) -> dict[str, str]:
    try:
        known = json.loads(cache.read_text())
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in known.items()} if isinstance(known, dict) else {}


def _save(cache: Path, known: dict[str, str]) -> None:
    """Replace the cache whole; a cache that cannot be written costs time, not results."""
    fresh = cache.with_suffix(f".{os.getpid()}")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(known))
        fresh.replace(cache)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
