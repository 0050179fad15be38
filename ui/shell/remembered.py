"""What the window remembers between sessions, where the platform keeps settings."""

from __future__ import annotations

import getpass
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.setting import read_back

RECENT = 10
DECLINED = 200
FIRST_REGIONS = 20
"""How many regions the very first run is preset to have: minutes on a laptop, where the paper's figure takes hours."""
SCALES = (80, 90, 100, 110, 125, 150, 175, 200)  # per cent of the usual size


class Remembered:
    """Typed access to QSettings; an unreadable value counts as absent."""

    def __init__(self, settings: QSettings, folder: Path | None = None, bundles: Path | None = None) -> None:
        """Keep things in `settings`; `folder` holds files of the user's own, `bundles` those that were unpacked."""
        self._settings = settings
        self.folder = folder or Path(settings.fileName()).parent
        self.bundles = bundles or self.folder / "bundles"

    @property
    def theme(self) -> str:
        return self._text("theme") or "system"

    @theme.setter
    def theme(self, choice: str) -> None:
        self._settings.setValue("theme", choice)

    @property
    def scale(self) -> int:
        value = self._text("scale")
        return int(value) if value.isdecimal() and int(value) in SCALES else 100

    @scale.setter
    def scale(self, scale: int) -> None:
        self._settings.setValue("scale", str(scale))

    @property
    def code_points(self) -> float:
        """Return the size of the code font in points; 0 for the usual size."""
        try:
            return float(self._text("code_points") or 0)
        except ValueError:
            return 0.0

    @code_points.setter
    def code_points(self, points: float) -> None:
        self._settings.setValue("code_points", str(points))

    @property
    def toured(self) -> bool:
        return self._text("toured") == "yes"

    @toured.setter
    def toured(self, toured: bool) -> None:
        self._settings.setValue("toured", "yes" if toured else "")

    @property
    def place(self) -> str:
        return self._settings.fileName()

    @property
    def annotator(self) -> str:
        return self._text("annotator") or _account()

    @annotator.setter
    def annotator(self, name: str) -> None:
        self._settings.setValue("annotator", name)

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
            return RunSettings.from_json(json.loads(self._text("run")))
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

    @property
    def goes_on(self) -> bool:
        return self._text("goes_on") == "yes"

    @goes_on.setter
    def goes_on(self, goes_on: bool) -> None:
        self._settings.setValue("goes_on", "yes" if goes_on else "")

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

    def _text(self, key: str) -> str:
        # An INI file gives every value back as text, other stores as what it was.
        value = self._settings.value(key, "")
        return value if isinstance(value, str) else ""

    def _json(self, key: str) -> Any:
        with suppress(ValueError):
            return json.loads(self._text(key))

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


def _account() -> str:
    """Return the name of who is logged in; empty where nobody knows."""
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return ""
