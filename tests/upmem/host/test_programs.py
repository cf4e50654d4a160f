"""Loading, symbols, launching and logs through the C functions, with programs that run."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from ctypes import byref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.capi import load
from cudla_sim.capi.prototypes import dpu_set_t, dpu_symbol_t

from .hosting import ASYNC, FROM_DPU, TO_DPU, Host, pointer, status

Kernel = Callable[..., Path]

PROGRAM = """
#include <stdint.h>
#include <stdio.h>
#include <defs.h>
#include <mram.h>
#include <barrier.h>
#include <perfcounter.h>
BARRIER_INIT(all, NR_TASKLETS);
__host uint32_t factor;
__host uint64_t results[NR_TASKLETS];
__host uint32_t launches = 5;
__mram_keep uint64_t table[4] = {1, 2, 3, 4};
__mram_noinit uint64_t input[1024];
uint32_t hidden = 7;
int main(void)
{
    __dma_aligned uint64_t line[4];
    if (me() == 0) launches++;
    barrier_wait(&all);
    mram_read(&input[4 * me()], line, sizeof line);
    uint64_t sum = hidden - 7;
    for (int i = 0; i < 4; i++) sum += line[i] * factor;
    results[me()] = sum;
    if (me() == 0) printf("factor %u, launch %u\\n", factor, launches);
    return 0;
}
"""

SILENT = """
#include <stdint.h>
#include <defs.h>
__host uint32_t x = 3;
int main(void) { x += 1; return 0; }
"""
FAULTY = """
#include <stdint.h>
#include <defs.h>
__host volatile uint32_t divisor;
__host volatile uint32_t done;
int main(void) { done = 1; done = 10 / divisor; return 0; }
"""


def _load(host: Host, made: dpu_set_t, program: Path) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    host.ok(host.api.dpu_load(made, str(program).encode(), byref(handle)))
    return handle


def test_one_program_on_many_dpus(host: Host, kernel: Kernel) -> None:
    api = host.api
    data = np.random.default_rng(5).integers(0, 1000, (70, 32), np.uint64)
    out = np.zeros((70, 8), np.uint64)
    factor = ctypes.c_uint32(3)
    with host.alloc(70) as made:
        _load(host, made, kernel(PROGRAM, 8))
        host.ok(api.dpu_copy_to(made, b"factor", 0, byref(factor), 4))
        for one, row in zip(host.dpus(made), data, strict=True):
            host.ok(api.dpu_prepare_xfer(one, pointer(row)))
        host.ok(api.dpu_push_xfer(made, TO_DPU, b"input", 0, 256, 0))
        for _ in range(2):
            host.ok(api.dpu_launch(made, 1))
        for one, row in zip(host.dpus(made), out, strict=True):
            host.ok(api.dpu_prepare_xfer(one, pointer(row)))
        host.ok(api.dpu_push_xfer(made, FROM_DPU, b"results", 0, 64, 0))
        assert (out == 3 * data.reshape(70, 8, 4).sum(2)).all()
        dpu = cudla_sim.upmem.sets[0].dpus[69]
        # WRAM variables live on between launches
        assert dpu.symbols["launches"].view(np.uint32)[0] == 7
        assert dpu.symbols["table"].view(np.uint64).tolist() == [1, 2, 3, 4]
        assert dpu.log == "factor 3, launch 7\n"
        assert cudla_sim.upmem.launches[-1].dpus == 70


def test_asynchronous_jobs_give_the_same(host: Host, kernel: Kernel) -> None:
    api = host.api
    data = np.random.default_rng(6).integers(0, 1000, (130, 32), np.uint64)
    out = np.zeros((130, 8), np.uint64)
    factor = ctypes.c_uint32(2)
    with host.alloc(130) as made:
        _load(host, made, kernel(PROGRAM, 8))
        host.ok(api.dpu_broadcast_to(made, b"factor", 0, byref(factor), 4, ASYNC))
        for one, row in zip(host.dpus(made), data, strict=True):
            host.ok(api.dpu_prepare_xfer(one, pointer(row)))
        host.ok(api.dpu_push_xfer(made, TO_DPU, b"input", 0, 256, ASYNC))
        host.ok(api.dpu_launch(made, 0))
        for one, row in zip(host.dpus(made), out, strict=True):
            host.ok(api.dpu_prepare_xfer(one, pointer(row)))
        host.ok(api.dpu_push_xfer(made, FROM_DPU, b"results", 0, 64, ASYNC))
        host.ok(api.dpu_sync(made))
        done, fault = ctypes.c_bool(), ctypes.c_bool(True)
        host.ok(api.dpu_status(made, byref(done), byref(fault)))
        assert (done.value, fault.value) == (True, False)
    assert (out == 2 * data.reshape(130, 8, 4).sum(2)).all()


def test_which_symbols_the_host_sees(host: Host, kernel: Kernel) -> None:
    api = host.api
    symbol = dpu_symbol_t()
    with host.alloc(1) as made:
        program = _load(host, made, kernel(PROGRAM, 8))

        def find(name: bytes) -> tuple[int, int]:
            host.ok(api.dpu_get_symbol(program, name, byref(symbol)))
            return symbol.address, symbol.size

        assert find(b"factor")[1] == 4
        assert find(b"factor")[0] < 65536
        assert find(b"results")[1] == 64
        assert find(b"results")[0] % 8 == 0
        address, size = find(b"input")
        assert address >> 27 == 1
        assert size == 8192
        assert find(b"NR_TASKLETS") == (8, 0)
        # printf brings a buffer of 1 MiB, and the program's own variables lie there too
        address, size = find(b"__sys_used_mram_end")
        assert address >= 0x0800_0000 + (1 << 20) + 8192 + 32
        assert address + size == 0x0800_0000 + (64 << 20)
        assert find(b"main")[0] >> 31 == 1
        missing = status("UNKNOWN_SYMBOL")
        assert api.dpu_get_symbol(program, b"hidden", byref(symbol)) == missing
        assert "not declared __host" in cudla_sim.last_explanation()
        assert api.dpu_get_symbol(program, b"factr", byref(symbol)) == missing
        assert "'factor'" in cudla_sim.last_explanation()
        assert api.dpu_get_symbol(program, None, byref(symbol)) == missing
        answer = api.dpu_get_symbol(None, b"factor", byref(symbol))
        assert answer == status("NO_PROGRAM_LOADED")


def test_the_heap_begins_at_the_start_without_printf(host: Host, kernel: Kernel) -> None:
    symbol = dpu_symbol_t()
    with host.alloc(1) as made:
        program = _load(host, made, kernel(SILENT))
        host.ok(host.api.dpu_get_symbol(program, b"__sys_used_mram_end", byref(symbol)))
        assert (symbol.address, symbol.size) == (0x0800_0000, 64 << 20)


def test_parts_with_programs_of_their_own(host: Host, kernel: Kernel) -> None:
    api = host.api
    value = ctypes.c_uint32()
    with host.alloc(128) as made:
        first, second = host.ranks(made)
        _load(host, first, kernel(SILENT))
        assert api.dpu_launch(made, 1) == status("NO_PROGRAM_LOADED")
        _load(host, second, kernel(PROGRAM, 8))
        answer = api.dpu_copy_to(made, b"x", 0, byref(value), 4)
        assert answer == status("DIFFERENT_DPU_PROGRAMS")
        assert api.dpu_copy_to(second, b"x", 0, byref(value), 4) == status("UNKNOWN_SYMBOL")
        host.ok(api.dpu_launch(made, 1))
        host.ok(api.dpu_copy_from(host.dpus(first)[63], b"x", 0, byref(value), 4))
        assert value.value == 4


def test_logs(host: Host, kernel: Kernel, tmp_path: Path) -> None:
    api = host.api
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    path = tmp_path / "log"
    stream = ctypes.c_void_p(libc.fopen(str(path).encode(), b"w"))
    with host.alloc(66) as made:
        _load(host, made, kernel(PROGRAM, 8))
        host.ok(api.dpu_launch(made, 1))
        assert api.dpu_log_read(made, stream) == status("INVALID_DPU_SET")
        for one in host.dpus(host.ranks(made)[1])[::31]:
            host.ok(api.dpu_log_read(one, stream))
            host.ok(api.dpulog_read_for_dpu(api.dpu_from_set(one), stream))
        assert api.dpu_log_read(host.dpus(made)[0], None) == status("SYSTEM")
        _load(host, made, kernel(SILENT))
        assert api.dpu_log_read(host.dpus(made)[0], stream) == status("LOG_CONTEXT_MISSING")
    libc.fclose(stream)
    once = "factor 0, launch 6\n"
    # The head comes from dpu_log_read alone, before it looks for a text. The second rank has its
    # members 0 to 3.
    heads = [f"=== DPU#0x{number:x} ===\n" for number in (0x10000, 0x10703, 0)]
    assert path.read_text() == "".join((heads[0], once, once, heads[1], once, once, heads[2]))


def test_a_fault_is_that_dpus_alone(
    host: Host, kernel: Kernel, capfd: pytest.CaptureFixture[str]
) -> None:
    api = host.api
    one, zero, seen = ctypes.c_uint32(1), ctypes.c_uint32(0), ctypes.c_uint32()
    fault = status("DPU_FAULT")
    with host.alloc(3) as made:
        program = kernel(FAULTY)
        _load(host, made, program)
        dpus = host.dpus(made)
        host.ok(api.dpu_copy_to(made, b"divisor", 0, byref(one), 4))
        host.ok(api.dpu_copy_to(dpus[1], b"divisor", 0, byref(zero), 4))
        assert api.dpu_launch(made, 1) == fault
        text = cudla_sim.last_explanation()
        assert "1 of 3 DPUs" in text
        assert "division" in text
        assert "main" in text
        assert "is in fault" in capfd.readouterr().err
        for dpu, value in zip(dpus, (10, 1, 10), strict=True):
            host.ok(api.dpu_copy_from(dpu, b"done", 0, byref(seen), 4))
            assert seen.value == value
        done, bad = ctypes.c_bool(), ctypes.c_bool()
        host.ok(api.dpu_status(made, byref(done), byref(bad)))
        assert (done.value, bad.value) == (True, True)
        assert api.dpu_launch(made, 1) == fault  # until the next load
        _load(host, made, program)
        host.ok(api.dpu_copy_to(made, b"divisor", 0, byref(one), 4))
        host.ok(api.dpu_launch(made, 1))
        host.ok(api.dpu_copy_to(made, b"divisor", 0, byref(zero), 4))
        host.ok(api.dpu_launch(made, 0))
        word = api.dpu_sync(made)
        assert word & 0xFFFF_FFFF == 0x8001_0017
        assert (
            host.text(word)
            == "asynchronous operation error (launch_rank): dpu is in fault (0x10017)"
        )


def test_files_that_are_no_programs(host: Host, kernel: Kernel, tmp_path: Path) -> None:
    api = host.api
    good = bytearray(kernel(SILENT).read_bytes())
    invalid, missing = status("ELF_INVALID_FILE"), status("ELF_NO_SUCH_FILE")
    cases = {
        "empty": (b"", invalid, "no ELF"),
        "text": (b"#!/bin/sh\n", invalid, "no ELF"),
        "half": (bytes(good[: len(good) // 2]), invalid, "damaged"),
        "host": (Path("/bin/true").read_bytes(), invalid, "program of this host"),
    }
    with host.alloc(1) as made:
        assert api.dpu_load(made, str(tmp_path / "none").encode(), None) == missing
        assert api.dpu_load(made, str(tmp_path).encode(), None) == missing
        assert api.dpu_load(made, None, None) == missing
        for name, (content, expected, text) in cases.items():
            path = tmp_path / name
            path.write_bytes(content)
            assert api.dpu_load(made, str(path).encode(), None) == expected, name
            assert text in cudla_sim.last_explanation()
        path = tmp_path / "real"
        path.write_bytes(_upmem_binary())
        assert api.dpu_load(made, str(path).encode(), None) == invalid
        assert "has no instructions" in cudla_sim.last_explanation()
        buffer = (ctypes.c_uint8 * len(good)).from_buffer(good)
        host.ok(
            api.dpu_load_from_memory(made, ctypes.cast(buffer, ctypes.c_void_p), len(good), None)
        )
        host.ok(api.dpu_launch(made, 1))
        assert api.dpu_load_from_memory(made, None, 8, None) == invalid
        assert api.dpu_load_from_memory(made, ctypes.c_void_p(4096), 8, None) == invalid


def _upmem_binary() -> bytes:
    """The header of an ELF32 file for machine 245, without sections."""
    identity = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    return identity + struct.pack("<HHIIIIIHHHHHH", 2, 245, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0)


def test_more_tasklets_than_the_chip_has(host: Host, kernel: Kernel) -> None:
    with host.alloc(1, "chipId=66") as made:  # v1B: 16 threads
        program = kernel("int main(void) { return 0; }", 17)
        answer = host.api.dpu_load(made, str(program).encode(), None)
        assert answer == status("TOO_MANY_TASKLETS")


def test_a_program_that_is_replaced_on_disk_stays_what_it_was(
    host: Host, kernel: Kernel, tmp_path: Path
) -> None:
    path = tmp_path / "program"
    path.write_bytes(kernel(SILENT).read_bytes())
    path.chmod(0o755)
    value = ctypes.c_uint32()
    with host.alloc(1) as made:
        _load(host, made, path)
        path.unlink()
        for _ in range(2):
            host.ok(host.api.dpu_launch(made, 1))
        host.ok(host.api.dpu_copy_from(made, b"x", 0, byref(value), 4))
        assert value.value == 5


@pytest.fixture(scope="module")
def image(kernel: Kernel) -> bytes:
    return kernel(SILENT).read_bytes()


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_programs_give_statuses(image: bytes, data: st.DataObject) -> None:
    """Bytes of the headers and tables changed: a status, never an exception or a crash."""
    cudla_sim.reset()
    host = Host(load())
    broken = bytearray(image)
    table = struct.unpack_from("<Q", image, 40)[0]
    spots = st.one_of(st.integers(0, 511), st.integers(table, len(image) - 1))
    for _ in range(data.draw(st.integers(1, 6))):
        broken[data.draw(spots)] = data.draw(st.integers(0, 255))
    buffer = (ctypes.c_uint8 * len(broken)).from_buffer(broken)
    with host.alloc(1) as made:
        address = ctypes.cast(buffer, ctypes.c_void_p)
        answer = host.api.dpu_load_from_memory(made, address, len(broken), None)
        assert answer in (0, status("ELF_INVALID_FILE"), status("TOO_MANY_TASKLETS"))


def test_a_launch_can_be_made_to_fail(host: Host, kernel: Kernel) -> None:
    with host.alloc(1) as made:
        _load(host, made, kernel(SILENT))
        cudla_sim.inject_fault("upmem/launch@2")
        host.ok(host.api.dpu_launch(made, 1))
        assert host.api.dpu_launch(made, 1) == status("DPU_FAULT")
        assert "injected" in cudla_sim.last_explanation()
        host.ok(host.api.dpu_launch(made, 1))
