"""Plain values kept between runs of the program, one compressed file a key."""

import gzip
import json
import os
import tempfile
import zlib
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path


class JsonCache:
    """A folder of files. Trouble with it is passed over: it is only a cache."""

    def __init__(self, folder: Path | str, kept: int) -> None:
        """Keep at most `kept` files, those used last; a name means a folder of that name among the user's caches."""
        self._place, self._kept = folder, kept

    @property
    def _folder(self) -> Path:
        return user_cache_path("rtc-inspector") / self._place

    def load(self, key: str) -> Any:
        """Return what is kept under `key`; None when there is nothing, or it cannot be read."""
        try:
            with gzip.open(self._file(key), "rt", encoding="utf-8") as file:
                value = json.load(file)
        except (OSError, EOFError, ValueError, zlib.error):
            return None
        with suppress(OSError):
            os.utime(self._file(key))
        return value

    def save(self, key: str, value: object) -> None:
        """Keep it, whole or not at all; dataclasses in it by their fields, sets as sorted lists."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            # Written aside and renamed: two windows may save the same key, and one may be killed in the middle.
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    # In one piece: `json.dump` does without the encoder in C, and takes ten times as long.
                    file.write(gzip.compress(json.dumps(value, default=_plain).encode(), compresslevel=1))
                Path(name).replace(self._file(key))
            finally:
                Path(name).unlink(missing_ok=True)
            files = sorted(self._folder.glob("*.json.gz"), key=lambda file: file.stat().st_mtime, reverse=True)
            for each in files[self._kept :]:
                each.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json.gz"


def _plain(value: Any) -> object:
    return (
        sorted(value)
        if isinstance(value, frozenset)
        else {each.name: getattr(value, each.name) for each in fields(value)}
    )
