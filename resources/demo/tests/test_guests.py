from pocketlab import guests


def test_full_name():
    assert guests.full_name("Ann", "Lee") == "Ann Lee"


def test_initials():
    assert guests.initials("Ann", "Lee") == "AL"


def test_opening():
    assert guests.opening("Ann") == "Dear Ann,"


def test_door_list():
    assert guests.door_list(["Ann", "Cy", "Ben"]) == ["Cy", "Ben", "Ann"]


def test_one_line():
    assert guests.one_line(["Ann", "Ben"]) == "Ann, Ben"
    assert guests.one_line(["Cy"]) == "Cy"


def test_longest_name():
    assert guests.longest_name(["Ann", "Benjamin", "Cy"]) == "Benjamin"


def test_number_of_tables():
    assert guests.number_of_tables(20, 6) == 3
    assert guests.number_of_tables(12, 6) == 2


def test_guests_without_table():
    assert guests.guests_without_table(20, 6) == 2
    assert guests.guests_without_table(12, 6) == 0


def test_short_names():
    assert guests.short_names(["Ann", "Benjamin", "Cyrus", "Dorian"]) == ["Ann", "Cyrus"]
