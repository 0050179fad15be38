"""Python: read by `ast` and LibCST, judged by its own oracle."""

from __future__ import annotations

from rtc_inspector.core.languages.language import Language, Shot

PYTHON = Language(
    name="Python",
    suffixes=(".py",),
    fences=("python", "py"),
    comment="#",
    defines=r"^\s*(?:async )?(?:def|class) {name}\b",
    shots=(
        Shot(
            where="count_lines",
            before="def count_lines(text):",
            region="    return len(text.splitlines())",
            after="",
            description="Returns the number of lines in the text.",
        ),
        Shot(
            where="Account.withdraw",
            before="class Account:\n    def withdraw(self, amount):",
            region='        if amount > self.balance:\n            raise ValueError("insufficient funds")',
            after="        self.balance -= amount",
            description="Raises a ValueError that says 'insufficient funds' if the amount is larger than the balance.",
        ),
        Shot(
            where="by_city",
            before="def by_city(people):",
            region=(
                "    groups = {}\n"
                "    for name, city in people:\n"
                "        groups.setdefault(city.lower(), []).append(name)"
            ),
            after="    return groups",
            description="Goes through the pairs of name and city, and collects the names in groups, a dictionary with "
            "one list for each city in lower case.",
        ),
    ),
)
