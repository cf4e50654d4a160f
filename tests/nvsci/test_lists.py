"""What both libraries share: lists are written once, read, cloned, appended, freed."""

from __future__ import annotations

import ctypes

import pytest

from cudla_sim.constants import nvsci as n
from cudla_sim.testing import CApi

from .lists import BUF, SYNC, Lists, S, c_bool, c_int, c_u64, types

BOOL_KEY = {
    "NvSciBuf": BUF.NvSciBufGeneralAttrKey_NeedCpuAccess,
    "NvSciSync": SYNC.NvSciSyncAttrKey_NeedCpuAccess,
}
OUTPUT_KEY = {
    "NvSciBuf": BUF.NvSciBufGeneralAttrKey_ActualPerm,
    "NvSciSync": SYNC.NvSciSyncAttrKey_ActualPerm,
}


@pytest.fixture(params=["NvSciBuf", "NvSciSync"])
def lists(request: pytest.FixtureRequest, sim_api: CApi) -> Lists:
    return Lists(sim_api, request.param)


def test_attributes_are_written_once(lists: Lists) -> None:
    key = BOOL_KEY[lists.prefix]
    made = lists.create()
    assert lists.get(made, key) == b""
    assert lists.set(made, (key, c_bool(True))) == 0
    assert lists.get(made, key) == b"\1"
    assert lists.set(made, (key, c_bool(False))) == S.NvSciError_BadParameter
    assert lists.get(made, key) == b"\1"


def test_all_or_nothing(lists: Lists) -> None:
    key = BOOL_KEY[lists.prefix]
    made = lists.create()
    bad = S.NvSciError_BadParameter
    assert lists.set(made, (key, c_bool(True)), (key, c_bool(True))) == bad
    assert lists.set(made, (key, c_bool(True)), (OUTPUT_KEY[lists.prefix], c_u64(1))) == bad
    assert lists.set(made, (key, c_bool(True)), (0x3FFFFF0, c_bool(True))) == bad
    assert lists.set(made, (key, c_u64(1))) == bad  # wrong length
    assert lists.get(made, key) == b""


def test_null_and_zero(lists: Lists) -> None:
    bad = S.NvSciError_BadParameter
    made, out = lists.create(), ctypes.c_void_p()
    pairs = lists.pairs([(BOOL_KEY[lists.prefix], c_bool(True))])
    assert lists("AttrListSetAttrs", None, pairs, 1) == bad
    assert lists("AttrListSetAttrs", made, None, 1) == bad
    assert lists("AttrListSetAttrs", made, pairs, 0) == bad
    assert lists("AttrListSetAttrs", made, pairs, 1 << 40) == bad
    pairs[0].value = None
    assert lists("AttrListSetAttrs", made, pairs, 1) == bad
    assert lists("AttrListCreate", lists.module, None) == bad
    assert lists("AttrListCreate", None, ctypes.byref(out)) == bad
    assert lists("AttrListClone", made, None) == bad
    assert lists("AttrListIsReconciled", made, None) == bad
    assert lists("ModuleOpen", None) == bad
    assert lists("AttrListReconcile", None, 1, ctypes.byref(out), ctypes.byref(out)) == bad


def test_free_is_harmless_for_null_and_noticed_for_stale(lists: Lists) -> None:
    made = lists.create()
    lists("AttrListFree", None)
    lists("AttrListFree", made)
    lists("AttrListFree", made)
    assert "stale" in lists.why()
    assert lists("AttrListGetSlotCount", made) == 0


def test_clone_is_independent(lists: Lists) -> None:
    key = BOOL_KEY[lists.prefix]
    made, copy = lists.create(), ctypes.c_void_p()
    assert lists("AttrListClone", made, ctypes.byref(copy)) == 0
    assert lists.set(made, (key, c_bool(True))) == 0
    assert lists.get(copy, key) == b""


def test_a_clone_sets_attributes_anew(lists: Lists) -> None:
    key = BOOL_KEY[lists.prefix]
    made, copy = lists.create((key, c_bool(True))), ctypes.c_void_p()
    assert lists("AttrListClone", made, ctypes.byref(copy)) == 0
    assert lists.set(copy, (key, c_bool(False))) == 0
    assert [lists.get(x, key) for x in (made, copy)] == [b"\1", b"\0"]
    assert lists.set(copy, (key, c_bool(True))) == S.NvSciError_BadParameter


def test_what_was_appended_is_read_only(lists: Lists) -> None:
    key = BOOL_KEY[lists.prefix]
    array, joined = (ctypes.c_void_p * 1)(lists.create()), ctypes.c_void_p()
    assert lists("AttrListAppendUnreconciled", array, 1, ctypes.byref(joined)) == 0
    assert lists.set(joined, (key, c_bool(True))) == S.NvSciError_BadParameter
    assert "a clone of it is writable" in lists.why()
    copy = ctypes.c_void_p()
    assert lists("AttrListClone", joined, ctypes.byref(copy)) == 0
    assert lists.set(copy, (key, c_bool(True))) == 0


