"""Rust."""

import tree_sitter_rust

from rtc_inspector.core.languages.language import Language, Shot

RUST = Language(
    name="Rust",
    suffixes=(".rs",),
    fences=("rust", "rs"),
    comment="//",
    grammar=tree_sitter_rust.language,
    blocks=frozenset({"block"}),
    bodies=frozenset({"declaration_list"}),
    comments=frozenset({"line_comment", "block_comment", "label", "shebang"}),
    prefixes=frozenset({"attribute_item", "inner_attribute_item"}),
    scopes=frozenset({"function_item", "impl_item", "trait_item", "mod_item"}),
    imports=frozenset({"use_declaration", "extern_crate_declaration"}),
    strings=frozenset({"string_literal", "raw_string_literal"}),
    quotes='"',
    wrappers=(("async fn f() {\n", "\n}"), ("", ""), ("impl A {\n", "\n}")),
    defines=r"\b(?:fn|struct|enum|trait|mod|const|static|type)\s+{name}\b",
    test_files=("tests/", "benches/", "tests.rs", "*_test.rs", "*_tests.rs"),
    test_code=r"(?:#\[.*\]\s*)*?#\[(?:test\b|bench\b|\w+::test\b|cfg\((?!.*\bnot\b).*\btest\b)",
    stand_in="unreachable!()",
    marker="Cargo.toml",
    test="cargo test",
    calibration="calibration-rust",
    shots=(
        Shot(
            where="count_lines",
            before="fn count_lines(text: &str) -> usize {",
            region="    text.lines().count()",
            after="}",
            description="Returns the number of lines in the text.",
        ),
        Shot(
            where="Account.withdraw",
            before="impl Account {\n    fn withdraw(&mut self, amount: u64) -> Result<(), String> {",
            region='        if amount > self.balance {\n            return Err("insufficient funds".to_string());\n'
            "        }",
            after="        self.balance -= amount;\n        Ok(())\n    }\n}",
            description="Returns an error that says 'insufficient funds' if the amount is larger than the balance.",
        ),
        Shot(
            where="by_city",
            before="fn by_city(people: &[(String, String)]) -> HashMap<String, Vec<String>> {",
            region=(
                "    let mut groups: HashMap<String, Vec<String>> = HashMap::new();\n"
                "    for (name, city) in people {\n"
                "        groups.entry(city.to_lowercase()).or_default().push(name.clone());\n"
                "    }"
            ),
            after="    groups\n}",
            description="Goes through the pairs of name and city, and collects the names in groups, a map with one "
            "vector for each city in lower case.",
        ),
    ),
)
