"""Modules and their tensor descriptors."""

from __future__ import annotations

from typing import Any

from ...constants.cudla import cudlaModuleAttributeType as ModuleAttribute
from ...constants.cudla import cudlaModuleLoadFlags as LoadFlag
from ...constants.cudla import cudlaStatus as Status
from ...core import process
from ...core.memory import MemoryFault, read_host
from ...cudla.errors import CudlaError, invalid_param
from ...cudla.module import NAME_LENGTH, TensorDescriptor
from ..embedding import address, ffi
from .family import MODULE, cudla, device_of, module_of, null, only_flags


@cudla.export("cudlaModuleLoadFromMemory")
def module_load(dev_handle: Any, image: Any, size: int, module: Any, flags: int) -> None:
    device = device_of(dev_handle)
    null(hModule=module)
    only_flags(flags, 1, "CUDLA_MODULE_DEFAULT (0), CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS (1)")
    data: bytes | None = None
    if flags == LoadFlag.CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS:
        if image or size:
            raise invalid_param(
                "pModule and moduleSize must be NULL and 0 for the built-in diagnostics module"
            )
    else:
        if not image or not size:
            raise invalid_param(
                f"pModule is {'NULL' if not image else 'set'} and moduleSize is {size}; they are "
                "a loadable in memory and its size in bytes"
            )
        data = _read_image(address(image), size)
    with device.exclusive():
        handle = process.current().handles.add(MODULE, device.load(data))
        module[0] = ffi.cast("cudlaModule", handle)


def _read_image(where: int, size: int) -> bytes:
    if size > 1 << 32:
        raise invalid_param(f"moduleSize is {size}; no loadable has more than 4 GiB")
    try:
        return read_host(where, size)
    except MemoryFault as fault:
        raise invalid_param(f"pModule and moduleSize: {fault.explanation}") from None


@cudla.export("cudlaModuleUnload")
def module_unload(module: Any, flags: int) -> None:
    device = module_of(module).owner
    only_flags(flags, 0, "only 0")
    with device.exclusive():
        loaded = module_of(module)  # again: another thread may have unloaded it meanwhile
        device.raise_earlier_fault()
        device.unload(loaded)
        process.current().handles.remove(address(module), MODULE, "cudlaModuleUnload")


def _fill(target: Any, tensor: TensorDescriptor) -> None:
    name = tensor.name.encode(errors="replace")[:NAME_LENGTH]
    ffi.memmove(target.name, name + b"\0" * (NAME_LENGTH + 1 - len(name)), NAME_LENGTH + 1)
    target.size, target.n, target.c, target.h, target.w = (
        tensor.size,
        tensor.n,
        tensor.c,
        tensor.h,
        tensor.w,
    )
    target.dataFormat = tensor.data_format
    target.dataType = tensor.data_type
    target.dataCategory = tensor.data_category
    target.pixelFormat = tensor.pixel_format
    target.pixelMapping = tensor.pixel_mapping
    for index, stride in enumerate(tensor.strides):
        target.stride[index] = stride


@cudla.export("cudlaModuleGetAttributes")
def module_attributes(module: Any, kind: int, answer: Any) -> None:
    found = module_of(module)
    null(attribute=answer)
    if kind not in list(ModuleAttribute):
        raise CudlaError(Status.cudlaErrorInvalidAttribute, f"attrType is {kind}; it is 0 to 5")
    tensors = {
        0: found.inputs,
        1: found.outputs,
        2: found.inputs,
        3: found.outputs,
        4: found.statistics,
        5: found.statistics,
    }[kind]
    if kind == ModuleAttribute.CUDLA_NUM_INPUT_TENSORS:
        answer.numInputTensors = len(tensors)
    elif kind in (
        ModuleAttribute.CUDLA_NUM_OUTPUT_TENSORS,
        ModuleAttribute.CUDLA_NUM_OUTPUT_TASK_STATISTICS,
    ):
        answer.numOutputTensors = len(tensors)
    else:
        target = answer.inputTensorDesc
        if not target and tensors:
            raise invalid_param(
                f"attribute holds no array; it must point to memory for {len(tensors)} "
                "cudlaModuleTensorDescriptor"
            )
        for index, tensor in enumerate(tensors):
            _fill(target[index], tensor)