def test_a_list_twice_in_one_call(lists: Lists) -> None:
    """NvSciSync refuses it; NvSciBuf says nothing about it."""
    made, joined = lists.create(), ctypes.c_void_p()
    array = (ctypes.c_void_p * 2)(made, made)
    status = lists("AttrListAppendUnreconciled", array, 2, ctypes.byref(joined))
    assert status == (0 if lists.prefix == "NvSciBuf" else S.NvSciError_BadParameter)
    assert status == 0 or "twice" in lists.why()


def test_append_keeps_a_slot_for_each(lists: Lists) -> None:
    key = BOOL_KEY[lists.prefix]
    first, second = lists.create((key, c_bool(True))), lists.create((key, c_bool(False)))
    array, joined = (ctypes.c_void_p * 2)(first, second), ctypes.c_void_p()
    assert lists("AttrListAppendUnreconciled", array, 2, ctypes.byref(joined)) == 0
    assert lists("AttrListGetSlotCount", joined) == 2
    assert [lists.get(joined, key, slot) for slot in (0, 1)] == [b"\1", b"\0"]
    pair = lists.pairs([(key, c_bool(True))])
    bad = S.NvSciError_BadParameter
    assert lists("AttrListSlotGetAttrs", joined, 2, pair, 1) == bad
    assert lists("AttrListSetAttrs", joined, pair, 1) == bad


def test_debug_dump_names_the_attributes(lists: Lists) -> None:
    made = lists.create((BOOL_KEY[lists.prefix], c_bool(True)))
    text, length = ctypes.c_void_p(), ctypes.c_size_t()
    assert lists("AttrListDebugDump", made, ctypes.byref(text), ctypes.byref(length)) == 0
    assert text.value
    dump = ctypes.string_at(text.value)
    assert b"NeedCpuAccess = True" in dump
    assert len(dump) + 1 == length.value
    ctypes.CDLL(None).free(text)


def test_lists_of_two_modules_do_not_mix(lists: Lists) -> None:
    other = Lists(lists.api, lists.prefix)
    status, _, conflict = lists.reconcile(lists.create(), other.create())
    assert status == S.NvSciError_BadParameter
    assert conflict.value is None


def test_lists_outlive_their_module(lists: Lists) -> None:
    made = lists.create()
    lists("ModuleClose", lists.module)
    assert lists.set(made, (BOOL_KEY[lists.prefix], c_bool(True))) == 0


@pytest.mark.parametrize(
    ("major", "minor", "compatible"),
    [(1, 0, False), (2, 0, True), (3, 0, False), (2, 8, True), (2, 99, False)],
)
def test_version(lists: Lists, major: int, minor: int, compatible: bool) -> None:
    answer = c_bool()
    assert lists("CheckVersionCompatibility", major, minor, ctypes.byref(answer)) == 0
    assert answer.value == compatible


def test_version_of_ipc(sim_api: CApi) -> None:
    answer = c_bool()
    for minor, compatible in ((0, True), (1, False)):
        assert sim_api.NvSciIpcCheckVersionCompatibility(1, minor, ctypes.byref(answer)) == 0
        assert answer.value == compatible


def test_types_come_before_the_keys_of_a_type(sim_api: CApi) -> None:
    lists = Lists(sim_api, "NvSciBuf")
    size = (BUF.NvSciBufRawBufferAttrKey_Size, c_u64(64))
    assert lists.set(lists.create(), size) == S.NvSciError_BadParameter
    tensor = types(n.NvSciBufType.NvSciBufType_Tensor)
    made = lists.create((BUF.NvSciBufGeneralAttrKey_Types, tensor))
    assert lists.set(made, size) == S.NvSciError_BadParameter
    raw = types(n.NvSciBufType.NvSciBufType_RawBuffer)
    both = [size, (BUF.NvSciBufGeneralAttrKey_Types, raw)]
    assert lists.set(lists.create(), *both) == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (BUF.NvSciBufGeneralAttrKey_RequiredPerm, c_int(2)),
        (BUF.NvSciBufGeneralAttrKey_Types, types(0)),
        (BUF.NvSciBufGeneralAttrKey_Types, types(6)),
        (BUF.NvSciBufGeneralAttrKey_Types, types(1, 1)),
        (BUF.NvSciBufTensorAttrKey_NumDims, ctypes.c_uint32(9)),
        (BUF.NvSciBufTensorAttrKey_BaseAddrAlign, c_u64(3)),
        (BUF.NvSciBufTensorAttrKey_DataType, c_int(12)),
    ],
)
def test_values_out_of_range(sim_api: CApi, key: int, value: object) -> None:
    lists = Lists(sim_api, "NvSciBuf")
    made = lists.create()
    if key >> 16:
        tensor = types(n.NvSciBufType.NvSciBufType_Tensor)
        lists.set(made, (BUF.NvSciBufGeneralAttrKey_Types, tensor))
    assert lists.set(made, (key, value)) == S.NvSciError_BadParameter
