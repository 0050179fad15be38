import pytest

from pocketlab.intervals import (
    Span,
    busiest,
    common,
    first_opening,
    gaps,
    merge,
    subtract,
)


def spans(*pairs):
    return [Span(start, end) for start, end in pairs]


def test_a_span_excludes_its_end():
    span = Span(2, 5)
    assert len(span) == 3
    assert [point for point in range(8) if point in span] == [2, 3, 4]


def test_spans_compare_by_start_then_end():
    assert sorted(spans((3, 4), (1, 9), (1, 2))) == spans((1, 2), (1, 9), (3, 4))
    assert {Span(1, 2): "a"}[Span(1, 2)] == "a"


def test_a_span_does_not_run_backwards():
    with pytest.raises(ValueError, match=r"cannot end \(1\) before 3"):
        Span(3, 1)


def test_overlap():
    assert Span(1, 6).overlap(Span(4, 9)) == Span(4, 6)
    assert Span(4, 9).overlap(Span(1, 6)) == Span(4, 6)
    assert Span(1, 9).overlap(Span(3, 4)) == Span(3, 4)


def test_touching_spans_share_nothing():
    assert Span(1, 4).overlap(Span(4, 6)) is None
    assert Span(1, 2).overlap(Span(5, 6)) is None


def test_merge_joins_overlapping_and_touching():
    assert merge(spans((5, 7), (1, 3), (2, 4), (7, 8))) == spans((1, 4), (5, 8))


def test_merge_keeps_the_longer_end():
    assert merge(spans((1, 10), (2, 3))) == spans((1, 10))


def test_merge_with_tolerance():
    assert merge(spans((1, 3), (5, 6), (9, 10)), tolerance=2) == spans((1, 6), (9, 10))


def test_merge_drops_empty_spans():
    assert merge(spans((1, 2), (4, 4), (6, 7)), tolerance=2) == spans((1, 2), (6, 7))


def test_gaps():
    taken = spans((3, 5), (8, 9))
    assert gaps(Span(0, 10), taken) == spans((0, 3), (5, 8), (9, 10))


def test_gaps_ignore_what_lies_outside():
    assert gaps(Span(4, 8), spans((0, 5), (7, 12), (20, 30))) == spans((5, 7))
    assert gaps(Span(4, 8), spans((8, 12))) == spans((4, 8))
    assert gaps(Span(4, 8), spans((0, 1), (20, 30))) == spans((4, 8))


def test_gaps_of_a_full_span():
    assert gaps(Span(4, 8), spans((4, 6), (6, 8))) == []


def test_subtract():
    left = subtract(spans((0, 5), (10, 20)), spans((3, 12), (15, 16)))
    assert left == spans((0, 3), (12, 15), (16, 20))


def test_subtract_nothing_still_merges():
    assert subtract(spans((0, 5), (4, 6)), []) == spans((0, 6))


def test_common():
    assert common(spans((0, 5), (7, 9)), spans((3, 8))) == spans((3, 5), (7, 8))
    assert common(spans((0, 5), (4, 9)), spans((3, 6), (6, 7))) == spans((3, 7))
    assert common(spans((0, 5)), spans((5, 9))) == []


def test_busiest():
    assert busiest(spans((0, 4), (2, 6), (3, 5))) == (3, 3)


def test_busiest_takes_the_earliest_of_equals():
    assert busiest(spans((10, 12), (11, 13), (0, 4), (2, 6))) == (2, 2)


def test_busiest_does_not_count_an_end():
    assert busiest(spans((0, 4), (4, 8))) == (0, 1)


def test_busiest_of_nothing():
    with pytest.raises(ValueError, match="no span covers anything"):
        busiest(spans((3, 3)))


def test_first_opening():
    meetings = spans((9, 10), (11, 14))
    assert first_opening(Span(8, 18), meetings, 1) == 8
    assert first_opening(Span(9, 18), meetings, 1) == 10
    assert first_opening(Span(9, 18), meetings, 2) == 14
    assert first_opening(Span(9, 18), meetings, 4) == 14
    assert first_opening(Span(9, 18), meetings, 5) is None


def test_first_opening_with_pauses():
    meetings = spans((20, 30), (50, 60))
    assert first_opening(Span(0, 100), meetings, 15, pause=5) == 0
    assert first_opening(Span(0, 100), meetings, 16, pause=5) == 65
    assert first_opening(Span(10, 70), meetings, 10, pause=5) == 35
    assert first_opening(Span(60, 70), meetings, 5, pause=5) == 65


def test_an_empty_meeting_needs_no_pause():
    assert first_opening(Span(0, 10), spans((5, 5)), 10, pause=2) == 0
