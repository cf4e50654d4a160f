"""``nvscibuf.h``."""

from __future__ import annotations

from typing import Any

from ...constants.nvsci import NvSciBufAttrKey as K
from ...constants.nvsci import NvSciBufMajorVersion, NvSciBufMinorVersion, NvSciBufType
from ...core import process
from ...core.memory import host_bytes
from ...nvsci import buf
from ...nvsci.bufattrs import SCHEMA
from ...nvsci.errors import bad_parameter
from ..embedding import address, pointer
from .lists import ListApi, null, nvsci

lists = ListApi(
    "NvSciBuf",
    SCHEMA,
    "key",
    buf.reconcile,
    buf.validate,
    (NvSciBufMajorVersion, NvSciBufMinorVersion),
    buf.BufModule,
)
nvsci.export("NvSciBufModuleOpen")(lists.open)
nvsci.export("NvSciBufModuleClose", status=False)(lists.close)
nvsci.export("NvSciBufCheckVersionCompatibility")(lists.check_version)
nvsci.export("NvSciBufAttrListCreate")(lists.create)
nvsci.export("NvSciBufAttrListFree", status=False)(lists.free)
nvsci.export("NvSciBufAttrListSetAttrs")(lists.set_attrs)
nvsci.export("NvSciBufAttrListGetAttrs")(lists.get_first_attrs)
nvsci.export("NvSciBufAttrListSlotGetAttrs")(lists.get_attrs)
nvsci.export("NvSciBufAttrListGetSlotCount", status=False, failure=0)(lists.slot_count)
nvsci.export("NvSciBufAttrListDebugDump")(lists.dump)
nvsci.export("NvSciBufAttrListClone")(lists.clone)
nvsci.export("NvSciBufAttrListAppendUnreconciled")(lists.append)
nvsci.export("NvSciBufAttrListIsReconciled")(lists.is_reconciled)
nvsci.export("NvSciBufAttrListReconcile")(lists.reconcile)
nvsci.export("NvSciBufAttrListValidateReconciled")(lists.validate)
OBJ = "NvSciBufObj"


def resolve(handle: Any, argument: str = "bufObj") -> buf.BufObj:
    """The buffer object behind a handle."""
    found: buf.BufObj = nvsci.resolve(handle, OBJ, argument)
    return found


def _issue(obj: buf.BufObj) -> Any:
    return pointer(process.current().handles.add(OBJ, obj))


@nvsci.export("NvSciBufAttrListValidateReconciledAgainstAttrs")
def list_validate_against(reconciled: Any, pairs: Any, count: int) -> None:
    outcome = lists.reconciled(reconciled)
    wishes = {n: raw for n, raw in lists.pairs(pairs, count) if raw is not None}
    lists.require(outcome, [wishes])


@nvsci.export("NvSciBufObjAlloc")
def obj_alloc(reconciled: Any, new_obj: Any) -> None:
    outcome = lists.reconciled(reconciled)
    null(bufObj=new_obj)
    new_obj[0] = _issue(buf.BufObj.allocate(outcome, process.current().memory))


@nvsci.export("NvSciBufAttrListReconcileAndObjAlloc")
def reconcile_and_alloc(array: Any, count: int, new_obj: Any, conflict_list: Any) -> None:
    null(bufObj=new_obj)
    outcome = lists.merge(array, count, conflict_list)
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
    lists.own_list(resolve(obj).attributes, answer, bufAttrList=answer)


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
    resolve(obj).flush(offset, length)


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
        buf.copy_pixels(found.buffer, plane, area, host, pitches[plane], to_buffer=write)


@nvsci.export("NvSciBufObjGetPixels")
def obj_get_pixels(obj: Any, rect: Any, planes: Any, sizes: Any, pitches: Any) -> None:
    _transfer(obj, rect, planes, sizes, pitches, write=False)


@nvsci.export("NvSciBufObjPutPixels")
def obj_put_pixels(obj: Any, rect: Any, planes: Any, sizes: Any, pitches: Any) -> None:
    _transfer(obj, rect, planes, sizes, pitches, write=True)
