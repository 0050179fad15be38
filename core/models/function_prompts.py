"""What methods ask about whole functions: a chain, a directive and its program, and a hidden name."""

import keyword
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import (
    INFILL,
    PLAIN,
    Block,
    Extraction,
    Fits,
    Infill,
    Message,
    Prompt,
    conversation,
    is_plain,
)
from rtc_inspector.core.models.extraction import blocks
from rtc_inspector.core.models.prompts import CODE

# --------------------------- chains (IdentityChain, Sec. 5 and App.): words for a function, and a function for words


CHAIN_VERSION = 1
_A_FUNCTION = "A function of this chain"
SUMMARY = "# Docstring:"  # begins the words that a model adds below a function that it reads as plain code
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


def docstring(words: str) -> str:
    """Return words as a docstring that parses whatever they hold."""
    safe = words.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    safe = safe + " " if safe.endswith('"') else safe
    return textwrap.indent(f'"""{safe}\n"""' if "\n" in safe else f'"""{safe}"""', "    ")


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
    return fitting(Prompt(conversation(_DESCRIBE, [(fenced(example), shot.words)], fenced(code))), fits)


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
    turns = conversation(_WRITE, [(fenced(example), fenced(f"{example}{shot.body}"))], fenced(asked))
    return fitting(Prompt(turns, prefill="```python\n", stop=("\n```",)), fits, what)


def fenced(code: str) -> str:
    """Return a code block."""
    return f"```python\n{code.rstrip()}\n```"


def fitting(prompt: Prompt, fits: Fits, what: str = _A_FUNCTION) -> Prompt:
    """Return the prompt, if it leaves room for an answer. Raises ModelError that says that `what` is too long."""
    if not fits(prompt):
        raise ModelError(
            f"{what} does not fit the model's context window.",
            "Use a larger context size, or a model with a larger window.",
        )
    return prompt


# --------------------------- directives (Bhardwaj 2023): a program for the words, and words for the program


DIRECTIVE_VERSION = 1
TOO_LONG = "A directive, with the code above its function,"
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


def whole_program_prompt(prelude: str, words: str, fits: Fits, style: str) -> Prompt:
    """Ask for a whole function, where nobody said how it begins. Raises ModelError."""
    code = f"{SHOT.signature}\n{SHOT.body}"
    if style in (CODE, INFILL):
        task = "# " + words.replace("\n", "\n# ")
        text = f"# {SHOT.words}\n{code}\n\n\n" + (f"{prelude.rstrip()}\n\n\n" if prelude.strip() else "") + f"{task}\n"
        prompt = Prompt((Message(PLAIN, text),), stop=("\n\n\n", "\n# "))
    else:
        given = f"This stands above it:\n{fenced(prelude)}\n\n" if prelude.strip() else ""
        turns = conversation(_WRITE_ALL, [(SHOT.words, fenced(code))], given + words)
        prompt = Prompt(turns, prefill="```python\n", stop=("\n```",))
    return fitting(prompt, fits, TOO_LONG)


def summary_prompt(code: str, fits: Fits, style: str) -> Prompt:
    """Ask what a function does. Raises ModelError."""
    shown = [(f"{shot.signature}\n{shot.body}", shot.words) for shot in _SUMMARISED]
    if style in (CODE, INFILL):
        above = "".join(f"{example}\n{_SUMMARY} {words}\n\n\n" for example, words in shown)
        prompt = Prompt((Message(PLAIN, f"{above}{code}\n{_SUMMARY}"),), stop=("\n",))
    else:
        examples = [(fenced(example), words) for example, words in shown]
        prompt = Prompt(conversation(_SUMMARISE, examples, fenced(code)))
    return fitting(prompt, fits, _PROGRAM_TOO_LONG)


# --------------------------- hidden names (cosmetic variance)


MASK_VERSION = 1
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
_STATED = re.compile(r"\b(?:is|was|be|name|answer)\b:?\s*[`\"'*]+([^\W\d]\w*)")
_MARKED = re.compile(r"[`\"'*]+([^\W\d]\w*)[`\"'*]+")
_LEAST = 3  # tokens around a name that must agree outside a code block: words of a sentence may do so by chance


def mask_prompt(function: str, at: int, length: int, fits: Fits, style: str) -> Prompt:
    """Ask for the name of `length` characters that begins at `at` of the function. Raises ModelError."""
    before, after = function[:at], function[at + length :]
    shown = before + MASK + after
    # The blank before a name is left to the model: tokenizers put it into the same token as the name.
    begun = before.removesuffix(" ")
    if style == INFILL:
        prompt = Prompt((), infill=Infill(before, after))
    elif style == CODE:
        above = _below_then(_MASKED_SHOT.partition(MASK)[2], _SHOT)
        prompt = Prompt((Message(PLAIN, f"{above}\n\n\n{_below_then(after, begun)}"),), stop=("\n",))
    else:
        example = _QUESTION.format(shown=_MASKED_SHOT), fenced(_SHOT)
        turns = conversation(_SYSTEM, [example], _QUESTION.format(shown=shown))
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
    head, tail = _QUESTION.split("{shown}")
    before, _, after = question.removeprefix(head).removesuffix(tail).partition(MASK)
    fences = [block.text for block in blocks(raw)]
    for answers, least in ((fences, 1), ([raw], _LEAST)):
        places = [_aligned(_tokens(before), _tokens(after), _tokens(answer)) for answer in answers]
        name, agreeing = max(places, key=lambda place: place[1], default=("", 0))
        if name and agreeing >= least:
            return Extraction(name, ("aligned",))
    alone = [block.strip() for block in fences if _NAME.fullmatch(block.strip())]
    names = [*alone, *_STATED.findall(raw), *_MARKED.findall(raw), *_NAME.findall(raw)]
    name = next((each for each in names if each != "MASK"), "")
    return Extraction(name, ("named",)) if name else Extraction("", ("empty",))


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
    """Return the name of an answer around which most stands as it was shown, and how many tokens that is.

    Of several it is the one that is as far from the beginning, or the end, as the hidden one.
    """

    def agreeing(at: int) -> tuple[int, int]:
        sides = (reversed(before), reversed(answer[:at])), (after, answer[at + 1 :])
        same = sum(1 for side in sides for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*side, strict=False)))
        return same, -min(abs(at - len(before)), abs(len(answer) - at - 1 - len(after)))

    places = [at for at, token in enumerate(answer) if _NAME.fullmatch(token) and not keyword.iskeyword(token)]
    best = max(places, key=agreeing, default=None)
    return ("", 0) if best is None else (answer[best], agreeing(best)[0])


def _below_then(after: str, code: str) -> str:
    below = [f"# {line}".rstrip() for line in after.splitlines()[1:]]
    return "\n".join([*([_ENDS, *below] if below else []), _WHOLE, code])
