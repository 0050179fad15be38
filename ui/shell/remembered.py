"""What the window remembers between sessions, where the platform keeps settings."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QByteArray, QSettings

from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.setting import read_back

RECENT = 10
DECLINED = 200
FIRST_REGIONS = 20
"""How many regions the very first run is preset to have: minutes on a laptop, where the paper's figure takes hours."""
SCALES = (80, 90, 100, 110, 125, 150, 175, 200)  # per cent of the usual size


T = TypeVar("T")


class Kept(Generic[T]):
    """A value kept as text under a key, read by `read`; what is not there reads as an empty text."""

    def __init__(self, key: str, read: Callable[[str], T]) -> None:
        self._key, self._read = key, read

    def __get__(self, owner: Remembered, of: type) -> T:
        return self._read(owner.text(self._key))

    def __set__(self, owner: Remembered, value: T) -> None:
        owner.keep_text(self._key, ("yes" if value else "") if isinstance(value, bool) else str(value))


def _scale(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) in SCALES else 100


def _points(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    return 0.0


def _annotator(text: str) -> str:
    """Return the name, else that of who is logged in; empty where nobody knows."""
    with suppress(OSError, KeyError, ImportError):
        return text or getpass.getuser()
    return ""


class Remembered:
    """Typed access to QSettings; an unreadable value counts as absent."""

    theme = Kept("theme", lambda text: text or "system")
    scale = Kept("scale", _scale)
    code_points = Kept("code_points", _points)  # 0 for the usual size
    toured = Kept("toured", lambda text: text == "yes")
    goes_on = Kept("goes_on", lambda text: text == "yes")
    annotator = Kept("annotator", _annotator)

    def __init__(self, settings: QSettings, folder: Path | None = None, bundles: Path | None = None) -> None:
        """Keep things in `settings`; `folder` holds files of the user's own, `bundles` those that were unpacked."""
        self._settings = settings
        self.folder = folder or Path(settings.fileName()).parent
        self.bundles = bundles or self.folder / "bundles"

    @property
    def place(self) -> str:
        return self._settings.fileName()

    def projects(self) -> list[Path]:
        return [path for path in self._paths("projects") if path.exists()]

    def add_project(self, root: Path) -> None:
        self._add("projects", root)

    def databases(self) -> list[Path]:
        return [path for path in self._paths("databases") if path.is_file()]

    def add_database(self, path: Path) -> None:
        self._add("databases", path)

    def models(self) -> list[Path]:
        """Return the model files chosen by hand, the last one first; absent ones stay, their disk may come back."""
        return self._paths("models")

    def add_model(self, path: Path) -> None:
        self._add("models", path)

    def remove_model(self, path: Path) -> None:
        self._keep("recent/models", [str(each) for each in self._paths("models") if each != path])

    def endpoints(self) -> list[EndpointSettings]:
        """Return the model servers named by hand, the last one first; never their keys."""
        try:
            return [read_back(EndpointSettings, value) for value in self._list("recent/endpoints")]
        except (ValueError, TypeError, AttributeError):
            return []

    def add_endpoint(self, endpoint: EndpointSettings) -> None:
        """Put a model server first; another way of asking the same one is replaced."""
        same = (endpoint.address, endpoint.model)
        others = [each for each in self.endpoints() if (each.address, each.model) != same]
        self._keep("recent/endpoints", [asdict(each) for each in (endpoint, *others)][:RECENT])

    def run_settings(self) -> RunSettings:
        try:
            return RunSettings.from_json(json.loads(self.text("run")))
        except (ValueError, TypeError, AttributeError):
            return RunSettings(regions=FIRST_REGIONS)

    def keep_run_settings(self, settings: RunSettings) -> None:
        self._keep("run", settings.to_json())

    def regions(self, project: Path) -> int | None:
        number = (self._json("regions") or {}).get(str(project))
        return number if isinstance(number, int) else None

    def keep_regions(self, project: Path, number: int) -> None:
        others = {each: kept for each, kept in (self._json("regions") or {}).items() if each != str(project)}
        self._keep("regions", dict([*others.items(), (str(project), number)][-DECLINED:]))

    def queue(self) -> list[object]:
        return self._list("queue")

    def keep_queue(self, runs: Sequence[object]) -> None:
        self._keep("queue", list(runs))
        self._settings.sync()

    def is_declined(self, database: Path, run_id: int) -> bool:
        return [str(database), run_id] in self._list("declined")

    def decline(self, database: Path, runs: Sequence[int]) -> None:
        declined = [*self._list("declined"), *([str(database), run] for run in runs)]
        self._keep("declined", declined[-DECLINED:])

    def state(self, key: str) -> QByteArray | None:
        value = self._settings.value(f"window/{key}")
        return value if isinstance(value, QByteArray) else None

    def keep_state(self, key: str, state: QByteArray) -> None:
        self._settings.setValue(f"window/{key}", state)

    def text(self, key: str) -> str:
        # An INI file gives every value back as text, other stores as what it was.
        value = self._settings.value(key, "")
        return value if isinstance(value, str) else ""

    def keep_text(self, key: str, text: str) -> None:
        self._settings.setValue(key, text)

    def _json(self, key: str) -> Any:
        with suppress(ValueError):
            return json.loads(self.text(key))

    def _list(self, key: str) -> list[Any]:
        values = self._json(key)
        return values if isinstance(values, list) else []

    def _keep(self, key: str, values: Any) -> None:
        self._settings.setValue(key, json.dumps(values))

    def _paths(self, key: str) -> list[Path]:
        return [Path(value) for value in self._list(f"recent/{key}") if isinstance(value, str)]

    def _add(self, key: str, path: Path) -> None:
        paths = [path, *(each for each in self._paths(key) if each != path)][:RECENT]
        self._keep(f"recent/{key}", [str(each) for each in paths])
