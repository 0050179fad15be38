from pocketlab import trips


def test_average_speed():
    assert trips.average_speed(100, 2) == 50
    assert trips.average_speed(90, 1) == 90


def test_distance():
    assert trips.distance(50, 2) == 100


def test_fuel_price():
    assert trips.fuel_price(10, 2) == 20


def test_taxi_fare():
    assert trips.taxi_fare(0) == 4
    assert trips.taxi_fare(10) == 24


def test_longest_stage():
    assert trips.longest_stage([3, 9, 4]) == 9


def test_total_distance():
    assert trips.total_distance([3, 9, 4]) == 16


def test_tiring_stages():
    assert trips.tiring_stages([80, 120, 100, 300]) == [120, 300]


def test_hours_left():
    assert trips.hours_left(8, 3) == 5
