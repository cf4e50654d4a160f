"""``cudla.h`` and ``cudlaExternalEtbl.hpp``."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..constants import cudla as c
from ..constants.cudla import cudlaDevAttributeType as DevAttribute
from ..constants.cudla import cudlaMode as Mode
from ..constants.cudla import cudlaModuleAttributeType as ModuleAttribute
from ..constants.cudla import cudlaModuleLoadFlags as LoadFlag
from ..constants.cudla import cudlaNvSciSyncAttributes as SyncUse
from ..constants.cudla import cudlaScratchMemoryConfig as Scratch
from ..constants.cudla import cudlaStatus as Status
from ..constants.cudla_parameters import PARAMETERS
from ..constants.nvsci import NvSciBufType
from ..constants.nvsci import NvSciSyncAttrKey as SyncKey
from ..core import explain, process
from ..core.memory import MemoryFault, read_host
from ..cudart import context as cuda
from ..cudart import streams
from ..cudart.errors import CudaError
from ..cudla import device as devices
from ..cudla import statistics, submit
from ..cudla.device import MAX_TIMEOUT_MS, Device
from ..cudla.errors import CudlaError, invalid_param, unsupported
from ..cudla.module import NAME_LENGTH, TensorDescriptor
from ..cudla.task import MAX_FENCES, SignalEvent, TaskRequest, WaitEvent
from ..nvsci import sync as nvsync
from ..nvsci.errors import NvSciError
from . import nvsci_buf, nvsci_sync
from .entry import Family
from .native import address, ffi, lib

DEVICE, MODULE = "cuDLA device", "cuDLA module"
MAX_TASKS = 4096

cudla = Family(
    "cudla",
    Status,
    PARAMETERS,
    unknown=Status.cudlaErrorUnknown,
    no_memory=Status.cudlaErrorOutOfResources,
    bad_handle=Status.cudlaErrorInvalidDevice,
    bad_memory=Status.cudlaErrorInvalidAddress,
    not_supported=Status.cudlaErrorUnsupportedOperation,
    error=CudlaError,
)

null = partial(cudla.require, Status.cudlaErrorInvalidParam)


def _device(handle: Any, status: Status = Status.cudlaErrorInvalidDevice) -> Device:
    found: Device = cudla.resolve(handle, DEVICE, "devHandle", status)
    return found


def _module(handle: Any, argument: str = "hModule") -> Any:
    return cudla.resolve(handle, MODULE, argument, Status.cudlaErrorInvalidModule)


def _flags(value: int, allowed: int, names: str) -> None:
    if value & ~allowed:
        raise invalid_param(f"flags is {value:#x}; valid are {names}")


# --- library and devices -------------------------------------------------------------------------


@cudla.export("cudlaGetVersion")
def get_version(version: Any) -> None:
    if not version:
        null(version=version)
    version[0] = c.CUDLA_VER_MAJOR * 1_000_000 + c.CUDLA_VER_MINOR * 1000 + c.CUDLA_VER_PATCH


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


def _stream(handle: int) -> streams.Stream:
    """The CUDA stream of a hybrid submission."""
    try:
        found = streams.resolve(handle)
    except CudaError as error:
        raise CudlaError(Status.cudlaErrorCuda, error.explanation) from None
    if found.capturing:
        raise unsupported("stream is being captured into a graph; a DLA task cannot be part of one")
    return found


@cudla.export("cudlaDestroyDevice")
def destroy_device(dev_handle: Any) -> None:
    found = _device(dev_handle)
    found.destroy()
    handles = process.current().handles
    handles.remove(address(dev_handle), DEVICE, "cudlaDestroyDevice")
    for module in list(getattr(found, "module_handles", ())):
        handles.remove(module, MODULE, "cudlaDestroyDevice")


@cudla.export("cudlaDeviceGetAttribute")
def device_attribute(dev_handle: Any, attribute: int, answer: Any) -> None:
    _device(dev_handle)
    null(pAttribute=answer)
    if attribute == DevAttribute.CUDLA_UNIFIED_ADDRESSING:
        answer.unifiedAddressingSupported = 1
    elif attribute == DevAttribute.CUDLA_DEVICE_VERSION:
        answer.deviceVersion = int(process.current().config.dla_version.partition(".")[0])
    else:
        raise CudlaError(
            Status.cudlaErrorInvalidAttribute,
            f"attrib is {attribute}; CUDLA_UNIFIED_ADDRESSING (0) or CUDLA_DEVICE_VERSION (1)",
        )


@cudla.export("cudlaGetLastError")
def get_last_error(dev_handle: Any) -> int:
    status, explanation = _device(dev_handle).last_error()
    if status:
        explain.remember(f"cudlaGetLastError: the last task failed: {explanation}")
    return status


@cudla.export("cudlaSetTaskTimeoutInMs")
def set_task_timeout(dev_handle: Any, timeout: int) -> None:
    found = _device(dev_handle, Status.cudlaErrorInvalidParam)
    if not 1 <= timeout <= MAX_TIMEOUT_MS:
        raise invalid_param(f"timeout is {timeout} ms; it is 1 to {MAX_TIMEOUT_MS}")
    found.timeout_ms = timeout


# --- modules -------------------------------------------------------------------------------------


@cudla.export("cudlaModuleLoadFromMemory")
def module_load(dev_handle: Any, image: Any, size: int, module: Any, flags: int) -> None:
    found = _device(dev_handle)
    null(hModule=module)
    _flags(flags, 1, "CUDLA_MODULE_DEFAULT (0), CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS (1)")
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
    loaded = found.load(data)
    loaded.owner = found  # type: ignore[union-attr]
    handle = process.current().handles.add(MODULE, loaded)
    _module_handles(found).add(handle)
    module[0] = ffi.cast("cudlaModule", handle)


def _read_image(where: int, size: int) -> bytes:
    if size > 1 << 32:
        raise invalid_param(f"moduleSize is {size}; no loadable has more than 4 GiB")
    try:
        return read_host(where, size)
    except MemoryFault as fault:
        raise invalid_param(f"pModule and moduleSize: {fault.explanation}") from None


def _module_handles(device: Any) -> set[int]:
    if not hasattr(device, "module_handles"):
        device.module_handles = set()
    handles: set[int] = device.module_handles
    return handles


@cudla.export("cudlaModuleUnload")
def module_unload(module: Any, flags: int) -> None:
    found = _module(module)
    _flags(flags, 0, "only 0")
    device = found.owner
    if device.closed:
        raise CudlaError(Status.cudlaErrorInvalidDevice, "the module's device handle was destroyed")
    device.raise_earlier_fault()
    device.unload(found)
    process.current().handles.remove(address(module), MODULE, "cudlaModuleUnload")
    _module_handles(device).discard(address(module))


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
    found = _module(module)
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


# --- memory and semaphores -----------------------------------------------------------------------


@cudla.export("cudlaMemRegister")
def mem_register(dev_handle: Any, ptr: Any, size: int, dev_ptr: Any, flags: int) -> None:
    found = _device(dev_handle)
    found.raise_earlier_fault()
    null(devPtr=dev_ptr)
    if not ptr:
        raise invalid_param("ptr is NULL; it is CUDA memory, from cudaMalloc for example")
    _flags(flags, 2, "0 and CUDLA_TASK_STATISTICS (2)")
    if not found.hybrid:
        raise unsupported(
            "a standalone device has no CUDA memory to register; use cudlaImportExternalMemory"
        )
    entry = found.memory.register(address(ptr), size, flags)
    dev_ptr[0] = ffi.cast("uint64_t *", entry.device_address)


@cudla.export("cudlaMemUnregister")
def mem_unregister(dev_handle: Any, dev_ptr: Any) -> None:
    found = _device(dev_handle)
    found.raise_earlier_fault()
    found.reap()
    found.memory.unregister(address(dev_ptr))


def _require_nvsci(found: Device, what: str) -> None:
    if found.hybrid:
        raise unsupported(f"{what} needs a standalone device; this handle is in hybrid mode")
    if not process.current().config.nvsci:
        raise unsupported("the NvSci libraries are missing here (setting nvsci is off)")


@cudla.export("cudlaImportExternalMemory")
def import_memory(dev_handle: Any, desc: Any, dev_ptr: Any, flags: int) -> None:
    found = _device(dev_handle)
    found.raise_earlier_fault()
    null(desc=desc, devPtr=dev_ptr)
    _flags(
        flags, 3, "CUDLA_READ_WRITE_PERM (0), CUDLA_READ_ONLY_PERM (1), CUDLA_TASK_STATISTICS (2)"
    )
    _require_nvsci(found, "importing NvSciBuf memory")
    if not desc.extBufObject:
        raise invalid_param("desc.extBufObject is NULL; it is an NvSciBufObj")
    try:
        obj = nvsci_buf.resolve(desc.extBufObject, "desc.extBufObject")
    except NvSciError as error:
        raise CudlaError(Status.cudlaErrorNvSci, error.explanation) from None
    kinds = obj.buffer.types
    if not set(kinds) & {NvSciBufType.NvSciBufType_RawBuffer, NvSciBufType.NvSciBufType_Tensor}:
        raise CudlaError(
            Status.cudlaErrorInvalidAttribute,
            f"desc.extBufObject is of type {', '.join(k.name for k in kinds)}; the DLA takes "
            "RawBuffer and Tensor",
        )
    entry = found.memory.import_buffer(obj.buffer, desc.size, flags)
    dev_ptr[0] = ffi.cast("uint64_t *", entry.device_address)


@cudla.export("cudlaImportExternalSemaphore")
def import_semaphore(dev_handle: Any, desc: Any, dev_ptr: Any, flags: int) -> None:
    found = _device(dev_handle)
    found.raise_earlier_fault()
    null(desc=desc, devPtr=dev_ptr)
    _flags(flags, 0, "only 0")
    _require_nvsci(found, "importing NvSciSync objects")
    if not desc.extSyncObject:
        raise invalid_param("desc.extSyncObject is NULL; it is an NvSciSyncObj")
    try:
        obj = nvsci_sync.resolve(desc.extSyncObject, "desc.extSyncObject")
    except NvSciError as error:
        raise CudlaError(Status.cudlaErrorNvSci, error.explanation) from None
    dev_ptr[0] = ffi.cast("uint64_t *", found.memory.import_semaphore(obj).device_address)


@cudla.export("cudlaGetNvSciSyncAttributes")
def nvscisync_attributes(attr_list: Any, flags: int) -> None:
    null(attrList=attr_list)
    both = SyncUse.CUDLA_NVSCISYNC_ATTR_WAIT | SyncUse.CUDLA_NVSCISYNC_ATTR_SIGNAL
    if not flags or flags & ~both:
        raise invalid_param(
            f"flags is {flags:#x}; CUDLA_NVSCISYNC_ATTR_WAIT (1), CUDLA_NVSCISYNC_ATTR_SIGNAL (2) "
            "or both"
        )
    if not process.current().config.nvsci:
        raise unsupported("the NvSci libraries are missing here (setting nvsci is off)")
    perm = (nvsync.WAIT if flags & SyncUse.CUDLA_NVSCISYNC_ATTR_WAIT else 0) | (
        nvsync.SIGNAL if flags & SyncUse.CUDLA_NVSCISYNC_ATTR_SIGNAL else 0
    )
    try:
        attributes = nvsci_sync.lists.resolve(attr_list)
        key = SyncKey.NvSciSyncAttrKey_RequiredPerm
        attributes.set_attrs([(int(key), nvsync.SCHEMA.key(key).encode(perm))])
    except NvSciError as error:
        raise CudlaError(Status.cudlaErrorNvSci, f"attrList: {error.explanation}") from None
    attributes.engines.add("DLA")


# --- tasks ---------------------------------------------------------------------------------------


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


def _request(task: Any, index: int) -> TaskRequest:
    name = f"ptrToTasks[{index}]"
    module = None
    inputs = outputs = 0
    if task.moduleHandle:
        module = _module(task.moduleHandle, f"{name}.moduleHandle")
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
    found = _device(dev_handle)
    if not tasks:
        raise invalid_param("ptrToTasks is NULL; it points to numTasks tasks")
    if not 1 <= count <= MAX_TASKS:
        raise invalid_param(f"numTasks is {count}; it is 1 to {MAX_TASKS}")
    _flags(flags, submit.ALL_FLAGS, "the cudlaSubmissionFlags NOOP 1, SKIP_LOCK 2, DIAGNOSTICS 4")
    if count > 16:
        read_host(address(tasks), count * ffi.sizeof("cudlaTask"))  # a wrong count must not crash
    target = None
    if found.hybrid:
        target = _stream(address(stream))
    elif stream:
        raise invalid_param("stream must be NULL: a standalone device takes tasks in order")
    submit.submit(found, [_request(tasks[i], i) for i in range(count)], target, flags)


# --- export table --------------------------------------------------------------------------------


@cudla.export("cudlaGetExternalExportTable")
def external_export_table(table: Any, flags: int) -> None:
    null(exportTable=table)
    _flags(flags, 0, "only 0")
    table[0] = lib.sim_external_table()


def _translate(data: Any, frequency_mhz: int, kind: int, answer: Any) -> None:
    if not data:
        raise invalid_param("input is NULL; it is a CPU copy of a statistics buffer")
    null(csvAttribute=answer)
    if frequency_mhz == 0:
        raise invalid_param("dlaFreqMHz is 0; it is the DLA clock in MHz")
    where = address(data)
    size = statistics.read_size(read_host(where, statistics.head_size()))
    text = statistics.to_csv(read_host(where, size)).encode() + b"\0"
    if kind == c.cudlaTranslateAttributeType.CUDLA_GET_CSV_LENGTH:
        answer.csvStreamLength = len(text)
    elif kind == c.cudlaTranslateAttributeType.CUDLA_GET_CSV_STATS:
        null(csvStreamStats=answer.csvStreamStats)
        ffi.memmove(answer.csvStreamStats, text, len(text))
    else:
        raise invalid_param(f"csvAttrType is {kind}; CUDLA_GET_CSV_LENGTH 0 or _STATS 1")


@cudla.export("etiTranslateStats")
def translate_stats(
    dev_handle: Any, data: Any, frequency_mhz: int, index: int, kind: int, answer: Any
) -> None:
    found = _device(dev_handle, Status.cudlaErrorInvalidParam)
    if len(found.modules) != 1:
        raise unsupported(
            f"{len(found.modules)} modules are loaded on this handle; etiTranslateStats needs "
            "exactly one, etiTranslateStatsForMultiModule names the module"
        )
    _translate(data, frequency_mhz, kind, answer)


@cudla.export("etiTranslateStatsForMultiModule")
def translate_stats_of_module(
    dev_handle: Any,
    module: Any,
    data: Any,
    frequency_mhz: int,
    index: int,
    kind: int,
    answer: Any,
) -> None:
    found = _device(dev_handle, Status.cudlaErrorInvalidParam)
    if _module(module) not in found.modules:
        raise CudlaError(
            Status.cudlaErrorInvalidModule, "hModule is not a module of this device handle"
        )
    _translate(data, frequency_mhz, kind, answer)
