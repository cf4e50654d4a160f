"""Reading what DPU programs print, and the texts of statuses."""

from __future__ import annotations

from typing import Any

from ...core import process
from ...core.pages import accessible
from ...upmem import errors, log, notices, printed
from ...upmem.rank import Dpu
from ..embedding import address, ffi, lib
from .family import DpuError, Status, error, invalid_set, resolve_dpu, selection, upmem


def _text(dpu: Dpu) -> bytes:
    """Raises DpuError: as the library of the SDK does, which reads MRAM without waiting."""
    if not dpu.enabled:
        raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {dpu.name} is disabled")
    runs = dpu.rank.settle()
    try:
        text = dpu.log.encode(errors="replace")
    except DpuError as refused:
        if refused.status == Status.DPU_ERR_LOG_CONTEXT_MISSING:
            notices.refuse("dpu_log_read", refused.explanation)
        raise
    # What a natively compiled program has printed is known when it has ended.
    if runs and (text or dpu.program is None or dpu.program.code is None):
        raise error(
            Status.DPU_ERR_MRAM_BUSY,
            f"DPUs of rank {dpu.rank.id} run, and what they print is in MRAM, which is theirs "
            "meanwhile; dpu_sync waits for them",
        )
    return text


def _write(stream: Any, text: bytes) -> None:
    if not stream:
        raise error(Status.DPU_ERR_SYSTEM, "stream is NULL; it is an open FILE")
    if lib.sim_stream_write(stream, text, len(text)) != len(text):
        raise error(Status.DPU_ERR_SYSTEM, "the stream does not take the text (is it writable?)")


@upmem.export("dpu_log_read")
def log_read(given: Any, stream: Any) -> None:
    chosen = selection(given)
    if chosen.count != 1:
        raise invalid_set(
            f"the set has {chosen.count} DPUs; logs are read from one (DPU_FOREACH gives them)"
        )
    dpu = chosen.dpus[0]
    _write(stream, log.HEADER.format(dpu.id).encode())
    _write(stream, _text(dpu))


@upmem.export("dpulog_read_for_dpu")
def log_read_for_dpu(dpu: Any, stream: Any) -> None:
    """The text without the head that dpu_log_read writes first."""
    _write(stream, _text(resolve_dpu(dpu)))


def _print(text: bytes, function: Any, argument: Any) -> None:
    if not function:
        raise error(Status.DPU_ERR_SYSTEM, "print_fct is NULL; it takes the text")
    answer = process.current().native.calls.dpu_print(
        address(function), address(argument), text.replace(b"\0", b"")
    )
    if answer:
        raise DpuError(answer, f"the print function answered {answer}")


@upmem.export("dpulog_read_for_dpu_")
def log_read_with(dpu: Any, function: Any, argument: Any) -> None:
    _print(_text(resolve_dpu(dpu)), function, argument)


@upmem.export("dpulog_read_and_display_contents_of")
def log_display(buffer: Any, size: int, function: Any, argument: Any) -> None:
    if size and not accessible(address(buffer), size):
        raise error(Status.DPU_ERR_LOG_FORMAT, f"input is not memory for {size} bytes")
    log = bytes(ffi.buffer(buffer, size)) if size else b""
    if not printed.holds_messages(log):
        _print(log.split(b"\0", 1)[0], function, argument)
        return
    try:
        text = printed.text(log)
    except printed.LogFormatError as cause:
        raise error(Status.DPU_ERR_LOG_FORMAT, f"input is no log: {cause}") from None
    _print(text.encode(errors="replace"), function, argument)


@upmem.export("dpu_error_to_string", status=False, failure=ffi.NULL)
def error_to_string(status: int) -> Any:
    text = errors.text(int(status)).encode() + b"\0"
    copy = lib.malloc(len(text))  # the caller frees it
    ffi.memmove(copy, text, len(text))
    return ffi.cast("char *", copy)
