"""The languages by their data: every shot parses, every place is told, and what stands alone is read."""

from __future__ import annotations

import textwrap

import pytest

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.languages import LANGUAGES, Language, language_of, named
from rtc_inspector.core.languages.trees import first_error, fragment, frozen_lines, reads, statements

GROWN = [each for each in LANGUAGES if each.grammar is not None]


def by_name(language: Language) -> str:
    return language.name


@pytest.mark.parametrize("language", GROWN, ids=by_name)
def test_shots_are_code_of_the_language_and_their_regions_whole_statements(language: Language) -> None:
    assert len(language.shots) == 3
    for shot in language.shots:
        file = "\n".join(part for part in (shot.before, shot.region, shot.after) if part)
        block = statements(f"package p\n\n{file}\n" if language.name == "Go" else file, language)
        assert block is not None
        assert reads(textwrap.dedent(shot.region), language)


def test_files_are_told_by_their_ending() -> None:
    names = {"a.py": "Python", "b/c.mjs": "JavaScript", "d.ts": "TypeScript", "e.tsx": "TSX", "f.go": "Go"}
    for path, name in names.items():
        language = language_of(path)
        assert language is not None and language.name == name
    assert language_of("Makefile") is None
    assert named("rust").suffixes == (".rs",)
    with pytest.raises(UserError, match="no language Cobol"):
        named("Cobol")


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("JavaScript", "return x", True),
        ("JavaScript", "break", True),
        ("JavaScript", "foo(a) {\n  return 1\n}", True),  # a method without its class
        ("JavaScript", "} function g() {", False),
        ("JavaScript", "Here is the code:", False),
        ("Go", "x := 1\nreturn x", True),
        ("Go", "}\nfunc g() {", False),
        ("Rust", "let a = 1;\nfoo(a)", True),
        ("Rust", "use a::b;\n\nfn x() {}", True),
        ("Rust", "Sure, this is it", False),
        ("TypeScript", "const a: number = 1", True),
        ("TSX", "return <div>{a}</div>", True),
    ],
)
def test_pieces_of_a_file_are_read(name: str, code: str, expected: bool) -> None:
    assert reads(code, named(name)) is expected


def test_spans_are_characters_whatever_the_bytes() -> None:
    text = 'function é(x) {\n  const naïve = "é😀";\n  return naïve;\n}\n'
    block = statements(text, named("JavaScript"))
    assert block is not None
    (function,) = block.statements
    (body,) = function.blocks
    assert (body.name, body.body) == ("é", False)
    assert [text[each.span.start : each.span.end] for each in body.statements] == [
        'const naïve = "é😀";',
        "return naïve;",
    ]
    inside = fragment('const naïve = "é😀";\nreturn naïve;', named("JavaScript"))
    assert inside is not None and [each.span.start for each in inside.statements] == [0, 20]


def test_an_attribute_belongs_to_its_statement_and_tests_are_not_sampled() -> None:
    text = (
        "#[cfg(test)]\nmod tests {\n    fn a() { let b = 1; }\n}\n\nfn c() {\n    #[allow(unused)]\n    let d = 2;\n}\n"
    )
    block = statements(text, named("Rust"))
    assert block is not None
    sampled = [
        text[each.span.start : each.span.end] for inner in block.every() for each in inner.statements if each.sampled
    ]
    assert sampled == ["#[allow(unused)]\n    let d = 2;"]


def test_the_first_error_is_told_by_its_line() -> None:
    assert first_error("const a = 1;\nconst b = = 2;\n", named("JavaScript")) == 2
    assert first_error("package p\n", named("Go")) is None


def test_lines_inside_strings_are_known_even_in_broken_code() -> None:
    assert frozen_lines("const a = `\n  b\n`;\nfoo(", named("JavaScript")) == {1, 2}


def test_a_shared_name_in_another_language_is_defined_by_its_own_words() -> None:
    definitions = {
        "Go": "func (a *Account) pay(x int) {",
        "Rust": "pub fn pay(&self) {",
        "JavaScript": "  async pay() {",
    }
    for name, line in definitions.items():
        assert named(name).defined_in("pay", line)
        assert not named(name).defined_in("pa", line)


def test_every_language_that_is_not_python_says_what_sampling_needs() -> None:
    for language in GROWN:
        assert language.blocks and language.comments and language.test_files and language.stand_in and language.marker
        assert reads(language.stand_in, language)
