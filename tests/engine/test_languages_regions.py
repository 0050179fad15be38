"""Regions of other languages: enumerated by another route too, drawn, covered, admitted; and a language added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import tree_sitter
import tree_sitter_lua
from test_regions_sampling import chi_square, chi_square_limit

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.languages import LANGUAGES, Language, language_of, named
from rtc_inspector.core.languages.reports import coverage_of, read_report
from rtc_inspector.core.regions.admission import ADMISSION, NO_COMPILE, NO_EFFECT, admit
from rtc_inspector.core.regions.candidates import draw, enumerate_candidates, find_regions, snap, weigh
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import Candidate, CoverageMap, Outcome, Region, SourceFile, Span, Verdict

JAVASCRIPT = """#!/usr/bin/env node
'use strict'
const { parse } = require('./parse.js')
// a comment that is no statement
const LIMIT = parse('é😀', { loose: true })

class Range extends Base {
  static first = { a() { return this.range.map((each) => each.first) } }

  constructor (text, options) {
    super(text)
    /* so is this one */
    if (options instanceof Comparator) {
      this.loose = options.loose
      this.range = [options].filter((each) => {
        const known = each.version !== undefined
        return known && each.version !== LIMIT
      })
    } else {
      this.range = []
    }
  }

  test (version) {
    switch (version.kind) {
      case 'exact':
        this.exact = true
        return this.range.some((each) => each === version)
      default:
        throw new TypeError(`no ${version}
          of such a kind`)
    }
  }
}

module.exports = { Range, LIMIT, make: function (text) { return new Range(text, {}) } }
"""
GO = """package cast

import "errors"

// ToInt is documented.
func (c *Caster) ToInt(value any) (int, error) {
\tswitch kind := value.(type) {
\tcase string:
\t\tnumber, err := strconv.Atoi(kind)
\t\treturn number, err
\tdefault:
\t\tif c.strict && kind != nil {
\t\t\treturn 0, errors.New("no number of that kind")
\t\t}
\t}
\tfor index := range c.known { /* a comment */ c.counts[index]++; c.last = index }
\tresult := func(x int) int { return x + len(c.known) }(3)
\treturn result, nil
}
"""
RUST = """use std::collections::HashMap;

