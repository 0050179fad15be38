"""What is said of each setting: its bounds hold for whoever gives it, and it is stored and read back as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from setting_values import another

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import TASKS
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.setting import check, described, value_of, with_values

SETTINGS = described(RunSettings)


@pytest.mark.parametrize("path", SETTINGS)
def test_a_setting_is_allowed_stored_and_read_back(path: str) -> None:
    each = SETTINGS[path]
    given = with_values(RunSettings(), {path: another(each)})
    check(given)
    assert given != RunSettings() and value_of(given, path) == another(each)
    assert RunSettings.from_json(json.loads(json.dumps(given.to_json()))) == given


@pytest.mark.parametrize("path", [path for path, each in SETTINGS.items() if each.kind in (int, float)])
def test_no_number_is_out_of_its_bounds(path: str) -> None:
    each = SETTINGS[path]

    def problem(value: float) -> str:
        return each.problem((each.kind(value),) if each.many else each.kind(value))

    for value in (each.about.least - 1, each.about.most + 1):
        assert "is not a" in problem(value)
    assert not any(problem(value) for value in (each.about.least, each.about.most))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("edit.since", "last year", "write it as YYYY-MM-DD"),
        ("oracle.sandbox", "cellar", "is none of auto, docker, bubblewrap, landlock, none"),
        ("seed", None, "needs a value"),
        ("forward_temperature", 2.1, "is not a number from 0 to 2"),
        ("region.min_characters", 385, "is more than 384"),
    ],
)
def test_what_no_run_can_have_is_refused_before_anything_is_opened(
    tmp_path: Path, path: str, value: object, said: str
) -> None:
    settings = with_values(RunSettings(), {path: value})
    with open_store(tmp_path / "runs.sqlite") as store, pytest.raises(UserError, match=said) as refused:
        start(settings, tmp_path, store, lambda event: None, Control())
    assert SETTINGS[path].option in refused.value.remedy


def test_every_described_field_has_its_own_option_and_words() -> None:
    every = [*SETTINGS.values(), *described(EndpointSettings).values()]
    assert len({each.option for each in every}) == len(every)
    for each in every:
        assert each.about.help and each.about.label, each.path
        assert not each.optional or each.about.unset, f"{each.path}: what does no value mean?"
        for other in (each.about.needs, each.about.unless, each.about.below):
            assert not other or other in SETTINGS, each.path


def test_what_a_method_says_it_has_is_there() -> None:
    parts = {path.partition(".")[0] for path in SETTINGS}
    for kind in TASKS.values():
        assert set(kind.settings) <= {*SETTINGS, *parts}, kind.name
        assert kind.has("seed") and kind.has("oracle.sandbox")
    assert TASKS["chain"].has("chain.steps") and not TASKS["synthesis"].has("chain.steps")
    assert TASKS["chain"].has("benchmark.file") and not TASKS["chain"].has("benchmark.mask_names")
