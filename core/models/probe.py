"""Find out whether this backend's numbers depend on what else is in a batch.

Matrix kernels treat rows in groups; a row may be rounded differently in a group than alone. The probe evaluates the
same tokens in several groupings and compares the logits bit by bit. docs/model-passes.md has the reasoning.
"""

from __future__ import annotations

from collections.abc import Sequence

from rtc_inspector.core.models.jobs import Native, Row, Shape

STREAMS = 8
LENGTH = 16
GROUPS = (1, 4, 8)
WIDTHS = (1, 3, 4, 8)
SHORTER = 5


def find_shape(native: Native, vocabulary: int) -> Shape | None:
    """The smallest batch groups that keep every row's numbers, or None when there are none up to 8."""
    # Any tokens will do, as long as they differ: rounding depends on the shape of a batch, not on what is in it.
    tokens = [(7 + 13 * i) % max(8, vocabulary - 1) for i in range(LENGTH)]
    native.open_context(LENGTH + 32, STREAMS)
    if not native.can_rewind:
        # What cannot be taken back cannot be padded either. It is evaluated all the same: a build that crashes at it is
        # found out while the parent can still load the model otherwise.
        _prompt(native, [tokens])
        return None
    prompt = _prompt_group(native, tokens)
    if prompt is None:
        return None
    step = _step_group(native, tokens)
    return None if step is None else Shape(prompt, step)


def _prompt_group(native: Native, tokens: Sequence[int]) -> int | None:
    """Smallest group for prompts: one batch, batches of the group, and uneven batches all agree."""
    whole = _prompt(native, [tokens])
    for group in GROUPS[1:]:
        small = [tokens[i : i + group] for i in range(0, LENGTH, group)]
        uneven = [tokens[:group], tokens[group:]]
        if _prompt(native, small) == whole == _prompt(native, uneven):
            return group
    return None


def _prompt(native: Native, parts: Sequence[Sequence[int]]) -> bytes:
    """Logits after the last token when the prompt is evaluated in `parts`."""
    native.forget(0, 0)
    position = 0
    for part in parts:
        rows = [Row(t, position + i, 0, position + i + 1 == LENGTH) for i, t in enumerate(part)]
        native.decode(rows)
        position += len(part)
    return native.logits(len(rows) - 1)


def _step_group(native: Native, tokens: Sequence[int]) -> int | None:
    """Smallest group for single steps: a stream's logits do not change with its neighbours or its place."""
    for stream in range(1, STREAMS):
        native.copy(0, stream)
        native.forget(stream, LENGTH - SHORTER * (stream % 3))
    for group in GROUPS:
        if len({_step(native, tokens, width) for width in WIDTHS if width % group == 0}) == 1:
            return group
    return None


def _step(native: Native, tokens: Sequence[int], width: int) -> bytes:
    """Logits of stream 0 after one more token, with `width - 1` neighbours of other lengths."""
    lengths = [LENGTH - SHORTER * (s % 3) for s in range(width)]
    native.decode([Row(tokens[s], lengths[s], s, True) for s in range(width)])
    found = native.logits(0)
    for stream in range(width):
        native.forget(stream, lengths[stream])
    return found
