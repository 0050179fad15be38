import pytest

from pocketlab.graph import CycleError, Network, work_order


def network(*ways):
    net = Network()
    for start, end, length in ways:
        net.connect(start, end, length)
    return net


def test_places():
    assert network(("b", "a", 1), ("c", "b", 1)).places() == ["a", "b", "c"]


def test_route_takes_the_shorter_way_round():
    net = network(("a", "b", 4), ("a", "c", 1), ("c", "b", 2))
    assert net.route("a", "b") == (3, ["a", "c", "b"])
    assert net.route("b", "a") == (3, ["b", "c", "a"])


def test_route_to_where_one_is():
    assert network(("a", "b", 4)).route("a", "a") == (0, ["a"])


def test_route_with_fewer_places_wins():
    net = network(("a", "b", 1), ("b", "d", 1), ("a", "d", 2))
    assert net.route("a", "d") == (2, ["a", "d"])


def test_route_by_the_alphabet():
    net = network(("a", "c", 1), ("c", "d", 1), ("a", "b", 1), ("b", "d", 1))
    assert net.route("a", "d") == (2, ["a", "b", "d"])


def test_one_way():
    net = Network()
    net.connect("a", "b", 1, one_way=True)
    assert net.route("a", "b") == (1, ["a", "b"])
    with pytest.raises(LookupError, match="no way from b to a"):
        net.route("b", "a")


def test_the_shorter_of_two_ways_stays():
    net = network(("a", "b", 3), ("a", "b", 2), ("a", "b", 5))
    assert net.route("a", "b")[0] == 2
    assert net.route("b", "a")[0] == 2


def test_a_way_has_a_length():
    with pytest.raises(ValueError, match="negative length"):
        Network().connect("a", "b", -1)
    assert network(("a", "b", 0)).route("a", "b") == (0, ["a", "b"])


def test_route_between_unknown_places():
    for start, goal in [("a", "nowhere"), ("nowhere", "a")]:
        with pytest.raises(KeyError, match="nowhere"):
            network(("a", "b", 1)).route(start, goal)


def test_a_ring_does_not_keep_the_search_busy():
    net = network(("a", "b", 0), ("b", "c", 0), ("c", "a", 0), ("x", "y", 1))
    with pytest.raises(LookupError):
        net.route("a", "x")


def test_within():
    net = network(("a", "b", 9), ("b", "c", 1), ("c", "d", 1), ("a", "c", 1))
    assert net.within("a", 0) == {"a": 0}
    assert net.within("a", 1) == {"a": 0, "b": 1, "c": 1}
    assert net.within("a", 5) == {"a": 0, "b": 1, "c": 1, "d": 2}


def test_islands():
    net = network(("x", "y", 1), ("c", "d", 1), ("b", "a", 1), ("d", "b", 1))
    net.connect("p", "q", 1, one_way=True)
    assert net.islands() == [["a", "b", "c", "d"], ["p", "q"], ["x", "y"]]


def test_work_order():
    needs = {"roof": ["walls"], "walls": ["floor"], "paint": ["walls"], "floor": []}
    assert work_order(needs) == ["floor", "walls", "paint", "roof"]


def test_work_order_takes_ready_tasks_by_the_alphabet():
    needs = {"c": [], "a": ["d"], "b": [], "d": []}
    assert work_order(needs) == ["b", "c", "d", "a"]
    assert work_order({"z": [], "b": ["a"], "a": []}) == ["a", "b", "z"]


def test_work_order_adds_needs_that_are_no_tasks():
    assert work_order({"cake": ["flour", "eggs"]}) == ["eggs", "flour", "cake"]


def test_work_order_of_nothing():
    assert work_order({}) == []


def test_work_order_waits_for_every_need():
    assert work_order({"a": ["b", "c"], "b": ["c"]}) == ["c", "b", "a"]


def test_tasks_that_wait_for_one_another():
    with pytest.raises(CycleError, match="going round in circles: a, b, c"):
        work_order({"a": ["b"], "b": ["a"], "c": ["a"], "d": []})
