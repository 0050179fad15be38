import pytest

from pocketlab.numerals import (
    from_bijective,
    from_roman,
    ordinal,
    spell,
    spell_ordinal,
    to_base,
    to_roman,
)

ROMANS = [
    (1, "I"),
    (4, "IV"),
    (9, "IX"),
    (14, "XIV"),
    (40, "XL"),
    (90, "XC"),
    (400, "CD"),
    (1666, "MDCLXVI"),
    (1994, "MCMXCIV"),
    (3999, "MMMCMXCIX"),
]


def test_to_roman():
    for number, numeral in ROMANS:
        assert to_roman(number) == numeral


def test_what_the_romans_could_not_write():
    for number in [0, -1, 4000]:
        with pytest.raises(ValueError, match=f"no Roman numeral for {number}"):
            to_roman(number)


def test_from_roman():
    for number, numeral in ROMANS:
        assert from_roman(numeral) == number


def test_from_roman_takes_small_letters():
    assert from_roman(" xiv ") == 14


def test_what_the_romans_could_not_read():
    for numeral in ["", "IIII", "VX", "IC", "MMMM", "ABC", "IXI", "12"]:
        with pytest.raises(ValueError, match=f"not a Roman numeral: '{numeral}'"):
            from_roman(numeral)


def test_to_base():
    cases = [
        (0, 2, "0"),
        (10, 2, "1010"),
        (255, 16, "ff"),
        (35, 36, "z"),
        (36, 36, "10"),
        (-8, 3, "-22"),
    ]
    for number, base, written in cases:
        assert to_base(number, base) == written


def test_unsupported_base():
    for base in [1, 37, -2]:
        with pytest.raises(ValueError, match=f"base {base} is not supported"):
            to_base(5, base)


def test_from_bijective():
    cases = [
        ("A", 1),
        ("Z", 26),
        ("AA", 27),
        ("AZ", 52),
        ("ba", 53),
        ("ZZ", 702),
        ("AAA", 703),
    ]
    for letters, number in cases:
        assert from_bijective(letters) == number


def test_not_a_column():
    for letters in ["A1", "É", "A B"]:
        with pytest.raises(ValueError, match=f"not a column: '{letters}'"):
            from_bijective(letters)


def test_spell():
    cases = [
        (0, "zero"),
        (7, "seven"),
        (19, "nineteen"),
        (20, "twenty"),
        (42, "forty-two"),
        (99, "ninety-nine"),
        (100, "one hundred"),
        (105, "one hundred and five"),
        (342, "three hundred and forty-two"),
        (1000, "one thousand"),
        (2060, "two thousand and sixty"),
        (2300, "two thousand three hundred"),
        (
            105_212,
            "one hundred and five thousand two hundred and twelve",
        ),
        (
            999_999,
            "nine hundred and ninety-nine thousand nine hundred and ninety-nine",
        ),
        (-13, "minus thirteen"),
    ]
    for number, words in cases:
        assert spell(number) == words


def test_numbers_too_large_to_spell():
    for number in [1_000_000, -1_000_000]:
        with pytest.raises(ValueError, match="below a million"):
            spell(number)


def test_ordinal():
    cases = [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (10, "10th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (102, "102nd"),
        (111, "111th"),
        (1013, "1013th"),
        (223, "223rd"),
    ]
    for number, place in cases:
        assert ordinal(number) == place


def test_spell_ordinal():
    cases = [
        (1, "first"),
        (2, "second"),
        (3, "third"),
        (4, "fourth"),
        (5, "fifth"),
        (8, "eighth"),
        (9, "ninth"),
        (12, "twelfth"),
        (14, "fourteenth"),
        (20, "twentieth"),
        (21, "twenty-first"),
        (100, "one hundredth"),
        (112, "one hundred and twelfth"),
        (80, "eightieth"),
        (4000, "four thousandth"),
    ]
    for number, words in cases:
        assert spell_ordinal(number) == words
