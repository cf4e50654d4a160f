"""What the tests of the host API share: sets, buffers, statuses."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from ctypes import byref

import numpy as np
from numpy.typing import NDArray

from cudla_sim.capi import CApi
from cudla_sim.capi.prototypes import dpu_set_t, dpu_symbol_t
from cudla_sim.constants.upmem import dpu_error_t

MRAM = dpu_symbol_t(0x0800_0000, 64 << 20)
WRAM = dpu_symbol_t(0, 64 << 10)
TO_DPU, FROM_DPU = 0, 1
ASYNC = 2


class Host:
    """The C functions, with statuses checked and sets as ctypes structures."""

    def __init__(self, api: CApi) -> None:
        self.api = api

    def ok(self, status: int) -> None:
        from cudla_sim import last_explanation

        assert status == 0, f"{status}: {last_explanation()}"

    @contextlib.contextmanager
    def alloc(self, dpus: int, profile: str = "") -> Iterator[dpu_set_t]:
        made = dpu_set_t()
        self.ok(self.api.dpu_alloc(dpus, profile.encode(), byref(made)))
        yield made
        self.ok(self.api.dpu_free(made))

    def dpus(self, whole: dpu_set_t) -> list[dpu_set_t]:
        """What DPU_FOREACH visits."""
        found = []
        iterator = self.api.dpu_set_dpu_iterator_from(byref(whole))
        while iterator.has_next:
            assert iterator.count == len(found)
            found.append(dpu_set_t.from_buffer_copy(iterator.next))
            self.api.dpu_set_dpu_iterator_next(byref(iterator))
        return found

    def ranks(self, whole: dpu_set_t) -> list[dpu_set_t]:
        """What DPU_RANK_FOREACH visits."""
        found = []
        iterator = self.api.dpu_set_rank_iterator_from(byref(whole))
        while iterator.has_next:
            found.append(dpu_set_t.from_buffer_copy(iterator.next))
            self.api.dpu_set_rank_iterator_next(byref(iterator))
        return found

    def count(self, given: dpu_set_t) -> int:
        number = ctypes.c_uint32()
        self.ok(self.api.dpu_get_nr_dpus(given, byref(number)))
        return number.value

    def text(self, status: int) -> str:
        pointer = self.api.dpu_error_to_string(status)
        text = ctypes.string_at(pointer).decode()
        ctypes.CDLL(None).free(ctypes.c_void_p(pointer))
        return text


def status(name: str) -> int:
    return int(dpu_error_t[f"DPU_ERR_{name}"])


def pointer(array: NDArray[np.generic], offset: int = 0) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data + offset)
