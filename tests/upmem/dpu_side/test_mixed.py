"""Programs of C and DPU assembly: instructions against the naive model, calls both ways."""

from __future__ import annotations

from pathlib import Path
from random import Random
from struct import pack

import pytest

from cudla_sim.upmem.isa.disassembler import disassemble
from cudla_sim.upmem.isa.forms import Form
from cudla_sim.upmem.isa.table import FORMS
from cudla_sim.upmem.toolchain.cli import choose_route
from tests.upmem.isa import naive, words

from .bench import STRICT, Bench, Program, dpu_cc

pytestmark = pytest.mark.slow

ELSEWHERE = {"CALL", "FAULT", "ACQUIRE", "RELEASE", "LDMA", "SDMA"}
REGISTERS = 22
"""Those that the cases use: r22 and r23 have a meaning between functions."""
FLAGS = {(True, True): "add zero, one, -1", (False, False): "add zero, zero, 1",
         (True, False): "add zero, zero, 0", (False, True): "add zero, lneg, 2"}  # fmt: skip
OPEN_FLAGS = {"MOVD", "SWAPD", "DIV_STEP"}
"""What these leave in the zero flag is not known."""


def compiled(folder: Path, assembly: str, c: str, *flags: str, tasklets: int = 1) -> Program:
    (folder / "part.S").write_text(assembly)
    (folder / "main.c").write_text(c)
    output = folder / "program"
    tasks = f"-DNR_TASKLETS={tasklets}"
    done = dpu_cc(*STRICT, tasks, *flags, "main.c", "part.S", "-o", output, cwd=folder)
    assert done.returncode == 0, done.stderr
    if choose_route()[0].clang:
        assert done.stderr == ""
    else:
        assert "warning: between this assembly and C go 32-bit arguments" in done.stderr
    return Program(output)


def computes(form: Form) -> bool:
    return words.testable(form) and form.operation not in ELSEWHERE and form.value >> 44 != 7


def fits(form: Form, word: int) -> bool:
    """All registers are below r22, or constants."""
    fields = [f for f in (form.dest, form.a, form.b) if f is not None]
    return all(f.read(word) < REGISTERS or f.read(word) >= 24 for f in fields)


def cases(seed: int, count: int) -> list[tuple[Form, words.Case]]:
    random = Random(seed)
    forms = [form for form in FORMS if computes(form)]
    found = []
    while len(found) < count:
        form = random.choice(forms)
        number = random.choice(sorted(form.conditions)) if form.conditions else None
        one = words.case(random, form, number)
        if fits(form, one.word):
            found.append((form, one))
    return found


def unit(chosen: list[tuple[Form, words.Case]]) -> str:
    lines = ["    .text", "load:"]
    lines += [f"    lw r{n}, zero, state + {4 * n}" for n in range(REGISTERS)]
    lines += ["    jump r23", "store:", "    or r22, zero, 0, xz", "    sw zero, z, r22"]
    lines += ["    addc r22, zero, 0", "    sw zero, c, r22"]
    lines += [f"    sw zero, state + {4 * n}, r{n}" for n in range(REGISTERS)]
    lines += ["    jump r23"]
    for number, (_, one) in enumerate(chosen):
        text = disassemble(one.word, lambda _, n=number: f"t{n}")  # type: ignore[misc]
        back = ["    lw r23, zero, back", "    jump r23"]
        lines += [f"    .globl f{number}", f"f{number}:", "    sw zero, back, r23"]
        lines += ["    call r23, load", f"    {FLAGS[one.z, one.c]}", f"    {text}"]
        lines += ["    call r23, store", "    move r0, 0", *back]
        lines += [f"t{number}:", "    call r23, store", "    move r0, 1", *back]
    lines += ['    .section .data.__sys_host, "aw"', "    .p2align 3"]
    for name, size in (("state", 4 * REGISTERS), ("z", 4), ("c", 4)):
        lines += [f"    .globl {name}", f"    .type {name}, @object", f"    .size {name}, {size}"]
        lines += [f"{name}: .space {size}"]
    lines += ["    .bss", "back: .space 4"]
    return "\n".join(lines) + "\n"


