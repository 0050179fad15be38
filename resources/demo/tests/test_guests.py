from pocketlab import guests


def test_full_name():
    assert guests.full_name("Ann", "Lee") == "Ann Lee"


def test_initials():
    assert guests.initials("Ann", "Lee") == "AL"


def test_greeting():
    assert guests.greeting("Ann") == "Hello, Ann!"


def test_door_list():
    assert guests.door_list(["Cy", "Ann", "Ben"]) == ["Ann", "Ben", "Cy"]


def test_name_line():
    assert guests.name_line(["Ann", "Ben"]) == "Ann, Ben"
    assert guests.name_line(["Cy"]) == "Cy"


def test_longest_name():
    assert guests.longest_name(["Ann", "Benjamin", "Cy"]) == "Benjamin"


def test_number_of_guests():
    assert guests.number_of_guests(["Ann", "Ben"]) == 2


def test_short_names():
    assert guests.short_names(["Ann", "Benjamin", "Cyrus", "Dorian"]) == ["Ann", "Cyrus"]
