"""``cudlaSubmitTask``: decoding tasks and events."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from struct import Struct
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
_WAITS, _SIGNALS = ffi.typeof("cudlaWaitEvents *"), ffi.typeof("cudlaSignalEvents *")


def _tensors(array: int, count: int, most: int) -> list[int]:
    """The pointers of a tensor array, no more of them than a legal task has."""
    found: list[int] = ffi.unpack(ffi.cast(_ADDRESSES, array), count if count < most else most)
    return found


def _wait_events(where: int, task: str) -> list[WaitEvent]:
    events = ffi.cast(_WAITS, where)
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


def _signal_events(where: int, task: str) -> list[SignalEvent]:
    events = ffi.cast(_SIGNALS, where)
    count = events.numEvents
    if count > 2 * MAX_FENCES:
        raise invalid_param(f"{task}.signalEvents.numEvents is {count}; at most {2 * MAX_FENCES}")
    if count and not events.devPtrs:
        raise invalid_param(f"{task}.signalEvents.devPtrs is NULL, but numEvents is {count}")
    found = []
    for index in range(count):
        semaphore = address(events.devPtrs[index])
        kind: int | None = None
        fill = None
        if events.eofFences:
            entry = events.eofFences[index]
            kind = int(entry.type)  # it counts without a fence too: it says when to signal
            if entry.fence:
                fill = partial(nvsci_sync.bind, ffi.cast("NvSciSyncFence *", entry.fence))
        found.append(SignalEvent(semaphore, kind, fill))
    return found


MAX_TASKS = 4096


# A struct's numbers at once: reading it member by member takes a microsecond for each task.
_MEMBERS = ffi.typeof("cudlaTask").fields
_TASK = Struct("=" + "".join({4: "I", 8: "Q"}[ffi.sizeof(m.type)] for _, m in _MEMBERS))
_TASK_SIZE = ffi.sizeof("cudlaTask")
assert _TASK.size == _TASK_SIZE, "cudlaTask has padding"
_in_order = itemgetter(
    *(
        [name for name, _ in _MEMBERS].index(wanted)
        for wanted in (
            "moduleHandle",
            "inputTensor",
            "numInputTensors",
            "outputTensor",
            "numOutputTensors",
            "waitEvents",
            "signalEvents",
        )
    )
)


def _request(members: tuple[int, ...], index: int) -> TaskRequest:
    handle, inputs, input_count, outputs, output_count, waits, signals = _in_order(members)
    module = None
    most_inputs = most_outputs = 0
    if handle:
        module = module_of(handle, f"ptrToTasks[{index}].moduleHandle")
        most_inputs = len(module.inputs)
        most_outputs = len(module.outputs) + len(module.statistics)
    return TaskRequest(
        module,
        _tensors(inputs, input_count, most_inputs) if inputs else None,
        _tensors(outputs, output_count, most_outputs) if outputs else None,
        input_count,
        output_count,
        _wait_events(waits, f"ptrToTasks[{index}]") if waits else None,
        _signal_events(signals, f"ptrToTasks[{index}]") if signals else None,
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
        read_host(address(tasks), count * _TASK_SIZE)  # a wrong count must not crash
    target = _stream(found, int(ffi.cast(UINTPTR, stream)))
    members = _TASK.iter_unpack(ffi.buffer(tasks, count * _TASK_SIZE))
    submit.submit(found, [_request(m, i) for i, m in enumerate(members)], target, flags)