def driver(count: int) -> str:
    functions = "".join(f"uint32_t f{n}(void);" for n in range(count))
    table = ", ".join(f"f{n}" for n in range(count))
    return (
        "#include <stdint.h>\n#include <attributes.h>\n"
        f"{functions}\n__host uint32_t which, taken;\n"
        f"static uint32_t (*const table[])(void) = {{{table}}};\n"
        "int main(void) { taken = table[which](); return 0; }\n"
    )


def expected(one: words.Case) -> tuple[naive.Tasklet, bool]:
    """The tasklet after one instruction, and whether that jumped."""
    dpu = naive.Dpu([one.word, *[0] * 100])
    first = dpu.tasklets[0]
    first.registers[:] = one.registers
    first.z, first.c, first.running = one.z, one.c, True
    dpu.step(first)
    return first, first.pc != 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_instructions_compute_what_they_do_on_a_dpu(
    seed: int, bench: Bench, route: str, tmp_path: Path
) -> None:
    chosen = cases(seed, 150)
    program = compiled(tmp_path, unit(chosen), driver(len(chosen)))
    bench.load(program)
    for number, (form, one) in enumerate(chosen):
        bench.var("which")[0] = number
        bench.var("state")[:] = one.registers[:REGISTERS]
        assert not bench.launch(slots=[0]).faulted
        after, jumped = expected(one)
        what = f"{form.name}: {disassemble(one.word)} {one}"
        assert bench.var("state").tolist() == after.registers[:REGISTERS], what
        assert bool(bench.var("taken")[0]) == jumped, what
        assert bool(bench.var("c")[0]) == after.c, what
        if form.operation not in OPEN_FLAGS:
            assert bool(bench.var("z")[0]) == after.z, what


CALLS = """\
#include "cost.h"
    .macro ADD_INDEXED into:req from:req index:req
    lw \\index, \\index, \\from
    add \\into, \\into, \\index
    .endm
    .text
    .globl weigh
    .type weigh, @function
weigh:                          // a + 3 b + table[i] + COST
    lsl_add r0, r0, r1, 1
    add r0, r0, r1
    lsl r2, r2, 2
    ADD_INDEXED r0, table, r2
    add r0, r0, COST
    jump r23
    .globl sum64                // b + a
sum64:
    add r1, r3, r0
    addc r0, r2, 0
    jump r23
    .globl through              // by way of C, and of a function of its own
through:
    sd r22, 8, d22
    sd r22, 0, d14
    add r22, r22, 16
    move r14, r0
    call r23, back
    add r0, r0, r14
    call r23, twice
    add r0, id, r0
    ld d22, r22, -8
    ld d14, r22, 0
    jump r23
twice:
    lsl r0, r0, 1
    jump r23
    .globl wide_through
wide_through:                   // calls a function of 64 bits and a double
    sd r22, 0, d22
    move r2, r0
    move r3, r1
    move r0, 7
    call r23, back64
    ld d22, r22, 0
    jump r23
    .globl indirect             // what a pointer points to
indirect:
    sd r22, 0, d22
    move r2, r0
    move r0, r1
    call r23, r2
    ld d22, r22, 0
    jump r23
    .globl choose               // an address for C: one of its own functions
choose:
    move r0, weigh
    jump r23
    .globl count
count:                          // adds 1 + ... + n to what all tasklets share
    move r1, 0
1:  add r1, r1, r0
    add r0, r0, -1, ?nz, 1b
    acquire zero, lock, nz, .
    lw r2, zero, total
    add r2, r2, r1
    sw zero, total, r2
    release zero, lock, nz, .+1
    jump r23
    .globl half                 // a float's bits
half:
    move r1, 0x00800000
    sub r0, r0, r1
    jump r23
    .globl ends
ends:                           // bytes the other way round, and a DMA by hand
    lw !big, r1, r0, 0
    sw !big, r0, 4, r1
    sh !big, r0, 8, 0x1234
    lhu !big, r1, r0, 8
    sw r0, 12, r1
    lbs.s d2, r0, 0
    sd r0, 16, d2
    sd r0, 24, -5
    move r2, weights
    add r3, r0, 32
    ldma r3, r2, 1
    jump r23
    .section .data.__sys_host, "aw"
    .p2align 3
    .globl total
    .type total, @object
    .size total, 4
total: .word 0
    .data
table: .word 100, 200, 300, 400
    .globl pointers
pointers: .word table + 4, total, weigh
    .section .mram, "aw"
    .p2align 3
    .globl weights
weights: .quad 0x1122334455667788, -1
    .section .atomic
lock: .byte 0
"""
CALLER = """\
#include <stdint.h>
#include <string.h>
#include <attributes.h>
#include <defs.h>
#include <barrier.h>
BARRIER_INIT(all, NR_TASKLETS);
uint32_t weigh(uint32_t a, uint32_t b, uint32_t i);
uint64_t sum64(uint32_t a, uint64_t b);
uint32_t through(uint32_t x);
double wide_through(uint64_t x);
uint32_t indirect(uint32_t (*f)(uint32_t), uint32_t x);
uint32_t (*choose(void))(uint32_t, uint32_t, uint32_t);
void count(uint32_t n);
float half(float x);
void ends(uint32_t *at);
uint32_t back(uint32_t x) { return 7 * x; }
double back64(uint32_t n, uint64_t x) { return (double)(x + n); }
static uint32_t square(uint32_t x) { return x * x; }
extern uint32_t total, *const pointers[3];
__host uint64_t out[NR_TASKLETS][16];
__dma_aligned uint32_t area[12];
int main(void)
{
    uint32_t t = me();
    uint64_t *o = out[t];
    double d;
    float f;
    if (t == 0)
        total = 0;
    barrier_wait(&all);
    o[0] = weigh(t, 5, t & 3);
    o[1] = sum64(t, 0xffffffffull);
    o[2] = through(t);
    d = wide_through(0x123456789ull);
    memcpy(&o[3], &d, 8);
    o[4] = indirect(square, t);
    o[5] = choose()(1, 2, 3);
    f = half(3.0f);
    memcpy(&o[6], &f, 4);
    count(10);
    barrier_wait(&all);
    o[7] = total;
    o[8] = *pointers[0];
    o[9] = ((uint32_t (*)(uint32_t, uint32_t, uint32_t))pointers[2])(0, 0, 0);
    if (t == 0) {
        area[0] = 0x80a1b2c3u;
        ends(area);
        for (int i = 0; i < 6; i++)
            memcpy(&o[10 + i], &area[2 * i], 8);
    }
    return 0;
}
"""


