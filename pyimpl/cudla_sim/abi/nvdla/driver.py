"""``nvdla_inf.h``: sessions, devices, memory and tasks of the user-mode portability layer.

As in the public Linux driver a session may be NULL everywhere, and what goes wrong below
NvDlaSubmit is NvDlaError_IoctlFailed. Source: nvdla/sw ``nvdla_inf.h`` and its Linux port.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...constants.nvdla import NVDLA_MAX_BUFFERS_PER_TASK
from ...core import process
from ...core.errors import ApiError
from ...core.memory import Region
from ..embedding import address, ffi, pointer
from .family import Handle, Status, checked, execution_errors, nvdla, the_machine

if TYPE_CHECKING:
    from ...nvdla.dla_core import Core
    from ...nvdla.kmd.list_port import Entry

_BAD = Status.NvDlaError_BadParameter


@dataclass(slots=True)
class Allocation:
    """Memory that a program got; ``size`` is what it asked for."""

    region: Region
    handle: int


def _session(session: Any) -> None:
    """Refuses what is neither NULL nor a session."""
    if session:
        nvdla.resolve(session, Handle.SESSION, "session_handle")


def device_core(device: Any) -> Core:
    """The core behind a device handle."""
    core: Core = nvdla.resolve(device, Handle.DEVICE, "device_handle")
    return core


@nvdla.export("NvDlaInitialize")
def initialize(session_handle: Any) -> None:
    nvdla.require(_BAD, session_handle=session_handle)
    current = process.current()
    session_handle[0] = pointer(current.handles.add(Handle.SESSION, object()))


@nvdla.export("NvDlaDestroy", status=False)
def destroy(session_handle: Any) -> None:
    if session_handle:
        handles = process.current().handles
        handles.remove(address(session_handle), Handle.SESSION, "NvDlaDestroy")


@nvdla.export("NvDlaOpen")
@checked
def open_device(session_handle: Any, instance: int, device_handle: Any) -> None:
    _session(session_handle)
    nvdla.require(_BAD, device_handle=device_handle)
    core = the_machine().core(instance)
    device_handle[0] = pointer(process.current().handles.add(Handle.DEVICE, core))


@nvdla.export("NvDlaClose", status=False)
def close_device(device_handle: Any) -> None:
    if device_handle:
        handles = process.current().handles
        handles.remove(address(device_handle), Handle.DEVICE, "NvDlaClose")


@nvdla.export("NvDlaAllocMem")
@checked
def allocate(
    session_handle: Any, device_handle: Any, mem_handle: Any, data: Any, size: int, heap: int
) -> None:
    _session(session_handle)
    device_core(device_handle)
    nvdla.require(_BAD, mem_handle=mem_handle, pData=data)
    if heap not in (0, 1):
        raise ApiError(_BAD, f"heap is {heap}; NvDlaHeap_System (0) or NvDlaHeap_SRAM (1)")
    region = the_machine().allocate(size)
    allocation = Allocation(region, 0)
    allocation.handle = process.current().handles.add(Handle.MEMORY, allocation)
    mem_handle[0] = pointer(allocation.handle)
    data[0] = pointer(region.base)


@nvdla.export("NvDlaFreeMem")
def free(session_handle: Any, device_handle: Any, mem_handle: Any, data: Any, size: int) -> None:
    _session(session_handle)
    device_core(device_handle)
    allocation = nvdla.resolve(mem_handle, Handle.MEMORY, "mem_handle")
    region = allocation.region
    if address(data) != region.base:
        raise ApiError(_BAD, f"pData is {address(data):#x}; this memory is at {region.base:#x}")
    if size != region.size:
        raise ApiError(_BAD, f"size is {size}; this memory has {region.size} bytes")
    process.current().handles.remove(allocation.handle, Handle.MEMORY, "NvDlaFreeMem")
    the_machine().memory.unmap(region)


def entries(task: Any) -> list[Entry]:
    """The resolved address list of an NvDlaTask."""
    from ...nvdla.kmd.list_port import Entry

    count = task.num_addresses
    if not 0 < count <= NVDLA_MAX_BUFFERS_PER_TASK:
        raise ApiError(
            _BAD, f"num_addresses is {count}; 1 to {NVDLA_MAX_BUFFERS_PER_TASK} expected"
        )
    found = []
    for position in range(count):
        item = task.address_list[position]
        region = nvdla.resolve(
            item.handle, Handle.MEMORY, f"address_list[{position}].handle"
        ).region
        if item.offset > region.size:
            raise ApiError(
                _BAD,
                f"address_list[{position}].offset is {item.offset}; the memory has"
                f" {region.size} bytes",
            )
        found.append(Entry(region.base, region.data, item.offset))
    return found


_FAULTS = {
    "dla/timeout": Status.NvDlaError_Timeout,
    "dla/task": Status.NvDlaError_IoctlFailed,
}


def _check_faults() -> None:
    """Raise ApiError where a fault rule says that the next task fails."""
    fault = process.current().faults.chosen(_FAULTS)
    if fault is not None:
        point, status = fault
        raise ApiError(status, f"the task was made to fail by the injected fault {point}")


@nvdla.export("NvDlaSubmit")
def submit(session_handle: Any, device_handle: Any, tasks: Any, num_tasks: int) -> None:
    _session(session_handle)
    core = device_core(device_handle)
    if num_tasks:
        nvdla.require(_BAD, tasks=tasks)
    for number in range(num_tasks):
        addresses = entries(tasks[number])
        _check_faults()
        with execution_errors():
            core.run_task(addresses)


@nvdla.export_as("NvDlaSubmit", "sim_nvdla_begin")
@checked
def begin(device: Any, task: Any, list_: Any, context: Any, config: Any) -> None:
    """A task that a firmware outside executes: resolves its addresses and claims the core."""
    core = device_core(device)
    _check_faults()
    for position, entry in enumerate(entries(task)):
        item = list_[position]
        item.data = ffi.cast("void *", entry.base)
        item.size, item.offset = len(entry.data), entry.offset
    hardware = core.config
    config[0:4] = [hardware.memory_atom, hardware.bdma, hardware.rubik, hardware.compression]
    the_machine().outside.begin()
    core.begin()
    context[0] = pointer(core.context)


@nvdla.export_as("NvDlaSubmit", "sim_nvdla_advance", status=False, failure=-1)
@checked
def advance(context: Any, interrupt: Any) -> int:
    core = nvdla.resolve(context, Handle.CONTEXT, "driver_context")
    moved = core.advance()
    interrupt[0] = core.chip.irq
    return int(moved)


@nvdla.export("sim_nvdla_end", status=False)
def end(context: Any) -> None:
    core: Core = nvdla.resolve(context, Handle.CONTEXT, "driver_context")
    core.end()
    the_machine().outside.end()
