"""Behind ``nvdla::IRuntime``: the gates of ``shim/internal.h``."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...core import process
from ...core.memory import host_bytes, readable_size
from ...nvdla.errors import NvdlaError, Status
from ...nvdla.loadable import PACKAGE, Loadable, MemoryFlags
from ...nvdla.runtime import PlacedMemory, Runtime
from ..embedding import address, ffi, pointer
from ..entry import Handler
from .family import Handle, checked, nvdla, the_machine

_TENSOR = struct.Struct("<81s7xQ4i5B3x8I")
"""IRuntime::NvDlaTensor: name, size, dims, format, type, category, pixel format, mapping, strides.
"""

_FLAGS = (MemoryFlags.INPUT, MemoryFlags.OUTPUT)


class _Object:
    """An IRuntime object: the model, and what its C++ half still has to allocate or free."""

    def __init__(self) -> None:
        self.model = Runtime(the_machine().settle)
        self.wanted: list[tuple[int, int, bool]] = []
        self.owned: list[tuple[int, int, int]] = []


def _object(runtime: Any) -> _Object:
    found: _Object = nvdla.resolve(runtime, Handle.RUNTIME, "the runtime")
    return found


def _call(name: str, method: str) -> Callable[[Handler], Handler]:
    """Attaches a private function under the name of the method that uses it."""

    def attach(handler: Handler) -> Handler:
        nvdla.export_as("nvdla::" + method, "sim__nvdla_" + name)(checked(handler))
        return handler

    return attach


@_call("create", "createRuntime")
def create(runtime: Any) -> None:
    runtime[0] = pointer(process.current().handles.add(Handle.RUNTIME, _Object()))


@_call("destroy", "destroyRuntime")
def destroy(runtime: Any) -> None:
    process.current().handles.remove(address(runtime), Handle.RUNTIME, "destroyRuntime")


@_call("cores", "IRuntime::getMaxDevices")
def cores(count: Any) -> None:
    count[0] = the_machine().count


@_call("emulator", "IRuntime::initEMU")
def emulator(runtime: Any, on: int) -> None:
    _object(runtime).model.emulator = bool(on)


@_call("load", "IRuntime::load")
def load(runtime: Any, image: Any, memories: Any) -> None:
    target = _object(runtime)
    if not image:
        raise NvdlaError("buf is NULL; expected the bytes of a loadable", Status.BAD_PARAMETER)
    start = address(image)
    size = readable_size(start)  # the interface has no size: the mapping is all we can know
    if not size:
        raise NvdlaError(f"buf ({start:#x}) is no readable memory", Status.BAD_PARAMETER)
    data = host_bytes(start, size).data
    if bytes(data[: len(PACKAGE)]) == PACKAGE:
        raise NvdlaError(
            "buf is a network in parts, and this interface has no place for those on the host;"
            " cudlaModuleLoadFromMemory takes it",
            Status.NOT_SUPPORTED,
        )
    target.wanted = target.model.load(Loadable.parse(data))
    memories[0] = len(target.wanted)


@_call("memory", "IRuntime::load")
def memory(runtime: Any, position: int, size: Any, sram: Any) -> None:
    _, size[0], sram[0] = _object(runtime).wanted[position]


@_call("place", "IRuntime::load")
def place(runtime: Any, position: int, handle: Any, data: Any) -> None:
    target = _object(runtime)
    target.model.place(target.wanted[position][0], address(handle), address(data))


@_call("loaded", "IRuntime::load")
def loaded(runtime: Any) -> None:
    _object(runtime).model.settle()


@_call("unload", "IRuntime::unload")
def unload(runtime: Any) -> None:
    target = _object(runtime)
    target.owned += target.model.unload()


@_call("freed", "IRuntime::unload")
def freed(runtime: Any, handle: Any, data: Any, size: Any) -> None:
    owned = _object(runtime).owned
    number, where, count = owned.pop() if owned else (0, 0, 0)
    handle[0], data[0], size[0] = pointer(number), pointer(where), count


@_call("bind", "IRuntime::bindTensor")
def bind(runtime: Any, output: int, index: int, handle: Any, data: Any, size: int) -> None:
    place = PlacedMemory(address(handle), address(data), size)
    _object(runtime).model.bind(_FLAGS[output], index, place)


@_call("count", "IRuntime::getNumTensors")
def count(runtime: Any, output: int, result: Any) -> None:
    if not result:
        raise NvdlaError("the result pointer is NULL", Status.BAD_PARAMETER)
    result[0] = _object(runtime).model.count(_FLAGS[output])


@_call("tensor", "IRuntime::getTensorDesc")
def tensor(runtime: Any, output: int, index: int, result: Any) -> None:
    if not result:
        raise NvdlaError("the descriptor is NULL", Status.BAD_PARAMETER)
    desc = _object(runtime).model.tensor(_FLAGS[output], index)
    raw = _TENSOR.pack(
        desc.name.encode()[:80],
        desc.size,
        *(desc.n, desc.c, desc.h, desc.w),
        *(desc.data_format, desc.data_type, desc.data_category),
        *(desc.pixel_format, desc.pixel_mapping),
        *desc.strides,
    )
    ffi.memmove(result, raw, len(raw))


@_call("set_tensor", "IRuntime::setTensorDesc")
def set_tensor(runtime: Any, output: int, index: int, wanted: Any) -> None:
    if not wanted:
        raise NvdlaError("the descriptor is NULL", Status.BAD_PARAMETER)
    model = _object(runtime).model
    have = model.tensor(_FLAGS[output], index)
    name, _, n, c, h, w, *rest = _TENSOR.unpack(bytes(ffi.buffer(wanted, _TENSOR.size)))
    text = name.split(b"\0")[0].decode(errors="replace")
    same = text == have.name.encode()[:80].decode(errors="replace")
    data_format, data_type, data_category, pixel_format, pixel_mapping, *strides = rest
    asked = replace(
        have,
        name=have.name if same else text,
        data_format=data_format,
        data_type=data_type,
        data_category=data_category,
        pixel_format=pixel_format,
        pixel_mapping=pixel_mapping,
        n=n,
        c=c,
        h=h,
        w=w,
        strides=tuple(strides),
    )
    model.set_tensor(_FLAGS[output], index, asked)


@_call("begin", "IRuntime::submit")
def begin(runtime: Any) -> None:
    _object(runtime).model.begin()


@_call("next", "IRuntime::submit")
def next_task(runtime: Any, task: Any, more: Any) -> None:
    found = _object(runtime).model.next()
    more[0] = found is not None
    if found is None:
        return
    task.task_id = found.number
    task.num_addresses = len(found.addresses)
    for position, (handle, offset) in enumerate(found.addresses):
        item = task.address_list[position]
        item.handle, item.offset = pointer(handle), offset
