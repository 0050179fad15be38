"""Go."""

import tree_sitter_go

from rtc_inspector.core.languages.language import Language, Shot

GO = Language(
    name="Go",
    suffixes=(".go",),
    fences=("go", "golang"),
    comment="//",
    grammar=tree_sitter_go.language,
    # Statements hang below this node, in the blocks of functions as in the cases of a switch.
    blocks=frozenset({"statement_list"}),
    comments=frozenset({"comment"}),
    scopes=frozenset({"function_declaration", "method_declaration"}),
    imports=frozenset({"import_declaration"}),
    strings=frozenset({"raw_string_literal"}),
    quotes="`",
    wrappers=(("package p\nfunc f() {\n", "\n}"), ("", "")),
    defines=r"^\s*(?:func\s+(?:\([^)]*\)\s*)?|type\s+|var\s+|const\s+){name}\b",
    test_files=("*_test.go", "testdata/"),
    stand_in='panic("")',
    marker="go.mod",
    test="go test {tests}",
    calibration="calibration-go",
    shots=(
        Shot(
            where="countLines",
            before="func countLines(text string) int {",
            region='\treturn len(strings.Split(text, "\\n"))',
            after="}",
            description="Returns the number of lines in the text.",
        ),
        Shot(
            where="Account.withdraw",
            before="func (a *Account) withdraw(amount int) error {",
            region='\tif amount > a.balance {\n\t\treturn errors.New("insufficient funds")\n\t}',
            after="\ta.balance -= amount\n\treturn nil\n}",
            description="Returns an error that says 'insufficient funds' if the amount is larger than the balance.",
        ),
        Shot(
            where="byCity",
            before="func byCity(people []Person) map[string][]string {",
            region=(
                "\tgroups := map[string][]string{}\n"
                "\tfor _, person := range people {\n"
                "\t\tcity := strings.ToLower(person.City)\n"
                "\t\tgroups[city] = append(groups[city], person.Name)\n"
                "\t}"
            ),
            after="\treturn groups\n}",
            description="Goes through the people, and collects their names in groups, a map with one slice for each "
            "city in lower case.",
        ),
    ),
)
