"""``cudlaSubmitTask``: decoding tasks and events."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...constants.cudla import cudlaStatus as Status
from ...core.memory import read_host
from ...cudart.errors import CudaError
from ...cudla import submit
from ...cudla.device import Device
from ...cudla.errors import CudlaError, invalid_param, unsupported
from ...cudla.task import MAX_FENCES, SignalEvent, TaskRequest, WaitEvent
from ...nvsci.errors import NvSciError
from ..embedding import UINTPTR, address, ffi
from ..nvsci import sync as nvsci_sync
from .family import cudla, device_of, module_of


def _stream(device: Device, handle: int) -> Any:
    """The CUDA stream of a submission; None in standalone mode."""
    if device.context is None:
        if handle:
            raise invalid_param("stream must be NULL: a standalone device takes tasks in order")
        return None
    try:
        found = device.context.streams.resolve(handle)
    except CudaError as error:
        raise CudlaError(Status.cudlaErrorCuda, error.explanation) from None
    if found.capturing:
        raise unsupported("stream is being captured into a graph; a DLA task cannot be part of one")
    return found


_ADDRESSES = ffi.typeof("uintptr_t *")


def _tensors(array: Any, count: int, most: int) -> list[int] | None:
    """The pointers of a tensor array, no more of them than a legal task has."""
    return ffi.unpack(ffi.cast(_ADDRESSES, array), min(count, most)) if array else None


def _wait_events(events: Any, task: str) -> list[WaitEvent] | None:
    if not events:
        return None
    count = events.numEvents
    if count > MAX_FENCES:
        raise invalid_param(f"{task}.waitEvents.numEvents is {count}; at most {MAX_FENCES}")
    if count and not events.preFences:
        raise invalid_param(f"{task}.waitEvents.preFences is NULL, but numEvents is {count}")
    found = []
    for index in range(count):
        entry = events.preFences[index]
        what = f"{task}.waitEvents.preFences[{index}].fence"
        if not entry.fence:
            raise invalid_param(f"{what} is NULL; it points to an NvSciSyncFence")
        try:
            bound = nvsci_sync.bound(ffi.cast("NvSciSyncFence *", entry.fence))
        except NvSciError as error:
            raise CudlaError(Status.cudlaErrorNvSci, f"{what}: {error.explanation}") from None
        found.append(WaitEvent(bound and bound.sync, bound and bound.fence, int(entry.type)))
    return found


def _signal_events(events: Any, task: str) -> list[SignalEvent] | None:
    if not events:
        return None
    count = events.numEvents
    if count > 2 * MAX_FENCES:
        raise invalid_param(f"{task}.signalEvents.numEvents is {count}; at most {2 * MAX_FENCES}")
    if count and not events.devPtrs:
        raise invalid_param(f"{task}.signalEvents.devPtrs is NULL, but numEvents is {count}")
    found = []
    for index in range(count):
        where = address(events.devPtrs[index])
        kind: int | None = None
        fill = None
        if events.eofFences:
            entry = events.eofFences[index]
            if entry.fence:
                fill = partial(nvsci_sync.bind, ffi.cast("NvSciSyncFence *", entry.fence))
                kind = int(entry.type)
        found.append(SignalEvent(where, kind, fill))
    return found


MAX_TASKS = 4096


def _request(task: Any, index: int) -> TaskRequest:
    name = f"ptrToTasks[{index}]"
    module = None
    inputs = outputs = 0
    if task.moduleHandle:
        module = module_of(task.moduleHandle, argument=f"{name}.moduleHandle")
        inputs = len(module.inputs)
        outputs = len(module.outputs) + len(module.statistics)
    return TaskRequest(
        module,
        _tensors(task.inputTensor, task.numInputTensors, inputs),
        _tensors(task.outputTensor, task.numOutputTensors, outputs),
        task.numInputTensors,
        task.numOutputTensors,
        _wait_events(task.waitEvents, name),
        _signal_events(task.signalEvents, name),
    )


@cudla.export("cudlaSubmitTask")
def submit_task(dev_handle: Any, tasks: Any, count: int, stream: Any, flags: int) -> None:
    found = device_of(dev_handle)
    if not tasks:
        raise invalid_param("ptrToTasks is NULL; it points to numTasks tasks")
    if not 1 <= count <= MAX_TASKS:
        raise invalid_param(f"numTasks is {count}; it is 1 to {MAX_TASKS}")
    if flags & ~submit.ALL_FLAGS:
        raise invalid_param(
            f"flags is {flags:#x}; valid are the cudlaSubmissionFlags NOOP 1, SKIP_LOCK 2, "
            "DIAGNOSTICS 4"
        )
    if count > 16:
        read_host(address(tasks), count * ffi.sizeof("cudlaTask"))  # a wrong count must not crash
    target = _stream(found, int(ffi.cast(UINTPTR, stream)))
    submit.submit(found, [_request(tasks[i], i) for i in range(count)], target, flags)