@pytest.mark.parametrize("flags", [("-O2",), ("-O0", "-g"), ("-O3",)], ids="".join)
def test_calls_go_both_ways(
    flags: tuple[str, ...], bench: Bench, route: str, tmp_path: Path
) -> None:
    if not route.startswith("clang"):
        pytest.skip("gcc does not show which arguments have 64 bits: words alone are passed")
    (tmp_path / "cost.h").write_text("#define COST 10\n")
    program = compiled(tmp_path, CALLS, CALLER, *flags, tasklets=16)
    bench.load(program)
    assert not bench.launch(slots=[0]).faulted
    out = bench.var("out", "u8").reshape(16, 16)
    for t in range(16):
        table = [100, 200, 300, 400]
        double = int.from_bytes(pack("<d", 0x123456789 + 7), "little")
        float_ = int.from_bytes(pack("<f", 1.5), "little")
        want = [t + 15 + table[t & 3] + 10, t + 0xFFFFFFFF, 2 * (7 * t + t) + t, double, t * t,
                1 + 6 + 400 + 10, float_, 16 * 55, 200, 110]  # fmt: skip
        assert out[t, :10].tolist() == want
    area = b"".join(int(x).to_bytes(8, "little") for x in out[0, 10:])
    assert area[:4] == (0x80A1B2C3).to_bytes(4, "little")
    assert area[4:8] == area[:4]  # read and written the other way round
    assert area[8:10] == b"\x12\x34"
    assert int.from_bytes(area[12:16], "little") == 0x1234
    signed = int.from_bytes(area[16:24], "little", signed=True)
    assert signed == (0xC3 - 256)
    assert int.from_bytes(area[24:32], "little", signed=True) == -5
    assert area[32:40] == (0x1122334455667788).to_bytes(8, "little")
    assert area[40:48] == b"\xff" * 8


