"""What is asked between a directive and its summary: a program for the words, and words for the program.

The program is asked for as in a chain, the directive standing as docstring below the head of the function. The summary
sees head and body and nothing else (Bhardwaj 2023, Sec. 3.3): no imports, no comment, no directive.
"""

from __future__ import annotations

from rtc_inspector.core.generation import INFILL, PLAIN, Fits, Message, Prompt
from rtc_inspector.core.models.chain_prompts import SHOT, Example, fenced, fitting, write_prompt
from rtc_inspector.core.models.prompts import CODE

VERSION = 1
_TOO_LONG = "A directive, with the code above its function,"
_PROGRAM_TOO_LONG = "A program to be summarised"
_WRITE_ALL = "You write Python. Do what is asked with one function. Answer with one code block and nothing else."
_SUMMARISE = (
    "You read Python functions. Say in one or two sentences what the function does: what it takes, what it gives back, "
    "and what it does in special cases. Go by the code alone. Do not repeat code."
)
_SUMMARY = "# In words:"
_SUMMARISED = (
    Example(
        "def count_lines(path):",
        "Count the lines of a file that are not blank.",
        "    with open(path) as file:\n        return sum(1 for line in file if line.strip())",
    ),
    SHOT,
    Example(
        "def odd_numbers(start, end):",
        "List the odd numbers from start to end, both included.",
        "    return [number for number in range(start, end + 1) if number % 2]",
    ),
)
"""Several and short, since a small model repeats the words of a single one."""


def program_prompt(above: str, words: str, fits: Fits, style: str) -> Prompt:
    """Ask for the body of a function. `above`: the program up to its `def` line. Raises ModelError."""
    return write_prompt(above, words, fits, style, what=_TOO_LONG)


def whole_program_prompt(prelude: str, words: str, fits: Fits, style: str, shot: Example = SHOT) -> Prompt:
    """Ask for a whole function, where nobody said how it begins. Raises ModelError."""
    code = f"{shot.signature}\n{shot.body}"
    if style in (CODE, INFILL):
        task = "# " + words.replace("\n", "\n# ")
        text = f"# {shot.words}\n{code}\n\n\n" + (f"{prelude.rstrip()}\n\n\n" if prelude.strip() else "") + f"{task}\n"
        prompt = Prompt((Message(PLAIN, text),), stop=("\n\n\n", "\n# "))
    else:
        given = f"This stands above it:\n{fenced(prelude)}\n\n" if prelude.strip() else ""
        turns = (
            Message("system", _WRITE_ALL),
            Message("user", shot.words),
            Message("assistant", fenced(code)),
            Message("user", given + words),
        )
        prompt = Prompt(turns, prefill="```python\n", stop=("\n```",))
    return fitting(prompt, fits, _TOO_LONG)


def summary_prompt(code: str, fits: Fits, style: str) -> Prompt:
    """Ask what a function does. Raises ModelError."""
    shown = [(f"{shot.signature}\n{shot.body}", shot.words) for shot in _SUMMARISED]
    if style in (CODE, INFILL):
        examples = "".join(f"{example}\n{_SUMMARY} {words}\n\n\n" for example, words in shown)
        prompt = Prompt((Message(PLAIN, f"{examples}{code}\n{_SUMMARY}"),), stop=("\n",))
    else:
        turns = [Message("system", _SUMMARISE)]
        for example, words in shown:
            turns += [Message("user", fenced(example)), Message("assistant", words)]
        prompt = Prompt((*turns, Message("user", fenced(code))))
    return fitting(prompt, fits, _PROGRAM_TOO_LONG)
