"""Making texts shorter, and getting them back."""

import heapq
from collections import Counter
from itertools import groupby

ESCAPE = "\\"


def pack_runs(text: str) -> str:
    """Write runs of at least three equal characters as a count and the character.

    Digits and backslashes of the text itself get a backslash before them, also
    after a count; runs of them are packed from two on.
    """
    parts = []
    for char, run in groupby(text):
        length = len(list(run))
        awkward = char in "0123456789" or char == ESCAPE
        written = ESCAPE + char if awkward else char
        if length >= (2 if awkward else 3):
            parts.append(f"{length}{written}")
        else:
            parts.append(written * length)
    return "".join(parts)


def unpack_runs(packed: str) -> str:
    """Undo `pack_runs`."""
    parts = []
    digits = ""
    escaped = False
    for char in packed:
        if not escaped and char == ESCAPE:
            escaped = True
        elif not escaped and char in "0123456789":
            digits += char
        else:
            parts.append(char * int(digits or 1))
            digits, escaped = "", False
    if digits or escaped:
        raise ValueError("the packed text breaks off")
    return "".join(parts)


def code_lengths(text: str) -> dict[str, int]:
    """Return how many bits each character gets, frequent ones the fewest.

    Of equally frequent groups, those whose first character in the alphabet is
    smaller are joined first. A single character takes one bit.
    """
    counts = Counter(text)
    if len(counts) == 1:
        return dict.fromkeys(counts, 1)
    groups = [(count, char) for char, count in counts.items()]
    heapq.heapify(groups)
    lengths = dict.fromkeys(counts, 0)
    while len(groups) > 1:
        count_a, a = heapq.heappop(groups)
        count_b, b = heapq.heappop(groups)
        joined = "".join(sorted(a + b))
        for char in joined:
            lengths[char] += 1
        heapq.heappush(groups, (count_a + count_b, joined))
    return lengths


def code_table(lengths: dict[str, int]) -> dict[str, str]:
    """Give out codes: shorter ones first, equal ones by the alphabet, rising."""
    table = {}
    code = 0
    width = 0
    for char in sorted(lengths, key=lambda char: (lengths[char], char)):
        code <<= lengths[char] - width
        width = lengths[char]
        table[char] = f"{code:0{width}b}"
        code += 1
    return table


def encode(text: str, table: dict[str, str]) -> bytes:
    """Write a text in codes; the last byte is filled up with a 1 and zeros."""
    bits = "".join(table[char] for char in text) + "1"
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def decode(data: bytes, table: dict[str, str]) -> str:
    """Undo `encode` with the same table."""
    bits = "".join(f"{byte:08b}" for byte in data)
    end = bits.rfind("1")
    if end < 0:
        raise ValueError("the end of the text is not marked")
    meaning = {code: char for char, code in table.items()}
    chars = []
    code = ""
    for bit in bits[:end]:
        code += bit
        if code in meaning:
            chars.append(meaning[code])
            code = ""
    if code:
        raise ValueError("the last code is incomplete")
    return "".join(chars)


def deltas(numbers: list[int]) -> list[int]:
    """Replace numbers by their steps, the first step starting from zero."""
    return [now - before for before, now in zip([0, *numbers], numbers, strict=False)]


def pack_numbers(numbers: list[int]) -> bytes:
    """Write whole numbers in as few bytes as each needs, seven bits in one.

    Low bits come first, and a set high bit says that more follows. The sign
    is folded in: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
    """
    packed = bytearray()
    for number in numbers:
        folded = 2 * number if number >= 0 else -2 * number - 1
        septets = max(1, -(-folded.bit_length() // 7))
        for place in range(septets):
            more = 128 if place < septets - 1 else 0
            packed.append(folded >> 7 * place & 127 | more)
    return bytes(packed)
