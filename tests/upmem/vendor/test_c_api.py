"""Programs of the vendor's compiler through the C functions."""

from __future__ import annotations

import ctypes
from ctypes import byref
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.capi import CApi
from cudla_sim.capi.prototypes import dpu_set_t, dpu_symbol_t

from ..host.hosting import ASYNC, FROM_DPU, TO_DPU, Host, pointer, status
from .elves import IRAM, Elf, program
from .words import STOP, TRUE, ZERO, add, branch, load, move, store, word

FACTOR = [load(0, ZERO, 256), add(0, 0, 5), store(ZERO, 260, 0), STOP]


@pytest.fixture
def host(sim_api: CApi) -> Host:
    return Host(sim_api)


def from_memory(host: Host, made: dpu_set_t, elf: Elf) -> None:
    image = elf.image()
    data = (ctypes.c_uint8 * len(image)).from_buffer_copy(image)
    where = ctypes.cast(data, ctypes.c_void_p)
    host.ok(host.api.dpu_load_from_memory(made, where, len(image), None))


def test_from_a_file_and_from_memory(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "task"
    path.write_bytes(program(FACTOR).image())
    with host.alloc(3) as made:
        for load_it in (
            lambda: host.ok(host.api.dpu_load(made, str(path).encode(), None)),
            lambda: from_memory(host, made, program(FACTOR)),
        ):
            load_it()
            inputs = np.array([10, 20, 30], np.uint32)
            for i, dpu in enumerate(host.dpus(made)):
                host.ok(host.api.dpu_prepare_xfer(dpu, pointer(inputs, 4 * i)))
            host.ok(host.api.dpu_push_xfer(made, TO_DPU, b"shared", 0, 4, 0))
            host.ok(host.api.dpu_launch(made, 1))
            results = np.zeros(3, np.uint32)
            for i, dpu in enumerate(host.dpus(made)):
                host.ok(host.api.dpu_prepare_xfer(dpu, pointer(results, 4 * i)))
            host.ok(host.api.dpu_push_xfer(made, FROM_DPU, b"shared", 4, 4, 0))
            assert results.tolist() == [15, 25, 35]


def test_queued_launches(host: Host) -> None:
    with host.alloc(2) as made:
        from_memory(host, made, program([load(0, ZERO, 260), *FACTOR[1:]]))
        for _ in range(3):
            host.ok(host.api.dpu_launch(made, 0))
        found = np.zeros(1, np.uint32)
        host.ok(host.api.dpu_broadcast_to(made, b"shared", 0, pointer(found), 4, ASYNC))
        host.ok(host.api.dpu_sync(made))
        for dpu in host.dpus(made):
            host.ok(host.api.dpu_copy_from(dpu, b"shared", 4, pointer(found), 4))
            assert found[0] == 15


def test_a_fault_is_the_sets_status(host: Host) -> None:
    done, fault = ctypes.c_bool(), ctypes.c_bool()
    with host.alloc(1) as made:
        from_memory(host, made, program([word("FAULT", imm=3)]))
        assert host.api.dpu_launch(made, 1) == status("DPU_FAULT")
        host.ok(host.api.dpu_status(made, byref(done), byref(fault)))
        assert done.value
        assert fault.value


def test_freeing_stops_what_runs(host: Host) -> None:
    with host.alloc(1) as made:
        from_memory(host, made, program([branch(TRUE, ZERO, 0, 0)]))
        host.ok(host.api.dpu_launch(made, 0))
    with host.alloc(1) as made:
        from_memory(host, made, program([move(0, 3), store(ZERO, 256, 0), STOP]))
        host.ok(host.api.dpu_launch(made, 1))


def test_the_address_of_a_function(host: Host) -> None:
    symbol = dpu_symbol_t()
    handle = ctypes.c_void_p()
    value = ctypes.c_uint64()
    with host.alloc(1) as made:
        image = program(FACTOR).image()
        data = (ctypes.c_uint8 * len(image)).from_buffer_copy(image)
        where = ctypes.cast(data, ctypes.c_void_p)
        host.ok(host.api.dpu_load_from_memory(made, where, len(image), byref(handle)))
        host.ok(host.api.dpu_get_symbol(handle, b"main", byref(symbol)))
        assert (symbol.address, symbol.size) == (IRAM, 8 * len(FACTOR))
        refused = host.api.dpu_copy_from(made, b"main", 0, byref(value), 8)
        assert refused == status("INVALID_IRAM_ACCESS")
