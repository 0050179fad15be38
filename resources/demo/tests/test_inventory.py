import pytest

from pocketlab.inventory import StockError, Warehouse


@pytest.fixture
def stock():
    warehouse = Warehouse()
    warehouse.receive("nut", 10, cost=5)
    warehouse.receive("nut", 4, cost=7)
    warehouse.receive("bolt", 6, cost=20)
    return warehouse


def test_on_hand(stock):
    assert stock.on_hand("nut") == 14
    assert stock.on_hand("bolt") == 6
    assert stock.on_hand("screw") == 0


@pytest.mark.parametrize("pieces", [0, -2])
def test_a_lot_has_pieces(stock, pieces):
    with pytest.raises(ValueError, match="at least one piece"):
        stock.receive("nut", pieces, cost=5)


def test_value(stock):
    assert stock.value() == 50 + 28 + 120
    assert Warehouse().value() == 0


def test_a_promise_leaves_pieces_on_the_shelf(stock):
    stock.promise("ann", {"nut": 5})
    assert stock.on_hand("nut") == 14
    assert stock.free("nut") == 9
    assert stock.free("bolt") == 6


def test_promises_of_all_orders_count(stock):
    stock.promise("ann", {"nut": 5})
    stock.promise("bob", {"nut": 9})
    assert stock.free("nut") == 0


def test_promises_add_up(stock):
    stock.promise("ann", {"nut": 5})
    stock.promise("ann", {"nut": 2, "bolt": 1})
    assert stock.free("nut") == 7
    assert stock.ship("ann") == 35 + 20


def test_all_or_nothing(stock):
    with pytest.raises(StockError, match="not enough of bolt, screw"):
        stock.promise("ann", {"screw": 1, "nut": 1, "bolt": 7})
    assert stock.free("nut") == 14


def test_the_last_piece_can_be_promised(stock):
    stock.promise("ann", {"bolt": 6})
    with pytest.raises(StockError, match="not enough of bolt"):
        stock.promise("bob", {"bolt": 1})


def test_release(stock):
    stock.promise("ann", {"nut": 5})
    stock.promise("bob", {"nut": 3})
    stock.release("ann")
    stock.release("nobody")
    assert stock.free("nut") == 11


def test_ship_takes_the_oldest_first(stock):
    stock.promise("ann", {"nut": 12})
    assert stock.ship("ann") == 10 * 5 + 2 * 7
    assert stock.on_hand("nut") == 2
    assert stock.value() == 2 * 7 + 120


def test_ship_fulfils_the_promise(stock):
    stock.promise("ann", {"nut": 2})
    stock.ship("ann")
    assert stock.free("nut") == 12
    with pytest.raises(KeyError, match="ann"):
        stock.ship("ann")


def test_an_unknown_order_cannot_be_shipped(stock):
    with pytest.raises(KeyError, match="zoe"):
        stock.ship("zoe")


def test_lots_of_one_cost_are_one_lot(stock):
    stock.receive("nut", 1, cost=5)
    stock.receive("nut", 1, cost=5)
    stock.promise("ann", {"nut": 15})
    assert stock.ship("ann") == 10 * 5 + 4 * 7 + 5
    assert stock.value() == 5 + 120


def test_joining_a_lot_that_is_used_up():
    stock = Warehouse()
    stock.receive("nut", 3, cost=5)
    stock.write_off("nut", 3)
    stock.receive("nut", 2, cost=5)
    assert stock.on_hand("nut") == 2


def test_write_off(stock):
    assert stock.write_off("nut", 11) == 57
    assert stock.on_hand("nut") == 3


def test_promised_pieces_cannot_be_written_off(stock):
    stock.promise("ann", {"nut": 10})
    with pytest.raises(StockError, match="not enough of nut"):
        stock.write_off("nut", 5)
    assert stock.write_off("nut", 4) == 20


def test_to_buy_whole_packs(stock):
    stock.set_rule("nut", minimum=20, pack=4)
    assert stock.to_buy() == {"nut": 8}
    stock.set_rule("nut", minimum=22, pack=4)
    assert stock.to_buy() == {"nut": 8}


def test_nothing_to_buy_at_the_minimum(stock):
    stock.set_rule("nut", minimum=14, pack=10)
    assert stock.to_buy() == {}
    stock.promise("ann", {"nut": 1})
    assert stock.to_buy() == {"nut": 10}


def test_the_scarcest_is_bought_first(stock):
    stock.set_rule("nut", minimum=28, pack=1)
    stock.set_rule("bolt", minimum=8, pack=6)
    stock.set_rule("screw", minimum=5, pack=100)
    stock.set_rule("clamp", minimum=9, pack=2)
    assert list(stock.to_buy().items()) == [
        ("clamp", 10),
        ("screw", 100),
        ("nut", 14),
        ("bolt", 6),
    ]
