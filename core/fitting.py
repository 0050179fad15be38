"""Whether prompts fit a model's window, and what becomes of those that cannot."""

from __future__ import annotations

from collections.abc import Callable

from core.errors import ModelError
from core.generation import Fits, Model, Prompt


class Window:
    """A model's context window; called, it says whether a prompt leaves `room` tokens for its answer."""

    def __init__(self, model: Model, room: int) -> None:
        """Ask `model`."""
        self._model, self._room = model, room
        self._broken = False

    def __call__(self, prompt: Prompt) -> bool:
        """Count the prompt's tokens. Raises ModelError when the model cannot."""
        self._broken = True
        tokens = self._model.count_tokens(prompt)
        self._broken = False
        return tokens + self._room <= self._model.info.context_size

    def prompt(self, ask: Callable[[Fits], Prompt]) -> tuple[Prompt, str]:
        """What `ask` makes, and why there is no prompt where not even the shortest one fits.

        Raises ModelError when it is the model that fails: that is not about one prompt.
        """
        try:
            return ask(self), ""
        except ModelError as error:
            if self._broken:
                raise
            return Prompt((), truncated=True), error.problem
