"""TypeScript, and TypeScript with elements of markup (TSX), which has a grammar of its own."""

from __future__ import annotations

from dataclasses import replace

import tree_sitter_typescript

from rtc_inspector.core.languages.javascript import JAVASCRIPT
from rtc_inspector.core.languages.language import Shot

TYPESCRIPT = replace(
    JAVASCRIPT,
    name="TypeScript",
    suffixes=(".ts", ".mts", ".cts"),
    fences=("typescript", "ts"),
    grammar=tree_sitter_typescript.language_typescript,
    shots=(
        Shot(
            where="countLines",
            before="function countLines(text: string): number {",
            region='  return text.split("\\n").length;',
            after="}",
            description="Returns the number of lines in the text.",
        ),
        Shot(
            where="Account.withdraw",
            before="class Account {\n  balance = 0;\n\n  withdraw(amount: number): void {",
            region='    if (amount > this.balance) {\n      throw new Error("insufficient funds");\n    }',
            after="    this.balance -= amount;\n  }\n}",
            description="Throws an Error that says 'insufficient funds' if the amount is larger than the balance.",
        ),
        Shot(
            where="byCity",
            before="function byCity(people: [string, string][]): Record<string, string[]> {",
            region=(
                "  const groups: Record<string, string[]> = {};\n"
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
TSX = replace(
    TYPESCRIPT,
    name="TSX",
    suffixes=(".tsx",),
    fences=("tsx", "typescript", "ts"),
    grammar=tree_sitter_typescript.language_tsx,
)
