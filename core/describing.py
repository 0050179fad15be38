"""Describe it myself: a person's words in the place of the model's, and only the backward pass run on them."""

from __future__ import annotations

from contextlib import ExitStack

from core.control import Control
from core.errors import UserError
from core.events import Notice
from core.judging import Judging
from core.passes import Passes, Work
from core.reopening import reopen
from core.run import Emit, Pace
from core.store.writer import Store
from core.trips.protocol import Reference

TAKEN = frozenset({"model", "commit", "comment"})
"""Authors that stand for the model itself, and for the words that came with an edit."""
NOBODY = "human"
"""The author of words whose writer gave no name."""


def describe(run_id: int, item_id: int, text: str, author: str, store: Store, emit: Emit, control: Control) -> None:
    """Store `text` as a description of an item by `author`, have the code written from it, and judge that.

    What comes of it is shown beside the model's own and never counted. The run may be finished or interrupted.
    Raises UserError (nothing written, a name that is taken), ProjectError when the project or a model changed since
    the run began, Cancelled when stopped; the words stay stored once the backward pass began.
    """
    reference = Reference(_name(author), _words(text))
    with ExitStack() as stack:
        run = reopen(stack, run_id, store, emit, control)
        found = store.reader.existing_item(item_id)
        with Judging(run) as judging:
            passes = Passes(run, judging, Pace(run.settings.backward_samples, 0))
            passes.describe(Work(item_id, found.item, found.samples), reference)
            judging.drain(wait=True)
        for problem in run.problems:
            emit(Notice(problem))


def _words(text: str) -> str:
    if not text.strip():
        raise UserError("The description is empty.", "Say what the code does, then try again.")
    return text.strip()


def _name(author: str) -> str:
    name = author.strip() or NOBODY
    if name.lower() in TAKEN:
        raise UserError(f"A person's description cannot be stored under the name {name!r}.", "Give another name.")
    return name
