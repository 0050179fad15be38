"""From what a model wrote to the answer that a method reads: one way for files and servers.

A sample keeps what came byte for byte (`raw_text`, and `thoughts` where a server sends those apart). What is taken off
here is named among the steps of its extraction: `thoughts-apart`, `thoughts-dropped`, `thoughts-unended`,
`marks-dropped`, `end-dropped`. A method then reads code, a description or a name out of the rest.

Thoughts of reasoning models are told apart by a table of formats. While an answer is written, `TextStream` finds where
it ends: at a stop text, below its block, when it is too long.
"""

import codecs
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtc_inspector.core.generation import Block, Generation, Prompt, is_plain
from rtc_inspector.core.syntax import parsed

# --------------------------------------------------------------------------- thoughts


@dataclass(frozen=True, slots=True)
class Format:
    """The marks that one family of models puts around its thoughts."""

    opening: str
    closing: str
    needs_both: bool = False  # plain words, which are marks only where both stand in the answer


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


def opens(text: str, forms: Sequence[Format] = FORMATS) -> Format | None:
    """Return the format that a text begins in, words aside that may be an answer as well."""
    begun = text.lstrip().removeprefix(TURN)
    return next((form for form in forms if begun.startswith(form.opening) and not form.needs_both), None)


def begun_by(rendered: str, forms: Sequence[Format] = FORMATS) -> bool:
    """Return whether a prompt leaves the model among its thoughts, or about to choose: no answer can begin there."""
    return rendered.rstrip().endswith((TURN, *(form.opening for form in forms if not form.needs_both)))


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


def parted(text: str, forms: Sequence[Format] = FORMATS, begun: bool = False) -> tuple[str, str, bool]:
    """Return the thoughts of an answer, what is answered behind them, and whether they came to an end.

    `begun`: the prompt ended among the thoughts. Code that holds such marks, in a string or a docstring, has none.
    """
    marks = {mark for form in forms for mark in (form.opening, form.closing)}
    if not begun and (not any(mark in text for mark in marks) or parsed(textwrap.dedent(text)) is not None):
        return "", text, True
    at = 0
    while (end := _behind(text, at, forms)) is not None:
        if end < 0:
            return text, "", False
        at = end
    if at == 0:
        found = _unopened(text, forms, begun)
        if found is None:
            return (text, "", False) if begun else _in_the_middle(text, forms)
        at = found
    return text[:at], text[at:].lstrip("\n"), True


def _behind(text: str, at: int, forms: Sequence[Format]) -> int | None:
    """Return the index at which the thoughts at a place end; -1 where they do not end, None where there are none."""
    rest = text[at:].lstrip().removeprefix(TURN)
    start = len(text) - len(rest)
    for form in forms:
        if rest.startswith(form.opening):
            end = end_of(text, form, start + len(form.opening))
            if end >= 0 or not form.needs_both:
                return end
    return None


def _unopened(text: str, forms: Sequence[Format], begun: bool) -> int | None:
    """Return the index at which thoughts end that the prompt had opened, or None.

    The mark of their end stands at the end of its line or right before the answer; anywhere where they had `begun`.
    """
    found = []
    for form in forms:
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


def _in_the_middle(text: str, forms: Sequence[Format]) -> tuple[str, str, bool]:
    """Return as `parted` the thoughts behind some first words, from a mark that begins its line to their end."""
    for form in forms:
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


@dataclass(frozen=True, slots=True)
class Ending:
    """The reasons to end an answer besides the model itself."""

    stops: tuple[str, ...] = ()  # texts that end it; not part of it
    block: Block | None = None  # the lines of a file that it is; the first line outside ends it
    most_characters: int = 0  # after so many it is cut; 0 for no such limit


