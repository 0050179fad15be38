"""Which files name a method: a new method is an entry in the registry, so nobody else should ask for one by name."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from rtc_inspector.core.kinds import TASKS
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.trips.protocol import Trip, opener

ROOT = Path(__file__).parents[2]
NAMING = {
    "core/kinds.py": "the registry",
    "core/analyses/analyse.py": "an analysis bears the name of its method",
    "core/trips/editing.py": "whose words its prompts are",
    "core/models/prompts.py": "likewise",
    "core/run/bundle.py": "a part of the settings",
    "core/settings/__init__.py": "a run is SynthesisRTC unless something else is asked for",
    "core/settings/words.py": "whose words may be others",
    "core/source/directives.py": "a field of its files",
    "core/store/export.py": "a column of items",
    "core/store/writer.py": "likewise",
    "core/trips/directive.py": "the kind of its items",
}
"""Files that may hold the name of a method as a text, and why."""


def test_nobody_else_names_a_method() -> None:
    found = set()
    for package in ("core", "ui", "app"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            words = {
                node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            if words & (set(TASKS) - {"benchmark"}):  # also the name of a setting
                found.add(path.relative_to(ROOT).as_posix())
    assert found == set(NAMING)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_what_a_kind_names_is_there(name: str) -> None:
    kind = TASKS[name]
    assert callable(opener(name))
    assert kind.headline in {measure.name for measure in kind.averaged}
    if kind.tally:
        assert {kind.measure(each).count for each in kind.tally} == {True}
    module = import_module(kind.opens.partition(":")[0])
    trips = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    describing = [getattr(each, "description", Trip.description) is not Trip.description for each in trips]
    assert any(describing) is kind.describable
    made = kind.samples(RunSettings(task=name))
    assert made and set(made) <= set(kind.roles)
    assert all(kind.has(path) for path in kind.settings)
