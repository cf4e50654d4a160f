"""The one exception shape that the ABI layer turns into a status code."""

from __future__ import annotations


class ApiError(Exception):
    """A call that failed for a reason the API documents.

    ``status`` is the number that C gets. The text is one sentence for a person: which argument,
    what was found, what would have been right. Each API family derives its own class.
    """

    told = True  # by the setting ``explain``; what programs only try out is not
    called = ""  # what the program called, where a header's own function stands between

    def __init__(self, status: int, explanation: str) -> None:
        super().__init__(explanation)
        self.status = int(status)
        self.explanation = explanation


class ConfigError(ValueError):
    """A setting that does not exist, or a value it cannot take."""
