"""Wait a while for a sandbox that cannot be started: an engine that was restarted is back within seconds."""

from __future__ import annotations

import time

PATIENCE = 20.0
"""Seconds that an engine may be away; waited for once, until it has been seen again."""
STEP = 0.25


class Return:
    """The waiting of one who starts sandboxes."""

    def __init__(self) -> None:
        """Nothing was missed yet."""
        self._since: float | None = None

    def worth_waiting(self) -> bool:
        """After a failure to start: whether to try again, and then a moment has passed."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since > PATIENCE:
            return False
        time.sleep(STEP)
        return True

    def seen(self) -> None:
        """It works."""
        self._since = None
