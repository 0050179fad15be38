"""What a chain asks: words for a function, and a function for words (IdentityChain, Sec. 5 and App.).

One worked example serves both directions and every model. A conversation shows it as a turn; a model that continues
text sees it as code above the function in question, and one with the tokens for it fills in the docstring.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import INFILL, PLAIN, Block, Fits, Infill, Message, Prompt
from rtc_inspector.core.models.prompts import CODE

VERSION = 1
_A_FUNCTION = "A function of this chain"
SUMMARY = "# Docstring:"
"""Begins the words that a model adds below a function that it reads as plain code."""
_DESCRIBE = (
    "You document Python functions. Read the function and answer with the text of its docstring alone: what it takes, "
    "what it returns and what it does in special cases, so that somebody can write it again without seeing it. "
    "Do not repeat code."
)
_WRITE = (
    "You write Python functions. Complete the function as its docstring says. Answer with the whole function in one "
    "code block and nothing else."
)


@dataclass(frozen=True, slots=True)
class Example:
    """A function in three parts: `def` line, docstring, and body with its indentation."""

    signature: str
    words: str
    body: str


SHOT = Example(
    "def func(words):",
    "Return the longest of the given words. Of several that are equally long return the first one, and of no words at "
    "all the empty text.",
    '    longest = ""\n    for word in words:\n        if len(word) > len(longest):\n            longest = word\n'
    "    return longest",
)


def docstring(words: str, indent: str = "    ") -> str:
    """Words as a docstring that parses whatever they hold."""
    safe = words.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    safe = safe + " " if safe.endswith('"') else safe
    return textwrap.indent(f'"""{safe}\n"""' if "\n" in safe else f'"""{safe}"""', indent)


def describe_prompt(signature: str, body: str, fits: Fits, style: str, shot: Example = SHOT) -> Prompt:
    """Ask for the docstring of a function of which the signature and the body are shown. Raises ModelError."""
    code = f"{signature}\n{body}"
    example = f"{shot.signature}\n{shot.body}"
    if style == INFILL:
        shown = f"{shot.signature}\n{docstring(shot.words)}\n{shot.body}\n\n\n"
        return fitting(Prompt((), infill=Infill(f'{shown}{signature}\n    """', f'"""\n{body}\n')), fits)
    if style == CODE:
        text = f"{example}\n{SUMMARY} {shot.words}\n\n\n{code}\n{SUMMARY}"
        return fitting(Prompt((Message(PLAIN, text),), block=Block("", comment="#")), fits)
    turns = (
        Message("system", _DESCRIBE),
        Message("user", fenced(example)),
        Message("assistant", shot.words),
        Message("user", fenced(code)),
    )
    return fitting(Prompt(turns), fits)


def write_prompt(
    signature: str, words: str, fits: Fits, style: str, shot: Example = SHOT, what: str = _A_FUNCTION
) -> Prompt:
    """Ask for the body of a function of which the signature and a docstring are shown.

    Raises ModelError that says that `what` is too long.
    """
    asked = f"{signature}\n{docstring(words)}\n"
    example = f"{shot.signature}\n{docstring(shot.words)}\n"
    if style in (CODE, INFILL):
        # The last blank of the indentation is the model's: tokenizers join it with the word that follows.
        text = f"{example}{shot.body}\n\n\n{asked}"
        return fitting(Prompt((Message(PLAIN, text),), prefill="   ", block=Block("    ")), fits, what)
    turns = (
        Message("system", _WRITE),
        Message("user", fenced(example)),
        Message("assistant", fenced(f"{example}{shot.body}")),
        Message("user", fenced(asked)),
    )
    return fitting(Prompt(turns, prefill="```python\n", stop=("\n```",)), fits, what)


def fenced(code: str) -> str:
    """A code block."""
    return f"```python\n{code.rstrip()}\n```"


def fitting(prompt: Prompt, fits: Fits, what: str = _A_FUNCTION) -> Prompt:
    """The prompt, if it leaves room for an answer. Raises ModelError that says that `what` is too long."""
    if not fits(prompt):
        raise ModelError(
            f"{what} does not fit the model's context window.",
            "Use a larger context size, or a model with a larger window.",
        )
    return prompt
