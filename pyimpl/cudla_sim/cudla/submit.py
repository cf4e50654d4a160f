"""cudlaSubmitTask: all rules of the reference, then one Task per entry, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..constants.cudla import cudlaStatus as Status
from ..constants.cudla import cudlaSubmissionFlags as Flag
from ..cudart.errors import CudaError
from .bound import Bound
from .device import Device
from .errors import CudlaError, invalid_address, invalid_param, unsupported
from .memory import Registered
from .module import TensorDescriptor
from .task import NO_EVENTS, Events, Task, TaskRequest

_NOOP = int(Flag.CUDLA_SUBMIT_NOOP)
_DIAGNOSTICS = int(Flag.CUDLA_SUBMIT_DIAGNOSTICS_TASK)
ALL_FLAGS = _NOOP | int(Flag.CUDLA_SUBMIT_SKIP_LOCK_ACQUIRE) | _DIAGNOSTICS


def submit(device: Device, requests: Sequence[TaskRequest], stream: Any, flags: int) -> list[Task]:
    """Checks and enqueues; returns the tasks (none for an event-only submission).

    ``stream`` is the CUDA stream in hybrid mode and None in standalone mode. Raises CudlaError;
    then nothing was enqueued.
    """
    with device.lock:
        device.require_open()
        device.raise_earlier_fault()
        if stream is not None and stream.context.sticky is not None:
            _check_context(stream)
        diagnostics = bool(flags & _DIAGNOSTICS)
        for index, request in enumerate(requests):
            _check_shape(device, index, request, len(requests), diagnostics)
        if not device.hybrid and requests[0].inputs is None and requests[0].outputs is None:
            _store_events(device, requests[0])
            return []
        bound = [_bound(device, i, request, diagnostics) for i, request in enumerate(requests)]
        events = [_events(r) if r.waits or r.signals else NO_EVENTS for r in requests]
        return _enqueue(device, bound, events, stream, bool(flags & _NOOP))


def _enqueue(
    device: Device, bound: list[Bound], events: list[Events], stream: Any, noop: bool
) -> list[Task]:
    """Makes the tasks of a checked submission, with the events that earlier calls stored."""
    stored = device.pending
    if stored is not NO_EVENTS:
        events[0] = Events([*stored.waits, *events[0].waits], events[0].signals)
        events[-1] = Events(events[-1].waits, [*stored.signals, *events[-1].signals])
    for carried in events:
        if carried is not NO_EVENTS:  # the stored ones wait for a submission that is in order
            carried.check(device.memory)
    device.pending = NO_EVENTS
    tasks = [
        Task(device, found, noop, carried) for found, carried in zip(bound, events, strict=True)
    ]
    for task in tasks:
        if task.events is not NO_EVENTS:
            task.events.reserve()
            task.promise()
        if device.hybrid:
            device.enqueue_on(stream, task)
        else:
            device.enqueue(task)
    return tasks


def _check_context(stream: Any) -> None:
    """A CUDA context that asynchronous work ruined takes nothing until cudaDeviceReset."""
    try:
        stream.context.check()
    except CudaError as error:
        raise CudlaError(
            Status.cudlaErrorCuda,
            f"the CUDA context has failed ({error.explanation}); cudaDeviceReset ends that",
        ) from None


def _check_shape(
    device: Device, index: int, request: TaskRequest, count: int, diagnostics: bool
) -> None:
    """Which fields a task must and must not have, by mode."""
    if (
        request.inputs is not None
        and request.outputs is not None
        and not diagnostics
        and not (device.hybrid and (request.waits is not None or request.signals is not None))
    ):
        return
    task = f"ptrToTasks[{index}]"
    if device.hybrid and (request.waits is not None or request.signals is not None):
        raise unsupported(
            f"{task} has wait or signal events; a hybrid device takes its order from the stream"
        )
    if diagnostics:
        if request.inputs is not None or request.outputs is None:
            raise unsupported(
                f"{task}: a diagnostics task has no input tensors and must have output tensors"
            )
        return
    if device.hybrid and (request.inputs is None or request.outputs is None):
        raise unsupported(f"{task}: inputTensor and outputTensor must not be NULL in hybrid mode")
    if (request.inputs is None) != (request.outputs is None):
        raise unsupported(
            f"{task}: only one of inputTensor and outputTensor is NULL; both for an event-only "
            "submission, none for a task"
        )
    if request.inputs is None and count != 1:
        raise unsupported(f"numTasks is {count}; an event-only submission is a single task")


def _events(request: TaskRequest) -> Events:
    if not request.waits and not request.signals:
        return NO_EVENTS
    return Events(list(request.waits or []), list(request.signals or []))


def _store_events(device: Device, request: TaskRequest) -> None:
    """An event-only submission replaces what an earlier one stored for the next task."""
    events = _events(request)
    events.check(device.memory)
    events.reserve()
    device.pending = events


def _bound(device: Device, index: int, request: TaskRequest, diagnostics: bool) -> Bound:
    """The module and every tensor of a task."""
    if diagnostics:
        return _search(device, index, request, True)
    key = request.key
    found = device.known.of(key)
    if found is None:
        signature = device.known.signature  # of before: what changes meanwhile is missed later
        found = _search(device, index, request, False)
        device.known.keep(key, found, signature)
    return found


def _search(device: Device, index: int, request: TaskRequest, diagnostics: bool) -> Bound:
    """Looks up the module and every tensor of a task."""
    module = request.module
    if module is None or module not in device.modules:
        raise CudlaError(
            Status.cudlaErrorInvalidModule,
            f"ptrToTasks[{index}].moduleHandle is not a module of this device handle",
        )
    if module.diagnostics != diagnostics:
        raise unsupported(
            f"ptrToTasks[{index}].moduleHandle is {'the' if module.diagnostics else 'not the'} "
            "diagnostics module; CUDLA_SUBMIT_DIAGNOSTICS_TASK and that module go together"
        )
    inputs = [] if request.inputs is None else request.inputs
    outputs = [] if request.outputs is None else request.outputs
    if request.inputs is not None and request.input_count != len(module.inputs):
        raise invalid_param(
            f"ptrToTasks[{index}].numInputTensors is {request.input_count}; the module has "
            f"{len(module.inputs)}"
        )
    plain, with_statistics = len(module.outputs), len(module.outputs) + len(module.statistics)
    if request.output_count not in (plain, with_statistics):
        raise invalid_param(
            f"ptrToTasks[{index}].numOutputTensors is {request.output_count}; the module has "
            f"{plain} outputs"
            + (f", {with_statistics} with statistics buffers" if module.statistics else "")
        )
    where = _Where(device, index, module)
    bound = _lookup(where, "input", inputs, module.inputs, write=False)
    bound += _lookup(where, "output", outputs[:plain], module.outputs, write=True)
    if request.output_count == plain:
        return Bound(module, inputs, outputs, [], [*bound, module])
    stats = _lookup(where, "output", outputs[plain:], module.statistics, True, plain)
    for number, entry in enumerate(stats, plain):
        if not entry.is_statistics:
            raise invalid_param(
                f"ptrToTasks[{index}].outputTensor[{number}] takes statistics, but its memory was "
                "registered without CUDLA_TASK_STATISTICS"
            )
    return Bound(module, inputs, outputs[:plain], stats, [*bound, *stats, module])


class _Where(NamedTuple):
    """What a tensor is bound for."""

    device: Device
    task: int
    module: Any

    def fitting(self, size: int) -> str:
        """A tensor of the module that has exactly this size, for a hint."""
        for what, tensors in (("input", self.module.inputs), ("output", self.module.outputs)):
            for number, tensor in enumerate(tensors):
                if tensor.size == size:
                    return f"; it would fit {what}Tensor[{number}] ({tensor.name})"
        return ""


def _lookup(
    where: _Where,
    what: str,
    addresses: Sequence[int],
    descriptors: Sequence[TensorDescriptor],
    write: bool,
    first: int = 0,
) -> list[Registered]:
    """The registrations behind a task's tensors. ``first`` is the number of the first one."""
    memory, index = where.device.memory, where.task
    found = []
    for number, (address, tensor) in enumerate(zip(addresses, descriptors, strict=False), first):
        try:
            entry = memory.lookup(address, tensor.size)
            if write and not entry.region.writable:
                raise invalid_address("is written, but registered with CUDLA_READ_ONLY_PERM")
        except CudlaError as error:
            name = f"ptrToTasks[{index}].{what}Tensor[{number}] ({tensor.name})"
            size = memory.size_at(address)
            hint = where.fitting(size) if 0 < size < tensor.size else ""
            raise CudlaError(error.status, f"{name} {error.explanation}{hint}") from None
        found.append(entry)
    return found
