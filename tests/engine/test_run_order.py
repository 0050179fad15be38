"""Which item comes when, and whether a stored run is still asked the same."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.kinds import configured
from rtc_inspector.core.models import prompts
from rtc_inspector.core.run.growing import Work
from rtc_inspector.core.run.opening import require_same_prompts
from rtc_inspector.core.run.pipeline import files_together
from rtc_inspector.core.settings import EditSettings, RunSettings
from rtc_inspector.core.trips import editing
from rtc_inspector.core.trips.protocol import opener
from rtc_inspector.core.types import Item, Span


def work(number: int, path: str) -> Work:
    return Work(number, Item(f"{path}:{number}", "region", path, Span(0, 1), 1, 1, "x"))


def test_regions_of_one_file_come_together_in_the_order_drawn() -> None:
    drawn = [work(1, "b.py"), work(2, "a.py"), work(3, "b.py"), work(4, "c.py"), work(5, "a.py")]
    assert [w.item_id for w in files_together(drawn)] == [1, 3, 2, 5, 4]


def test_the_version_of_the_prompts_is_kept_with_the_run(tmp_path: Path) -> None:
    file = tmp_path / "edits.jsonl"
    file.write_text(json.dumps({"old": "total = price", "new": "total = price * count", "path": "shop.py"}))
    settings = configured(RunSettings(regions=1, edit=EditSettings(file=str(file))), "editing")
    with ExitStack() as stack:
        opened = opener("editing")(stack, tmp_path, settings, print, lambda *_: None)
    assert opened.settings.prompt_version == editing.wording().version
    assert RunSettings.from_json(opened.settings.to_json()) == opened.settings


def test_a_run_made_with_other_prompts_is_not_gone_on_with() -> None:
    now = RunSettings(prompt_version=prompts.wording().version)
    require_same_prompts(now, now, 7)
    old = RunSettings.from_json({})
    assert old.prompt_version == 1
    with pytest.raises(ProjectError, match=r"Run 7 was made with version 1 of the prompts; now it is 2\."):
        require_same_prompts(old, replace(now, prompt_version=2), 7)
