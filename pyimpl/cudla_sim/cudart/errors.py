"""CUDA failures."""

from __future__ import annotations

from ..constants.cudart import cudaError as Status
from ..core.errors import ApiError


class CudaError(ApiError):
    """A call that the runtime refuses; ``status`` is a cudaError_t."""


def invalid_value(explanation: str) -> CudaError:
    return CudaError(Status.cudaErrorInvalidValue, explanation)


def invalid_handle(explanation: str) -> CudaError:
    return CudaError(Status.cudaErrorInvalidResourceHandle, explanation)


def not_supported(explanation: str) -> CudaError:
    return CudaError(Status.cudaErrorNotSupported, f"not supported: {explanation}")
