"""Reconciling and allocating buffers."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.constants import nvsci as n
from cudla_sim.testing import CApi

from .lists import BUF, Lists, S, c_bool, c_int, c_u32, c_u64, types, u32s, u64s

RAW, IMAGE, TENSOR, ARRAY, PYRAMID = range(1, 6)
TYPES = BUF.NvSciBufGeneralAttrKey_Types
CPU = (BUF.NvSciBufGeneralAttrKey_NeedCpuAccess, c_bool(True))
READ_WRITE = (BUF.NvSciBufGeneralAttrKey_RequiredPerm, c_int(3))


@pytest.fixture
def buf(sim_api: CApi) -> Lists:
    return Lists(sim_api, "NvSciBuf")


def raw(size: int, align: int = 1) -> list[tuple[int, Any]]:
    return [
        (TYPES, types(RAW)),
        (BUF.NvSciBufRawBufferAttrKey_Size, c_u64(size)),
        (BUF.NvSciBufRawBufferAttrKey_Align, c_u64(align)),
    ]


def cpu_pointer(buf: Lists, obj: ctypes.c_void_p, const: bool = False) -> tuple[int, int]:
    where = ctypes.c_void_p()
    name = "ObjGetConstCpuPtr" if const else "ObjGetCpuPtr"
    return buf(name, obj, ctypes.byref(where)), where.value or 0


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    aligns=st.lists(st.sampled_from([1, 2, 4, 16, 64]), min_size=4, max_size=4),
    element=st.sampled_from([(2, 1), (5, 2), (8, 2), (9, 4)]),
    base=st.sampled_from([1, 512, 65536]),
)
def test_tensor_strides(
    buf: Lists, sizes: list[int], aligns: list[int], element: tuple[int, int], base: int
) -> None:
    """Against numpy's strides of an array of the padded shape."""
    data_type, width = element
    dims, aligns = len(sizes), aligns[: len(sizes)]
    wish = buf.create(
        (TYPES, types(TENSOR)),
        CPU,
        READ_WRITE,
        (BUF.NvSciBufTensorAttrKey_DataType, c_int(data_type)),
        (BUF.NvSciBufTensorAttrKey_NumDims, c_u32(dims)),
        (BUF.NvSciBufTensorAttrKey_SizePerDim, u64s(*sizes)),
        (BUF.NvSciBufTensorAttrKey_AlignmentPerDim, u32s(*aligns)),
        (BUF.NvSciBufTensorAttrKey_BaseAddrAlign, c_u64(base)),
    )
    status, outcome, conflict = buf.reconcile(wish)
    assert (status, conflict.value) == (0, None)
    padded = np.empty([-(-s // a) * a for s, a in zip(sizes, aligns, strict=True)], f"V{width}")
    strides = np.frombuffer(buf.get(outcome, BUF.NvSciBufTensorAttrKey_StridesPerDim), np.uint64)
    assert tuple(strides) == padded.strides
    size = int.from_bytes(buf.get(outcome, BUF.NvSciBufTensorAttrKey_Size), "little")
    assert size == padded.nbytes
    obj = ctypes.c_void_p()
    assert buf("ObjAlloc", outcome, ctypes.byref(obj)) == 0
    status, where = cpu_pointer(buf, obj)
    assert status == 0
    assert where % base == 0
    ctypes.memset(where, 1, size)
    buf("ObjFree", obj)


def test_largest_wishes_win(buf: Lists, sim: ModuleType) -> None:
    obj = buf.allocate(buf.create(*raw(1000)), buf.create(*raw(5000, 1 << 16), CPU, READ_WRITE))
    status, where = cpu_pointer(buf, obj)
    assert status == 0
    assert where % (1 << 16) == 0
    region = sim.memory.find(where)
    assert region is not None
    assert region.size >= 5000


def test_contradiction_gives_a_conflict_list(buf: Lists) -> None:
    def tensor(data_type: int) -> ctypes.c_void_p:
        return buf.create(
            (TYPES, types(TENSOR)),
            (BUF.NvSciBufTensorAttrKey_DataType, c_int(data_type)),
            (BUF.NvSciBufTensorAttrKey_NumDims, c_u32(1)),
            (BUF.NvSciBufTensorAttrKey_SizePerDim, u64s(4)),
        )

    status, _, conflict = buf.reconcile(tensor(2), tensor(9))
    assert status == S.NvSciError_ReconciliationFailed
    assert buf("AttrListGetSlotCount", conflict) == 2
    assert buf.get(conflict, BUF.NvSciBufTensorAttrKey_DataType, 1) == bytes([9, 0, 0, 0])
    buf("AttrListFree", conflict)


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ([], S.NvSciError_ReconciliationFailed),
        ([(TYPES, types(RAW))], S.NvSciError_ReconciliationFailed),
        ([(TYPES, types(TENSOR))], S.NvSciError_ReconciliationFailed),
        ([(TYPES, types(PYRAMID))], S.NvSciError_UnsupportedConfig),
    ],
)
def test_what_cannot_be_reconciled(buf: Lists, values: list[tuple[int, Any]], status: int) -> None:
    found, _, conflict = buf.reconcile(buf.create(*values))
    assert found == status
    assert conflict.value is None


def test_cpu_access_and_permission(buf: Lists) -> None:
    bad = S.NvSciError_BadParameter
    hidden = buf.allocate(buf.create(*raw(64)))
    assert cpu_pointer(buf, hidden)[0] == bad
    assert cpu_pointer(buf, hidden, const=True)[0] == bad
    read_only = buf.allocate(buf.create(*raw(64), CPU))
    assert cpu_pointer(buf, read_only)[0] == bad
    assert cpu_pointer(buf, read_only, const=True)[0] == 0


def test_duplicates_share_memory_until_the_last_is_freed(buf: Lists, sim: ModuleType) -> None:
    obj = buf.allocate(buf.create(*raw(64), CPU, READ_WRITE))
    copy, reduced = ctypes.c_void_p(), ctypes.c_void_p()
    assert buf("ObjDup", obj, ctypes.byref(copy)) == 0
    assert buf("ObjDupWithReducePerm", obj, 1, ctypes.byref(reduced)) == 0
    _, where = cpu_pointer(buf, obj)
    buf("ObjFree", obj)
    assert cpu_pointer(buf, copy) == (0, where)
    assert cpu_pointer(buf, reduced)[0] == S.NvSciError_BadParameter
    buf("ObjFree", copy)
    assert cpu_pointer(buf, reduced, const=True) == (0, where)
    buf("ObjFree", reduced)
    assert sim.memory.find(where) is None
    assert cpu_pointer(buf, copy)[0] == S.NvSciError_BadParameter


def test_permission_cannot_grow(buf: Lists) -> None:
    obj = buf.allocate(buf.create(*raw(64), CPU))
    out = ctypes.c_void_p()
    for perm in (0, 2, 3, 4):
        assert buf("ObjDupWithReducePerm", obj, perm, ctypes.byref(out)) != 0


def test_the_objects_list_belongs_to_the_object(buf: Lists) -> None:
    obj = buf.allocate(buf.create(*raw(64)))
    own, again = ctypes.c_void_p(), ctypes.c_void_p()
    assert buf("ObjGetAttrList", obj, ctypes.byref(own)) == 0
    buf("AttrListFree", own)
    assert buf.get(own, BUF.NvSciBufRawBufferAttrKey_Size) == (64).to_bytes(8, "little")
    assert buf("ObjGetAttrList", obj, ctypes.byref(again)) == 0
    assert again.value == own.value


def test_the_list_of_an_allocation_stays_the_programs(buf: Lists) -> None:
    _, outcome, _ = buf.reconcile(buf.create(*raw(64)))
    obj, own = ctypes.c_void_p(), ctypes.c_void_p()
    assert buf("ObjAlloc", outcome, ctypes.byref(obj)) == 0
    assert buf("ObjGetAttrList", obj, ctypes.byref(own)) == 0
    buf("AttrListFree", outcome)
    assert buf("AttrListGetSlotCount", outcome) == 0
    assert buf.get(own, BUF.NvSciBufRawBufferAttrKey_Size) == bytes(c_u64(64))


def test_a_clone_of_a_reconciled_list_allocates(buf: Lists) -> None:
    _, outcome, _ = buf.reconcile(buf.create(*raw(5000), CPU, READ_WRITE))
    twin, obj, clone = (ctypes.c_void_p() for _ in range(3))
    assert buf("AttrListClone", outcome, ctypes.byref(twin)) == 0
    assert buf("ObjAlloc", twin, ctypes.byref(obj)) == 0
    assert cpu_pointer(buf, obj)[0] == 0
    assert buf("ObjGetAttrList", obj, ctypes.byref(clone)) == 0
    assert buf("AttrListClone", clone, ctypes.byref(clone)) == 0
    buf("AttrListFree", clone)
    assert buf("AttrListGetSlotCount", clone) == 0, "the clone of an object's list is the program's"


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        (BUF.NvSciBufGeneralAttrKey_ActualPerm, False, True),
        (BUF.NvSciBufGeneralAttrKey_CpuNeedSwCacheCoherency, False, True),
        (BUF.NvSciBufGeneralAttrKey_RequiredPerm, True, False),
        (BUF.NvSciBufGeneralAttrKey_NeedCpuAccess, True, True),
        (BUF.NvSciBufRawBufferAttrKey_Size, True, True),
    ],
)
def test_which_list_answers_a_key(buf: Lists, key: int, before: bool, after: bool) -> None:
    wish = buf.create(*raw(64), CPU, READ_WRITE)
    _, outcome, _ = buf.reconcile(wish)
    for attributes, answered in ((wish, before), (outcome, after)):
        pair = buf.pair()
        pair.key = key
        status = buf("AttrListGetAttrs", attributes, ctypes.byref(pair), 1)
        assert status == (0 if answered else S.NvSciError_BadParameter)


