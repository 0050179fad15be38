import math

import pytest

from pocketlab.throttle import SlidingWindow, TokenBucket


class Clock:
    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bucket(clock):
    return TokenBucket(rate=2, size=10, clock=clock)


@pytest.fixture
def window(clock):
    return SlidingWindow(limit=2, seconds=60, clock=clock)


def test_rate_and_size_are_positive(clock):
    for rate, size in [(0, 1), (1, 0), (-1, 1)]:
        with pytest.raises(ValueError, match="must be positive"):
            TokenBucket(rate, size, clock)


def test_a_bucket_starts_full(bucket):
    assert bucket.take(10)
    assert not bucket.take()


def test_take_all_or_none(bucket):
    assert bucket.take(7)
    assert not bucket.take(4)
    assert bucket.take(3)


def test_a_bucket_fills_up_over_time(bucket, clock):
    bucket.take(10)
    clock.now += 1.5
    assert not bucket.take(3.5)
    assert bucket.take(3)
    clock.now += 1
    assert bucket.take(2)
    assert not bucket.take(1)


def test_a_bucket_does_not_overflow(bucket, clock):
    clock.now += 100
    assert not bucket.take(10.5)
    assert bucket.take(10)


def test_a_clock_set_back_takes_nothing_away(bucket, clock):
    bucket.take(4)
    clock.now -= 5
    assert bucket.take(6)
    clock.now += 1
    assert bucket.take(2)


def test_wait_for(bucket, clock):
    assert bucket.wait_for(10) == 0
    bucket.take(10)
    assert bucket.wait_for(3) == 1.5
    clock.now += 1
    assert bucket.wait_for(3) == 0.5
    assert bucket.wait_for() == 0


def test_waiting_for_more_than_fits(bucket):
    assert bucket.wait_for(11) == math.inf


def test_give_back(bucket, clock):
    bucket.take(10)
    bucket.give_back(4)
    assert bucket.take(4)
    clock.now += 4
    bucket.give_back(5)
    clock.now += 10
    assert not bucket.take(11)
    assert bucket.take(10)


def test_give_back_fills_no_further_than_the_rim(bucket):
    bucket.take(2)
    bucket.give_back(5)
    assert not bucket.take(11)


def test_time_before_giving_back_is_not_counted_twice(bucket, clock):
    bucket.take(10)
    clock.now += 4
    bucket.give_back(5)
    assert not bucket.take(10.5)
    assert bucket.take(10)


def test_window_lets_a_few_through(window):
    assert window.allow("ann")
    assert window.allow("ann")
    assert not window.allow("ann")


def test_callers_do_not_share_a_window(window):
    window.allow("ann")
    window.allow("ann")
    assert window.allow("bob")
    assert window.remaining("ann") == 0
    assert window.remaining("bob") == 1


def test_window_slides(window, clock):
    window.allow("ann")
    clock.now += 40
    window.allow("ann")
    clock.now += 19.5
    assert not window.allow("ann")
    clock.now += 0.5
    assert window.allow("ann")
    assert not window.allow("ann")


def test_refused_events_do_not_count(window, clock):
    window.allow("ann")
    window.allow("ann")
    clock.now += 30
    window.allow("ann")
    clock.now += 30
    assert window.remaining("ann") == 2


def test_retry_after(window, clock):
    assert window.retry_after("ann") == 0
    window.allow("ann")
    clock.now += 10
    window.allow("ann")
    assert window.retry_after("ann") == 50
    clock.now += 49.2
    assert window.retry_after("ann") == 1
    clock.now += 0.8
    assert window.retry_after("ann") == 0


def test_tidy_forgets_quiet_callers(window, clock):
    window.allow("ann")
    clock.now += 30
    window.allow("bob")
    assert window.tidy() == 2
    clock.now += 30
    assert window.tidy() == 1
    assert window.remaining("bob") == 1
    clock.now += 30
    assert window.tidy() == 0
