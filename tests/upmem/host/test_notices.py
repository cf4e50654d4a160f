"""What the library says on standard error at its default verbosity, as the SDK's does."""

from __future__ import annotations

import re
from pathlib import Path

from cudla_sim.testing import Compiler

from .kernels import Kernel

KERNEL = """
#include <mram.h>
#include <stdint.h>
__host uint8_t table[64];
__mram_noinit uint8_t data[64];
int main(void) { table[0] = 1; mram_read(data, table, 8); return 0; }
"""

HOST = r"""
#include <dpu.h>
int main(int argc, char **argv)
{
    struct dpu_set_t set, dpu;
    char buffer[128];
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    dpu_load(set, argv[2], NULL);
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    dpu_broadcast_to(set, "table", 60, buffer, 8, DPU_XFER_DEFAULT);
    DPU_FOREACH(set, dpu) {
        dpu_copy_to(dpu, "table", 2, buffer, 8);
        DPU_ASSERT(dpu_prepare_xfer(dpu, buffer));
    }
    dpu_push_xfer(set, DPU_XFER_TO_DPU, "data", 0, 128, DPU_XFER_DEFAULT);
    dpu_push_xfer(set, DPU_XFER_TO_DPU, "table", 0, 6, DPU_XFER_DEFAULT);
    dpu_copy_to(set, "tabel", 0, buffer, 8);
    dpu_copy_to(set, "tabel", 0, buffer, 8);
    return 0;
}
"""


def test_refused_transfers_symbols_and_files(
    sim_cc: Compiler, kernel: Kernel, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"#!/bin/sh\n")
    done = sim_cc.run(sim_cc.build(HOST), str(kernel(KERNEL)), str(wrong))
    assert done.status == 0
    lines = done.err.splitlines()
    stamp = r"api:WARNING:\d{4}-\d\d-\d\d\|\d\d:\d\d:\d\d: "
    said = [re.sub(stamp, "", line) for line in lines]
    address = r"address:0x[0-9a-f]+"
    expected = [
        r"cudla-sim: dpu_load: '.*wrong' is no ELF file; it begins with .*",
        r"cudla-sim: CUDLA_SIM_EXPLAIN=1 explains .*",
        r"dpu_broadcast_to_symbol_for_ranks: invalid symbol access \(offset:60 \+ length:8 > "
        r"size:64\)",
        rf"dpu_copy_symbol_dpu: invalid wram access \(offset:0x2, {address}\)",
        rf"dpu_copy_symbol_dpu: invalid wram access \(offset:0x2, {address}\)",
        r"dpu_push_xfer_symbol: invalid symbol access \(offset:0 \+ length:128 > size:64\)",
        r"dpu_push_xfer_symbol: invalid wram access \(length:0x6\)",
        r"cudla-sim: dpu_get_symbol: .* has no symbol 'tabel' .*did you mean 'table'\?",
    ]
    assert len(said) == len(expected), done.err
    for line, pattern in zip(said, expected, strict=True):
        assert re.fullmatch(pattern, line), line
    assert all(re.match(stamp, line) for line in lines if not line.startswith("cudla-sim"))


OPENING = r"""
#include <dpu.h>
#include <dpu_elf.h>
#include <dpu_program.h>
int main(int argc, char **argv)
{
    static uint8_t text[] = "no program";
    static struct dpu_program_t program;
    struct dpu_incbin_t incbin = { text, 5, "it" };
    struct dpu_set_t set;
    dpu_elf_file_t file;
    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    dpu_load_from_memory(set, text, 6, NULL);
    dpu_load_from_incbin(set, &incbin, NULL);
    dpu_elf_open("/nowhere", &file);
    dpu_elf_map(text, 7, &file, "a map");
    dpu_load_elf_program(&file, "/neither", &program, 64 << 20);
    dpu_load_elf_program_from_memory(&file, "a copy", text, 8, &program, 64 << 20);
    return 0;
}
"""


def test_a_refused_file_is_told_by_the_function_that_read_it(sim_cc: Compiler) -> None:
    done = sim_cc.run(sim_cc.build(OPENING))
    said = [line.split(":")[1].strip() for line in done.err.splitlines() if "'" in line]
    assert said == [
        "dpu_load_from_memory",
        "dpu_load_from_incbin",
        "dpu_elf_open",
        "dpu_elf_map",
        "dpu_load_elf_program",
        "dpu_load_elf_program_from_memory",
    ]