class TextStream:
    """Collects one answer. Text that may turn out not to be part of it is held back.

    What a reasoning model thinks first is part of the text, but nothing in it ends the answer.
    """

    def __init__(self, ending: Ending, thinking: bool = False, forms: Sequence[Format] = FORMATS) -> None:
        """`thinking`: the prompt has begun the model's thoughts for it; `forms`: in what form thoughts may come."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._ending, self._forms = ending, forms
        self._stops = [s for s in ending.stops if s]
        self._longest = max(map(len, self._stops), default=1)
        self.text = ""  # everything so far, stop text excluded
        self._given = self._looked = self._answer = 0
        self.thinking = thinking
        self.reason = ""

    def push(self, data: bytes) -> str:
        """Take one token's bytes and return the new text that is sure."""
        return self._advance(self._decoder.decode(data))

    def finish(self) -> str:
        self._advance(self._decoder.decode(b"", final=True))
        rest = self.text[self._given :]
        self._given = len(self.text)
        return rest

    def _advance(self, new: str) -> str:
        if self.reason:
            return ""
        self.text += new
        form = None if self._answer else opens(self.text, self._forms)
        if form is not None or (self.thinking and not self._answer):
            begun = [form] if form is not None else self._forms
            ends = [end for each in begun if (end := end_of(self.text, each, over=False)) >= 0]
            self.thinking = not ends
            self._answer = self._looked = min(ends, default=0)
        if not self.thinking:
            self._end()
        safe = len(self.text) if self.reason else self._safe_end()
        given, self._given = self._given, max(self._given, safe)
        return self.text[given : self._given]

    def _end(self) -> None:
        # A stop text may have begun in what was looked at before.
        start = max(self._answer, self._looked - self._longest + 1)
        ends = [at for s in self._stops if (at := self.text.find(s, start)) >= 0]
        if self._ending.block is not None and (at := self._outside(self._ending.block)) >= 0:
            ends.append(at)
        self._looked = len(self.text)
        if ends:
            self.text, self.reason = self.text[: min(ends)], "stop"
        elif 0 < self._ending.most_characters < len(self.text) - self._answer:
            self.reason = "length"

    def _outside(self, block: Block) -> int:
        """Return the index at which the text before the first line outside the block ends; -1 while there is none."""
        # A line may have become longer since the last look.
        at = self.text.find("\n", max(self._answer, self.text.rfind("\n", 0, self._looked)))
        while at >= 0:
            line = self.text[at + 1 :].split("\n", 1)[0]
            body = line.lstrip(" \t")
            before, inside = self.text[self._answer : at], line.startswith(block.indentation)
            if block.comment:
                inside = inside and body.startswith(block.comment)
            elif not inside and block.quotes is not None:
                inside = any(len(re.findall(rf"(?<!\\){quote}", before)) % 2 for quote in block.quotes)
            elif not inside and body:
                inside = _open(block.indentation + before, body)
            if body and not inside:
                return max(self._answer, len(self.text[:at].rstrip()))
            at = self.text.find("\n", at + 1)
        return -1

    def _safe_end(self) -> int:
        """Return how many characters cannot be part of a stop text, nor lead to a line outside the block, any more."""
        end = len(self.text)
        if self._ending.block is not None:
            bare = self.text.rstrip(" \t\r\n")
            end = len(bare) if "\n" in self.text[len(bare) :] else end
        for keep in range(self._longest - 1, 0, -1):
            tail = self.text[-keep:]
            if len(tail) == keep and any(s.startswith(tail) for s in self._stops):
                return min(end, len(self.text) - keep)
        return end


def _open(before: str, body: str) -> bool:
    """Return whether a line goes on what stands before it: the inside of a string, or the end of a bracket."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(textwrap.dedent(before)).readline):
            pass
    except tokenize.TokenError as error:
        # Python's own words for what was open: `EOF in multi-line string`, or `statement` for a bracket.
        return "string" in str(error) or body[0] in ")]}"
    except SyntaxError:
        return False
    return False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a model, without its thoughts."""

    text: str
    # what it answers to, with the `prefill` that it really was begun with: none where a server was asked in turns, so
    # that nothing is taken to be open that was not sent
    prompt: Prompt
    steps: tuple[str, ...] = ()  # what was taken off


def answer_of(generation: Generation, prompt: Prompt, tag: str = "") -> Answer:
    """Return the answer in what a model wrote; `tag`: of thoughts, as the user named it."""
    steps = ["thoughts-apart"] if generation.thoughts else []
    forms = formats(tag)
    # A prompt is recorded as it was sent: it ends in the beginning of the answer, or that was not sent.
    asked = prompt if generation.rendered.endswith(prompt.prefill) else replace(prompt, prefill="")
    thoughts, text, ended = parted(generation.text, forms, begun_by(generation.rendered, forms))
    if thoughts:
        steps.append("thoughts-dropped" if ended else "thoughts-unended")
    if (bare := without_marks_around(text)) != text:
        steps.append("marks-dropped")
    inside = bare
    if is_plain(prompt.messages):  # written into a file: servers know stop texts only, not where its block ends
        stream = TextStream(Ending(prompt.stop, prompt.block, prompt.most_characters))
        stream.push(bare.encode())
        stream.finish()
        inside = stream.text
    if inside != bare:
        steps.append("end-dropped")
    return Answer(inside, asked, tuple(steps))


def thought_tokens(generation: Generation, tag: str = "") -> int:
    """Return how many of the tokens written were thoughts: as the server says, else by their share of the text."""
    if generation.thought_tokens:
        return generation.thought_tokens
    forms = formats(tag)
    inside, rest, _ = parted(generation.text, forms, begun_by(generation.rendered, forms))
    thoughts = len(generation.thoughts) + len(inside)
    return round(generation.completion_tokens * thoughts / (thoughts + len(rest))) if thoughts else 0
