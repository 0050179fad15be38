import pytest

from pocketlab.agenda import Agenda


@pytest.fixture
def agenda():
    return Agenda()


def say(text):
    return lambda agenda: agenda.note(text)


def said(agenda):
    return [text for _, text in agenda.log]


def test_actions_run_in_order_of_time(agenda):
    agenda.at(5, say("late"))
    agenda.at(2, say("early"))
    assert agenda.run(10) == 2
    assert agenda.log == [(2, "early"), (5, "late")]


def test_the_clock_stops_at_the_end(agenda):
    agenda.at(5, say("x"))
    agenda.run(3)
    assert agenda.now == 3
    assert agenda.log == []


def test_the_end_is_included(agenda):
    agenda.at(3, say("x"))
    assert agenda.run(3) == 1


def test_the_clock_never_goes_back(agenda):
    agenda.run(8)
    agenda.run(3)
    assert agenda.now == 8


def test_urgent_actions_run_first(agenda):
    agenda.at(1, say("usual"))
    agenda.at(1, say("idle"), urgency=9)
    agenda.at(1, say("urgent"), urgency=1)
    agenda.after(1, say("urgent too"), urgency=1)
    agenda.run(1)
    assert said(agenda) == ["urgent", "urgent too", "usual", "idle"]


def test_equals_run_in_the_order_of_planning(agenda):
    for name in "cab":
        agenda.at(1, say(name))
    agenda.run(1)
    assert said(agenda) == ["c", "a", "b"]


def test_nothing_can_be_planned_for_the_past(agenda):
    agenda.run(4)
    agenda.at(4, say("now"))
    with pytest.raises(ValueError, match=r"3 is over, it is 4"):
        agenda.at(3, say("before"))


def test_after_counts_from_now(agenda):
    agenda.run(4)
    agenda.after(2, say("x"))
    agenda.run(10)
    assert agenda.log == [(6, "x")]


def test_actions_can_plan_actions(agenda):
    agenda.at(1, lambda a: a.after(2, say("second")))
    assert agenda.run(3) == 2
    assert agenda.log == [(3, "second")]


def test_every(agenda):
    agenda.every(2, say("tick"), times=3)
    assert agenda.run(100) == 3
    assert agenda.log == [(2, "tick"), (4, "tick"), (6, "tick")]


def test_every_plans_one_event_at_a_time(agenda):
    agenda.every(2, say("tick"), times=3)
    assert len(agenda) == 1
    agenda.every(2, say("tick"), times=0)
    assert len(agenda) == 1


def test_every_plans_after_the_action_has_run(agenda):
    agenda.every(1, lambda a: a.at(a.now + 1, say("own")), times=2)
    agenda.every(1, say("tick"), times=2)
    agenda.run(2)
    assert said(agenda) == ["tick", "own", "tick"]


def test_every_can_be_stopped(agenda):
    def once(agenda):
        agenda.note("once")
        raise StopIteration

    agenda.every(1, once, times=5)
    assert agenda.run(9) == 1
    assert len(agenda) == 0


@pytest.mark.parametrize("period", [0, -1])
def test_a_period_is_positive(agenda, period):
    with pytest.raises(ValueError, match="period must be positive"):
        agenda.every(period, say("x"), times=1)


def test_cancel(agenda):
    event = agenda.at(1, say("x"))
    agenda.at(2, say("y"))
    assert agenda.cancel(event)
    assert len(agenda) == 1
    assert agenda.run(5) == 1
    assert said(agenda) == ["y"]


def test_cancel_tells_whether_it_was_in_time(agenda):
    event, done = agenda.at(9, say("x")), agenda.at(1, say("y"))
    agenda.run(1)
    assert not agenda.cancel(done)
    assert agenda.cancel(event)
    assert not agenda.cancel(event)


def test_next_time(agenda):
    assert agenda.next_time() is None
    first = agenda.at(3, say("x"))
    agenda.at(4, say("y"))
    assert agenda.next_time() == 3
    agenda.cancel(first)
    assert agenda.next_time() == 4


def test_postpone(agenda):
    event = agenda.at(1, say("moved"), urgency=1)
    agenda.at(3, say("usual"))
    agenda.at(3, say("urgent"), urgency=1)
    later = agenda.postpone(event, 2)
    assert later.time == 3
    assert agenda.run(3) == 3
    assert said(agenda) == ["urgent", "moved", "usual"]


def test_what_is_over_cannot_be_postponed(agenda):
    event = agenda.at(1, say("x"))
    agenda.run(1)
    with pytest.raises(LookupError, match="not on the list any more"):
        agenda.postpone(event, 5)
