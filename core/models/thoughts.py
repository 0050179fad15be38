"""Thoughts of reasoning models, told apart from the answer behind them: a table of formats, and one reader of all."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rtc_inspector.core.syntax import parsed


@dataclass(frozen=True, slots=True)
class Format:
    """What one family of models puts around its thoughts.

    Attributes:
        needs_both: plain words, which are marks only where both stand in the answer.
    """

    opening: str
    closing: str
    needs_both: bool = False


FORMATS = (
    Format("<think>", "</think>"),  # DeepSeek, Qwen, GLM, MiniMax, Nemotron and most others
    Format("<thinking>", "</thinking>"),
    Format("<thought>", "</thought>"),
    Format("<reasoning>", "</reasoning>"),
    Format("[THINK]", "[/THINK]"),  # Magistral
    Format("<seed:think>", "</seed:think>"),  # Seed-OSS
    Format("◁think▷", "◁/think▷"),  # Kimi
    Format("<|START_THINKING|>", "<|END_THINKING|>"),  # Command
    Format("<|begin_of_thought|>", "<|end_of_thought|>"),  # OpenThinker
    Format("<|channel>thought", "<channel|>"),  # Gemma
    Format("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),  # gpt-oss (harmony)
    Format("<|channel|>commentary<|message|>", "<|channel|>final<|message|>"),
    Format("analysis", "assistantfinal", needs_both=True),  # the same where a server leaves out special tokens
    Format("Here is my thought process:", "Here is my response:", needs_both=True),  # Granite
)
"""One line a format; `--thought-tag` names one more."""
TURN = "<|start|>assistant"
"""What harmony may repeat before a channel, and where its template leaves the model to choose one."""
AROUND = (
    ("<answer>", "</answer>"),
    ("<response>", "</response>"),
    ("<solution>", "</solution>"),
    ("[ANSWER]", "[/ANSWER]"),
    ("[PYTHON]", "[/PYTHON]"),
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
)
"""Marks around an answer as a whole."""
ENDS = (
    "<|im_end|>",
    "<|return|>",
    "<|end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "</s>",
)
"""Marks of the end of a turn, which a server may hand on behind an answer."""
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\S*)", re.M)
_TRIPLE = re.compile(r'"""|\'\'\'')


def formats(tag: str = "") -> tuple[Format, ...]:
    """Return every format, with that of a tag that the user named: `ponder` means `<ponder>`, `[PONDER]` itself."""
    if not tag:
        return FORMATS
    name = tag.strip("<>[]/")
    mark = "[{}]" if tag.startswith("[") else "<{}>"
    return (Format(mark.format(name), mark.format(f"/{name}")), *FORMATS)


def opens(text: str, known: Sequence[Format] = FORMATS) -> Format | None:
    """Return the format that a text begins in, words aside that may be an answer as well."""
    begun = text.lstrip().removeprefix(TURN)
    return next((form for form in known if begun.startswith(form.opening) and not form.needs_both), None)


def begun_by(rendered: str, known: Sequence[Format] = FORMATS) -> bool:
    """Return whether a prompt leaves the model among its thoughts, or about to choose: no answer can be begun there."""
    return rendered.rstrip().endswith((TURN, *(form.opening for form in known if not form.needs_both)))


def end_of(text: str, form: Format, start: int = 0, over: bool = True) -> int:
    """Return where the thoughts end that began in that format, behind their mark; -1 where they do not.

    A mark in quotes is something that the model thinks about. `over`: nothing more comes, so that a mark at the very
    end, behind which a quote might have followed, is one.
    """
    at = text.find(form.closing, start)
    while at >= 0:
        end = at + len(form.closing)
        if end == len(text) and not over:
            return -1
        quote = text[end : end + 1]
        line = text[text.rfind("\n", 0, at) + 1 : at]
        if not quote or quote not in "\"'`" or line.count(quote) % 2 == 0 or line.endswith("\n"):
            return end
        at = text.find(form.closing, end)
    return -1


def parted(text: str, known: Sequence[Format] = FORMATS, begun: bool = False) -> tuple[str, str, bool]:
    """Return the thoughts of an answer, what is answered behind them, and whether they came to an end.

    `begun`: the prompt ended among the thoughts. Code that holds such marks, in a string or a docstring, has none.
    """
    marks = {mark for form in known for mark in (form.opening, form.closing)}
    if not begun and (not any(mark in text for mark in marks) or parsed(textwrap.dedent(text)) is not None):
        return "", text, True
    at = 0
    while (end := _behind(text, at, known)) is not None:
        if end < 0:
            return text, "", False
        at = end
    if at == 0:
        found = _unopened(text, known, begun)
        if found is None:
            return (text, "", False) if begun else _in_the_middle(text, known)
        at = found
    return text[:at], text[at:].lstrip("\n"), True


def _behind(text: str, at: int, known: Sequence[Format]) -> int | None:
    """Return the index at which the thoughts at a place end; -1 where they do not end, None where there are none."""
    rest = text[at:].lstrip()
    rest = rest.removeprefix(TURN)
    start = len(text) - len(rest)
    for form in known:
        if rest.startswith(form.opening):
            end = end_of(text, form, start + len(form.opening))
            if end >= 0 or not form.needs_both:
                return end
    return None


def _unopened(text: str, known: Sequence[Format], begun: bool) -> int | None:
    """Return the index at which thoughts end that the prompt had opened, or None.

    The mark of their end stands at the end of its line or right before the answer; anywhere where they had `begun`.
    """
    found = []
    for form in known:
        end = -1 if form.needs_both else end_of(text, form)
        before = text[: max(0, end - len(form.closing))]
        if begun and end >= 0:
            found.append(end)
        if begun or end < 0 or form.opening in before or _inside(before, text[end:]):
            continue
        line, rest = before[before.rfind("\n") + 1 :], text[end:]
        ends_line = not rest.partition("\n")[0].strip()
        if (ends_line and (rest.strip() or not line.strip())) or re.match(r"[\w`#*]", rest):
            found.append(end)
    return min(found, default=None)


def _in_the_middle(text: str, known: Sequence[Format]) -> tuple[str, str, bool]:
    """Thoughts behind some first words: from a mark that begins its line, where they come to an end."""
    for form in known:
        at = text.find(f"\n{form.opening}") + 1
        if form.needs_both or not at or _FENCE_LINE.search(text[:at]) or _TRIPLE.search(text[:at]):
            continue
        if (end := end_of(text, form, at)) >= 0:
            rest = text[end:].lstrip("\n")
            return (text[:end], rest, True) if rest.strip() else (text[at:], text[:at], True)
    return "", text, True


def _inside(before: str, behind: str) -> bool:
    """Return whether a place is inside a string of several lines or a code block that ends behind it."""
    triples = _TRIPLE.findall(before)
    if len(triples) % 2 and triples[-1] in behind:
        return True
    after = _FENCE_LINE.search(behind)
    return len(_FENCE_LINE.findall(before)) % 2 == 1 and after is not None and not after[1]


def without_marks_around(text: str) -> str:
    """Return an answer without the marks of its turn, and those around it as a whole."""
    found = text.rstrip()
    while end := next((mark for mark in ENDS if found.endswith(mark)), ""):
        found = found.removesuffix(end).rstrip()
    for opening, closing in AROUND:
        if found.lstrip().startswith(opening):
            return found.lstrip().removeprefix(opening).removesuffix(closing).strip("\n")
    return text if found == text.rstrip() else found
