"""RTC beside pass@1: the paper's own correlations, what few models allow to say, and what parts inside one model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from factories import model_info, suite

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.analyses.benchmark import System, agreement, ranking
from rtc_inspector.core.figures import Histogram, Scatter, Sentence, Table
from rtc_inspector.core.metrics.validity import fisher_interval, pearson, resampled, spearman, spearman_p, tau
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.types import Estimate, Item, Span
from rtc_inspector.ui.report.page import render

HUMANEVAL = {
    "pass@1": (19.5, 29.3, 37.6, 33.4, 67.7),
    "rtc": (8.3, 10.6, 18.3, 18.9, 28.5),
    "lift": (-0.2, 3.3, 9.8, 3.7, 12.0),
}
ARCADE = {"pass@1": (5.5, 8.2, 15.3, 14.4, 18.3), "rtc": (2.7, 3.5, 6.5, 7.7, 11.1)}


def test_the_correlations_of_the_papers_table() -> None:
    assert pearson(HUMANEVAL["pass@1"], HUMANEVAL["rtc"]) == pytest.approx(0.9473, abs=5e-5)
    assert pearson(ARCADE["pass@1"], ARCADE["rtc"]) == pytest.approx(0.9513, abs=5e-5)
    assert spearman(HUMANEVAL["pass@1"], HUMANEVAL["rtc"]) == pytest.approx(0.9)
    assert spearman(ARCADE["pass@1"], ARCADE["rtc"]) == pytest.approx(0.9)
    assert pearson(HUMANEVAL["pass@1"], HUMANEVAL["lift"]) == pytest.approx(0.8891, abs=5e-5)
    assert spearman(HUMANEVAL["pass@1"], HUMANEVAL["lift"]) == pytest.approx(1.0)
    for table, of_palm in ((HUMANEVAL, 0.9394), (ARCADE, 0.9976)):
        first, second = (np.array(table[name]) for name in ("pass@1", "rtc"))
        kendall = tau(first, second)
        assert kendall is not None and kendall.value == pytest.approx(0.8)
        assert pearson(first[:3], second[:3]) == pytest.approx(of_palm, abs=5e-5), "the three sizes of PaLM 2"


def test_what_five_models_prove() -> None:
    assert fisher_interval(0.9473, 5) == pytest.approx((0.40, 0.997), abs=0.01)
    assert fisher_interval(0.9513, 5) == pytest.approx((0.43, 0.997), abs=0.01)
    assert fisher_interval(0.99, 3) is None
    assert fisher_interval(1.0, 4) is None and fisher_interval(-1.0, 9) is None, "a point is no interval"
    assert spearman_p(HUMANEVAL["pass@1"], HUMANEVAL["rtc"]) == 10 / 120
    assert spearman_p(range(9), range(9)) is None
    assert spearman_p([1, 1], [1, 2]) is None


def systems(**figures: tuple[float, ...]) -> list[System]:
    count = len(figures["pass@1"])
    return [
        System(f"m{n}", n, {name: Estimate(values[n] / 100, 0.0, 1.0, 164) for name, values in figures.items()}, {})
        for n in range(count)
    ]


def test_the_sentence_names_its_uncertainty() -> None:
    said = agreement(systems(**HUMANEVAL), "rtc").text
    assert said.startswith("Over 5 models: Pearson r = 0.95 (95 % interval 0.40 to 0.997); Spearman rho = 0.90 ")
    assert "(two-sided p = 0.083 by all orders)." in said
    assert said.endswith("the paper's r = 0.947, over five models, has an interval of 0.40 to 0.997.")
    few = {name: values[:3] for name, values in HUMANEVAL.items()}
    assert agreement(systems(**few), "rtc").text.startswith("3 models are too few: nothing follows.")
    same = {**HUMANEVAL, "rtc": (5.0,) * 5}
    assert "no correlation" in agreement(systems(**same), "rtc").text
    assert [point.name for point in ranking(systems(**HUMANEVAL), "lift").points] == ["m0", "m1", "m2", "m3", "m4"]


def test_runs_of_one_model_are_not_called_models() -> None:
    runs = [replace(each, model="small") for each in systems(**HUMANEVAL)]
    assert agreement(runs, "rtc").text.startswith("Over 5 runs of 1 model: Pearson r = 0.95 ")
    runs[0] = replace(runs[0], model="large", problems={"Own/0": {}})
    assert agreement(runs, "rtc").text.startswith("Over 5 runs of 2 models, not all on the same problems: Pearson ")


def test_what_other_problems_would_do_is_said_for_both_figures() -> None:
    made = systems(**HUMANEVAL)
    drawn = [
        replace(each, problems={str(n): {"pass@1": float(n < 3 * at), "rtc": float(n < 2 * at)} for n in range(20)})
        for at, each in enumerate(made, start=1)
    ]
    assert re.search(
        r"Had other problems been drawn for these models: r from \d.* and rho from", agreement(drawn, "rtc").text
    )


def test_models_that_pass_at_1_cannot_tell_apart_are_no_order_to_rank_against() -> None:
    made = systems(**HUMANEVAL)
    alike = [
        replace(each, problems={str(n): {"pass@1": float((n + at) % 20 < 10), "rtc": n / 20} for n in range(20)})
        for at, each in enumerate(made)
    ]
    said = agreement(alike, "rtc")
    assert said.text.startswith("None of the 10 pairs of 5 models is told apart by pass@1") and said.tone == "muted"


def test_other_problems_widen_what_the_same_problems_pin_down() -> None:
    alike = [{str(n): (level, level) for n in range(20)} for level in (0.1, 0.4, 0.6, 0.9)]
    assert resampled(alike) == {"pearson": pytest.approx((1.0, 1.0)), "spearman": pytest.approx((1.0, 1.0))}
    shifting = [{str(n): (float(n < 5 * k), float((n * 7 + k) % 20 < 5 * k)) for n in range(20)} for k in range(4)]
    low, high = resampled(shifting)["pearson"]
    assert low < 0.99 < high
    assert resampled(alike[:3]) == {}
    assert resampled(shifting) == resampled(shifting)


def stored(database: Path, *runs: Mapping[str, Mapping[str, float]]) -> None:
    with open_store(database) as store:
        project = store.add_project(database.parent, "pocket", None, False)
        for number, measures in enumerate(runs):
            model = model_info(f"model-{number}")
            settings = RunSettings(task="benchmark")
            run_id = store.start_run(
                project,
                settings,
                model,
                model,
                sandbox="tests/none",
                image_digest="",
                app_version="0",
                fingerprint="f",
                suite=suite(),
            )
            for key, values in measures.items():
                item = Item(
                    key,
                    "problem",
                    f"problems/{key}.py",
                    Span(0, 1),
                    1,
                    1,
                    "x",
                    facets={"benchmark": "pocket"},
                    origin={"function": key},
                )
                store.set_measures(
                    store.add_item(run_id, item),
                    {"judged": 3, "passes": 1, "lift": 0.0, "baseline": 0.0, **values},
                    True,
                )


def test_inside_a_run_the_problems_that_part_are_listed(tmp_path: Path) -> None:
    measures = {
        "a": {"pass@1": 1.0, "rtc": 1.0},
        "b": {"pass@1": 1.0, "rtc": 0.0},
        "c": {"pass@1": 0.0, "rtc": 0.0},
        "d": {"pass@1": 0.0, "rtc": 1 / 3},
        "e": {"rtc": 1.0},
    }
    stored(tmp_path / "runs.sqlite", measures, {key: {**values, "rtc": 0.5} for key, values in measures.items()})
    with open_store(tmp_path / "runs.sqlite") as store:
        one = {figure.name: figure for figure in analyse(store.reader, [1], "benchmark")}
        both = {figure.name: figure for figure in analyse(store.reader, [1, 2], "benchmark")}
    assert isinstance(one["ranking"], Scatter) and len(one["ranking"].points) == 1
    assert isinstance(one["parting"], Table) and [row.cells for row in one["parting"].rows] == [
        ("solved", 1, 1),
        ("not solved", 1, 1),
    ]
    assert isinstance(one["solved-only"], Table) and [row.cells[0] for row in one["solved-only"].rows] == ["b"]
    assert isinstance(one["solved"], Histogram) and one["solved"].note.startswith("AUC 0.62 · r +")
    assert {"solved-1", "solved-2", "benchmarks-rtc", "benchmarks-lift"} <= set(both)


def test_a_report_on_problems_speaks_of_problems(tmp_path: Path) -> None:
    stored(tmp_path / "runs.sqlite", {"a": {"pass@1": 1.0, "rtc": 1.0}, "b": {"pass@1": 0.0, "rtc": 0.0}})
    with open_store(tmp_path / "runs.sqlite") as store:
        store.finish_run(1, "finished", [])
        page = render(store.reader, 1)
    assert "The intervals speak for other problems like these." in page
    assert "files" not in page.partition("<h2>")[0], "a problem stands in no file of anybody's"
    assert page.count("None.") == 0 and page.count("There is none.") == 1
    assert "Provisional" not in page, "it is done"


def test_runs_without_solutions_end_in_a_sentence(tmp_path: Path) -> None:
    stored(tmp_path / "runs.sqlite", {"a": {"rtc": 1.0}})
    with open_store(tmp_path / "runs.sqlite") as store:
        (figure,) = analyse(store.reader, [1], "benchmark")
    assert isinstance(figure, Sentence) and "No problem" in figure.text
