import pytest

from pocketlab.csvtext import CsvError, align, format_rows, parse_records, parse_rows


def test_rows():
    assert parse_rows("a,b\n1,2\n") == [["a", "b"], ["1", "2"]]
    assert parse_rows("a,b\n1,2") == [["a", "b"], ["1", "2"]]


def test_no_text_no_rows():
    assert parse_rows("") == []


def test_empty_fields():
    assert parse_rows(",a,\n,\n") == [["", "a", ""], ["", ""]]


def test_white_space_is_kept():
    assert parse_rows(" a , b\n") == [[" a ", " b"]]


def test_blank_lines_are_skipped():
    assert parse_rows("a\n\n\nb\n") == [["a"], ["b"]]


def test_a_quoted_nothing_is_a_row():
    assert parse_rows('a\n""\n') == [["a"], [""]]


def test_another_separator():
    assert parse_rows("a;b,c\n", separator=";") == [["a", "b,c"]]


def test_line_breaks_of_other_systems():
    assert parse_rows("a\r\nb\rc\n") == [["a"], ["b"], ["c"]]


def test_quoted_fields():
    assert parse_rows('"a,b",c\n') == [["a,b", "c"]]
    assert parse_rows('"one\ntwo",c\n') == [["one\ntwo", "c"]]
    assert parse_rows('"say ""hi""",""""\n') == [['say "hi"', '"']]
    assert parse_rows('"a"') == [["a"]]


def test_bad_rows():
    cases = [
        ('a\nb"c"\n', "line 2: a quote inside a field"),
        ('a\n\n"b"c\n', "line 3: text after a closing quote"),
        ('"a"b', "line 1: text after a closing quote"),
        ('a\n"b\n\n', "line 3: a quote is never closed"),
        ('"', "line 1: a quote is never closed"),
    ]
    for text, message in cases:
        with pytest.raises(CsvError, match=message):
            parse_rows(text)


def test_records():
    assert parse_records("name, age\nAnn,33\nBob,\n") == [
        {"name": "Ann", "age": "33"},
        {"name": "Bob", "age": ""},
    ]
    assert parse_records("a;b\n1;2", separator=";") == [{"a": "1", "b": "2"}]


def test_records_need_a_header():
    assert parse_records("") == []
    assert parse_records("a,b\n") == []


def test_short_rows_are_filled():
    assert parse_records("a,b,c\n1\n") == [{"a": "1", "b": "", "c": ""}]


def test_long_rows_are_refused():
    with pytest.raises(CsvError, match="row 3: 3 fields for 2 columns"):
        parse_records("a,b\n1,2\n1,2,3\n")


def test_names_must_differ():
    with pytest.raises(CsvError, match="the same name"):
        parse_records("a, a\n1,2\n")


def test_format():
    cases = [
        (["a", "b"], "a,b\n"),
        (["a,b", "c"], '"a,b",c\n'),
        (['say "hi"'], '"say ""hi"""\n'),
        (["two\nlines", ""], '"two\nlines",\n'),
        (["re\rturn"], '"re\rturn"\n'),
        ([""], '""\n'),
    ]
    for row, line in cases:
        assert format_rows([row]) == line


def test_format_with_another_separator():
    assert format_rows([["a;b", "c,d"]], separator=";") == '"a;b";c,d\n'


def test_format_and_parse_again():
    rows = [["a", 'b "c"', ""], [""], ["1,2", "x\ny", " z "]]
    assert parse_rows(format_rows(rows)) == rows


def test_align():
    records = [{"name": "bolt", "price": "1.5"}, {"name": "nut", "price": "12"}]
    assert align(records) == "name  price\nbolt    1.5\nnut      12"


def test_align_with_gaps():
    records = [{"a": "1"}, {"a": "x", "b": "-20"}, {"b": "300"}]
    assert align(records) == "a    b\n1\nx  -20\n   300"


def test_align_of_nothing():
    assert align([]) == ""
