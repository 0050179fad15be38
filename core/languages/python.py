"""Python: read by `ast` and LibCST, judged by its own oracle."""

from rtc_inspector.core.languages.language import Language

PYTHON = Language(
    name="Python",
    suffixes=(".py",),
    fences=("python", "py"),
    comment="#",
    defines=r"^\s*(?:async )?(?:def|class) {name}\b",
    shots=(),  # in resources/prompts/synthesis.toml, where a person may look for them
)