def test_flushing(buf: Lists) -> None:
    obj = buf.allocate(buf.create(*raw(64), CPU))
    hidden = buf.allocate(buf.create(*raw(64)))
    bad, overflow = S.NvSciError_BadParameter, S.NvSciError_Overflow
    for offset, length, status in (
        (0, 64, 0),
        (63, 1, 0),
        (0, 0, bad),
        (1, 64, bad),
        (1 << 63, 1, bad),
        ((1 << 64) - 1, 1, overflow),
    ):
        assert buf("ObjFlushCpuCacheRange", obj, offset, length) == status
    assert buf("ObjFlushCpuCacheRange", hidden, 0, 64) == S.NvSciError_NotPermitted


def test_validation(buf: Lists) -> None:
    _, outcome, _ = buf.reconcile(buf.create(*raw(64), CPU))
    valid = c_bool()

    def validate(wish: ctypes.c_void_p) -> int:
        array = (ctypes.c_void_p * 1)(wish)
        return buf("AttrListValidateReconciled", outcome, array, 1, ctypes.byref(valid))

    assert validate(buf.create(*raw(64))) == 0
    assert valid.value
    assert validate(buf.create(*raw(65))) == S.NvSciError_AttrListValidationFailed
    assert not valid.value
    assert validate(buf.create(READ_WRITE)) == S.NvSciError_AttrListValidationFailed


