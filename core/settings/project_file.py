"""Settings from a project's own file: `rtc-inspector.toml`, or `[tool.rtc-inspector]` in its `pyproject.toml`.

A key is the name of a command-line option without its dashes. The file may be somebody else's, so it can neither send
code to another machine, nor install anything, nor take the sandbox away.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.setting import Described, described

NAMES = ("rtc-inspector.toml", "pyproject.toml")
FORWARD = ("model", "endpoint", "endpoint-model")
BACKWARD = ("backward-model", "backward-endpoint", "backward-endpoint-model")
SERVERS = ("endpoint", "backward-endpoint")
OPTIONS = ("task", "models-in", *FORWARD, *BACKWARD)
"""Keys that are options of `run` and no single setting; those of the forward model take a list."""
REFUSED = ("oracle.install", "oracle.requirements", "oracle.wheels", "cluster")
HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The content of a project's file: settings by path, and options of `run` that no single setting stands for."""

    path: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> dict[str, Any]:
        """Return all that is set, options by their names with underscores, as `with_models` takes them."""
        return dict(self.settings) | {name.replace("-", "_"): value for name, value in self.options.items()}


def read_project_file(source: Path) -> ProjectFile:
    """Return what the file of a project sets; `rtc-inspector.toml` is preferred. Raises UserError naming file and key.

    `source` is the project's folder, or a file that is evaluated, whose folder may hold one.
    """
    root = source if source.is_dir() else source.parent
    for name in NAMES:
        path = root / name
        table = _table(path)
        if table is None:
            continue
        try:
            settings, options = settings_of(table, root)
            _refuse_foreign(settings, options)
        except ValueError as error:
            raise UserError(
                f"{path}: {error}.", "Its keys are options of `rtc-inspector run --help-all` without their dashes."
            ) from error
        return ProjectFile(path, settings, options)
    return ProjectFile()


def settings_of(values: Mapping[str, Any], root: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings by path, and other options, from values by their options' names. Raises ValueError."""
    by_option = {
        name: each
        for each in (*described(RunSettings).values(), *described(EndpointSettings, "endpoint.").values())
        for name in (each.option[2:], each.opposite[2:])
        if name
    }
    settings: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for given, value in values.items():
        name = given.replace("_", "-")
        if name in by_option:
            settings[by_option[name].path] = _value(by_option[name], name, value, root)
        elif name in OPTIONS:
            texts = _listed(value)
            if not all(isinstance(text, str) for text in texts) or (name not in FORWARD and len(texts) != 1):
                wanted = "a text or a list of texts" if name in FORWARD else "a text"
                raise ValueError(f"{name} is {wanted}, not {value!r}")
            if name in ("model", "backward-model", "models-in"):
                texts = [text if text in ("", "bundled") else str(root / Path(text).expanduser()) for text in texts]
            options[name] = texts if name in FORWARD else texts[0]
        else:
            raise ValueError(f"{given} is no setting")
    return settings, options


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        if path.name == "pyproject.toml":  # tools that need it say so
            return None
        raise UserError(f"{path} cannot be read: {error}.", "Mend the file, or move it away.") from error
    if path.name != "pyproject.toml":
        return found
    table = found.get("tool", {}).get("rtc-inspector")
    return table if isinstance(table, dict) else None


def _refuse_foreign(settings: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    for path in REFUSED:
        if settings.get(path):
            raise ValueError(f"{path.rpartition('.')[2]} is for the command line alone")
    if settings.get("oracle.sandbox") == "none":
        raise ValueError("sandbox = none is for the command line alone")
    for name in SERVERS:
        for address in _listed(options.get(name, ())):
            if urlsplit(address).hostname not in HERE:
                raise ValueError(f"{address} is not on this machine; such an {name} is for the command line alone")


def _value(each: Described, name: str, value: Any, root: Path) -> Any:
    if each.kind is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} is true or false, not {value!r}")
        means = not each.default if f"--{name}" == each.option else bool(each.default)  # `--no-cache` turns `cache` off
        return means if value else not means
    if each.about.form == "json" and isinstance(value, dict):
        value = json.dumps(value)
    if each.many:
        return tuple(_one(each, name, one, root) for one in _listed(value))
    return _one(each, name, value, root)


def _one(each: Described, name: str, value: Any, root: Path) -> Any:
    wanted = (int, float) if each.kind is float else each.kind
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise ValueError(f"{name} is {'a text' if each.kind is str else 'a number'}, not {value!r}")
    if each.about.form in ("file", "folder", "words") and value not in each.about.names:
        value = str(root / Path(str(value)).expanduser())
    if each.about.form == "program" and "/" in value:
        value = str(root / Path(value).expanduser())
    try:
        return each.read(str(value))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
