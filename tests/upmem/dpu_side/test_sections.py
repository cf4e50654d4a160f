"""Where a program's data lies: what is unused is left out, and the heap starts as on a DPU."""

from __future__ import annotations

import pytest

from .bench import Bench, Program
from .conftest import Build

WRAM, MRAM = 0x07E0_0000, 0x0800_0000

UNUSED = """
#include <attributes.h>
#include <mram.h>
#include <stdint.h>
#include <stdio.h>
uint32_t numbers[1000] = {1};
__mram_noinit uint8_t kept_by_a_word[64];
__mram_noinit_keep uint8_t kept[64];
__host uint32_t heap, seen;
uint32_t sum(void) { uint32_t s = 0; for (int i = 0; i < 1000; i++) s += numbers[i]; return s; }
void report(int value) { printf("%d %u\\n", value, sum()); }
int main(void) { heap = (uint32_t)DPU_MRAM_HEAP_POINTER; return 0; }
"""


def test_unused_functions_and_data_take_no_memory(build: Build, bench: Bench) -> None:
    """UPMEM's driver passes -ffunction-sections, -fdata-sections and -gc-sections: a printf that
    nobody calls brings no print buffer, and the MRAM heap starts behind what is used."""
    program = build(UNUSED)
    assert bench.run(program).status == "done"
    assert int(bench.var("heap")[0]) == MRAM + 64
    assert program.symbols["kept"][0] == MRAM
    for name in ("report", "sum", "numbers", "__stdout_buffer", "kept_by_a_word"):
        assert name not in program.symbols
    assert "seen" in program.symbols  # __host variables are the host's business


def test_without_optimisation_functions_stay_together(build: Build) -> None:
    """Then the driver leaves -ffunction-sections out: what main's neighbours need is there."""
    program = build(UNUSED, 1, "-O0")
    assert program.symbols["__stdout_buffer"] == (MRAM, 1 << 20)


# Of programs of UPMEM's compiler (clang 12): the heap's start in WRAM. 24 bytes for NULL and the
# print buffer's state, 216 for stacks and wait queues, the heap pointer, two words for the host and
# the debugger, 8 bytes of software cache a tasklet; the rest where it is used.
HEAPS = {
    "nothing": ("", "", 0),
    "barrier": ("BARRIER_INIT(all, NR_TASKLETS);", "barrier_wait(&all);", 4),
    "handshake": ("", "if (me()) handshake_notify(); else handshake_wait_for(1);", 24 + 96),
    "printf": ("", 'printf("%d", 5);', 24 + 4),
}  # fmt: skip


@pytest.mark.parametrize("what", HEAPS)
def test_the_heap_starts_where_it_does_on_a_dpu(what: str, build: Build) -> None:
    globals_, code, room = HEAPS[what]
    source = f"""
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <stdio.h>
{globals_}
int main(void) {{ mem_alloc(8); {code} return 0; }}
"""
    program = build(source, 16)
    heap = program.symbols["__sys_heap_pointer_reset"][0] - WRAM
    data = 24 + 192 + 24 + 4 + room
    hosts = 8 + 4  # CLOCKS_PER_SEC, error_storage
    expected = _up(_up(data) + hosts) + 16 * 1024 + 16 * 8
    assert heap == expected


def _up(size: int) -> int:
    return (size + 7) & ~7


def test_variables_may_have_the_names_of_our_sections(build: Build, bench: Bench) -> None:
    program = build(
        """
#include <attributes.h>
#include <stdint.h>
uint32_t atomic, rt_wram, immediate_memory = 3, __sys_host_like = 4;
__host uint32_t sum;
int main(void) { atomic++; rt_wram++; immediate_memory++; __sys_host_like++;
    sum = atomic + rt_wram + immediate_memory + __sys_host_like; return 0; }"""
    )
    assert bench.run(program).status == "done"
    assert int(bench.var("sum")[0]) == 1 + 1 + 4 + 5


def test_nr_tasklets_is_one_when_nobody_says(build: Build, bench: Bench, tmp_path: object) -> None:
    from pathlib import Path

    from .bench import dpu_cc

    folder = Path(str(tmp_path))
    (folder / "a.c").write_text(
        "#include <attributes.h>\n"
        "__host int n = NR_TASKLETS + 10 * DPU;\n"
        "int main(void) { return 0; }\n"
    )
    assert dpu_cc("-O2", "-o", folder / "a", folder / "a.c").stderr == ""
    assert bench.run(Program(folder / "a")).status == "done"
    assert bench.var("n")[0] == 11
    strict = dpu_cc("-O2", "-std=c11", "-o", folder / "a", folder / "a.c")
    assert "DPU" in strict.stderr  # no plain macro of that name in an ISO mode