impl Account {
    fn withdraw(&mut self, amount: u64) -> Result<u64, String> {
        // no statement
        #[allow(unused_variables)]
        let before = self.balance;
        if amount > self.balance {
            return Err("insufficient funds".to_string());
        }
        self.balance -= amount;
        match self.kind { Kind::Open => { self.count += 1; self.log() } _ => {} }
        Ok(self.balance)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn takes() { let mut account = Account::new(); assert_eq!(account.withdraw(1), Ok(1)); }
}
"""
FILES = {"range.js": JAVASCRIPT, "cast.go": GO, "account.rs": RUST}
SMALL = RegionSettings(min_characters=8, max_characters=200)


def file(path: str, text: str | None = None) -> SourceFile:
    return SourceFile(path, FILES[path] if text is None else text, "utf-8", False)


# --------------------------------------------------------------------------- another route through the grammars


QUERIES = {
    "range.js": "(statement_block (_) @s) (switch_case value: (_) (_) @s) (switch_default (_) @s)"
    "(program [(expression_statement) (lexical_declaration)] @s)",
    "cast.go": "(statement_list (_) @s)",
    "account.rs": '(block (_) @s) ((mod_item name: (identifier) @n) @tests (#eq? @n "tests"))',
}
"""What is a statement, in the grammars' own query language; a child of one block each."""


def by_query(path: str, settings: RegionSettings) -> set[str]:
    """The texts of all runs, from the captures of a query, joined where nothing but layout and comments is between."""
    language = language_of(path)
    assert language is not None and language.grammar is not None
    grammar = tree_sitter.Language(language.grammar())
    data = FILES[path].encode()
    tree = tree_sitter.Parser(grammar).parse(data)
    captured = tree_sitter.QueryCursor(tree_sitter.Query(grammar, QUERIES[path])).captures(tree.root_node)
    tests = [(node.start_byte, node.end_byte) for node in captured.get("tests", [])]
    by_parent: dict[int, list[tuple[int, int]]] = {}
    for node in captured["s"]:
        if "comment" in node.type or any(low <= node.start_byte < high for low, high in tests):
            continue
        start = node.start_byte
        if node.type == "attribute_item":
            continue
        before = node.prev_named_sibling
        while before is not None and before.type == "attribute_item":
            start, before = before.start_byte, before.prev_named_sibling
        assert node.parent is not None
        by_parent.setdefault(node.parent.id, []).append((start, node.end_byte))
    found = set()
    for places in by_parent.values():
        places.sort()
        for index, (start, _) in enumerate(places):
            for previous, (_, end) in zip([None, *places[index:]], places[index:], strict=False):
                between = b"" if previous is None else data[previous[1] : places[places.index(previous) + 1][0]]
                if b"class " in between:
                    break  # a declaration at the top of a file is not run over
                text = data[start:end].decode()
                if settings.min_characters <= len(text) <= settings.max_characters:
                    found.add(text)
    return found


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("settings", [SMALL, RegionSettings()], ids=["small", "paper"])
def test_candidates_are_those_of_another_route(path: str, settings: RegionSettings) -> None:
    source = file(path)
    candidates = enumerate_candidates(source, settings)
    assert {region.text for region in candidates} == by_query(path, settings)
    assert len(candidates) > 5
    for region in candidates:
        assert source.text[region.span.start : region.span.end] == region.text == region.text.strip()
        assert not region.text.startswith(("//", "/*", "case", "}"))
        assert source.text.count("\n", 0, region.span.start) + 1 == region.start_line
        assert "assert_eq" not in region.text


def test_windows_lines_and_tabs_count_as_they_stand() -> None:
    source = file("a.js", "function f() {\r\n\tconst a = 1;\r\n\treturn a + 2;\r\n}\r\n")
    regions = enumerate_candidates(source, SMALL)
    assert [region.text for region in regions] == [
        "const a = 1;",
        "const a = 1;\r\n\treturn a + 2;",
        "return a + 2;",
    ]
    assert [(region.start_line, region.end_line) for region in regions] == [(2, 2), (2, 3), (3, 3)]


def test_a_file_that_does_not_parse_costs_only_itself() -> None:
    files = [file("broken.js", "function f( {"), file("range.js")]
    found = find_regions(files, CoverageMap(("npm test",), {}, {}, traced=False), RegionSettings(), lambda *_: None)
    assert {region.path for region in found.regions} == {"range.js"}
    assert len(found.problems) == 1 and "broken.js" in found.problems[0]
    assert {region.tests for region in found.regions} == {("npm test",)}


def test_first_draws_have_the_weights_as_probabilities() -> None:
    regions = weigh([each for path in FILES for each in enumerate_candidates(file(path), RegionSettings())])
    places = {(region.path, region.span): index for index, region in enumerate(regions)}
    observed = [0] * len(regions)
    for seed in range(12_000):
        first = next(draw(regions, seed, allow_overlap=True))
        observed[places[first.path, first.span]] += 1
    limit = chi_square_limit(len(regions) - 1)
    assert chi_square(observed, [region.weight for region in regions]) < limit
    assert chi_square(observed, [1.0] * len(regions)) > limit


def test_a_selection_snaps_to_whole_statements_and_to_whole_functions() -> None:
    source = file("range.js")
    start = JAVASCRIPT.index("this.loose = ")
    region = snap(source, Span(start, start + 4))
    assert region is not None and region.text == "this.loose = options.loose"
    start = JAVASCRIPT.index("test (version)")
    region = snap(source, Span(start, JAVASCRIPT.index("\n}\n", start)))
    assert region is not None and region.text.startswith("test (version) {")
    comment = JAVASCRIPT.index("// a comment")
    assert snap(source, Span(comment, comment)) is None


# --------------------------------------------------------------------------- coverage


def test_lcov_says_by_which_tests_a_region_is_covered() -> None:
    text = "function f(x) {\n  const a = x + 1;\n  if (a > 1) {\n    return a;\n  }\n  return 0;\n}\n"
    source, whole = file("lib/f.js", text), Span(text.index("const"), text.index("\n}\n"))
    one = "TN:\nSF:lib/f.js\nFN:1,f\nDA:1,2\nDA:2,2\nDA:3,2\nDA:4,2\nDA:6,0\nend_of_record\n"
    two = "SF:/home/me/project/lib/f.js\nDA:2,1\nDA:3,1\nDA:4,0\nDA:6,1\nend_of_record\nSF:/elsewhere.js\nDA:1,1\n"
    files = {"lib/f.js"}
    reports = {
        "test/one.js": read_report(one, files),
        "test/two.js": read_report(two, files, ["/home/me/project"]),
        "test/none.js": {},
    }
    coverage = coverage_of(reports)
    region = Region("lib/f.js", whole, 2, 6, text[whole.start : whole.end])
    (covered,) = cover([region], coverage, RegionSettings(), source)
    assert covered.tests == ("test/one.js", "test/two.js")
    alone = coverage_of({"test/one.js": reports["test/one.js"]})
    assert cover([region], alone, RegionSettings(), source) == []
    assert len(cover([region], alone, RegionSettings(coverage="any"), source)) == 1
    part = Region("lib/f.js", Span(text.index("x + 1"), text.index(";\n  if")), 2, 2, "x + 1")  # of a statement
    assert [each.tests for each in cover([part], coverage, RegionSettings(), source)] == [covered.tests]
    last = Region("lib/f.js", Span(text.index("return 0"), text.index("\n}\n")), 6, 6, "return 0;")
    assert [each.tests for each in cover([last], coverage, RegionSettings(), source)] == [("test/two.js",)]


def test_a_profile_of_go_counts_each_line_by_the_block_that_ran_most() -> None:
    profile = (
        "mode: set\nexample.com/cast/cast.go:6.48,7.31 1 1\nexample.com/cast/cast.go:8.14,10.21 2 0\n"
        "example.com/cast/cast.go:7.31,8.14 1 1\n"
    )
    counts = read_report(profile, {"cast.go"}, ["example.com/cast"])
    assert counts == {"cast.go": {6: 1, 7: 1, 8: 1, 9: 0, 10: 0}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SF:other/a.js\nDA:1,1\nend_of_record\n", "names no file of this project; its first is other/a.js"),
        ("<coverage/>", "neither lcov nor a Go profile"),
        ("", "neither lcov nor a Go profile"),
    ],
)
def test_a_report_that_says_nothing_of_the_project_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ProjectError, match=problem):
        read_report(text, {"a.js"})


