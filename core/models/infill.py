"""The backward question as fill-in-the-middle: the file up to the gap, its description as a comment, and the rest."""

from __future__ import annotations

from core.errors import ModelError
from core.generation import Infill, Prompt
from core.models.excerpt import Excerpt, Outline, fitting
from core.models.prompts import Fits
from core.types import Span

COMMENT = "# TODO: "


def infill_prompt(file_text: str, region_span: Span, description: str, fits: Fits) -> Prompt:
    """Ask for the code between what stands before and after the region, told by a TODO comment above it.

    The same words as in the other styles, without examples: the model sees nothing but the file. Raises ModelError
    when not even the comment alone fits.
    """
    outline = Outline.of(file_text, region_span)
    head, tail = _rest_of_lines(file_text, region_span)
    indent = head[: len(head) - len(head.lstrip())]
    first, *others = description.strip().splitlines() or [""]
    comment = [f"{indent}{COMMENT}{first.strip()}", *(f"{indent}# {line.strip()}" for line in others)]
    comment = [line.rstrip() for line in comment]

    def ask(excerpt: Excerpt) -> Prompt:
        before = "\n".join([*excerpt.before, *comment, head])
        return Prompt((), truncated=excerpt.cut, infill=Infill(before, "\n".join([tail, *excerpt.after])))

    excerpt = fitting(outline, lambda e: fits(ask(e)))
    if excerpt is None:
        raise ModelError(
            "A region does not fit the model's context window, even without the file around it.",
            "Use a larger context size, or a model with a larger window.",
        )
    return ask(excerpt)


def _rest_of_lines(text: str, span: Span) -> tuple[str, str]:
    """What shares the region's first line before it, and its last line after it."""
    head = text[max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1 : span.start]
    rest = text[span.end :]
    return head, "" if rest[:1] in ("", "\n", "\r") else rest.splitlines()[0]
