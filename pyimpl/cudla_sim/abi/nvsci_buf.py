"""``nvscibuf.h``."""

from __future__ import annotations

from typing import Any

from ..constants.nvsci import NvSciBufAttrKey as K
from ..constants.nvsci import NvSciBufMajorVersion, NvSciBufType
from ..constants.nvsci import NvSciError as Status
from ..core import process
from ..core.memory import host_bytes
from ..nvsci import buf, pixels
from ..nvsci.bufattrs import SCHEMA
from ..nvsci.errors import NvSciError, bad_parameter
from .native import address, pointer
from .nvsci_lists import ListApi, answer_conflicts, null, nvsci

lists = ListApi("NvSciBuf", SCHEMA, "key")
OBJ = "NvSciBufObj"


def resolve(handle: Any, argument: str = "bufObj") -> buf.BufObj:
    """The buffer object behind a handle."""
    found: buf.BufObj = nvsci.resolve(handle, OBJ, argument)
    return found


def _issue(obj: buf.BufObj) -> Any:
    return pointer(process.current().handles.add(OBJ, obj))


@nvsci.export("NvSciBufModuleOpen")
def module_open(module: Any) -> None:
    null(newModule=module)
    current = process.current()
    if not current.config.nvsci:
        raise NvSciError(
            Status.NvSciError_NotInitialized, "NvSci is missing here (setting nvsci is off)"
        )
    module[0] = pointer(current.handles.add(lists.module_kind, buf.BufModule()))


@nvsci.export("NvSciBufModuleClose", status=False)
def module_close(module: Any) -> None:
    if module:
        lists.module(module)
        process.current().handles.remove(address(module), lists.module_kind, "NvSciBufModuleClose")


@nvsci.export("NvSciBufCheckVersionCompatibility")
def check_version(major: int, minor: int, compatible: Any) -> None:
    null(isCompatible=compatible)
    compatible[0] = major == NvSciBufMajorVersion


@nvsci.export("NvSciBufAttrListCreate")
def list_create(module: Any, new_list: Any) -> None:
    lists.create(module, new_list)


@nvsci.export("NvSciBufAttrListFree", status=False)
def list_free(attributes: Any) -> None:
    lists.free(attributes)


@nvsci.export("NvSciBufAttrListSetAttrs")
def list_set(attributes: Any, pairs: Any, count: int) -> None:
    lists.set_attrs(attributes, pairs, count)


@nvsci.export("NvSciBufAttrListGetAttrs")
def list_get(attributes: Any, pairs: Any, count: int) -> None:
    lists.get_attrs(attributes, 0, pairs, count)


@nvsci.export("NvSciBufAttrListSlotGetAttrs")
def list_slot_get(attributes: Any, slot: int, pairs: Any, count: int) -> None:
    lists.get_attrs(attributes, slot, pairs, count)


@nvsci.export("NvSciBufAttrListGetSlotCount", status=False, failure=0)
def list_slot_count(attributes: Any) -> int:
    return len(lists.resolve(attributes).slots)


@nvsci.export("NvSciBufAttrListDebugDump")
def list_dump(attributes: Any, buffer: Any, length: Any) -> None:
    lists.dump(attributes, buffer, length)


@nvsci.export("NvSciBufAttrListClone")
def list_clone(attributes: Any, new_list: Any) -> None:
    lists.clone(attributes, new_list)


@nvsci.export("NvSciBufAttrListAppendUnreconciled")
def list_append(array: Any, count: int, new_list: Any) -> None:
    lists.append(array, count, new_list)


@nvsci.export("NvSciBufAttrListIsReconciled")
def list_is_reconciled(attributes: Any, answer: Any) -> None:
    found = lists.resolve(attributes)
    null(isReconciled=answer)
    answer[0] = found.reconciled


def _reconcile(array: Any, count: int, conflict_list: Any) -> buf.ReconciledBuf:
    null(newConflictList=conflict_list)
    found: buf.ReconciledBuf = answer_conflicts(
        conflict_list, lambda: buf.reconcile(lists.lists(array, count, "inputArray")), lists.issue
    )
    return found


@nvsci.export("NvSciBufAttrListReconcile")
def list_reconcile(array: Any, count: int, new_list: Any, conflict_list: Any) -> None:
    null(newReconciledAttrList=new_list)
    new_list[0] = lists.issue(_reconcile(array, count, conflict_list))


@nvsci.export("NvSciBufAttrListValidateReconciled")
def list_validate(reconciled: Any, array: Any, count: int, answer: Any) -> None:
    outcome = lists.reconciled(reconciled)
    null(isReconcileListValid=answer)
    answer[0] = False
    wrong = buf.validate(outcome, lists.slots_of(array, count, "unreconciledAttrListArray"))
    if wrong:
        raise NvSciError(Status.NvSciError_AttrListValidationFailed, wrong)
    answer[0] = True


