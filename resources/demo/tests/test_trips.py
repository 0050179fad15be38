from pocketlab import trips


def test_average_speed():
    assert trips.average_speed(100, 2) == 50
    assert trips.average_speed(90, 1) == 90


def test_fuel_price():
    assert trips.fuel_price(10, 2) == 20


def test_arrival_hour():
    assert trips.arrival_hour(8, 3) == 11
    assert trips.arrival_hour(22, 5) == 3


def test_taxi_fare():
    assert trips.taxi_fare(0) == 4
    assert trips.taxi_fare(10) == 24


def test_longest_stage():
    assert trips.longest_stage([3, 9, 4]) == 9


def test_total_distance():
    assert trips.total_distance([3, 9, 4]) == 16


def test_stages_worth_a_rest():
    assert trips.stages_worth_a_rest([80, 120, 100, 300]) == [120, 300]


def test_luggage_fits():
    assert trips.luggage_fits(20, 20) is True
    assert trips.luggage_fits(21, 20) is False
