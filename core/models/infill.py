"""The backward question as fill-in-the-middle: the file up to the gap, its description as a comment, and the rest."""

from __future__ import annotations

from core.generation import Fits, Infill, Prompt
from core.models.excerpt import Excerpt, Outline, fitting
from core.models.prompts import indentation, rest_of_lines, todo_comment, too_large
from core.types import Span


def infill_prompt(file_text: str, region_span: Span, description: str, fits: Fits) -> Prompt:
    """Ask for the code between what stands before and after the region, told by a TODO comment above it.

    The same words as in the other styles, without examples: the model sees nothing but the file. Raises ModelError
    when not even the comment alone fits.
    """
    outline = Outline.of(file_text, region_span)
    head, tail = rest_of_lines(file_text, region_span)
    comment = todo_comment(indentation(head), description)

    def ask(excerpt: Excerpt) -> Prompt:
        before = "\n".join([*excerpt.before, comment, head])
        return Prompt((), truncated=excerpt.cut, infill=Infill(before, "\n".join([tail, *excerpt.after])))

    excerpt = fitting(outline, lambda e: fits(ask(e)))
    if excerpt is None:
        raise too_large()
    return ask(excerpt)
