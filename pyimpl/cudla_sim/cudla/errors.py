"""cuDLA failures. Statuses and their meaning: cuDLA API reference, section 1.1 (cudlaStatus)."""

from __future__ import annotations

from ..constants.cudla import cudlaStatus as Status
from ..core.errors import ApiError


class CudlaError(ApiError):
    """A call that cuDLA refuses; ``status`` is the vendor's number."""


def invalid_param(explanation: str) -> CudlaError:
    return CudlaError(Status.cudlaErrorInvalidParam, explanation)


def invalid_address(explanation: str) -> CudlaError:
    return CudlaError(Status.cudlaErrorInvalidAddress, explanation)


def unsupported(explanation: str) -> CudlaError:
    return CudlaError(Status.cudlaErrorUnsupportedOperation, explanation)
