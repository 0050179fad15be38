import pytest

from pocketlab.packing import (
    code_lengths,
    code_table,
    decode,
    deltas,
    encode,
    pack_numbers,
    pack_runs,
    unpack_runs,
)

RUNS = [
    ("", ""),
    ("abc", "abc"),
    ("aab", "aab"),
    ("aaab", "3ab"),
    ("x" * 12 + "yy", "12xyy"),
    ("a1b", r"a\1b"),
    ("7777", r"4\7"),
    ("11", r"2\1"),
    ("a\\b", r"a\\b"),
    ("\\" * 3, r"3\\"),
    ("aaa1", r"3a\1"),
    ("²²", "²²"),
]


def test_pack_runs():
    for text, packed in RUNS:
        assert pack_runs(text) == packed


def test_unpack_runs():
    for text, packed in RUNS:
        assert unpack_runs(packed) == text


def test_unpack_what_breaks_off():
    for packed in ["ab3", "a\\", "2\\"]:
        with pytest.raises(ValueError, match="breaks off"):
            unpack_runs(packed)


def test_code_lengths():
    cases = [
        ("", {}),
        ("aaaa", {"a": 1}),
        ("ab", {"a": 1, "b": 1}),
        ("aaaabbc", {"a": 1, "b": 2, "c": 2}),
        ("abracadabra", {"a": 1, "b": 3, "c": 4, "d": 4, "r": 2}),
        ("abcd", {"a": 2, "b": 2, "c": 2, "d": 2}),
        ("bca", {"a": 2, "b": 2, "c": 1}),
        ("ddbca", {"a": 3, "b": 3, "c": 2, "d": 1}),
        ("baccdd", {"a": 3, "b": 3, "c": 2, "d": 1}),
        ("ddaabc", {"a": 2, "b": 3, "c": 3, "d": 1}),
    ]
    for text, lengths in cases:
        assert code_lengths(text) == lengths


def test_ties_go_by_the_alphabet():
    assert code_lengths("zzyxw") == {"w": 3, "x": 3, "y": 2, "z": 1}
    assert code_lengths("cba") == {"a": 2, "b": 2, "c": 1}


def test_code_table():
    table = code_table({"c": 1, "x": 3, "b": 3, "a": 2})
    assert table == {"c": "0", "a": "10", "b": "110", "x": "111"}
    assert code_table({}) == {}


def test_code_table_skips_lengths():
    assert code_table({"a": 1, "b": 3, "c": 3, "d": 3, "e": 3}) == {
        "a": "0",
        "b": "100",
        "c": "101",
        "d": "110",
        "e": "111",
    }


TABLE = {"a": "0", "b": "10", "c": "11"}


def test_encode():
    assert encode("", TABLE) == bytes([0b10000000])
    assert encode("abc", TABLE) == bytes([0b01011100])
    assert encode("aaaaaaa", TABLE) == bytes([0b00000001])
    assert encode("ccccb", TABLE) == bytes([0b11111111, 0b10100000])


def test_decode():
    for text in ["", "abc", "aaaaaaa", "ccccb", "cab" * 20]:
        assert decode(encode(text, TABLE), TABLE) == text


def test_decode_without_an_end():
    for data in (b"", b"\0\0"):
        with pytest.raises(ValueError, match="not marked"):
            decode(data, TABLE)


def test_decode_half_a_code():
    with pytest.raises(ValueError, match="incomplete"):
        decode(bytes([0b01100000]), TABLE)


def test_there_and_back():
    text = "the longer the text the more it saves"
    table = code_table(code_lengths(text))
    data = encode(text, table)
    assert decode(data, table) == text
    assert len(data) < len(text) * 5 / 8


def test_deltas():
    assert deltas([5, 7, 4, 4]) == [5, 2, -3, 0]
    assert deltas([]) == []


def test_pack_numbers():
    cases = [
        (0, [0]),
        (-1, [1]),
        (1, [2]),
        (-64, [127]),
        (63, [126]),
        (64, [128, 1]),
        (-65, [129, 1]),
        (8192, [128, 128, 1]),
        (100_000, [192, 154, 12]),
    ]
    for number, packed in cases:
        assert list(pack_numbers([number])) == packed


def test_pack_several_numbers():
    assert list(pack_numbers([64, 0, -1])) == [128, 1, 0, 1]
    assert pack_numbers([]) == b""
