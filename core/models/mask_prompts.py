"""Ask for one hidden name of a function, of which all else is shown (cosmetic variance, Sec. 2).

A model with the tokens for it fills the gap. One that talks is shown the function with `<MASK>` in the name's place,
and its answer begins before the name. A server's cannot be begun: it writes the function anew, in a layout of its own,
so its tokens are aligned with those shown. One that goes on writing a file reads the lines below the name, then the
function up to it: shown `<MASK>` there, small models copy that.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from itertools import takewhile

from rtc_inspector.core.generation import INFILL, PLAIN, Extraction, Fits, Infill, Message, Prompt, is_plain
from rtc_inspector.core.models.chain_prompts import fitting
from rtc_inspector.core.models.fences import blocks
from rtc_inspector.core.models.prompts import CODE

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
_TOKEN = re.compile(
    r"""#[^\n]*|[rbfuRBFU]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\w+|[^\w\s]""",
    re.DOTALL,
)
_SAID = re.compile(r"\b(?:is|was|be|name|answer)\b:?\s*[`\"'*]+([^\W\d]\w*)")
_MARKED = re.compile(r"[`\"'*]+([^\W\d]\w*)[`\"'*]+")
_LEAST = 3
"""Tokens around a name that must agree outside a code block: words of a sentence may do so by chance."""


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


def extract_name(raw: str, prompt: Prompt) -> Extraction:
    """Take the name from an answer to `prompt`; empty where there is none.

    It is the first one where the answer begins before the name. Else the one that stands in the answer where the hidden
    one stands in what was shown (step `aligned`), or that a sentence names (`named`).
    """
    question = prompt.messages[-1].content if prompt.messages else ""
    if prompt.prefill or prompt.infill is not None or is_plain(prompt.messages) or MASK not in question:
        found = _NAME.search(raw)
        return Extraction(found.group(), ("first-name",)) if found else Extraction("", ("empty",))
    fenced = [block.text for block in blocks(raw)]
    for answers, least in ((fenced, 1), ([raw], _LEAST)):
        places = [_aligned(*_shown(question), _tokens(answer)) for answer in answers]
        name, agreeing = max(places, key=lambda place: place[1], default=("", 0))
        if name and agreeing >= least:
            return Extraction(name, ("aligned",))
    alone = [block.strip() for block in fenced if _NAME.fullmatch(block.strip())]
    names = [*alone, *_SAID.findall(raw), *_MARKED.findall(raw), *_NAME.findall(raw)]
    name = next((each for each in names if each != "MASK"), "")
    return Extraction(name, ("named",)) if name else Extraction("", ("empty",))


def _shown(question: str) -> tuple[list[str], list[str]]:
    """The tokens before and behind the name in what a question shows."""
    head, tail = _QUESTION.split("{shown}")
    before, _, after = question.removeprefix(head).removesuffix(tail).partition(MASK)
    return _tokens(before), _tokens(after)


def _tokens(code: str) -> list[str]:
    """Return the tokens of code without layout, comments and the quotes of its strings."""
    found: list[str] = []
    for token in _TOKEN.findall(code):
        if token.startswith("#"):
            continue
        if token in (")", "]", "}") and found[-1:] == [","]:  # as formatters add it
            found.pop()
        found.append(token.strip("\"'") or '""' if token[-1] in "\"'" else token)
    return found


def _aligned(before: Sequence[str], after: Sequence[str], answer: Sequence[str]) -> tuple[str, int]:
    """The name of an answer around which most stands as it was shown, and how many tokens that is.

    Of several the one that is as far from the beginning, or the end, as the hidden one.
    """

    def agreeing(at: int) -> tuple[int, int]:
        left = sum(1 for _ in takewhile(_same, zip(reversed(before), reversed(answer[:at]), strict=False)))
        right = sum(1 for _ in takewhile(_same, zip(after, answer[at + 1 :], strict=False)))
        return left + right, -min(abs(at - len(before)), abs(len(answer) - at - 1 - len(after)))

    places = [at for at, token in enumerate(answer) if _NAME.fullmatch(token) and not keyword.iskeyword(token)]
    best = max(places, key=agreeing, default=None)
    return ("", 0) if best is None else (answer[best], agreeing(best)[0])


def _same(pair: tuple[str, str]) -> bool:
    """Return whether both are the same."""
    return pair[0] == pair[1]


def _told(after: str, code: str) -> str:
    """The lines below a name as a comment, then code."""
    below = [f"# {line}".rstrip() for line in after.splitlines()[1:]]
    return "\n".join([*([_ENDS, *below] if below else []), _WHOLE, code])
