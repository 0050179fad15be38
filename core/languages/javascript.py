"""JavaScript, as Node runs it; TypeScript, and TypeScript with elements of markup (TSX), which has its own grammar."""

from dataclasses import replace

import tree_sitter_javascript
import tree_sitter_typescript

from rtc_inspector.core.languages.language import Language, Shot

LINES = Shot(
    where="countLines",
    before="function countLines(text) {",
    region='  return text.split("\\n").length;',
    after="}",
    description="Returns the number of lines in the text.",
)
WITHDRAW = Shot(
    where="Account.withdraw",
    before="class Account {\n  withdraw(amount) {",
    region='    if (amount > this.balance) {\n      throw new Error("insufficient funds");\n    }',
    after="    this.balance -= amount;\n  }\n}",
    description="Throws an Error that says 'insufficient funds' if the amount is larger than the balance.",
)
BY_CITY = Shot(
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
)
GROUPS = "const groups: Record<string, string[]> = {};"

JAVASCRIPT = Language(
    name="JavaScript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    fences=("javascript", "js", "jsx"),
    comment="//",
    shots=(LINES, WITHDRAW, BY_CITY),
    grammar=tree_sitter_javascript.language,
    blocks=frozenset({"statement_block", "switch_case", "switch_default"}),
    bodies=frozenset({"class_body"}),
    at_top=frozenset(
        {"expression_statement", "lexical_declaration", "variable_declaration", "if_statement", "for_statement"}
        | {"for_in_statement", "while_statement", "do_statement", "try_statement", "switch_statement"}
        | {"throw_statement"}
    ),
    comments=frozenset({"comment", "html_comment", "hash_bang_line"}),
    prefixes=frozenset({"decorator"}),
    scopes=frozenset(
        {"function_declaration", "generator_function_declaration", "class_declaration", "method_definition"}
        | {"variable_declarator", "abstract_class_declaration", "internal_module"}
    ),
    imports=frozenset({"import_statement"}),
    strings=frozenset({"template_string"}),
    quotes="`",
    wrappers=(("", ""), ("async function* f() {\n", "\n}"), ("class A {\n", "\n}"), ("for (;;) {\n", "\n}")),
    defines=r"\b(?:function\*?|class|const|let|var)\s+{name}\b|^\s*(?:async\s+)?{name}\s*\(",
    test_files=(
        *("*.test.*", "*.spec.*", "*.test-d.*", "test.*", "tests.*", "test/", "tests/", "__tests__/", "__mocks__/"),
        *("tap-snapshots/", "spec/", "fixtures/", "__fixtures__/", "e2e/", "*.config.*"),
    ),
    stand_in="throw new Error();",
    marker="package.json",
    calibration="calibration-javascript",
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="TypeScript",
    suffixes=(".ts", ".mts", ".cts"),
    fences=("typescript", "ts"),
    grammar=tree_sitter_typescript.language_typescript,
    shots=(
        replace(LINES, before="function countLines(text: string): number {"),
        replace(WITHDRAW, before="class Account {\n  balance = 0;\n\n  withdraw(amount: number): void {"),
        replace(
            BY_CITY,
            before="function byCity(people: [string, string][]): Record<string, string[]> {",
            region=BY_CITY.region.replace("const groups = {};", GROUPS),
        ),
    ),
)
TSX = replace(
    TYPESCRIPT,
    name="TSX",
    suffixes=(".tsx",),
    fences=("tsx", "typescript", "ts"),
    grammar=tree_sitter_typescript.language_tsx,
)
