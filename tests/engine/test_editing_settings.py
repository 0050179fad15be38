"""What a run remembers of an editing task, and the tasks there are."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from histories import Builder, module

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import TASKS, configured, project_of, task
from rtc_inspector.core.settings import EditSettings, RunSettings
from rtc_inspector.core.trips.protocol import opener


def test_settings_come_back_from_json_as_they_were() -> None:
    edit = EditSettings(file="e.jsonl", revision="abc", paths=("lib", "*.py"), endings=(".py",), tests=True)
    settings = configured(RunSettings(edit=edit, seed=7), "editing")
    assert RunSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_settings_stored_before_there_were_edits_can_be_read() -> None:
    old = RunSettings().to_json()
    del old["edit"]
    assert RunSettings.from_json(old) == RunSettings()


def test_a_task_brings_its_own_temperatures() -> None:
    editing = configured(RunSettings(), "editing")
    assert (editing.forward_temperature, editing.backward_temperature) == (1.0, 0.0)
    assert configured(editing, "synthesis") == RunSettings()


def test_a_file_of_edits_stands_for_its_folder(tmp_path: Path) -> None:
    settings = RunSettings(edit=EditSettings(file=str(tmp_path / "e.jsonl")))
    assert project_of(configured(settings, "editing"), None) == tmp_path
    assert project_of(configured(settings, "editing"), tmp_path.parent) == tmp_path.parent
    assert project_of(configured(settings, "synthesis"), None) is None


def test_an_unknown_task_names_those_there_are() -> None:
    with pytest.raises(UserError, match="no task 'poetry'") as caught:
        task("poetry")
    assert all(name in caught.value.remedy for name in TASKS)


def test_stored_edits_need_no_history_any_more(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    builder.commit({"a.py": module()})
    for number in range(6):
        builder.commit({"a.py": module({10: f"'{number}'"})})
    settings = configured(RunSettings(regions=3), "editing")
    with ExitStack() as stack:
        opened = opener("editing")(stack, builder.root, settings, lambda _: None, lambda *_: None)
        whole = list(opened.trip.items(6, 0, {}, lambda *_: None))
        known = {item.key: item for item in whole[:4]}
        assert list(opened.trip.items(6, 0, known, lambda *_: None)) == whole
        for item in whole[:4]:
            if item.origin["commit"] != opened.revision:
                builder.forget(item.origin["commit"])
        again = opener("editing")(stack, builder.root, opened.settings, lambda _: None, lambda *_: None)
        assert list(again.trip.items(4, 0, known, lambda *_: None)) == whole[:4]
