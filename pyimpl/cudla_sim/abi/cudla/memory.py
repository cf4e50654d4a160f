"""Registered memory, imported buffers and semaphores."""

from __future__ import annotations

from typing import Any

from ...constants.cudla import cudlaAccessPermissionFlags as Access
from ...constants.cudla import cudlaNvSciSyncAttributes as SyncUse
from ...constants.cudla import cudlaStatus as Status
from ...constants.nvsci import NvSciBufType
from ...constants.nvsci import NvSciSyncAttrKey as SyncKey
from ...core import process
from ...cudla.device import Device
from ...cudla.errors import CudlaError, invalid_param, unsupported
from ...nvsci import sync as nvsync
from ...nvsci.errors import NvSciError
from ...nvsci.settings import Settings
from ..embedding import address, ffi
from ..nvsci import buf as nvsci_buf
from ..nvsci import sync as nvsci_sync
from .family import cudla, device_of, given, null, only_flags


@cudla.export("cudlaMemRegister")
def mem_register(dev_handle: Any, ptr: Any, size: int, dev_ptr: Any, flags: int) -> None:
    with device_of(dev_handle).exclusive() as device:
        device.raise_earlier_fault()
        null(devPtr=dev_ptr)
        only_flags(flags, 2, "0 and CUDLA_TASK_STATISTICS (2)")
        if not device.hybrid:
            raise unsupported(
                "a standalone device has no CUDA memory to register; use cudlaImportExternalMemory"
            )
        entry = device.memory.register(address(ptr), size, flags)
        dev_ptr[0] = ffi.cast("uint64_t *", entry.device_address)


@cudla.export("cudlaMemUnregister")
def mem_unregister(dev_handle: Any, dev_ptr: Any) -> None:
    with device_of(dev_handle).exclusive() as device:
        device.raise_earlier_fault()
        device.reap()
        device.memory.unregister(address(dev_ptr))


def _require_nvsci(found: Device, what: str) -> None:
    if found.hybrid:
        raise unsupported(f"{what} needs a standalone device; this handle is in hybrid mode")
    if not process.current().config.of(Settings).nvsci:
        raise unsupported("the NvSci libraries are missing here (setting nvsci is off)")


@cudla.export("cudlaImportExternalMemory")
def import_memory(dev_handle: Any, desc: Any, dev_ptr: Any, flags: int) -> None:
    with device_of(dev_handle).exclusive() as device:
        device.raise_earlier_fault()
        null(devPtr=dev_ptr)
        given(desc=desc)
        if flags not in list(Access):
            raise invalid_param(
                f"flags is {flags:#x}; valid values: CUDLA_READ_WRITE_PERM (0), "
                "CUDLA_READ_ONLY_PERM (1), CUDLA_TASK_STATISTICS (2)"
            )
        _require_nvsci(device, "importing NvSciBuf memory")
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
        entry = device.memory.import_buffer(obj.buffer, desc.size, flags)
        dev_ptr[0] = ffi.cast("uint64_t *", entry.device_address)


@cudla.export("cudlaImportExternalSemaphore")
def import_semaphore(dev_handle: Any, desc: Any, dev_ptr: Any, flags: int) -> None:
    with device_of(dev_handle).exclusive() as device:
        device.raise_earlier_fault()
        null(devPtr=dev_ptr)
        given(desc=desc)
        only_flags(flags, 0, "only 0")
        _require_nvsci(device, "importing NvSciSync objects")
        if not desc.extSyncObject:
            raise invalid_param("desc.extSyncObject is NULL; it is an NvSciSyncObj")
        try:
            obj = nvsci_sync.resolve(desc.extSyncObject, "desc.extSyncObject")
        except NvSciError as error:
            raise CudlaError(Status.cudlaErrorNvSci, error.explanation) from None
        dev_ptr[0] = ffi.cast("uint64_t *", device.memory.import_semaphore(obj).device_address)


@cudla.export("cudlaGetNvSciSyncAttributes")
def nvscisync_attributes(attr_list: Any, flags: int) -> None:
    given(attrList=attr_list)
    both = SyncUse.CUDLA_NVSCISYNC_ATTR_WAIT | SyncUse.CUDLA_NVSCISYNC_ATTR_SIGNAL
    if not flags or flags & ~both:
        raise invalid_param(
            f"flags is {flags:#x}; CUDLA_NVSCISYNC_ATTR_WAIT (1), CUDLA_NVSCISYNC_ATTR_SIGNAL (2) "
            "or both"
        )
    if not process.current().config.of(Settings).nvsci:
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
