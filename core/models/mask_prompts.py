"""Ask for one hidden name of a function, of which all else is shown (cosmetic variance, Sec. 2).

A model with the tokens for it fills the gap. One that talks is shown the function with `<MASK>` in the name's place,
and its answer begins before the name. One that goes on writing a file reads the lines below the name, then the function
up to it: shown `<MASK>` there, small models copy that.
"""

from __future__ import annotations

import re

from core.generation import INFILL, PLAIN, Extraction, Fits, Infill, Message, Prompt
from core.models.chain_prompts import fitting
from core.models.extraction import without_thoughts
from core.models.prompts import CODE

VERSION = 1
MASK = "<MASK>"
_SYSTEM = "You complete Python code. You are brief and exact."
_QUESTION = (
    "```python\n{shown}\n```\n\nOne name of this function is hidden behind "
    + MASK
    + ". Write the function with the name."
)
_ENDS = "# A function that ends with:"
_WHOLE = "# The function:"
_SHOT = (
    "def largest(values):\n    best = values[0]\n    for value in values:\n        if value > best:\n"
    "            best = value\n    return best"
)
_MASKED_SHOT = _SHOT.replace("in values", f"in {MASK}")
_NAME = re.compile(r"[^\W\d]\w*")


def mask_prompt(function: str, at: int, length: int, fits: Fits, style: str) -> Prompt:
    """Ask for the name of `length` characters that begins at `at` of the function. Raises ModelError."""
    before, after = function[:at], function[at + length :]
    shown = before + MASK + after
    # The blank before a name is left to the model: tokenizers put it into the same token as the name.
    begun = before.removesuffix(" ")
    if style == INFILL:
        prompt = Prompt((), infill=Infill(before, after))
    elif style == CODE:
        example = _told(_MASKED_SHOT.partition(MASK)[2], _SHOT)
        prompt = Prompt((Message(PLAIN, f"{example}\n\n\n{_told(after, begun)}"),), stop=("\n",))
    else:
        turns = (
            Message("system", _SYSTEM),
            Message("user", _QUESTION.format(shown=_MASKED_SHOT)),
            Message("assistant", f"```python\n{_SHOT}\n```"),
            Message("user", _QUESTION.format(shown=shown)),
        )
        prompt = Prompt(turns, prefill=f"```python\n{begun}", stop=("\n",))
    return fitting(prompt, fits, "A function with a hidden name")


def extract_name(raw: str) -> Extraction:
    """The first name of the answer; empty where there is none."""
    found = _NAME.search(without_thoughts(raw))
    return Extraction(found.group(), ("first-name",)) if found else Extraction("", ("empty",))


def _told(after: str, code: str) -> str:
    """The lines below a name as a comment, then code."""
    below = [f"# {line}".rstrip() for line in after.splitlines()[1:]]
    return "\n".join([*([_ENDS, *below] if below else []), _WHOLE, code])
