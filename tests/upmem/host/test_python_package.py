"""The package ``dpu``: Python hosts as public programs write them."""

from __future__ import annotations

import array
import io
import struct
import threading
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpu import ALLOCATE_ALL, DpuError, DpuSet, DpuSymbol

from .kernels import Kernel

KERNEL = """
#include <mram.h>
#include <stdint.h>
#include <stdio.h>
__host uint32_t factor = 2;
__host int32_t pair[2] = { -1, 7 };
__mram uint64_t my_var;
__mram_noinit uint32_t numbers[16];
int main(void)
{
    uint64_t data = my_var;
    printf("my_var 0x%016lx\\n", data);
    my_var = data + 1;
    for (int i = 0; i < 16; i++)
        numbers[i] *= factor;
    return 0;
}
"""


@pytest.fixture
def binary(sim: ModuleType, kernel: Kernel) -> str:
    return str(kernel(KERNEL))


def test_symbols_are_attributes(binary: str) -> None:
    with DpuSet(nr_dpus=1, binary=binary) as dpu:
        dpu.my_var = bytearray([0, 1, 2, 3, 4, 5, 6, 7])
        dpu.numbers = np.arange(16, dtype=np.uint32)
        dpu.exec()
        assert dpu.my_var.uint64() == 0x0706050403020100 + 1
        assert dpu.pair.int32().tolist() == [-1, 7]
        assert dpu.factor.uint32() == 2
        assert dpu.numbers.uint32().tolist() == [2 * i for i in range(16)]
        assert bytes(dpu.my_var.data()) == struct.pack("Q", 0x0706050403020101)
        with pytest.raises(AttributeError, match="nothing"):
            _ = dpu.nothing


def test_several_dpus(binary: str) -> None:
    with DpuSet(nr_ranks=2, binary=binary) as dpus:
        assert len(dpus) == len(dpus.dpus()) == 128
        assert [len(r) for r in dpus.ranks()] == [64, 64]
        dpus.copy("my_var", [bytearray(struct.pack("Q", i)) for i in range(128)])
        dpus.exec()
        assert dpus.my_var.uint64() == list(range(1, 129))
        assert next(iter(dpus)).my_var.uint64() == 1
        assert dpus.ranks()[1].my_var.uint64()[0] == 65
        assert dpus.pair.int32()[5].tolist() == [-1, 7]


def test_copy_takes_sizes_offsets_symbols_and_partial_lists(binary: str) -> None:
    with DpuSet(2, binary=binary) as dpus:
        program = dpus.load(binary)
        symbol = program.get_symbol("numbers")
        assert isinstance(symbol, DpuSymbol)
        assert (symbol.size(), symbol.value() & 0x08000000) == (64, 0x08000000)
        assert program.get_symbol("nothing") is None
        assert {"numbers", "factor", "NR_TASKLETS"} <= program.fetch_all_symbols().keys()
        dpus.copy(symbol, array.array("I", range(16)))
        dpus.copy("numbers", [None, bytearray(b"\1" * 16)], size=8, offset=8)
        found = [bytearray(64), bytearray(64)]
        dpus.copy(found, symbol)
        assert np.frombuffer(found[0], np.uint32)[2] == 2
        assert np.frombuffer(found[1], np.uint32)[2:5].tolist() == [0x01010101, 0x01010101, 4]
        single = bytearray(8)
        dpus.dpus()[1].copy(single, "numbers", offset=8)
        assert single == b"\1" * 8


def test_logs(binary: str) -> None:
    everything, first = io.StringIO(), io.StringIO()
    with DpuSet(2, binary=binary, log=everything) as dpus:
        dpus.my_var = bytearray(8)
        dpus.exec()
        assert everything.getvalue().count("=== DPU#0x") == 2
        assert everything.getvalue().count("my_var 0x0000000000000000") == 2
        dpus.exec(log=[first, None])
        assert first.getvalue().count("my_var 0x0000000000000001") == 1
        dpus.exec(log={dpus.dpus()[1]: first})
        assert first.getvalue().count("my_var") == 2
        with pytest.raises(DpuError, match="write"):
            dpus.exec(log=7)
        with pytest.raises(DpuError, match="3 entries for 2 DPUs"):
            dpus.log([None] * 3)