@nvsci.export("NvSciBufAttrListValidateReconciledAgainstAttrs")
def list_validate_against(reconciled: Any, pairs: Any, count: int) -> None:
    outcome = lists.reconciled(reconciled)
    wishes = {n: raw for n, raw in lists.pairs(pairs, count) if raw is not None}
    if wrong := buf.validate(outcome, [wishes]):
        raise NvSciError(Status.NvSciError_AttrListValidationFailed, wrong)


@nvsci.export("NvSciBufObjAlloc")
def obj_alloc(reconciled: Any, new_obj: Any) -> None:
    outcome = lists.reconciled(reconciled)
    null(bufObj=new_obj)
    new_obj[0] = _issue(buf.BufObj.allocate(outcome, process.current().memory))


@nvsci.export("NvSciBufAttrListReconcileAndObjAlloc")
def reconcile_and_alloc(array: Any, count: int, new_obj: Any, conflict_list: Any) -> None:
    null(bufObj=new_obj)
    outcome = _reconcile(array, count, conflict_list)
    new_obj[0] = _issue(buf.BufObj.allocate(outcome, process.current().memory))


@nvsci.export("NvSciBufObjDup")
def obj_dup(obj: Any, new_obj: Any) -> None:
    found = resolve(obj)
    null(dupObj=new_obj)
    new_obj[0] = _issue(found.duplicate())


@nvsci.export("NvSciBufObjDupWithReducePerm")
def obj_dup_reduced(obj: Any, perm: int, new_obj: Any) -> None:
    found = resolve(obj)
    null(newBufObj=new_obj)
    new_obj[0] = _issue(found.duplicate(perm))


@nvsci.export("NvSciBufObjFree", status=False)
def obj_free(obj: Any) -> None:
    if obj:
        resolve(obj)
        process.current().handles.remove(address(obj), OBJ, "NvSciBufObjFree").free()


@nvsci.export("NvSciBufObjGetAttrList")
def obj_attr_list(obj: Any, answer: Any) -> None:
    attributes = resolve(obj).buffer.attributes
    null(bufAttrList=answer)
    if attributes.owned is None:
        attributes.owned = lists.issue(attributes)
    answer[0] = attributes.owned


@nvsci.export("NvSciBufObjGetMaxPerm")
def obj_max_perm(obj: Any, endpoint: int, answer: Any) -> None:
    found = resolve(obj)
    null(accPerm=answer)
    answer[0] = found.perm


@nvsci.export("NvSciBufObjValidate")
def obj_validate(obj: Any) -> None:
    resolve(obj)


nvsci.unsupported(
    "NvSciBufObjAttachPeer",
    because="peers are other processes and chips; this library serves one process",
)


@nvsci.export("NvSciBufObjGetCpuPtr")
def obj_cpu_pointer(obj: Any, answer: Any) -> None:
    found = resolve(obj)
    null(ptr=answer)
    answer[0] = pointer(found.cpu_address(write=True))


@nvsci.export("NvSciBufObjGetConstCpuPtr")
def obj_const_cpu_pointer(obj: Any, answer: Any) -> None:
    found = resolve(obj)
    null(ptr=answer)
    answer[0] = pointer(found.cpu_address(write=False))


@nvsci.export("NvSciBufObjFlushCpuCacheRange")
def obj_flush(obj: Any, offset: int, length: int) -> None:
    found = resolve(obj)
    found.cpu_address(write=False)
    if offset + length > found.buffer.size:
        raise bad_parameter(
            f"[{offset}, +{length}) is not within the buffer's {found.buffer.size} bytes"
        )


def _transfer(obj: Any, rect: Any, planes: Any, sizes: Any, pitches: Any, *, write: bool) -> None:
    found = resolve(obj)
    found.cpu_address(write=write)
    if NvSciBufType.NvSciBufType_Image not in found.buffer.types:
        raise bad_parameter("bufObj is no image; pixels can only be copied to and from images")
    null(ptrs=planes, ptrSizes=sizes, pitches=pitches)
    count = found.buffer.attributes.value(K.NvSciBufImageAttrKey_PlaneCount)
    area = (rect.x0, rect.y0, rect.x1, rect.y1) if rect else None
    for plane in range(count):
        if not planes[plane]:
            raise bad_parameter(f"the pointer of plane {plane} is NULL")
        host = host_bytes(address(planes[plane]), sizes[plane])
        pixels.copy(found.buffer, plane, area, host, pitches[plane], to_buffer=write)


@nvsci.export("NvSciBufObjGetPixels")
def obj_get_pixels(obj: Any, rect: Any, planes: Any, sizes: Any, pitches: Any) -> None:
    _transfer(obj, rect, planes, sizes, pitches, write=False)


@nvsci.export("NvSciBufObjPutPixels")
def obj_put_pixels(obj: Any, rect: Any, planes: Any, sizes: Any, pitches: Any) -> None:
    _transfer(obj, rect, planes, sizes, pitches, write=True)
