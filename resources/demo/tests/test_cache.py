import pytest

from pocketlab.cache import Cache, Counts


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cache(clock):
    return Cache(room=3, lifetime=10, clock=clock)


def test_what_was_put_can_be_got(cache):
    cache.put("a", 1)
    assert cache.get("a") == 1
    assert cache.get("b") is None
    assert cache.get("b", 7) == 7


def test_a_cache_needs_room(clock):
    with pytest.raises(ValueError, match="room for at least one entry"):
        Cache(room=0, lifetime=1, clock=clock)
    Cache(room=1, lifetime=1, clock=clock)


def test_the_least_recently_used_entry_goes(cache):
    for key in "abc":
        cache.put(key, key.upper())
    cache.get("a")
    cache.put("d", "D")
    assert cache.keys() == ["c", "a", "d"]
    assert cache.counts.evicted == 1


def test_storing_again_makes_an_entry_recent(cache):
    for key in "abca":
        cache.put(key, key)
    assert cache.keys() == ["b", "c", "a"]
    assert cache.counts.evicted == 0


def test_storing_again_replaces_the_value(cache):
    cache.put("a", 1)
    cache.put("a", 2)
    assert cache.get("a") == 2
    assert len(cache) == 1


def test_an_entry_grows_too_old(cache, clock):
    cache.put("a", 1)
    clock.now += 9.5
    assert cache.get("a") == 1
    clock.now += 0.5
    assert cache.get("a") is None
    assert cache.counts == Counts(hits=1, misses=1)


def test_a_miss_removes_the_old_entry(cache, clock):
    cache.put("a", 1)
    clock.now += 10
    cache.get("a")
    clock.now -= 5
    assert cache.get("a") is None


def test_length_counts_fresh_entries_only(cache, clock):
    cache.put("a", 1)
    clock.now += 6
    cache.put("b", 2)
    assert len(cache) == 2
    clock.now += 6
    assert len(cache) == 1
    assert cache.keys() == ["b"]


def test_keys_lists_fresh_entries_only(cache, clock):
    cache.put("a", 1)
    clock.now += 10
    assert cache.keys() == []


def test_old_entries_make_room_before_fresh_ones(cache, clock):
    cache.put("fresh", 1)
    cache.put("old", 2)
    clock.now += 6
    cache.put("fresh", 3)
    cache.put("new", 4)
    cache.get("old")
    clock.now += 4
    cache.put("newer", 5)
    assert cache.keys() == ["fresh", "new", "newer"]
    assert cache.counts.evicted == 0


def test_hit_rate(cache):
    assert cache.counts.hit_rate == 0
    cache.put("a", 1)
    for key in "aaab":
        cache.get(key)
    assert cache.counts.hit_rate == 0.75


def test_get_or_make_makes_once(cache):
    made = []

    def make(key):
        made.append(key)
        return key * 2

    assert cache.get_or_make("ab", make) == "abab"
    assert cache.get_or_make("ab", make) == "abab"
    assert made == ["ab"]


def test_get_or_make_does_not_keep_nothing(cache):
    assert cache.get_or_make("a", lambda key: None) is None
    assert len(cache) == 0


def test_forget(cache):
    for key in (1, 2, 3):
        cache.put(key, "x")
    assert cache.forget(lambda key: key % 2 == 1) == 2
    assert cache.keys() == [2]


def test_forget_does_not_count_old_entries(cache, clock):
    cache.put("a", 1)
    clock.now += 10
    cache.put("b", 1)
    assert cache.forget(lambda key: True) == 1
