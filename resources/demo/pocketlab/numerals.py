"""Numbers written in letters and in other number systems."""

ROMAN = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)
SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"


def to_roman(number: int) -> str:
    """Write a number from 1 to 3999 as the Romans did."""
    if not 1 <= number <= 3999:
        raise ValueError(f"no Roman numeral for {number}")
    letters = []
    for value, numeral in ROMAN:
        times, number = divmod(number, value)
        letters.append(numeral * times)
    return "".join(letters)


def from_roman(numeral: str) -> int:
    """Read a Roman numeral, in capitals or not, but only in its proper form."""
    letters = numeral.strip().upper()
    worth = {letter: value for value, letter in ROMAN if len(letter) == 1}
    try:
        values = [worth[letter] for letter in letters]
    except KeyError:
        raise ValueError(f"not a Roman numeral: {numeral!r}") from None
    total = 0
    for value, following in zip(values, [*values, 0][1:], strict=True):
        total += value if value >= following else -value
    if not 1 <= total <= 3999 or to_roman(total) != letters:
        raise ValueError(f"not a Roman numeral: {numeral!r}")
    return total


def to_base(number: int, base: int) -> str:
    """Write a whole number with the digits of another base, from 2 to 36."""
    if not 2 <= base <= len(SYMBOLS):
        raise ValueError(f"base {base} is not supported")
    if number < 0:
        return "-" + to_base(-number, base)
    higher, last = divmod(number, base)
    return (to_base(higher, base) if higher else "") + SYMBOLS[last]


def from_bijective(letters: str) -> int:
    """Read a column name of a spreadsheet: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z":
            raise ValueError(f"not a column: {letters!r}")
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def spell(number: int) -> str:
    """Write a number below a million in words, as the British do.

    'and' goes before the last two digits if anything but tens comes before
    them: one hundred and five, two thousand and sixty, but forty-two.
    """
    if not -1_000_000 < number < 1_000_000:
        raise ValueError("only numbers below a million can be spelled")
    if number < 0:
        return "minus " + spell(-number)
    thousands, rest = divmod(number, 1000)
    hundreds, tens = divmod(rest, 100)
    words = []
    if thousands:
        words.append(spell(thousands) + " thousand")
    if hundreds:
        words.append(SMALL[hundreds] + " hundred")
    if tens and words:
        words.append("and")
    if tens or not words:
        words.append(_below_hundred(tens))
    return " ".join(words)


def ordinal(number: int) -> str:
    """Write a place in an order with digits: 1st, 2nd, 11th, 102nd."""
    suffixes = {1: "st", 2: "nd", 3: "rd"}
    teen = number // 10 % 10 == 1
    suffix = "th" if teen else suffixes.get(number % 10, "th")
    return f"{number}{suffix}"


def spell_ordinal(number: int) -> str:
    """Write a place in an order in words: twenty-first, one hundred and twelfth."""
    words = spell(number)
    start = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[start:]
    if last in IRREGULAR:
        return words[:start] + IRREGULAR[last]
    if last.endswith("y"):
        return words[:-1] + "ieth"
    return words + "th"


def _below_hundred(number: int) -> str:
    if number < len(SMALL):
        return SMALL[number]
    tens, ones = divmod(number, 10)
    word = TENS[tens - 2]
    return f"{word}-{SMALL[ones]}" if ones else word
