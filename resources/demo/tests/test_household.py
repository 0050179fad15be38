from pocketlab import household


def test_greeting():
    words = {0: "Good morning", 11: "Good morning", 12: "Good afternoon", 17: "Good afternoon", 18: "Good evening"}
    for hour, said in words.items():
        assert household.greeting(hour) == said


def test_is_open():
    assert [household.is_open(hour) for hour in (8, 9, 17, 18)] == [False, True, True, False]


def test_minutes_of():
    assert [household.minutes_of(0, 5), household.minutes_of(2, 30)] == [5, 150]


def test_temperatures():
    assert [household.fahrenheit(0), household.fahrenheit(100)] == [32, 212]
    felt = {-1: "freezing", 0: "cold", 14: "cold", 15: "mild", 24: "mild", 25: "hot"}
    for celsius, word in felt.items():
        assert household.feeling(celsius) == word


def test_walls():
    assert household.wall_area(5, 3, 0) == 15
    assert household.wall_area(5, 3, 2) == 11
    assert [household.paint_cans(area) for area in (0, 1, 20, 21, 40)] == [0, 1, 1, 2, 2]


def test_shopping_list():
    items = ["milk"]
    assert household.add_item(items, "bread") == ["milk", "bread"]
    assert household.add_item(items, "milk") == ["milk", "bread"]
    assert household.longest_item(["tea", "butter", "salt"]) == "butter"
    assert household.longest_item([]) == ""
    assert household.shopping_total({"tea": 4, "salt": 2}, ["tea", "tea", "pen"]) == 9
