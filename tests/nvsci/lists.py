"""Attribute lists through the C API, for both libraries."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from cudla_sim.constants import nvsci as n
from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p

S = n.NvSciError
BUF, SYNC = n.NvSciBufAttrKey, n.NvSciSyncAttrKey

c_bool, c_int, c_u32, c_u64 = ctypes.c_bool, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64


def types(*kinds: int) -> Any:
    return (c_int * len(kinds))(*kinds)


def u64s(*values: int) -> Any:
    return (c_u64 * len(values))(*values)


def u32s(*values: int) -> Any:
    return (c_u32 * len(values))(*values)


class Lists:
    """``prefix`` is NvSciBuf or NvSciSync."""

    def __init__(self, api: CApi, prefix: str) -> None:
        self.api, self.prefix = api, prefix
        self.module = ctypes.c_void_p()
        assert self("ModuleOpen", ctypes.byref(self.module)) == 0
        self.pair = getattr(p, f"{prefix}AttrKeyValuePair")
        self.key_field = self.pair._fields_[0][0]

    def __call__(self, name: str, *arguments: Any) -> int:
        result: int = getattr(self.api, self.prefix + name)(*arguments)
        return result

    def create(self, *values: tuple[int, Any]) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        assert self("AttrListCreate", self.module, ctypes.byref(made)) == 0
        if values:
            assert self.set(made, *values) == 0, self.why()
        return made

    def pairs(self, values: Sequence[tuple[int, Any]]) -> Any:
        array = (self.pair * len(values))()
        array.values = values  # what the entries point to lives as long as they do
        for entry, (key, value) in zip(array, values, strict=True):
            setattr(entry, self.key_field, key)
            entry.value = ctypes.addressof(value)
            entry.len = ctypes.sizeof(value)
        return array

    def set(self, attributes: ctypes.c_void_p, *values: tuple[int, Any]) -> int:
        return self("AttrListSetAttrs", attributes, self.pairs(values), len(values))

    def get(self, attributes: ctypes.c_void_p, key: int, slot: int = 0) -> bytes:
        pair = self.pair()
        setattr(pair, self.key_field, key)
        assert self("AttrListSlotGetAttrs", attributes, slot, ctypes.byref(pair), 1) == 0
        return ctypes.string_at(pair.value, pair.len) if pair.len else b""

    def reconcile(self, *lists: ctypes.c_void_p) -> tuple[int, ctypes.c_void_p, ctypes.c_void_p]:
        array = (ctypes.c_void_p * len(lists))(*lists)
        made, conflict = ctypes.c_void_p(), ctypes.c_void_p(0xDEAD)
        status = self(
            "AttrListReconcile", array, len(lists), ctypes.byref(made), ctypes.byref(conflict)
        )
        return status, made, conflict

    def allocate(self, *lists: ctypes.c_void_p) -> ctypes.c_void_p:
        status, reconciled, _ = self.reconcile(*lists)
        assert status == 0, self.why()
        made = ctypes.c_void_p()
        assert self("ObjAlloc", reconciled, ctypes.byref(made)) == 0, self.why()
        return made

    @staticmethod
    def why() -> str:
        import cudla_sim

        return cudla_sim.last_explanation()