# --------------------------------------------------------------------------- admission


class Builds:
    """An oracle whose verdict is that of a rule on the new text."""

    name, image_digest = "rule", ""

    def __init__(self, rule: Callable[[str], Outcome]) -> None:
        self.rule, self.texts = rule, list[str]()

    def judge(self, candidate: Candidate, tests: object, **_: object) -> Verdict:
        self.texts.append(candidate.new_text)
        return Verdict(self.rule(candidate.new_text), 0.0)


@pytest.mark.parametrize(
    ("deleted", "replaced", "reason", "how"),
    [
        (Outcome.FAIL, Outcome.PASS, "", "deleted"),
        (Outcome.PASS, Outcome.FAIL, NO_EFFECT, None),
        (Outcome.SYNTAX_ERROR, Outcome.FAIL, "", 'replaced by `panic("")`'),
        (Outcome.SYNTAX_ERROR, Outcome.SYNTAX_ERROR, NO_COMPILE, None),
    ],
)
def test_what_does_not_build_when_deleted_is_replaced(
    deleted: Outcome, replaced: Outcome, reason: str, how: str | None
) -> None:
    source = file("cast.go")
    region = next(each for each in enumerate_candidates(source, SMALL) if each.text.startswith("number, err :="))
    region = replace(region, tests=("go test",))

    def rule(text: str) -> Outcome:
        return Outcome.PASS if text == GO else replaced if 'panic("")' in text else deleted

    oracle = Builds(rule)
    item = admit(region, source, oracle)  # type: ignore[arg-type]
    assert (item.reason, item.origin.get(ADMISSION)) == (reason, how)
    assert oracle.texts[0] == GO.replace(region.text, "")


# --------------------------------------------------------------------------- a language nobody asked for

LUA = Language(
    name="Lua",
    suffixes=(".lua",),
    fences=("lua",),
    comment="--",
    shots=named("JavaScript").shots,
    grammar=tree_sitter_lua.language,
    blocks=frozenset({"block"}),
    comments=frozenset({"comment"}),
    scopes=frozenset({"function_declaration"}),
    at_top=frozenset({"variable_declaration", "assignment_statement", "function_call"}),
    test_files=("*_spec.lua", "spec/"),
    stand_in='error("")',
)


@pytest.fixture
def lua() -> Iterator[Language]:
    LANGUAGES.append(LUA)
    yield LUA
    LANGUAGES.remove(LUA)


def test_a_new_language_is_one_value_and_one_line(lua: Language) -> None:
    text = (
        "-- sums\nlocal known = { 1, 2, 3 }\n\nfunction sum(values)\n  local total = 0\n  -- each of them\n"
        "  for _, value in ipairs(values) do\n    total = total + value\n  end\n  return total\nend\n"
    )
    source = file("sum.lua", text)
    found = [region.text for region in enumerate_candidates(source, SMALL)]
    loop = "for _, value in ipairs(values) do\n    total = total + value\n  end"
    assert found == [
        "local known = { 1, 2, 3 }",
        "local total = 0",
        f"local total = 0\n  -- each of them\n  {loop}",
        f"local total = 0\n  -- each of them\n  {loop}\n  return total",
        loop,
        f"{loop}\n  return total",
        "total = total + value",
        "return total",
    ]
    assert lua.is_test("spec/sum.lua") and not lua.is_test("sum.lua")
