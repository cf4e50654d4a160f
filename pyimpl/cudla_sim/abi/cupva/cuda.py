"""``cupva_host_cuda.h``: PVA commands in CUDA streams, and CUDA memory."""

from __future__ import annotations

from typing import Any

from ...core import process
from ...core.process import Process
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.settings import Settings
from ...cudart.streams import Stream as CudaStream
from ...cupva.carried import CarriedQueue
from ...cupva.stream import VPU_ANY, Stream
from ..embedding import address, ffi
from .family import Error, cupva, error, invalid, machine, object_of, put, result, unsupported
from .streams import STREAM, affinity_of, engine_of, name_of, submit_buffer_to, submit_to


class _Cuda:
    """``carried``: the PVA's side of CUDA streams, by the CUDA stream."""

    def __init__(self, _: Process) -> None:
        self.disabled = False
        self.carried: dict[CudaStream, Stream] = {}


def _state() -> _Cuda:
    found: _Cuda = process.current().family("cupva.cuda", _Cuda)
    if found.disabled:
        raise error(
            Error.CUPVA_CUDA_DISABLED, "CupvaCudaForceDisableSupport() ended the use of CUDA"
        )
    return found


def _cuda_stream(value: Any) -> CudaStream:
    """Raises CupvaError(CUPVA_INVALID_ARGUMENT) for what is no stream of the program's own."""
    number = address(value)
    if number <= 2:
        name = ("0 (the default stream)", "cudaStreamLegacy", "cudaStreamPerThread")[number]
        raise invalid(f"cudaStream is {name}; it must be one that cudaStreamCreate... made")
    try:
        found = context.stream_of(number)
    except CudaError as failure:
        raise invalid(f"cudaStream: {failure.explanation}") from None
    if found.capturing:
        raise unsupported(
            "UnsupportedOperation: cudaStream is being captured into a graph; PVA commands cannot "
            "be part of one"
        )
    return found


def _carried(value: Any) -> Stream:
    """The PVA's side of a CUDA stream."""
    known = _state().carried
    cuda = _cuda_stream(value)
    for closed in [stream for stream in known if stream.closed]:
        del known[closed]
    if cuda not in known:
        made = Stream(machine().engines[0], VPU_ANY, cuda.name, CarriedQueue(cuda))
        known[cuda] = made
    return known[cuda]


@cupva.export("CupvaCudaMemImport")
def import_memory(target: Any, pointer: Any, size: int, access: int) -> None:
    result(target, "devPtr")
    _state()
    if access not in (1, 2, 3):
        raise invalid(f"accessType is {access}; CUPVA_READ (1), WRITE (2), READ_WRITE (3)")
    if size <= 0:
        raise invalid(f"size is {size}; it is at least 1 byte")
    begin = address(pointer)
    end = machine().cuda_end(begin)
    if end is None:
        raise invalid(
            f"cudaDevPtr {begin:#x} is no memory of CUDA; cudaMalloc gives it, and "
            "CupvaMemImportFromHostPtr imports memory of the program"
        )
    if begin + size > end:
        raise invalid(f"size is {size}; CUDA's memory has {end - begin} bytes from cudaDevPtr on")
    target[0] = ffi.cast("void *", machine().memory.take_in(begin, size))


@cupva.export("CupvaCudaCreateStream")
def create_stream(target: Any, stream: Any, engine: int, affinity: int) -> None:
    result(target, "stream")
    _state()
    where, wanted = engine_of(engine), affinity_of(affinity)
    cuda = _cuda_stream(stream)
    if cuda.blocking:
        raise invalid(
            "cudaStream waits for the default stream; cudaStreamCreateWithFlags with "
            "cudaStreamNonBlocking makes one that can carry PVA commands"
        )
    put(target, "cupvaStream_t", STREAM, Stream(where, wanted, cuda.name, CarriedQueue(cuda)))


@cupva.export("CupvaCudaContextSupportsCuda")
def supports_cuda(ctx: Any, flag: Any) -> None:
    result(flag, "cudaFlag")
    if ctx:
        object_of(ctx, "context", "ctx")
    state: _Cuda = process.current().family("cupva.cuda", _Cuda)
    flag[0] = not state.disabled and process.current().config.of(Settings).gpu != "none"


@cupva.export("CupvaCudaForceDisableSupport")
def disable() -> None:
    process.current().family("cupva.cuda", _Cuda).disabled = True


@cupva.export("CupvaCudaStreamSubmit")
def submit(
    stream: Any, cmds: Any, status: Any, count: int, order: int, execution: int, submission: int
) -> None:
    submit_to(_carried(stream), cmds, status, count, order, execution, submission)


@cupva.export("CupvaCudaStreamSubmitCmdBuffer")
def submit_buffer(stream: Any, buffer: Any, execution: int, submission: int) -> None:
    submit_buffer_to(_carried(stream), buffer, execution, submission)


@cupva.export("CupvaCudaStreamSetAffinity")
def set_affinity(stream: Any, affinity: int) -> None:
    wanted = affinity_of(affinity)
    _carried(stream).affinity = wanted


@cupva.export("CupvaCudaStreamSetName")
def set_name(stream: Any, name: Any) -> None:
    _carried(stream).name = name_of(name)
