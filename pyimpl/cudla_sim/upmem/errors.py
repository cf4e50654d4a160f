"""The exception of the UPMEM model, and the texts of its statuses."""

from __future__ import annotations

from ..constants import upmem as constants
from ..core.errors import ApiError

Status = constants.dpu_error_t

__all__ = [
    "ASYNC_JOB_SHIFT",
    "JOBS",
    "TEXTS",
    "DpuError",
    "Status",
    "async_word",
    "error",
    "text",
]

ASYNC_JOB_SHIFT = 16
"""DPU_ERROR_ASYNC_JOB_TYPE_SHIFT: where an asynchronous error word holds its job."""

# dpu_error_to_string of SDK 2025.1, by number.
TEXTS = (
    "success",
    "internal error",
    "system error",
    "driver error",
    "dpu allocation error",
    "invalid action for this dpu set",
    "invalid thread id",
    "invalid notify id",
    "invalid wram access",
    "invalid iram access",
    "invalid mram access",
    "invalid memory symbol access",
    "mram is busy",
    "dpu transfer is already set",
    "invalid parallel transfer (should be to/from WRAM)",
    "cannot push to WRAM FIFO, FIFO full",
    "no program has been loaded in the dpu set",
    "cannot access symbol on dpus with different programs",
    "corrupted memory",
    "dpu is disabled",
    "dpu is already running",
    "invalid memory transfer",
    "invalid launch policy",
    "dpu is in fault",
    "invalid ELF file",
    "no such ELF file",
    "no such ELF section",
    "result timeout",
    "invalid profile",
    "undefined symbol",
    "logging format error",
    "logging context missing",
    "logging buffer too small",
    "invalid VPD file",
    "repairs have not been generated",
    "no thread to perform multiple-rank operation",
    "invalid buffer size",
    "nonblocking and synchronous callback is invalid",
    "dpu program uses more tasklets than the hardware has threads",
    "scatter/gather transfer prepare exceed max number of blocks",
    "scatter/gather transfer mismatch between nr bytes in blocks and length",
    "scatter/gather transfer not activated",
    "scatter/gather transfer unsupported symbol (must be a mram symbol)",
)

# What an asynchronous error word names, by job number.
JOBS = (
    "unknown job type",
    "launch_rank",
    "launch_dpu",
    "synchronization",
    "synchronization parallel",
    "copy_wram_to_matrix",
    "parallel_copy_wram_to_matrix",
    "parallel_copy_wram_to_fifo",
    "copy_iram_to_matrix",
    "copy_mram_to_matrix",
    "copy_wram_from_matrix",
    "parallel_copy_wram_from_matrix",
    "parallel_copy_wram_from_fifo",
    "copy_iram_from_matrix",
    "copy_mram_from_matrix",
    "copy_wram_to_rank",
    "copy_iram_to_rank",
    "copy_mram_to_rank",
    "callback",
)


class DpuError(ApiError):
    """A UPMEM call that failed; ``status`` is a ``dpu_error_t`` or an asynchronous error word."""


def error(status: Status, explanation: str) -> DpuError:
    return DpuError(int(status), explanation)


def async_word(job: str, status: int) -> int:
    """The 32-bit word that dpu_sync answers for a failed job, as the signed number it is in C."""
    if status & int(Status.DPU_ERR_ASYNC_JOBS):
        return status
    return int(Status.DPU_ERR_ASYNC_JOBS) | JOBS.index(job) << ASYNC_JOB_SHIFT | status


def text(status: int) -> str:
    """What dpu_error_to_string answers, for plain statuses and asynchronous error words."""
    status &= 0xFFFFFFFF
    flag = int(Status.DPU_ERR_ASYNC_JOBS) & 0xFFFFFFFF
    if status & flag:
        job, code = (status & ~flag) >> ASYNC_JOB_SHIFT, status & 0xFFFF
        name = JOBS[job] if job < len(JOBS) else JOBS[0]
        return f"asynchronous operation error ({name}): {_plain(code)} (0x{status & ~flag:x})"
    return _plain(status)


def _plain(status: int) -> str:
    return TEXTS[status] if status < len(TEXTS) else "unknown error"
