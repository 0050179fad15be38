"""What a run remembers of an editing task, and the tasks there are."""

from __future__ import annotations

import json

import pytest

from core.errors import UserError
from core.settings import EditSettings, RunSettings
from core.trips.tasks import TASKS, configured, task


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


def test_a_file_of_edits_is_for_editing() -> None:
    settings = RunSettings(edit=EditSettings(file="e.jsonl"))
    assert configured(settings).task == "editing"
    assert configured(RunSettings()).task == "synthesis"
    with pytest.raises(UserError, match="--edits is for the task editing"):
        configured(settings, "synthesis")


def test_an_unknown_task_names_those_there_are() -> None:
    with pytest.raises(UserError, match="no task 'poetry'") as caught:
        task("poetry")
    assert all(name in caught.value.remedy for name in TASKS)
