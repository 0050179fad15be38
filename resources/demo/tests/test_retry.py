import pytest

from pocketlab.retry import Breaker, Busy, GaveUp, Policy


class Flaky:
    """Raises the given errors one after another, then answers."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


class Clock:
    def __init__(self):
        self.now = 7.0

    def __call__(self):
        return self.now


@pytest.fixture
def slept():
    return []


def test_waits_grow():
    assert list(Policy(attempts=4, first=1, factor=3).waits()) == [1, 3, 9]


def test_waits_have_a_longest():
    assert list(Policy(attempts=5, first=2, longest=5).waits()) == [2, 4, 5, 5]


def test_usual_waits():
    assert list(Policy().waits()) == [1, 2, 4]
    assert list(Policy(attempts=8).waits()) == [1, 2, 4, 8, 16, 30, 30]


def test_one_attempt_has_no_waits():
    assert list(Policy(attempts=1).waits()) == []


def test_bad_policies():
    cases = [
        ({"attempts": 0}, "at least one attempt"),
        ({"factor": 0.5}, "grow shorter"),
    ]
    for values, message in cases:
        with pytest.raises(ValueError, match=message):
            Policy(**values)


def test_success_needs_no_wait(slept):
    assert Policy().call(Flaky(), slept.append) == "answer"
    assert slept == []


def test_failures_are_retried(slept):
    action = Flaky(ConnectionError(), TimeoutError())
    assert Policy().call(action, slept.append) == "answer"
    assert slept == [1, 2]


def test_other_errors_pass(slept):
    action = Flaky(KeyError("x"))
    with pytest.raises(KeyError):
        Policy().call(action, slept.append)
    assert action.calls == 1


def test_retried_errors_can_be_chosen(slept):
    policy = Policy(retried=(KeyError,))
    assert policy.call(Flaky(KeyError("x")), slept.append) == "answer"
    with pytest.raises(TimeoutError):
        policy.call(Flaky(TimeoutError()), slept.append)


def test_giving_up(slept):
    last = ConnectionError("last")
    action = Flaky(ConnectionError(), TimeoutError(), last, ConnectionError())
    with pytest.raises(GaveUp, match="gave up after 3 attempts") as caught:
        Policy(attempts=3).call(action, slept.append)
    assert caught.value.attempts == 3
    assert caught.value.__cause__ is last
    assert slept == [1, 2]


def test_a_single_attempt(slept):
    with pytest.raises(GaveUp, match="after 1 attempts"):
        Policy(attempts=1).call(Flaky(TimeoutError()), slept.append)
    assert slept == []


def test_the_busy_are_waited_for(slept):
    action = Flaky(Busy(50), Busy(0.5))
    assert Policy().call(action, slept.append) == "answer"
    assert slept == [50, 2]


def test_patience_ends(slept):
    action = Flaky(Busy(2), Busy(5), Busy(4), Busy(1))
    with pytest.raises(GaveUp, match="after 3 attempts"):
        Policy(attempts=9, patience=10).call(action, slept.append)
    assert slept == [2, 5]


def test_patience_may_be_used_up(slept):
    action = Flaky(Busy(6), Busy(4))
    assert Policy(patience=10).call(action, slept.append) == "answer"


def test_busy_says_for_how_long():
    assert str(Busy(3)) == "busy for 3 s"
    assert Busy(3).seconds == 3


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return Breaker(failures=2, rest=10, clock=clock)


def fail(breaker, times=1):
    for _ in range(times):
        with pytest.raises(OSError, match="down"):
            breaker.call(Flaky(OSError("down")))


def test_a_breaker_lets_calls_through(breaker):
    assert breaker.call(Flaky()) == "answer"
    assert breaker.state == "closed"


def test_failures_in_a_row_open_it(breaker):
    fail(breaker)
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "open"


def test_success_starts_the_count_again(breaker):
    fail(breaker)
    breaker.call(Flaky())
    fail(breaker)
    assert breaker.state == "closed"


def test_an_open_breaker_calls_nothing(breaker):
    fail(breaker, times=2)
    action = Flaky()
    with pytest.raises(Busy, match="busy for 10 s"):
        breaker.call(action)
    assert action.calls == 0


def test_a_breaker_rests(breaker, clock):
    fail(breaker, times=2)
    clock.now += 9.5
    assert breaker.state == "open"
    clock.now += 0.5
    assert breaker.state == "trial"


def test_a_good_trial_closes_it(breaker, clock):
    fail(breaker, times=2)
    clock.now += 10
    assert breaker.call(Flaky()) == "answer"
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "closed"


def test_a_bad_trial_opens_it_again(breaker, clock):
    fail(breaker, times=2)
    clock.now += 10
    fail(breaker)
    assert breaker.state == "open"
    clock.now += 10
    assert breaker.state == "trial"


def test_a_trial_fails_at_once(clock):
    breaker = Breaker(failures=3, rest=10, clock=clock)
    fail(breaker, times=3)
    clock.now += 10
    breaker.call(Flaky())
    fail(breaker, times=2)
    assert breaker.state == "closed"
