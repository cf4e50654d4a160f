"""Ranks on two workers through the C functions: what comes back is what went there."""

from __future__ import annotations

import ctypes
from ctypes import byref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.upmem.cluster.store import ClusterStore
from cudla_sim.upmem.machine import machine
from tests.upmem.host.hosting import ASYNC, FROM_DPU, MRAM, TO_DPU, Host, pointer, status
from tests.upmem.host.kernels import Kernel
from tests.upmem.host.test_programs import FAULTY, PROGRAM, SILENT
from tests.upmem.vendor.elves import program
from tests.upmem.vendor.words import STOP, ZERO, add, load, store

DPUS = 150  # three ranks, the last one not whole


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    offset=st.integers(0, 40_000),
    words=st.integers(1, 700),
    left_out=st.sets(st.integers(0, DPUS - 1), max_size=DPUS - 1),
    seed=st.integers(0, 9),
)
def test_what_goes_there_comes_back(
    host_once: Host, offset: int, words: int, left_out: set[int], seed: int
) -> None:
    """Against an array of what each DPU holds."""
    api, whole, model = host_once.api, host_once.made, host_once.model  # type: ignore[attr-defined]
    data = np.random.default_rng(seed).integers(0, 1 << 60, (DPUS, words), np.int64)
    used = [i for i in range(DPUS) if i not in left_out]  # at least one
    dpus = host_once.dpus(whole)
    for i in used:
        host_once.ok(api.dpu_prepare_xfer(dpus[i], pointer(data[i])))
    host_once.ok(api.dpu_push_xfer_symbol(whole, TO_DPU, MRAM, 8 * offset, 8 * words, 0))
    model[used, offset : offset + words] = data[used]
    first, count = max(offset - 3, 0), words + 6
    back = np.full((DPUS, count), -1, np.int64)
    for i, dpu in enumerate(dpus):
        host_once.ok(api.dpu_prepare_xfer(dpu, pointer(back[i])))
    host_once.ok(api.dpu_push_xfer_symbol(whole, FROM_DPU, MRAM, 8 * first, 8 * count, 0))
    assert np.array_equal(back, model[:, first : first + count])
    one = np.zeros(words, np.int64)
    host_once.ok(api.dpu_copy_from_symbol(dpus[used[0]], MRAM, 8 * offset, pointer(one), 8 * words))
    assert np.array_equal(one, data[used[0]])


@pytest.fixture
def host_once(host: Host) -> Host:
    """A set that all examples share."""
    stack = host.alloc(DPUS)
    host.made = stack.__enter__()  # type: ignore[attr-defined]
    host.model = np.zeros((DPUS, 41_000), np.int64)  # type: ignore[attr-defined]
    return host


def test_programs_run_everywhere(host: Host, kernel: Kernel) -> None:
    """One program, broadcasts, asynchronous work, logs, symbols, launches counted."""
    api = host.api
    data = np.random.default_rng(5).integers(0, 1000, (DPUS, 32), np.uint64)
    out = np.zeros((DPUS, 8), np.uint64)
    factor = ctypes.c_uint32(3)
    with host.alloc(DPUS) as made:
        host.ok(api.dpu_load(made, str(kernel(PROGRAM, 8)).encode(), None))
        host.ok(api.dpu_broadcast_to(made, b"factor", 0, byref(factor), 4, ASYNC))
        for i, dpu in enumerate(host.dpus(made)):
            host.ok(api.dpu_prepare_xfer(dpu, pointer(data[i])))
        host.ok(api.dpu_push_xfer(made, TO_DPU, b"input", 0, 256, ASYNC))
        host.ok(api.dpu_launch(made, 0))
        for i, dpu in enumerate(host.dpus(made)):
            host.ok(api.dpu_prepare_xfer(dpu, pointer(out[i])))
        host.ok(api.dpu_push_xfer(made, FROM_DPU, b"results", 0, 64, ASYNC))
        host.ok(api.dpu_sync(made))
        assert np.array_equal(out, data.reshape(DPUS, 8, 4).sum(2) * 3)
        dpus = cudla_sim.upmem.sets[0].dpus
        for number in (0, 63, 64, 149):
            assert dpus[number].log == "factor 3, launch 6\n"
            assert dpus[number].symbols["launches"].view("uint32")[0] == 6
            assert np.array_equal(dpus[number].symbols["results"].view("uint64"), out[number])
        assert not dpus[0].wram.flags.writeable
        assert cudla_sim.upmem.launches[-1].dpus in (48, 54)  # ranks are about equally large


