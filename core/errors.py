"""Errors with one root: each says what is wrong and what to do next."""


class InspectorError(Exception):
    """Any error RTC Inspector raises on purpose: one sentence says what is wrong, one what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}\n{remedy}")
        self.problem = problem
        self.remedy = remedy


class UserError(InspectorError):
    """Something the user can mend: exit status 2, or a notice in the window."""


class ProjectError(UserError):
    """The project cannot be opened, or has nothing to round-trip."""


class TargetError(UserError):
    """The target's interpreter lacks something its tests need."""


class SandboxError(UserError):
    """No sandbox can be started, or the one asked for is missing."""


class ModelError(UserError):
    """A model file cannot be used: truncated, not a GGUF, unsupported, an embedding model."""


class StoreError(UserError):
    """A database cannot be used: locked, newer, corrupt, not a database, disk full."""


class WorkerDied(InspectorError):
    """The model worker ended while a request was in flight; a new one may take over."""


class Cancelled(InspectorError):
    """The user asked to stop; what was finished is stored, the rest can be resumed."""

    def __init__(self) -> None:
        super().__init__("The run was stopped.", "Resume it to go on where it ended.")


class NothingRead(InspectorError):
    """A run whose first answers say nothing: it is held, and goes on when it is resumed."""


class Bug(InspectorError):
    """A broken assumption of ours; never the user's fault."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, "This is a bug in RTC Inspector: please report it with the lines above.")
