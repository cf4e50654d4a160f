"""Devices, errors and timeouts."""

from __future__ import annotations

from typing import Any

from ...constants.cudla import cudlaDevAttributeType as DevAttribute
from ...constants.cudla import cudlaMode as Mode
from ...constants.cudla import cudlaScratchMemoryConfig as Scratch
from ...constants.cudla import cudlaStatus as Status
from ...core import explain, process
from ...cudart import context as cuda
from ...cudart.errors import CudaError
from ...cudla import device as devices
from ...cudla.device import MAX_TIMEOUT_MS
from ...cudla.errors import CudlaError, invalid_param, unsupported
from ...cudla.settings import Settings
from ..embedding import address, ffi
from .family import DEVICE, MODULE, cudla, device_of, null


@cudla.export("cudlaDeviceGetCount")
def device_count(count: Any) -> None:
    null(pNumDevices=count)
    count[0] = len(devices.dla(process.current()).cores)


@cudla.export("cudlaCreateDevice")
def create_device(device: int, dev_handle: Any, flags: int) -> None:
    null(devHandle=dev_handle)
    mode = flags & ~Scratch.CUDLA_SCRATCH_MEMORY_SHARED_STATIC
    if mode not in (Mode.CUDLA_CUDA_DLA, Mode.CUDLA_STANDALONE):
        raise invalid_param(
            f"flags is {flags:#x}; CUDLA_CUDA_DLA (0) or CUDLA_STANDALONE (1), perhaps with "
            "CUDLA_SCRATCH_MEMORY_SHARED_STATIC (2)"
        )
    if mode == Mode.CUDLA_CUDA_DLA:
        _require_integrated_gpu()
    current = process.current()
    found = devices.dla(current).open(device, mode)
    dev_handle[0] = ffi.cast("cudlaDevHandle", current.handles.add(DEVICE, found))


def _require_integrated_gpu() -> None:
    try:
        gpu = cuda.current_device()
    except CudaError as error:
        raise CudlaError(Status.cudlaErrorCuda, error.explanation) from None
    if not gpu.integrated:
        raise unsupported(
            "the current CUDA device is a discrete GPU (setting gpu); cuDLA needs the integrated "
            "GPU of the same chip, or standalone mode"
        )


@cudla.export("cudlaDestroyDevice")
def destroy_device(dev_handle: Any) -> None:
    with device_of(dev_handle).exclusive() as device:
        device.destroy()
        handles = process.current().handles
        handles.remove(address(dev_handle), DEVICE, "cudlaDestroyDevice")
        for module in handles.find(MODULE, lambda module: module.owner is device):
            handles.remove(module, MODULE, "cudlaDestroyDevice")


@cudla.export("cudlaDeviceGetAttribute")
def device_attribute(dev_handle: Any, attribute: int, answer: Any) -> None:
    device_of(dev_handle)
    null(pAttribute=answer)
    if attribute == DevAttribute.CUDLA_UNIFIED_ADDRESSING:
        answer.unifiedAddressingSupported = 1
    elif attribute == DevAttribute.CUDLA_DEVICE_VERSION:
        answer.deviceVersion = int(
            process.current().config.of(Settings).dla_version.partition(".")[0]
        )
    else:
        raise CudlaError(
            Status.cudlaErrorInvalidAttribute,
            f"attrib is {attribute}; CUDLA_UNIFIED_ADDRESSING (0) or CUDLA_DEVICE_VERSION (1)",
        )


@cudla.export("cudlaGetLastError")
def get_last_error(dev_handle: Any) -> int:
    status, explanation = device_of(dev_handle).last_error()
    if status:
        explain.remember(f"cudlaGetLastError: the last task failed: {explanation}")
    return status


@cudla.export("cudlaSetTaskTimeoutInMs")
def set_task_timeout(dev_handle: Any, timeout: int) -> None:
    found = device_of(dev_handle, status=Status.cudlaErrorInvalidParam)
    if not 1 <= timeout <= MAX_TIMEOUT_MS:
        raise invalid_param(f"timeout is {timeout} ms; it is 1 to {MAX_TIMEOUT_MS}")
    found.timeout_ms = timeout
