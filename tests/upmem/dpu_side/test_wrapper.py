"""The compiler driver, as Makefiles use it."""

from __future__ import annotations

import os
import platform
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cudla_sim.upmem.errors import DpuError
from cudla_sim.upmem.program import read
from cudla_sim.upmem.toolchain.cli import drive
from cudla_sim.upmem.toolchain.longs import widen
from cudla_sim.upmem.toolchain.options import UsageError, parse

from .bench import Program, dpu_cc

pytestmark = pytest.mark.usefixtures("route")


def tasklets(path: Path) -> int:
    return int(Program(path).symbols["NR_TASKLETS"][0])


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ([], 1),
        (["-DNR_TASKLETS=16", "-O3", "-flto"], 16),
        (["-D", "NR_TASKLETS=11", "-Os", "-pg", "-mcpu=v1A"], 11),
        (["-DNR_TASKLETS=24", "--target=dpu-upmem-dpurte", "-nostartfiles", "-g", "-std=c99"], 24),
    ],
)
def test_number_of_tasklets(flags: list[str], wanted: int, source: Path, tmp_path: Path) -> None:
    done = dpu_cc(*flags, "-o", tmp_path / "out", source)
    assert (done.returncode, done.stderr) == (0, "")
    assert tasklets(tmp_path / "out") == wanted


