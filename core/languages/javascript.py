"""JavaScript, as Node runs it."""

from __future__ import annotations

import tree_sitter_javascript

from rtc_inspector.core.languages.language import Language, Runner, Shot

NODE_RUNNERS = (
    Runner(
        name="node --test",
        marker="package.json",
        says=r"\bnode\b[^&|;]*\s--test\b",
        test="node --test {tests}",
        unit="file",
        results="junit",
        reporting="node --test --test-reporter=junit --test-reporter-destination={results} {tests}",
        coverage="node --test --experimental-test-coverage --test-reporter=lcov --test-reporter-destination={coverage} "
        "{tests}",
    ),
    Runner(
        name="vitest",
        marker="package.json",
        says=r"\bvitest\b",
        test="npx vitest run {tests}",
        unit="file",
        results="junit",
        reporting="npx vitest run --reporter=junit --outputFile={results} {tests}",
        coverage="npx c8 --reporter=lcovonly --report-dir={folder} npx vitest run {tests}",
    ),
    Runner(
        name="jest",
        marker="package.json",
        says=r"\bjest\b",
        test="npx jest {tests}",
        unit="file",
        coverage="npx jest --coverage --coverageReporters=lcovonly --coverageDirectory={folder} {tests}",
    ),
    Runner(
        name="mocha",
        marker="package.json",
        says=r"\bmocha\b",
        test="npx mocha {tests}",
        unit="file",
        results="junit",
        reporting="npx mocha --reporter xunit --reporter-option output={results} {tests}",
        coverage="npx c8 --reporter=lcovonly --report-dir={folder} npx mocha {tests}",
    ),
    Runner(name="pnpm", marker="package.json", lock="pnpm-lock.yaml", test="pnpm test", says=r"\S"),
    Runner(name="yarn", marker="package.json", lock="yarn.lock", test="yarn test", says=r"\S"),
    Runner(
        name="npm",
        marker="package.json",
        says=r"\S",
        test="npm test",
        coverage="npx c8 --reporter=lcovonly --report-dir={folder} npm test",
    ),
)
"""In `coverage` the report is `lcov.info` in `{folder}` where that is named."""

AT_TOP = frozenset(
    {"expression_statement", "lexical_declaration", "variable_declaration", "if_statement", "for_statement"}
    | {"for_in_statement", "while_statement", "do_statement", "try_statement", "switch_statement", "throw_statement"}
)
SCOPES = frozenset(
    {"function_declaration", "generator_function_declaration", "class_declaration", "method_definition"}
    | {"variable_declarator", "abstract_class_declaration", "internal_module"}
)
DEFINES = r"\b(?:function\*?|class|const|let|var)\s+{name}\b|^\s*(?:async\s+)?{name}\s*\("
WRAPPERS = (("", ""), ("async function* f() {\n", "\n}"), ("class A {\n", "\n}"), ("for (;;) {\n", "\n}"))
TEST_FILES = (
    *("*.test.*", "*.spec.*", "test.*", "tests.*", "test/", "tests/", "__tests__/", "__mocks__/", "tap-snapshots/"),
    *("spec/", "fixtures/", "__fixtures__/", "e2e/", "*.config.*"),
)

JAVASCRIPT = Language(
    name="JavaScript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    fences=("javascript", "js", "jsx"),
    comment="//",
    grammar=tree_sitter_javascript.language,
    blocks=frozenset({"statement_block", "switch_case", "switch_default"}),
    bodies=frozenset({"class_body"}),
    at_top=AT_TOP,
    comments=frozenset({"comment", "html_comment", "hash_bang_line"}),
    prefixes=frozenset({"decorator"}),
    scopes=SCOPES,
    imports=frozenset({"import_statement"}),
    strings=frozenset({"template_string"}),
    quotes="`",
    wrappers=WRAPPERS,
    defines=DEFINES,
    test_files=TEST_FILES,
    stand_in="throw new Error();",
    runners=NODE_RUNNERS,
    calibration="calibration-javascript",
    shots=(
        Shot(
            where="countLines",
            before="function countLines(text) {",
            region='  return text.split("\\n").length;',
            after="}",
            description="Returns the number of lines in the text.",
        ),
        Shot(
            where="Account.withdraw",
            before="class Account {\n  withdraw(amount) {",
            region='    if (amount > this.balance) {\n      throw new Error("insufficient funds");\n    }',
            after="    this.balance -= amount;\n  }\n}",
            description="Throws an Error that says 'insufficient funds' if the amount is larger than the balance.",
        ),
        Shot(
            where="byCity",
            before="function byCity(people) {",
            region=(
                "  const groups = {};\n"
                "  for (const [name, city] of people) {\n"
                "    (groups[city.toLowerCase()] ??= []).push(name);\n"
                "  }"
            ),
            after="  return groups;\n}",
            description="Goes through the pairs of name and city, and collects the names in groups, an object with one "
            "array for each city in lower case.",
        ),
    ),
)
