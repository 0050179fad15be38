"""From chat turns to the exact text a model reads.

A chat template is code out of a downloaded file: it is rendered in Jinja's immutable sandbox (CVE-2024-34359).
"""

from collections.abc import Sequence
from datetime import date

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Infill, Message, is_plain
from rtc_inspector.core.models.answers import FORMATS, Format, begun_by
from rtc_inspector.core.models.gguf import without_marks

COMPLETION_STOP = "\n### "  # ends an answer in the completion style: the next question would start so


class Renderer:
    """Renders prompts in one style, `chat` or `completion`, and gaps to fill by the vocabulary's own marks.

    Texts of control tokens inside what is asked are broken by a joiner: source code that holds them stays source code.
    """

    def __init__(
        self,
        template: str | None,
        style: str,
        bos: str,
        eos: str,
        control: Sequence[str] = (),
        infill: Sequence[str] = (),
        thinking: str = "off",
        forms: Sequence[Format] = FORMATS,
    ) -> None:
        """Choose the style (`auto`: chat when there is a template). Raises ModelError for chat without one.

        `control`: texts of control tokens; `infill`: the marks of a gap, if the model has any; `thinking`: what a
        template that knows of it is told, `off`, `free` for nothing, or how much; `forms`: what thoughts may come in.
        """
        self._thinking: dict[str, object] = {} if thinking == "free" else {"enable_thinking": thinking != "off"}
        self._thinking |= {} if thinking in ("off", "free") else {"reasoning_effort": thinking}
        self._control, self._marks, self._forms = control, infill, forms
        if style == "chat" and not template:
            raise ModelError(
                "This model has no chat template, so the chat style cannot be used.",
                "Choose the prompt style `auto` or `completion`.",
            )
        self.style = "chat" if template and style != "completion" else "completion"
        self._bos, self._eos = bos, eos
        if self.style == "chat":
            try:
                self._template = _environment().from_string(template or "")
            except TemplateError as error:
                raise _failure(error) from None

    def render(self, messages: Sequence[Message], prefill: str, infill: Infill | None = None) -> str:
        """Return the text up to where the model goes on. Raises ModelError when the template fails."""
        if infill is not None:
            if not self._marks:
                raise ModelError("This model cannot fill in the middle.", "Choose another prompt style.")
            before, after = (without_marks(side, self._control) for side in (infill.before, infill.after))
            prefix, suffix, middle = self._marks
            return prefix + before + suffix + after + middle
        messages = [Message(m.role, without_marks(m.content, self._control)) for m in messages]
        if is_plain(messages):
            return messages[0].content + prefill
        if self.style == "completion":
            return completion(messages) + prefill
        try:
            try:
                rendered = self._chat(messages)
            except TemplateError:
                # Gemma's and others' templates raise an error for a system turn.
                rendered = self._chat(merge_system(messages))
        except Exception as error:  # a template is foreign code: it may raise anything
            raise _failure(error) from None
        # The beginning of an answer would stand among the model's thoughts where the prompt begins those.
        return rendered if begun_by(rendered, self._forms) else rendered + prefill

    def _chat(self, messages: Sequence[Message]) -> str:
        return self._template.render(
            messages=[{"role": m.role, "content": m.content} for m in messages],
            add_generation_prompt=True,
            bos_token=self._bos,
            eos_token=self._eos,
            tools=None,
            **self._thinking,
        )


def merge_system(messages: Sequence[Message]) -> list[Message]:
    """Return the same turns with the system text at the head of the first question."""
    if len(messages) < 2 or messages[0].role != "system":
        return list(messages)
    first = Message("user", f"{messages[0].content}\n\n{messages[1].content}")
    return [first, *messages[2:]]


def completion(messages: Sequence[Message]) -> str:
    """Return a plain text that a base model continues with the answer."""
    headings = {"user": "### Task\n", "assistant": "### Answer\n"}
    parts = [headings.get(m.role, "") + m.content.strip() + "\n\n" for m in messages]
    return "".join(parts) + headings["assistant"]


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = _refuse
    # A constant day: a prompt that changes overnight could not be repeated.
    environment.globals["strftime_now"] = date(2025, 1, 1).strftime
    return environment


def _failure(error: Exception) -> ModelError:
    return ModelError(f"The model's chat template fails: {error}.", "Choose the prompt style `completion`.")


def _refuse(message: str) -> None:
    raise TemplateError(message)