def test_huge_buffers_are_refused(buf: Lists) -> None:
    status, outcome, _ = buf.reconcile(buf.create(*raw(1 << 62)))
    assert status == 0
    obj = ctypes.c_void_p()
    assert buf("ObjAlloc", outcome, ctypes.byref(obj)) == S.NvSciError_InsufficientMemory


@pytest.mark.parametrize("count", [1, 2, 7])
def test_images_lie_behind_each_other(buf: Lists, count: int) -> None:
    """The size of several images is that many times the size of one."""
    status, attributes, _ = buf.reconcile(
        buf.create(
            (TYPES, types(IMAGE)),
            CPU,
            READ_WRITE,
            (BUF.NvSciBufImageAttrKey_Layout, c_int(1)),
            (BUF.NvSciBufImageAttrKey_PlaneCount, c_u32(1)),
            (
                BUF.NvSciBufImageAttrKey_PlaneColorFormat,
                types(n.NvSciBufAttrValColorFmt.NvSciColor_Y8),
            ),
            (BUF.NvSciBufImageAttrKey_PlaneWidth, u32s(50)),
            (BUF.NvSciBufImageAttrKey_PlaneHeight, u32s(30)),
            (BUF.NvSciBufImageAttrKey_ImageCount, c_u64(count)),
        )
    )
    assert status == 0, buf.why()
    one = int.from_bytes(buf.get(attributes, BUF.NvSciBufImageAttrKey_PlaneAlignedSize), "little")
    assert one >= 50 * 30
    size = int.from_bytes(buf.get(attributes, BUF.NvSciBufImageAttrKey_Size), "little")
    assert size == count * one


def test_image_pixels_go_in_and_come_out(buf: Lists) -> None:
    """An NV12-like image: 8-bit luminance, and half-size chrominance pairs."""
    color = n.NvSciBufAttrValColorFmt
    obj = buf.allocate(
        buf.create(
            (TYPES, types(IMAGE)),
            CPU,
            READ_WRITE,
            (BUF.NvSciBufImageAttrKey_Layout, c_int(1)),
            (BUF.NvSciBufImageAttrKey_PlaneCount, c_u32(2)),
            (
                BUF.NvSciBufImageAttrKey_PlaneColorFormat,
                types(color.NvSciColor_Y8, color.NvSciColor_U8V8),
            ),
            (BUF.NvSciBufImageAttrKey_PlaneWidth, u32s(50, 25)),
            (BUF.NvSciBufImageAttrKey_PlaneHeight, u32s(30, 15)),
        )
    )
    random = np.random.default_rng(0)
    planes = [random.integers(0, 256, s, np.uint8) for s in ((30, 50), (15, 50))]

    def transfer(name: str, arrays: list[Any]) -> int:
        pointers = (ctypes.c_void_p * 2)(*(a.ctypes.data for a in arrays))
        sizes, pitches = u32s(*(a.nbytes for a in arrays)), u32s(*(a.strides[0] for a in arrays))
        return buf(name, obj, None, pointers, sizes, pitches)

    assert transfer("ObjPutPixels", planes) == 0
    back = [np.zeros_like(x) for x in planes]
    assert transfer("ObjGetPixels", back) == 0
    for sent, received in zip(planes, back, strict=True):
        assert (sent == received).all()
    small = [np.zeros((2, 2), np.uint8)] * 2
    assert transfer("ObjGetPixels", small) == S.NvSciError_BadParameter
