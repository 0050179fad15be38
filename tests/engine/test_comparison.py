"""Runs of one store against one another: pairing, differences, words, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from factories import fill_store, model_info, settle, suite

from rtc_inspector.core.comparison import comparison as words
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.comparison.comparison import Comparison, pair_row, summary_row, write_pairs_csv
from rtc_inspector.core.errors import StoreError, UserError
from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import BenchmarkSettings, ModelSettings, RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Estimate, Item, Outcome, Span, Verdict


@dataclass(frozen=True)
class Outcomes:
    """Of one item: passes among its reconstructions and whether its baseline passes; `None` is not judged yet."""

    passes: int | None
    baseline: bool = False
    text: str = "total = sum(prices) - discount"


def sample(role: Role, index: int, shown: float = 1.0) -> Sample:
    answer = "text", Extraction("text", ()), 10, 5, 0.1, "stop"
    return Sample(role, index, "prompt", 1, 0.1, *answer, truncated=shown < 1, shown=shown)


def store_run(
    store: Store,
    outcomes: dict[str, Outcomes],
    *,
    model: str = "A",
    root: str = "/shop",
    task: str = "synthesis",
    status: str = "finished",
    shown: float = 1.0,
    top_k: int = 0,
    file: str | None = None,
) -> int:
    """A run of four reconstructions an item; a key is `path:start`."""
    generation = ModelSettings(top_k=top_k)
    settings = RunSettings(
        task=task,
        forward_samples=4,
        model=f"/models/{model}.gguf",
        generation=generation,
        benchmark=BenchmarkSettings(file=file),
    )
    info = model_info(model)
    project = store.add_project(Path(root), "shop", "abc", dirty=False)
    run = store.start_run(
        project, settings, info, info, sandbox="s", image_digest="", app_version="1", fingerprint=root, suite=suite()
    )
    for key, made in outcomes.items():
        path, start = key.split(":")
        span = Span(int(start), int(start) + len(made.text))
        item = Item(key, "region", path, span, int(start), int(start), made.text, ("t::a",), admitted=True, reason="")
        _store_item(store, store.add_item(run, item), made, shown)
    settle(store, run)
    store.finish_run(run, status, [])
    return run


def _store_item(store: Store, item: int, made: Outcomes, shown: float = 1.0) -> None:
    for index in range(4):
        description = store.add_sample(item, None, sample(Role.FORWARD, index, shown))
        code = store.add_sample(item, description, sample(Role.BACKWARD, 0, shown))
        if made.passes is not None:
            outcome = Outcome.PASS if index < made.passes else Outcome.FAIL
            store.add_verdict(code, Verdict(outcome, 0.1, (), "", "", "s"))
    baseline = store.add_sample(item, None, sample(Role.BASELINE, 0, shown))
    store.add_verdict(baseline, Verdict(Outcome.PASS if made.baseline else Outcome.FAIL, 0.1, (), "", "", "s"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "runs.db") as made:
        yield made


def compared(store: Store, *runs: int) -> list[Comparison]:
    with open_reader(store.path) as reader:
        return compare_runs(reader, runs)


FIRST = {"a.py:1": Outcomes(4), "a.py:2": Outcomes(2), "a.py:3": Outcomes(0), "b.py:1": Outcomes(1, baseline=True)}
SECOND = {"a.py:1": Outcomes(4), "a.py:2": Outcomes(4), "a.py:3": Outcomes(3), "b.py:1": Outcomes(0)}


def test_items_are_paired_and_differ_as_the_second_less_the_first(store: Store) -> None:
    (found,) = compared(store, store_run(store, FIRST), store_run(store, SECOND, model="B"))
    assert [pair.difference for pair in found.pairs] == [0.75, 0.5, -0.25, 0.0]
    assert [pair.secondary for pair in found.pairs] == [0.75, 0.5, 0.75, 0.0]
    assert [(pair.first.key, pair.difference) for pair in found.disagreements] == [
        ("a.py:3", 0.75),
        ("a.py:2", 0.5),
        ("b.py:1", -0.25),
    ]
    expected = interval([1.0, 1.0, 0.75, 0.0], against=[1.0, 0.5, 0.0, 0.25])
    assert (found.headline.score.value, found.headline.score.low, found.headline.score.high) == pytest.approx(expected)
    assert found.secondary.score.value == pytest.approx(0.5)
    assert found.headline.first.value == pytest.approx(7 / 16)
    assert found.headline.second.value == pytest.approx(11 / 16)


def test_solved_is_more_than_half_of_the_reconstructions(store: Store) -> None:
    """Two of four are not solved, three of four are."""
    (found,) = compared(store, store_run(store, FIRST), store_run(store, SECOND))
    test = found.mcnemar
    assert (test.both, test.only_first, test.only_second, test.neither, test.mcnemar_p) == (1, 0, 2, 1, 0.5)


def test_what_cannot_be_paired_is_counted(store: Store) -> None:
    first = {**FIRST, "c.py:1": Outcomes(1), "c.py:2": Outcomes(1), "d.py:1": Outcomes(None)}
    second = {**SECOND, "c.py:1": Outcomes(1, text="total = sum(costs) - discount"), "d.py:1": Outcomes(2)}
    (found,) = compared(store, store_run(store, first), store_run(store, second | {"e.py:9": Outcomes(0)}))
    left = found.leftover
    assert (left.only_first, left.only_second, left.changed, left.unjudged) == (1, 1, 1, 1)
    said = words.leftovers(found)
    assert said == (
        "Not compared: regions 1 only in run 1, 1 only in run 2, 1 with another text, 1 not judged in both."
    )
    assert len(found.pairs) == 4


def test_a_difference_that_rounds_to_nought_has_no_sign_of_its_own() -> None:
    assert words.bounded(Estimate(-0.004, -0.2, -0.001)) == "+0.00 (-0.20 to +0.00)"
    assert words.bounded(Estimate(-0.004), "") == "0.00"


def test_one_item_in_common_is_said_in_the_singular(store: Store) -> None:
    one = {"a.py:1": Outcomes(4)}
    (found,) = compared(store, store_run(store, one), store_run(store, one))
    assert "Only 1 region in common: few to judge by." in words.cautions(found)


def test_files_have_the_mean_of_their_common_items(store: Store) -> None:
    (found,) = compared(store, store_run(store, FIRST), store_run(store, SECOND))
    assert [(file.path, file.items) for file in found.files] == [("a.py", 3), ("b.py", 1)]
    assert found.files[0].difference == pytest.approx(1.25 / 3)


def test_what_the_runs_were_made_with_is_told_where_it_differs(store: Store) -> None:
    (found,) = compared(store, store_run(store, FIRST, model="A"), store_run(store, SECOND, model="B"))
    assert ("forward model name", "A", "B") in found.settings
    assert all(first != second for _, first, second in found.settings)
    (same,) = compared(store, store_run(store, FIRST, model="A"), store_run(store, SECOND, model="A"))
    assert same.settings == ()


def test_a_clear_difference_names_the_better_run_whichever_comes_first(store: Store) -> None:
    good = store_run(store, {f"a.py:{n}": Outcomes(4 - n % 2) for n in range(10)}, model="Good")
    bad = store_run(store, {f"a.py:{n}": Outcomes(n % 3) for n in range(10)}, model="Bad")
    for order in ((good, bad), (bad, good)):
        (found,) = compared(store, *order)
        said = words.verdict(found)
        assert found.decided and words.further(found.headline, found.left) == ""
        assert said.startswith(f"Run {good} (Good) is better than run {bad} (Bad): over 10 regions its RTC is higher")
        assert "(0." in said and "-" not in said


def test_an_open_question_says_what_can_be_seen_and_how_many_more_might_tell(store: Store) -> None:
    many = {f"a.py:{n}": Outcomes(n % 4) for n in range(24)}
    ahead = many | {f"a.py:{n}": Outcomes(min(4, n % 4 + 2)) for n in range(6)}
    (found,) = compared(store, store_run(store, many), store_run(store, ahead))
    assert not found.decided and found.headline.judged is not None and found.headline.judged.further is not None
    least, most = found.headline.judged.further
    assert most is not None and 1 <= least < most
    assert words.verdict(found).endswith(
        f"24 regions can show a difference of about {found.headline.judged.detectable:.2f}; "
        f"about {words.rounded(least):,} to {words.rounded(most):,} more could decide."
    )


@pytest.mark.parametrize(
    ("available", "dropped", "said"),
    [
        (30, 0, "; the 6 or so that are left would probably not decide."),
        (24, 0, "; none is left."),
        (30, 4, "; the 1 or so that are left would probably not decide."),
    ],
)
def test_no_more_regions_are_named_than_the_project_has(store: Store, available: int, dropped: int, said: str) -> None:
    """Of 28 drawn four were dropped, so one of the two that are left is counted on."""
    outcomes = {f"a.py:{n}": Outcomes(n % 4) for n in range(24)}
    ahead = outcomes | {"a.py:1": Outcomes(3), "a.py:5": Outcomes(0)}
    runs = [store_run(store, outcomes), store_run(store, ahead)]
    for run in runs:
        store.note_available(run, available)
        for n in range(dropped):
            span = Span(n, n + 1)
            store.add_item(run, Item(f"b.py:{n}", "region", "b.py", span, 1, 1, "x", (), admitted=False, reason="no"))
    (found,) = compared(store, *runs)
    assert not found.decided
    assert words.verdict(found).endswith(said)
    assert summary_row(found)["items_left"] == found.left


def test_a_range_of_more_regions_ends_with_what_is_left(store: Store) -> None:
    many = {f"a.py:{n}": Outcomes(n % 4) for n in range(24)}
    ahead = many | {f"a.py:{n}": Outcomes(min(4, n % 4 + 2)) for n in range(6)}
    runs = [store_run(store, many), store_run(store, ahead)]
    (unknown,) = compared(store, *runs)
    assert unknown.left is None and unknown.headline.judged is not None and unknown.headline.judged.further is not None
    least, most = unknown.headline.judged.further
    assert most is not None
    left = (least + most) // 2
    for run in runs:
        store.note_available(run, 24 + left)
    (found,) = compared(store, *runs)
    assert words.further(found.headline, found.left) == f"about {words.rounded(least):,} to all {left:,} left"


def test_an_open_difference_beside_a_small_p_is_explained(store: Store) -> None:
    up = {f"a.py:{n}": (Outcomes(2), Outcomes(3)) for n in range(8)}  # solved by the second run alone
    down = {f"b.py:{n}": (Outcomes(2), Outcomes(0)) for n in range(6)}  # solved by neither
    both = {**up, **down}
    runs = [store_run(store, {key: pair[place] for key, pair in both.items()}) for place in (0, 1)]
    (found,) = compared(store, *runs)
    assert not found.headline.decided and found.mcnemar.mcnemar_p < 0.05
    assert words.verdict(found).startswith("Undecided")
    assert "no contradiction to “undecided”" in words.mcnemar_words(found)


def test_runs_alike_in_all_items_may_need_any_number(store: Store) -> None:
    (found,) = compared(store, store_run(store, FIRST), store_run(store, FIRST))
    assert found.disagreements == ()
    assert found.mcnemar.mcnemar_p == 1.0
    assert "contradiction" not in words.mcnemar_words(found)
    assert words.verdict(found).endswith("or many more could decide.")
    assert found.headline.score.low is not None and found.headline.score.low < 0, "four alike items prove nothing"


def test_a_run_that_grows_wins_nothing_yet(store: Store) -> None:
    good = store_run(store, {f"a.py:{n}": Outcomes(4) for n in range(20)}, model="Good", status="interrupted")
    bad = store_run(store, {f"a.py:{n}": Outcomes(0) for n in range(20)}, model="Bad")
    (found,) = compared(store, bad, good)
    assert found.headline.decided and not found.decided and not found.secondary_decided
    assert words.verdict(found).startswith("Provisional: over 20 regions RTC of run 1 minus that of run 2 is +1.00")
    assert "better" not in words.verdict(found).replace("No run is called better", "")
    assert words.secondary_verdict(found).endswith(": provisional.")


def test_ten_runs_need_a_clearer_difference_than_two(store: Store) -> None:
    """All pairs of the compared runs share the 5 %: whichever is made the reference, no pair wins by having many."""
    weak = {f"a.py:{n}": Outcomes(1) for n in range(20)}
    strong = {f"a.py:{n}": Outcomes(4 if n < 6 else 1) for n in range(20)}
    runs = [store_run(store, weak), store_run(store, strong), *(store_run(store, weak) for _ in range(8))]
    assert compared(store, *runs[:2])[0].decided
    assert not compared(store, *runs)[0].decided


def test_runs_that_saw_other_excerpts_are_not_comparable(store: Store) -> None:
    weak = store_run(store, {f"a.py:{n}": Outcomes(0) for n in range(20)}, shown=0.4)
    strong = store_run(store, {f"a.py:{n}": Outcomes(4) for n in range(20)})
    (found,) = compared(store, weak, strong)
    assert found.headline.decided and not found.decided and not found.secondary_decided
    assert words.verdict(found).startswith("Not comparable: of 20 of 20 regions the models saw different parts")
    assert words.verdict(found).endswith("Give both runs the same --context, one that holds the files.")
    asked = replace(found, settings=(("forward model prompt style", "chat", "code"),))
    assert words.verdict(asked).endswith("Give both runs the same --prompt-style.")
    assert "Prompts cut: 1.00 in run 1, 0.00 in run 2." in words.cautions(found)
    other = store_run(store, {f"a.py:{n}": Outcomes(4) for n in range(20)}, shown=0.4)
    (alike,) = compared(store, weak, other)
    assert alike.decided, "cut in the same way in both"


def test_runs_that_drew_from_what_was_cut_off_differently_are_not_comparable(store: Store) -> None:
    weak = store_run(store, {f"a.py:{n}": Outcomes(0) for n in range(20)}, top_k=40)
    strong = store_run(store, {f"a.py:{n}": Outcomes(4) for n in range(20)})
    (found,) = compared(store, weak, strong)
    assert found.headline.decided and not found.decided
    assert "cut off differently (top k 40 and 0)" in words.verdict(found)
    other = store_run(store, {f"a.py:{n}": Outcomes(4) for n in range(20)}, top_k=40)
    (alike,) = compared(store, weak, other)
    assert alike.decided


def test_lift_is_judged_once_rtc_is_decided(store: Store) -> None:
    """Baselines alone differ here: RTC is the same, so the claim about lift waits."""
    first = store_run(store, {f"a.py:{n}": Outcomes(2, baseline=True) for n in range(20)})
    second = store_run(store, {f"a.py:{n}": Outcomes(2) for n in range(20)})
    (found,) = compared(store, first, second)
    assert found.secondary.decided and not found.secondary_decided
    assert words.secondary_verdict(found).endswith(": open while RTC is.")
    assert words.secondary_verdict(found).startswith(
        "Lift (over a baseline of 1.00 in run 1, 0.00 in run 2) differs by"
    )
    assert not summary_row(found)["lift"]["few"]


def test_estimates_are_rounded_up_to_two_digits() -> None:
    assert [words.rounded(n) for n in (1, 35, 99, 101, 135, 6_270)] == [1, 35, 99, 110, 140, 6_300]


def test_several_runs_are_compared_with_the_first_and_adjusted(store: Store) -> None:
    runs = [store_run(store, FIRST), store_run(store, SECOND), store_run(store, FIRST)]
    found = compared(store, *runs)
    assert [(each.first.id, each.second.id) for each in found] == [(1, 2), (1, 3)]
    assert (found[0].mcnemar.mcnemar_p, found[0].p_adjusted) == (0.5, 1.0)
    assert "(p = 1 adjusted)" in words.mcnemar_words(found[0])


def test_what_a_person_tried_by_hand_is_left_out(store: Store) -> None:
    first, second = store_run(store, FIRST), store_run(store, SECOND)
    extra = Item("z.py:1", "region", "z.py", Span(0, 4), 1, 1, "text", ("t",), admitted=True, reason="", extra=True)
    for run in (first, second):
        _store_item(store, store.add_item(run, extra), Outcomes(4))
    (found,) = compared(store, first, second)
    assert {pair.first.path for pair in found.pairs} == {"a.py", "b.py"}


def test_a_whole_run_of_the_factory_agrees_with_its_own_scores(store: Store, tmp_path: Path) -> None:
    """Over all items in common with a copy of itself, the scores are those of the run."""
    runs = [fill_store(store, tmp_path / "shop", 12, seed=3) for _ in range(2)]
    (found,) = compared(store, *runs)
    with open_reader(store.path) as reader:
        rtc, lift = reader.score(runs[0])
    assert found.headline.first == rtc
    assert found.secondary.first == lift


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ((1,), "two runs or more"),
        ((1, 1), "more than once"),
        ((1, 2), "task"),
        ((1, 3), "/other"),
        ((1, 4), "no region"),
    ],
)
def test_what_cannot_be_compared_is_said(store: Store, ids: tuple[int, ...], problem: str) -> None:
    store_run(store, FIRST)
    store_run(store, FIRST, task="editing")
    store_run(store, FIRST, root="/other")
    store_run(store, {"z.py:1": Outcomes(1)})
    with pytest.raises(UserError, match=problem) as caught:
        compared(store, *ids)
    assert caught.value.remedy


def test_benchmarks_are_named_by_their_files(store: Store) -> None:
    """Nobody knows the folders that were generated from them."""
    runs = [store_run(store, FIRST, root=f"/cache/{name}", file=f"/there/{name}.jsonl") for name in ("a", "b")]
    with pytest.raises(UserError, match=r"Run 1 is on /there/a\.jsonl, run 2 on /there/b\.jsonl\."):
        compared(store, *runs)


def test_an_unknown_run_is_named_with_those_there_are(store: Store) -> None:
    store_run(store, FIRST)
    with pytest.raises(StoreError, match="run 9"):
        compared(store, 1, 9)


def test_items_that_were_never_judged_are_told_from_none(store: Store) -> None:
    waiting = {key: Outcomes(None) for key in FIRST}
    with pytest.raises(UserError, match="4 regions in common, none of them judged"):
        compared(store, store_run(store, FIRST), store_run(store, waiting))


def test_code_that_changed_in_between_is_told_from_none(store: Store) -> None:
    changed = {key: Outcomes(1, text="something else entirely") for key in FIRST}
    with pytest.raises(UserError, match="4 regions at the same places, all with another text"):
        compared(store, store_run(store, FIRST), store_run(store, changed))


def test_rows_for_scripts(store: Store) -> None:
    found = compared(store, store_run(store, FIRST), store_run(store, SECOND))
    stream = io.StringIO()
    assert write_pairs_csv(found, stream) == 4
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [row["difference"] for row in rows] == ["0.75", "0.5", "-0.25", "0.0"]
    assert set(rows[0]) == set(pair_row(found[0], found[0].pairs[0]))
    told = json.loads(json.dumps(summary_row(found[0])))
    judged = found[0].headline.judged
    assert judged is not None
    assert [told["rtc"]["more_items_least"], told["rtc"]["more_items_most"]] == list(judged.further or ())
    assert told["rtc"]["p_adjusted"] == judged.p > 0.05
    assert (told["runs_compared"], told["provisional"]) == (2, False)
    assert told["mcnemar"]["only_second"] == 2


def test_reading_pairs_does_not_write(store: Store) -> None:
    first, second = store_run(store, FIRST), store_run(store, SECOND)
    store.close()
    before = store.path.read_bytes()
    with Reader.open(store.path) as reader:
        compare_runs(reader, (first, second))
    assert store.path.read_bytes() == before


def test_what_to_keep_in_mind_is_said(store: Store) -> None:
    first, second = store_run(store, FIRST), store_run(store, SECOND | {"d.py:1": Outcomes(None)})
    (found,) = compared(store, first, second)
    assert words.caveats(found) == [
        "Not compared: regions 1 only in run 2.",
        "Run 2 (finished) has 4 of 5 regions complete. Only 4 regions in common: few to judge by.",
    ]
    many = {f"a.py:{n}": Outcomes(n % 4) for n in range(20)}
    (whole,) = compared(store, store_run(store, many), store_run(store, many))
    assert words.caveats(whole) == []
