"""Functions that only releases up to 2020.3 had."""

from __future__ import annotations

from ctypes import byref, c_bool

import numpy as np
import pytest

import cudla_sim

from .hosting import MRAM, WRAM, Host, pointer, status

MRAM_BASE = 0x0800_0000


def _random(size: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, size, np.uint8)


@pytest.mark.parametrize(("symbol", "base"), [(MRAM, MRAM_BASE), (WRAM, 0)])
def test_one_dpu_by_symbol_and_by_address(host: Host, symbol: object, base: int) -> None:
    data, back = _random(512), np.zeros(512, np.uint8)
    api = host.api
    with host.alloc(3) as made:
        dpu = api.dpu_from_set(host.dpus(made)[1])
        host.ok(api.dpu_copy_to_symbol_dpu(dpu, symbol, 64, pointer(data), 512))
        host.ok(api.dpu_copy_from_address_dpu(dpu, base + 64, pointer(back), 512))
        assert (back == data).all()
        host.ok(api.dpu_copy_to_address_dpu(dpu, base + 1024, pointer(data, 8), 256))
        host.ok(api.dpu_copy_from_symbol_dpu(dpu, symbol, 1024, pointer(back), 256))
        assert (back[:256] == data[8:264]).all()
        assert not cudla_sim.upmem.sets[0].dpus[0].mram[:2048].any()


def test_a_rank_and_a_matrix(host: Host) -> None:
    rows = _random(64 * 16).reshape(64, 16)
    back = np.zeros_like(rows)
    api = host.api
    with host.alloc(128) as made:
        whole = host.ranks(made)[0]
        rank = api.dpu_rank_from_set(whole)
        host.ok(api.dpu_copy_to_symbol_rank(rank, MRAM, 0, pointer(rows), 16))
        host.ok(api.dpu_copy_to_address_rank(rank, 32, pointer(rows), 16))
        dpus = cudla_sim.upmem.sets[0].dpus
        assert all((dpu.mram[:16] == rows[0]).all() for dpu in dpus[:64])
        assert all((dpu.wram[32:48] == rows[0]).all() for dpu in dpus[:64])
        assert not any(dpu.mram[:16].any() for dpu in dpus[64:])

        def buffers(of: np.ndarray) -> None:
            for one, row in zip(host.dpus(whole), of, strict=True):
                host.ok(api.dpu_prepare_xfer(one, pointer(row)))

        buffers(rows)
        host.ok(api.dpu_copy_to_address_matrix(rank, MRAM_BASE + 16, 16))
        buffers(back)
        host.ok(api.dpu_copy_from_symbol_matrix(rank, MRAM, 16, 16))
        assert (back == rows).all()
        buffers(rows[::-1])
        host.ok(api.dpu_copy_to_symbol_matrix(rank, WRAM, 8, 16))
        buffers(back)
        host.ok(api.dpu_copy_from_address_matrix(rank, 8, 16))
        assert (back == rows[::-1]).all()


def test_wrong_accesses_have_the_errors_of_the_newer_functions(host: Host) -> None:
    data = _random(64)
    with host.alloc(1) as made:
        dpu = host.api.dpu_from_set(host.dpus(made)[0])
        wrong = host.api.dpu_copy_to_address_dpu(dpu, 2, pointer(data), 4)
        assert wrong == status("INVALID_WRAM_ACCESS")
        wrong = host.api.dpu_copy_to_address_dpu(dpu, MRAM_BASE + (64 << 20) - 8, pointer(data), 16)
        assert wrong == status("INVALID_SYMBOL_ACCESS")


def test_what_drives_the_chip_says_that_there_is_none(host: Host) -> None:
    with host.alloc(1) as made:
        rank = host.api.dpu_rank_from_set(host.ranks(made)[0])
        dpu = host.api.dpu_from_set(host.dpus(made)[0])
        assert host.api.dpu_switch_mux_for_rank(rank, True) == status("INTERNAL")
        assert "UnsupportedOperation: there is no chip" in str(cudla_sim.last_explanation())
        running = c_bool()
        without = host.api.dpu_get_thread_status_on_dpu(dpu, 0, byref(running))
        assert without == status("NO_PROGRAM_LOADED")
        assert host.api.dpu_trigger_fault_on_rank(rank) == status("INTERNAL")
        assert "debugging is for single DPUs" in str(cudla_sim.last_explanation())
