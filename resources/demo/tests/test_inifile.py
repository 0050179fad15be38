import pytest

from pocketlab.inifile import Settings, SettingsError

FILE = """\
# Where things are
root = /srv
Debug = off   ; for now

[Web]
home = ${root}/web
logs = ${home}/logs, ,
    /var/log ,
timeout = 1h 30m

[mail]
from = team@${Web:host}
cache = ${web:home}/mail#1

[web]
host = example.org
root = /data
"""


@pytest.fixture
def settings():
    return Settings.parse(FILE)


def test_sections(settings):
    assert settings.sections() == ["general", "web", "mail"]


def test_names_before_any_section_are_general(settings):
    assert settings.text("general", "root") == "/srv"


def test_general_values_are_fallbacks(settings):
    assert settings.text("mail", "root") == "/srv"
    assert settings.text("web", "root") == "/data"
    assert settings.text("elsewhere", "debug") == "off"


def test_comments():
    text = "a = 1 # one\n; b = 2\nc = x#y;z\n  # d\ne = # nothing\n"
    settings = Settings.parse(text)
    assert settings.text("general", "a") == "1"
    assert settings.text("general", "c") == "x#y;z"
    assert settings.text("general", "e") == ""
    with pytest.raises(SettingsError, match=r"general\.b is not set"):
        settings.text("general", "b")


def test_names_and_sections_ignore_case():
    settings = Settings.parse("[ Main Part ]\nColour = Red\n")
    assert settings.text("main part", "colour") == "Red"


def test_a_value_may_hold_an_equals_sign():
    assert Settings.parse("a = b = c").text("general", "a") == "b = c"


def test_a_value_goes_on_in_indented_lines():
    settings = Settings.parse("a = one\n  two\n\n\tthree\nb =\n  four\n")
    assert settings.text("general", "a") == "one two three"
    assert settings.text("general", "b") == "four"


def test_references(settings):
    assert settings.text("web", "home") == "/data/web"
    assert settings.text("mail", "cache") == "/data/web/mail#1"


def test_references_within_references():
    settings = Settings.parse("a = <${b}>\nb = (${c})\nc = x\n[s]\nc = y\n")
    assert settings.text("general", "a") == "<(x)>"
    assert settings.text("s", "a") == "<(y)>"


def test_section_names_in_references_are_exact(settings):
    with pytest.raises(SettingsError, match=r"Web\.host is not set"):
        settings.text("mail", "from")


def test_circular_references():
    settings = Settings.parse("a = ${b}\nb = ${s:c}\n[s]\nc = ${general:a}\n")
    message = r"circular: general\.a -> general\.b -> s\.c -> general\.a"
    with pytest.raises(SettingsError, match=message):
        settings.text("general", "a")


def test_the_same_reference_twice_is_not_circular():
    assert Settings.parse("a = ${b}${b}\nb = x").text("general", "a") == "xx"


def test_bad_files():
    cases = [
        ("  a = 1", "line 1: nothing to go on with"),
        ("a = 1\n[s]\n  b", "line 3: nothing to go on with"),
        ("[open\na = 1", r"line 1: the section lacks a \]"),
        ("a = 1\nb", "line 2: expected name = value"),
        ("= 1", "line 1: expected name = value"),
        ("a = 1\nA = 2", "line 2: a is given twice"),
        ("[s]\na = 1\n[t]\n[s]\na = 2", "line 5: a is given twice"),
    ]
    for text, message in cases:
        with pytest.raises(SettingsError, match=message):
            Settings.parse(text)


def test_flag():
    cases = [
        ("yes", True),
        ("On", True),
        ("TRUE", True),
        ("no", False),
        ("off", False),
        ("False", False),
    ]
    for spelling, answer in cases:
        assert Settings({"s": {"a": spelling}}).flag("s", "a") is answer


def test_a_flag_is_yes_or_no():
    with pytest.raises(SettingsError, match=r"s\.a must be yes or no"):
        Settings({"s": {"a": "perhaps"}}).flag("s", "a")


def test_seconds():
    cases = [
        ("90", 90),
        ("15s", 15),
        ("5m", 300),
        ("1h 30m", 5400),
        ("2d 1s", 172801),
        ("", 0),
    ]
    for text, seconds in cases:
        assert Settings({"s": {"a": text}}).seconds("s", "a") == seconds


def test_bad_seconds():
    for part in ["5y", "m", "-3s", "1.5h"]:
        with pytest.raises(SettingsError, match=f"s.a: no duration: {part}"):
            Settings({"s": {"a": f"1m {part}"}}).seconds("s", "a")


def test_items(settings):
    assert settings.items("web", "logs") == ["/data/web/logs", "/var/log"]
    assert Settings({"s": {"a": ""}}).items("s", "a") == []


def test_settings_do_not_change_with_what_they_were_made_of():
    values = {"s": {"a": "1"}}
    settings = Settings(values)
    values["s"]["a"] = "2"
    assert settings.text("s", "a") == "1"