def test_compile_then_link_with_a_library(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int triple(int); int main(void) { return triple(2); }")
    (tmp_path / "lib.c").write_text("int triple(int x) { return 3 * x; }\nint unused = 5;")
    for name in ("main", "lib"):
        assert dpu_cc("-O2", "-c", f"{name}.c", cwd=tmp_path).returncode == 0
    subprocess.run(["ar", "rcs", "libtriple.a", "lib.o"], cwd=tmp_path, check=True)
    link = ["main.o", "-L.", "-ltriple", "-DNR_TASKLETS=8", "-DSTACK_SIZE_DEFAULT=2048"]
    done = dpu_cc(*link, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    made = Program(tmp_path / "a.out")
    assert made.symbols["NR_TASKLETS"][0] == 8
    assert made.symbols["STACK_SIZE_TASKLET_7"][0] == 2048
    assert "triple" in made.symbols


def test_assembly_preprocessing_and_dependencies(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("#define VALUE 1234L\n")
    (tmp_path / "a.c").write_text(
        '#include "a.h"\n#include <mram.h>\nlong v = VALUE;\nint main(void) { return 0; }'
    )
    assert dpu_cc("-S", "-O2", "a.c", cwd=tmp_path).returncode == 0
    assert "main:" in (tmp_path / "a.s").read_text()
    assert "long v = 1234L;" in dpu_cc("-E", "a.c", cwd=tmp_path).stdout
    assert dpu_cc("-MMD", "-c", "a.c", "-o", "sub.o", cwd=tmp_path).returncode == 0
    assert (tmp_path / "sub.d").read_text().replace("\\\n", "").split()[:3] == [
        "sub.o:",
        "a.c",
        "a.h",
    ]
    assert dpu_cc("-MD", "-MF", "x.dep", "-MT", "goal", "-c", "a.c", cwd=tmp_path).returncode == 0
    text = (tmp_path / "x.dep").read_text()
    assert text.startswith("goal:")
    assert "mram.h" in text
    assert dpu_cc("-MMD", "a.c", "-o", "program", cwd=tmp_path).returncode == 0
    assert (tmp_path / "program.d").read_text().startswith("program: a.c")
    assert dpu_cc("-MM", "a.c", cwd=tmp_path).stdout.split() == ["a.o:", "a.c", "a.h"]


def test_source_from_standard_input(tmp_path: Path) -> None:
    done = dpu_cc("-x", "c", "-", "-o", tmp_path / "out", input="int main(void) { return 0; }")
    assert (done.returncode, done.stderr) == (0, "")
    assert tasklets(tmp_path / "out") == 1


def test_version_and_target() -> None:
    assert "clang version" in dpu_cc("--version").stdout
    assert dpu_cc("-dumpmachine").stdout.strip() == "dpu-upmem-dpurte"


OVERFLOWS = {
    "wram": ("char v[70000];", "region 'wram': overflowed by "),
    "mram": (
        "#include <mram.h>\n__mram_noinit char v[(64 << 20) + 64];",
        "region 'mram': overflowed by 64 bytes",
    ),
    "atomic": (
        "#include <mutex.h>\n#define v ATOMIC_BIT_GET(bits)\nATOMIC_BIT_INIT(bits)[250];",
        "region 'atomic': overflowed by 2 bytes",
    ),
}


@pytest.mark.parametrize("memory", OVERFLOWS)
def test_memory_that_is_too_small(memory: str, tmp_path: Path) -> None:
    text, message = OVERFLOWS[memory]
    (tmp_path / "a.c").write_text(f"{text}\nint main(void) {{ return (int)(unsigned long)&v[0]; }}")
    done = dpu_cc("-O1", "-w", "a.c", cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "a.out").exists()


def test_stacks_count_as_wram(source: Path, tmp_path: Path) -> None:
    fits = dpu_cc("-DNR_TASKLETS=16", "-DSTACK_SIZE_DEFAULT=4056", "-o", tmp_path / "out", source)
    assert fits.returncode == 0
    done = dpu_cc("-DNR_TASKLETS=16", "-DSTACK_SIZE_DEFAULT=4096", "-o", tmp_path / "out", source)
    assert done.returncode == 1
    assert "section '.stacks' will not fit in region 'wram': overflowed by" in done.stderr


@pytest.mark.slow
def test_code_that_is_too_large_for_iram(tmp_path: Path) -> None:
    body = "".join(f"if (x == {i * 7919}) x = x * {i + 3} + {i * 31};\n" for i in range(9000))
    (tmp_path / "a.c").write_text(f"volatile int x;\nint main(void) {{\n{body}return 0; }}")
    done = dpu_cc("-O0", "a.c", cwd=tmp_path)
    assert done.returncode == 1
    assert "section '.text' will not fit in region 'iram': overflowed by" in done.stderr


def test_too_many_tasklets(source: Path, tmp_path: Path) -> None:
    done = dpu_cc("-DNR_TASKLETS=25", "-o", tmp_path / "out", source)
    assert done.returncode == 1
    assert "NR_TASKLETS is 25" in done.stderr
    v1b = {**os.environ, "DPU_ARCH_VERSION": "v1B"}
    done = dpu_cc("-DNR_TASKLETS=17", "-o", tmp_path / "out", source, env=v1b)
    assert "runs 1 to 16" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { return x; }", "undeclared"),
        ("int f(void);\nint main(void) { return f(); }", "undefined reference to `f'"),
        ("int main(void) { int unused; return 0; }", "unused variable"),
        ('int main(void) { __asm__("lsl_add r0, r1, r2, 3"); return 0; }', "DPU instruction"),
    ],
)
def test_mistakes_are_told(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(text)
    done = dpu_cc("-Wall", "-Werror", "-o", tmp_path / "out", "a.c", cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_constant_wrong_transfer_size(tmp_path: Path, route: str) -> None:
    if not route.startswith("clang"):
        pytest.skip("only clang evaluates the size while it compiles")
    (tmp_path / "a.c").write_text(
        "#include <mram.h>\n__mram_noinit char m[64];\n__dma_aligned char w[64];\n"
        "int main(void) { mram_read(m, w, 12); return 0; }"
    )
    done = dpu_cc("a.c", cwd=tmp_path)
    assert done.returncode == 1
    assert "a.c:4" in done.stderr
    assert "8 to 2048" in done.stderr


def test_unknown_route(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPU_COMPILER_ROUTE", "native")
    (tmp_path / "a.c").write_text("int main(void) { return 0; }")
    done = dpu_cc("a.c", cwd=tmp_path)
    assert done.returncode == 1
    assert "DPU_COMPILER_ROUTE=native is no way of compiling: clang-x32, gcc-x32" in done.stderr


def test_missing_file_and_missing_value(tmp_path: Path) -> None:
    assert "no such file or directory: 'absent.c'" in dpu_cc("absent.c", cwd=tmp_path).stderr
    for words in ([], ["-o"], ["-", "-c"], ["a.c", "-DNR_TASKLETS=many"]):
        with pytest.raises(UsageError):
            _ = parse(words).tasklets


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("long x;", "long long x;"),
        ("unsigned long int x;", "unsigned long long int x;"),
        ("long long x; long unsigned long y;", "long long x; long unsigned long y;"),
        ("long const * p; f((long)y)", "long long const * p; f((long long)y)"),
        ("long double d = 1.5L;", " double d = 1.5;"),
        ('unsigned\n# 3 "a.c"\nlong x;', 'unsigned\n# 3 "a.c"\nlong long x;'),
        ("1L 2UL 3lu 4LL 0x5l 6 7u", "1LL 2ULL 3LLu 4LL 0x5LL 6 7u"),
        ("\"long 1L\" 'L' longer a1L", "\"long 1L\" 'L' longer a1L"),
        ("x.long_ + 1.e5L + 0x1p3L + .5f", "x.long_ + 1.e5 + 0x1p3 + .5f"),
    ],
)
def test_longs_are_widened(given: str, wanted: str) -> None:
    assert widen(given) == wanted


@pytest.mark.slow
def test_concurrent_first_builds_share_one_cache(source: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def compile_(number: int) -> int:
        return dpu_cc("-o", tmp_path / f"out{number}", source, env=environment).returncode

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(compile_, range(2))) == [0, 0]
    kept = list((tmp_path / "cache" / "cudla-sim" / "dpu").iterdir())
    assert len(kept) == 1
    assert (kept[0] / "librt.a").is_file()


@pytest.mark.slow
def test_without_a_place_for_the_cache(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}
    assert dpu_cc("-o", tmp_path / "out", source, env=environment).returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "nothing.c", "out"]


@pytest.mark.parametrize("name", ["gcc-x32", "clang-m64", "gcc-m64"])
def test_other_routes(name: str, tmp_path: Path, bench: object) -> None:
    from .bench import Bench

    assert isinstance(bench, Bench)
    (tmp_path / "a.c").write_text(
        """
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <mutex.h>
#include <stdio.h>
#include <string.h>
BARRIER_INIT(all, NR_TASKLETS);
MUTEX_INIT(door);
__host uint32_t sum;
__host uint32_t long_size;
__mram_noinit uint64_t m[NR_TASKLETS];
int main(void) {
    __dma_aligned uint64_t word = me();
    mram_write(&word, &m[me()], 8);
    barrier_wait(&all);
    mram_read(&m[NR_TASKLETS - 1 - me()], &word, 8);
    mutex_lock(door);
    sum += (uint32_t)word;
    mutex_unlock(door);
    long_size = sizeof(long);
    if (me() == 0)
        printf("%lu %5.2f %s\\n", (uint64_t)1 << 40, 2.5, "text");
    return 0;
}"""
    )
    environment = {**os.environ, "DPU_COMPILER_ROUTE": name}
    flags = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-DNR_TASKLETS=12"]
    done = dpu_cc(*flags, "-o", tmp_path / "out", "a.c", cwd=tmp_path, env=environment)
    if "no compiler" in done.stderr:
        pytest.skip(f"{name} is not installed")
    assert (done.returncode, done.stderr) == (0, "")
    outcome = bench.run(Program(tmp_path / "out"))
    assert (outcome.status, outcome.text) == ("done", "")
    assert (int(bench.var("sum")[0]), int(bench.var("long_size")[0])) == (66, 8)
    assert bench.log() == "1099511627776  2.50 text\n"


def test_started_by_hand_a_program_says_what_it_is(source: Path, tmp_path: Path) -> None:
    assert dpu_cc("-o", tmp_path / "out", source).returncode == 0
    done = subprocess.run([tmp_path / "out"], capture_output=True, text=True, timeout=10)
    assert done.returncode == 126
    assert "dpu_launch" in done.stderr


def test_on_another_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """C has no compiler there, assembly has; programs in code of x86-64 are refused."""
    (tmp_path / "task.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "task.S").write_text("    .globl main\nmain:\n    jump r23\n")
    native, binary = tmp_path / "native", tmp_path / "task"
    assert drive([str(tmp_path / "task.c"), "-o", str(native)]) == 0
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert drive([str(tmp_path / "task.c"), "-o", str(binary)]) == 1
    told = capsys.readouterr().err
    assert "x86-64 alone" in told
    assert "UPMEM's SDK" in told
    assert not binary.exists()
    assert drive([str(tmp_path / "task.S"), "-o", str(binary)]) == 0
    assert read(binary.read_bytes(), str(binary)).symbols
    with pytest.raises(DpuError, match="holds code of x86-64, this machine is aarch64"):
        read(native.read_bytes() + b"\0", str(native))
