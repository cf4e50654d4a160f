"""NvSci failures."""

from __future__ import annotations

from ..constants.nvsci import NvSciError as Status
from ..core.errors import ApiError


class NvSciError(ApiError):
    """A call that NvSci refuses; ``status`` is the vendor's number."""


def bad_parameter(explanation: str) -> NvSciError:
    return NvSciError(Status.NvSciError_BadParameter, explanation)
