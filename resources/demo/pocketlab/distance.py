"""How far apart two words are, and which known word was meant."""

from collections.abc import Iterable


def edit_distance(left: str, right: str) -> int:
    """Count the edits between two words: insert, delete, replace or swap.

    A swap exchanges two neighbouring letters; no letter is edited twice.
    """
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        current = [i]
        for j, b in enumerate(right, start=1):
            cost = previous[j - 1] + (a != b)
            cost = min(cost, previous[j] + 1, current[j - 1] + 1)
            swapped = i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]
            if swapped:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]


def similarity(left: str, right: str) -> float:
    """Return 1.0 for equal words down to 0.0 for words with nothing in common."""
    longest = max(len(left), len(right))
    if longest == 0:
        return 1.0
    return 1 - edit_distance(left, right) / longest


def common_subsequence(left: str, right: str) -> str:
    """Return the longest text both words contain in order, with gaps allowed.

    Of several that are equally long, the one whose letters come first in
    `left` wins.
    """
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            if left[i] == right[j]:
                longest[i][j] = longest[i + 1][j + 1] + 1
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    found = []
    column = 0
    for row, letter in enumerate(left):
        match = right.find(letter, column)
        if match < 0:
            continue
        if longest[row + 1][match + 1] + 1 == longest[row][column]:
            found.append(letter)
            column = match + 1
    return "".join(found)


def suggest(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return known words that may have been meant, the likeliest first.

    A third of the word's letters may be wrong, but one always may. Upper and
    lower case are alike. Equal distances are put in order by a shared first
    letter, then by the alphabet.
    """
    lowered = word.lower()
    allowed = max(1, len(word) // 3)
    ranked = []
    for candidate in known:
        distance = edit_distance(lowered, candidate.lower())
        if distance <= allowed:
            other_start = candidate[:1].lower() != lowered[:1]
            ranked.append((distance, other_start, candidate))
    return [candidate for _, _, candidate in sorted(ranked)[:most]]


def soundex(name: str) -> str:
    """Return a letter and three digits that names sounding alike share."""
    groups = ("bfpv", "cgjkqsxz", "dt", "l", "mn", "r")
    digit = {letter: str(n) for n, group in enumerate(groups, 1) for letter in group}
    letters = [letter for letter in name.lower() if letter.isalpha()]
    if not letters:
        raise ValueError("a name needs at least one letter")
    code = letters[0].upper()
    last = digit.get(letters[0], "")
    for letter in letters[1:]:
        number = digit.get(letter, "")
        if number and number != last:
            code += number
        if letter not in "hw":
            last = number
    return code[:4].ljust(4, "0")