def test_faults_come_back(host: Host, kernel: Kernel) -> None:
    api, ones = host.api, np.ones(DPUS, np.uint32)
    bad = [5, 64, 70, 149]
    ones[bad] = 0
    with host.alloc(DPUS) as made:
        host.ok(api.dpu_load(made, str(kernel(FAULTY)).encode(), None))
        for i, dpu in enumerate(host.dpus(made)):
            host.ok(api.dpu_prepare_xfer(dpu, pointer(ones, 4 * i)))
        host.ok(api.dpu_push_xfer(made, TO_DPU, b"divisor", 0, 4, 0))
        assert api.dpu_launch(made, 1) == status("DPU_FAULT")
        assert cudla_sim.last_explanation().startswith("dpu_launch: 4 of 150 DPUs are in fault")
        dpus = cudla_sim.upmem.sets[0].dpus
        assert [i for i, d in enumerate(dpus) if d.fault] == bad
        assert all("division" in dpus[i].fault.text for i in bad)
        assert [int(d.symbols["done"].view("uint32")[0]) for d in dpus] == [
            1 if i in bad else 10 for i in range(DPUS)
        ]


def test_freed_memory_reads_as_zero(host: Host) -> None:
    api, data = host.api, np.arange(64, dtype=np.uint64)
    for _ in range(2):
        with host.alloc(DPUS) as made:
            back = np.ones(64, np.uint64)
            for dpu in host.dpus(made)[::50]:
                host.ok(api.dpu_copy_from_symbol(dpu, MRAM, 0, pointer(back), 512))
                assert not back.any()
            host.ok(api.dpu_copy_to_symbol(made, MRAM, 0, pointer(data), 512))


def test_bad_buffers_are_found_before_anything_moves(host: Host) -> None:
    api, data = host.api, np.arange(64, dtype=np.uint64)
    with host.alloc(DPUS) as made:
        for i, dpu in enumerate(host.dpus(made)):
            bad = ctypes.c_void_p(4096)
            host.ok(api.dpu_prepare_xfer(dpu, bad if i == 100 else pointer(data)))
        assert api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 512, 0) == status(
            "INVALID_MEMORY_TRANSFER"
        )
        assert not cudla_sim.upmem.sets[0].dpus[0].mram[:512].any()


def test_ranks_lie_on_workers_in_turn(host: Host) -> None:
    with host.alloc(DPUS):
        store = machine().store
        assert isinstance(store, ClusterStore)
        assert [m.ranks for m in store.machines] == [[0, 2, 4], [1, 3, 5]]


def test_free_stops_what_runs(host: Host, kernel: Kernel) -> None:
    """A program that would never end is no reason to wait."""
    endless = 'int main(void) { for (;;) __asm__ volatile("" ::: "memory"); }'
    with host.alloc(128) as made:
        host.ok(host.api.dpu_load(made, str(kernel(endless)).encode(), None))
        host.ok(host.api.dpu_launch(made, 0))
    with host.alloc(128) as made:
        host.ok(host.api.dpu_load(made, str(kernel(SILENT)).encode(), None))
        host.ok(host.api.dpu_launch(made, 1))


def test_programs_of_the_vendors_compiler(host: Host) -> None:
    """Registers and IRAM go where the DPUs are, and so do memories and logs."""
    image = program([load(0, ZERO, 256), add(0, 0, 5), store(ZERO, 260, 0), STOP]).image()
    data = (ctypes.c_uint8 * len(image)).from_buffer_copy(image)
    with host.alloc(130) as made:
        where = ctypes.cast(data, ctypes.c_void_p)
        host.ok(host.api.dpu_load_from_memory(made, where, len(image), None))
        numbers = np.arange(130, dtype=np.uint32)
        for i, dpu in enumerate(host.dpus(made)):
            host.ok(host.api.dpu_prepare_xfer(dpu, pointer(numbers, 4 * i)))
        host.ok(host.api.dpu_push_xfer(made, TO_DPU, b"shared", 0, 4, 0))
        host.ok(host.api.dpu_launch(made, 1))
        found = np.zeros(130, np.uint32)
        for i, dpu in enumerate(host.dpus(made)):
            host.ok(host.api.dpu_prepare_xfer(dpu, pointer(found, 4 * i)))
        host.ok(host.api.dpu_push_xfer(made, FROM_DPU, b"shared", 4, 4, 0))
        assert (found == numbers + 5).all()