TIMES = """\
    .text
    .globl begin
begin:                          // counts cycles from 0 on
    move r0, 3
    time_cfg r0, r0
    jump r23
    .globl now
now:
    time r0
    jump r23
"""
ASKS = """\
#include <attributes.h>
#include <perfcounter.h>
uint32_t begin(void), now(void);
__host uint32_t first, second;
__host uint64_t between;
int main(void)
{
    begin();
    first = now();
    between = perfcounter_get();
    second = now();
    return 0;
}
"""


def test_functions_in_assembly_read_the_counter(bench: Bench, route: str, tmp_path: Path) -> None:
    assert bench.run(compiled(tmp_path, TIMES, ASKS, "-O2")).status == "done"
    first, second = (int(bench.var(name)[0]) << 4 for name in ("first", "second"))
    assert 0 < first <= int(bench.var("between", "u8")[0]) <= second


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("boot r0, 1", "part.S:4: error: boot is not translated where assembly and C are together"),
        (".quad 7", "part.S:4: error: data among the instructions: it stays in IRAM"),
        ("rol_add r0, r0, r1, 3", "part.S:4: error: nobody has published what rol_add does"),
        ("jeq r0, r1, other", "part.S:4: error: other is in another file: only call and jump go"),
        ("jeq r0, r1, 99", "part.S:4: error: there is no instruction 99 to jump to"),
        ("add r0, r0, 2 * other", "undefined reference to `other'"),
        (
            "lw r0, r1, 0x1000000",
            "part.S:4: error: 16777216 (0x1000000) does not fit: lw takes -8388608",
        ),
    ],
)
def test_what_is_not_translated_is_told_where_it_stands(
    text: str, told: str, route: str, tmp_path: Path
) -> None:
    (tmp_path / "part.S").write_text(f"    .text\n    .globl f\nf:\n    {text}\n    jump r23\n")
    (tmp_path / "main.c").write_text("int f(void);\nint main(void) { return f(); }\n")
    done = dpu_cc("-O2", "main.c", "part.S", "-o", "program", cwd=tmp_path)
    assert done.returncode == 1
    assert told in done.stderr
    assert not (tmp_path / "program").exists()


def test_start_code_of_its_own_is_refused_beside_c(route: str, tmp_path: Path) -> None:
    (tmp_path / "part.S").write_text("    .text\n    .globl __bootstrap\n__bootstrap: stop\n")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    done = dpu_cc("main.c", "part.S", "-o", "program", cwd=tmp_path)
    assert done.returncode == 1
    assert "__bootstrap brings start code of its own: link such files alone" in done.stderr


def test_arguments_beyond_the_registers_are_refused(route: str, tmp_path: Path) -> None:
    if not route.startswith("clang"):
        pytest.skip("gcc does not show declarations: nothing is refused")
    (tmp_path / "part.S").write_text("    .text\n    .globl f\nf: jump r23\n")
    (tmp_path / "main.c").write_text(
        "#include <stdint.h>\nint f(uint64_t a, uint64_t b, uint64_t c, uint32_t d, uint64_t e);\n"
        "int main(void) { return f(1, 2, 3, 4, 5); }\n"
    )
    done = dpu_cc("main.c", "part.S", "-o", "program", cwd=tmp_path)
    assert done.returncode == 1
    assert "f is called between C and assembly, and its arguments are not numbers" in done.stderr


def test_instructions_are_counted_one_by_one(
    bench: Bench, route: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not route.startswith("clang"):
        pytest.skip("only programs that clang compiled count their instructions")
    monkeypatch.setenv("CUDLA_SIM_UPMEM_TIMING", "model")
    loop = "    .text\n    .globl spin\nspin:\n1:  add r0, r0, -1, nz, 1b\n    jump r23\n"
    c = (
        "#include <stdint.h>\n#include <attributes.h>\n#include <perfcounter.h>\n"
        "void spin(uint32_t n);\n__host uint32_t n, cycles;\n"
        "int main(void) { perfcounter_config(COUNT_INSTRUCTIONS, true); spin(n);\n"
        "cycles = perfcounter_get(); return 0; }\n"
    )
    program = compiled(tmp_path, loop, c, "-O2")
    bench.load(program)
    counts = []
    for n in (1000, 5000):
        bench.var("n")[0] = n
        assert not bench.launch(slots=[0], timed=True).faulted
        counts.append(int(bench.var("cycles")[0]))
    assert counts[1] - counts[0] == pytest.approx(4000, abs=1)