def test_asynchronous_work_is_in_order(binary: str) -> None:
    with DpuSet(70, binary=binary, async_mode=True) as dpus:
        called: list[tuple[int, int, Any]] = []
        lock = threading.Lock()

        synchronised, last = threading.Event(), threading.Event()

        def on_rank(part: DpuSet, index: int, argument: Any) -> None:
            if argument == "once":
                synchronised.wait(60)
            with lock:
                called.append((len(part), index, argument))
            if argument == "once":
                last.set()
                raise ValueError("dropped")

        dpus.my_var = bytearray(struct.pack("Q", 5))
        dpus.exec()
        dpus.call(on_rank, "x")
        dpus.call(on_rank, "once", is_blocking=False, single_call=True)
        dpus.sync()
        assert sorted(called, key=str) == [(32, 1, "x"), (38, 0, "x")]
        synchronised.set()
        assert last.wait(60)
        assert called[2:] == [(70, 0xFFFF_FFFF, "once")]
        assert dpus.my_var.uint64() == [6] * 70


def test_errors(binary: str, tmp_path: Any) -> None:
    with pytest.raises(DpuError, match="nr_dpus and nr_ranks"):
        DpuSet(1, 1)
    with pytest.raises(DpuError, match="dpu allocation error"):
        DpuSet(nr_dpus=0)
    with pytest.raises(DpuError, match="no such ELF file"):
        DpuSet(1, binary=str(tmp_path / "none"))
    with DpuSet(2, binary=binary) as dpus:
        with pytest.raises(DpuError, match="Host <-> DPU"):
            dpus.copy(bytearray(8), bytearray(8))
        with pytest.raises(DpuError, match="one buffer"):
            dpus.copy(bytearray(8), "numbers")
        with pytest.raises(DpuError, match="cannot be written"):
            dpus.copy([b"12345678", b"12345678"], "numbers")
        with pytest.raises(DpuError, match="too small"):
            dpus.copy("numbers", bytearray(8), size=16)
        with pytest.raises(DpuError, match="different sizes"):
            dpus.copy("numbers", [bytearray(8), bytearray(16)])
        with pytest.raises(DpuError, match="undefined symbol"):
            dpus.copy("nothing", bytearray(8))
        with pytest.raises(DpuError, match="one and only one"):
            dpus.load()
        with pytest.raises(DpuError, match="one and only one"):
            dpus.load(binary="x", asm_source="x.S")
        with pytest.raises(DpuError, match=r"no such file or directory: 'x\.S'"):
            dpus.load(asm_source="x.S")
        with pytest.raises(ZeroDivisionError):
            dpus.call(lambda part, index, _: index / 0)
        with pytest.raises(DpuError) as caught:
            dpus.dpus()[0].free()
        assert caught.value.status == 5


def test_a_failed_load_gives_the_dpus_back(sim: ModuleType) -> None:
    for _ in range(3):
        with pytest.raises(DpuError, match="no such ELF file"):
            DpuSet(ALLOCATE_ALL, binary="/nowhere/kernel")


def test_a_set_that_goes_out_of_scope_is_free_again(sim: ModuleType) -> None:
    import gc

    dpus = DpuSet()
    count = len(dpus)
    del dpus
    gc.collect()
    with DpuSet() as again:
        assert len(again) == count


def test_source_is_compiled(sim: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    log = io.StringIO()
    with DpuSet(nr_dpus=1, c_source=io.StringIO(KERNEL)) as dpu:
        dpu.my_var = bytearray(8)
        dpu.exec(log=log)
    assert "my_var" in log.getvalue()
    with pytest.raises(DpuError, match="does not compile"):
        DpuSet(nr_dpus=1, c_source=io.StringIO("int main(void) { return nothing; }"))


ASSEMBLY = """
main: lw r0, zero, value
    lsl_add r0, r0, r0, 1
    sw zero, value, r0
    jump r23
    .section .data.__sys_host
    .size value, 4
value: .word 14
"""


def test_assembly_is_assembled(sim: ModuleType) -> None:
    with DpuSet(nr_dpus=1, asm_source=io.StringIO(ASSEMBLY)) as dpu:
        dpu.exec()
        assert dpu.value.uint32() == 42
    with pytest.raises(DpuError, match=r"1: error: lsl does not take the operands r0"):
        DpuSet(nr_dpus=1, asm_source=io.StringIO("main: lsl r0\n"))


def test_a_program_given_as_bytes(binary: str) -> None:
    from pathlib import Path

    with DpuSet(1, binary=Path(binary).read_bytes()) as dpu:
        assert dpu.factor.uint32() == 2


def test_a_program_may_be_loaded_in_a_part(binary: str, kernel: Kernel) -> None:
    other = kernel("#include <defs.h>\n__host int only_here;\nint main(void) { return 0; }\n")
    with DpuSet(2, binary=binary) as dpus:
        dpus.dpus()[0].load(str(other))
        assert dpus.dpus()[0].only_here.int32() == 0
        assert dpus.dpus()[1].factor.uint32() == 2
        with pytest.raises(AttributeError):
            _ = dpus.factor
