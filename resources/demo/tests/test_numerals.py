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


@pytest.mark.parametrize(("number", "numeral"), ROMANS)
def test_to_roman(number, numeral):
    assert to_roman(number) == numeral


@pytest.mark.parametrize("number", [0, -1, 4000])
def test_what_the_romans_could_not_write(number):
    with pytest.raises(ValueError, match=f"no Roman numeral for {number}"):
        to_roman(number)


@pytest.mark.parametrize(("number", "numeral"), ROMANS)
def test_from_roman(number, numeral):
    assert from_roman(numeral) == number


def test_from_roman_takes_small_letters():
    assert from_roman(" xiv ") == 14


@pytest.mark.parametrize(
    "numeral", ["", "IIII", "VX", "IC", "MMMM", "ABC", "IXI", "12"]
)
def test_what_the_romans_could_not_read(numeral):
    with pytest.raises(ValueError, match=f"not a Roman numeral: '{numeral}'"):
        from_roman(numeral)


@pytest.mark.parametrize(
    ("number", "base", "written"),
    [
        (0, 2, "0"),
        (10, 2, "1010"),
        (255, 16, "ff"),
        (35, 36, "z"),
        (36, 36, "10"),
        (-8, 3, "-22"),
    ],
)
def test_to_base(number, base, written):
    assert to_base(number, base) == written


@pytest.mark.parametrize("base", [1, 37, -2])
def test_unsupported_base(base):
    with pytest.raises(ValueError, match=f"base {base} is not supported"):
        to_base(5, base)


@pytest.mark.parametrize(
    ("letters", "number"),
    [
        ("A", 1),
        ("Z", 26),
        ("AA", 27),
        ("AZ", 52),
        ("ba", 53),
        ("ZZ", 702),
        ("AAA", 703),
    ],
)
def test_from_bijective(letters, number):
    assert from_bijective(letters) == number


@pytest.mark.parametrize("letters", ["A1", "É", "A B"])
def test_not_a_column(letters):
    with pytest.raises(ValueError, match=f"not a column: '{letters}'"):
        from_bijective(letters)


@pytest.mark.parametrize(
    ("number", "words"),
    [
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
    ],
)
def test_spell(number, words):
    assert spell(number) == words


@pytest.mark.parametrize("number", [1_000_000, -1_000_000])
def test_numbers_too_large_to_spell(number):
    with pytest.raises(ValueError, match="below a million"):
        spell(number)


@pytest.mark.parametrize(
    ("number", "place"),
    [
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
    ],
)
def test_ordinal(number, place):
    assert ordinal(number) == place


@pytest.mark.parametrize(
    ("number", "words"),
    [
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
    ],
)
def test_spell_ordinal(number, words):
    assert spell_ordinal(number) == words
