"""The exception of the cuPVA model."""

from __future__ import annotations

from ..constants import cupva as constants
from ..core.errors import ApiError

Error = constants.cupvaError_t

__all__ = ["CupvaError", "Error", "error", "invalid"]


class CupvaError(ApiError):
    """A cuPVA call that failed; ``status`` is a ``cupvaError_t``."""


def error(status: Error, explanation: str) -> CupvaError:
    return CupvaError(int(status), explanation)


def invalid(explanation: str) -> CupvaError:
    """CUPVA_INVALID_ARGUMENT: the value that is wrong, and the legal range."""
    return CupvaError(int(Error.CUPVA_INVALID_ARGUMENT), explanation)
