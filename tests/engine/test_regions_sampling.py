"""Weights against a count by hand, and draws against chi-square."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import textwrap
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice, pairwise
from math import sqrt
from pathlib import Path

import pytest
from real_modules import OWN_ROOT, own_core, source_of

from rtc_inspector.core.regions.candidates import draw, enumerate_candidates, weigh
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import Region, Span


def region(start: int, end: int, path: str = "m.py", weight: float = 0.0) -> Region:
    return Region(path, Span(start, end), 1, 1, "x" * (end - start), weight=weight)


def weights_by_counting(regions: list[Region]) -> list[float]:
    """The definition, character by character."""
    around: Counter[tuple[str, int]] = Counter(
        (r.path, place) for r in regions for place in range(r.span.start, r.span.end)
    )
    return [sum(1 / around[r.path, place] for place in range(r.span.start, r.span.end)) for r in regions]


@pytest.fixture(scope="module")
def candidates() -> list[Region]:
    """Of several files at once."""
    files = [source_of(textwrap), *own_core()[:12]]
    return [r for file in files for r in enumerate_candidates(file, RegionSettings())]


def test_weights_of_nested_neighbours_and_gaps() -> None:
    regions = [region(0, 10), region(0, 4), region(4, 10), region(20, 25), region(0, 10, "other.py")]
    assert [r.weight for r in weigh(regions)] == pytest.approx([5, 2, 3, 5, 10])


def test_weights_follow_the_definition_on_real_files(candidates: list[Region]) -> None:
    assert [r.weight for r in weigh(candidates)] == pytest.approx(weights_by_counting(candidates))


def test_weights_add_up_to_the_covered_characters(candidates: list[Region]) -> None:
    places = {(r.path, place) for r in candidates for place in range(r.span.start, r.span.end)}
    assert sum(r.weight for r in weigh(candidates)) == pytest.approx(len(places))


def test_only_the_weight_is_changed(candidates: list[Region]) -> None:
    assert [replace(r, weight=0.0) for r in weigh(candidates)] == candidates


def chi_square_limit(freedom: int) -> float:
    """The value that one in a thousand exceeds by chance (Wilson and Hilferty's approximation)."""
    return freedom * (1 - 2 / (9 * freedom) + 3.0902 * sqrt(2 / (9 * freedom))) ** 3


def chi_square(observed: list[int], weights: list[float]) -> float:
    draws, total = sum(observed), sum(weights)
    expected = [draws * weight / total for weight in weights]
    assert min(expected) >= 5
    return sum((seen - hoped) ** 2 / hoped for seen, hoped in zip(observed, expected, strict=True))


def test_first_draws_have_the_weights_as_probabilities() -> None:
    regions = weigh(enumerate_candidates(source_of(textwrap), RegionSettings(min_characters=80)))[:120]
    places = {r.span: i for i, r in enumerate(regions)}
    observed = [0] * len(regions)
    for seed in range(12_000):
        observed[places[next(draw(regions, seed, allow_overlap=True)).span]] += 1
    limit = chi_square_limit(len(regions) - 1)
    assert chi_square(observed, [r.weight for r in regions]) < limit
    assert chi_square(observed, [1.0] * len(regions)) > limit
    assert chi_square(observed, [float(len(r.span)) for r in regions]) > limit


def test_later_draws_have_the_weights_of_what_is_left_as_probabilities() -> None:
    weights = [1.0, 2.0, 3.0, 6.0]
    regions = [region(i * 10, i * 10 + 5, weight=weight) for i, weight in enumerate(weights)]
    observed: dict[tuple[int, int], int] = defaultdict(int)
    for seed in range(20_000):
        first, second = islice(draw(regions, seed, allow_overlap=False), 2)
        observed[first.span.start // 10, second.span.start // 10] += 1
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    chances = [weights[i] / 12 * weights[j] / (12 - weights[i]) for i, j in pairs]
    assert chi_square([observed[pair] for pair in pairs], chances) < chi_square_limit(len(pairs) - 1)


def test_every_region_comes_once(candidates: list[Region]) -> None:
    regions = weigh(candidates)
    drawn = list(draw(regions, 7, allow_overlap=True))
    assert len(drawn) == len(regions)
    assert set(drawn) == set(regions)


def test_same_seed_same_order_whatever_order_they_come_in(candidates: list[Region]) -> None:
    regions = weigh(candidates)
    shuffled = random.Random(1).sample(regions, len(regions))
    first = list(draw(regions, 3, allow_overlap=False))
    assert list(draw(shuffled, 3, allow_overlap=False)) == first
    assert list(draw(regions, 4, allow_overlap=False)) != first


def test_without_overlap_no_character_is_drawn_twice_and_no_free_region_is_left(candidates: list[Region]) -> None:
    regions = weigh(candidates)
    taken: dict[str, list[Span]] = defaultdict(list)
    for r in draw(regions, 11, allow_overlap=False):
        taken[r.path].append(r.span)
    for spans in taken.values():
        assert all(before.end <= after.start for before, after in pairwise(sorted(spans, key=lambda s: s.start)))
    assert all(any(r.span.overlaps(span) for span in taken[r.path]) for r in regions)


def test_overlap_is_allowed_when_asked() -> None:
    regions = weigh([region(0, 10), region(5, 15)])
    assert len(list(draw(regions, 0, allow_overlap=True))) == 2
    assert len(list(draw(regions, 0, allow_overlap=False))) == 1


def test_neighbours_do_not_overlap() -> None:
    assert len(list(draw(weigh([region(0, 10), region(10, 20)]), 0, allow_overlap=False))) == 2


def test_unweighed_regions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"m\.py:0 was never weighed"):
        next(draw([region(0, 40)], 0, allow_overlap=True))


def test_nothing_to_draw() -> None:
    assert weigh([]) == []
    assert list(draw([], 0, allow_overlap=False)) == []


SCRIPT = """
import json, pathlib, sys
from rtc_inspector.core.regions.candidates import enumerate_candidates
from rtc_inspector.core.regions.candidates import draw, weigh
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import SourceFile
file = SourceFile("textwrap.py", pathlib.Path(sys.argv[1]).read_text(), "utf-8", False)
regions = weigh(enumerate_candidates(file, RegionSettings()))
print(json.dumps([[r.span.start, r.span.end, r.weight.hex()] for r in draw(regions, 42, False)]))
"""


def test_other_processes_and_hash_seeds_draw_the_same(tmp_path: Path) -> None:
    file = tmp_path / "textwrap.py"
    file.write_text(source_of(textwrap).text)
    answers = set()
    for hash_seed in ("0", "1"):
        command = [sys.executable, "-c", SCRIPT, str(file)]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        answers.add(subprocess.run(command, env=environment, cwd=OWN_ROOT, capture_output=True, check=True).stdout)
    assert len(answers) == 1
    assert len(json.loads(answers.pop())) > 20


def test_the_order_of_a_seed_never_changes() -> None:
    """Stored runs are resumed by drawing again: a change here would mix two samples in one run."""
    regions = [region(i * 7 % 1000 * 10, i * 7 % 1000 * 10 + 35 + i % 50, f"{i % 3}.py") for i in range(400)]
    order = ",".join(f"{r.path}:{r.span.start}" for r in draw(weigh(regions), 2024, allow_overlap=False))
    assert hashlib.sha256(order.encode()).hexdigest()[:16] == "6425fc28c1fa4141"
