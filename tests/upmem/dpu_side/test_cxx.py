"""DPU programs in C++: the SDK's compiler is clang, and programs of it have no library."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cudla_sim.upmem.toolchain.longs import widen

from .bench import Bench, Program, dpu_cc

pytestmark = pytest.mark.usefixtures("route")

HEADERS = (
    *("alloc", "assert", "barrier", "built_ins", "ctype", "defs", "errno", "handshake"),
    *(
        "inttypes",
        "iso646",
        "limits",
        "memmram_utils",
        "mram",
        "mram_unaligned",
        "mutex",
        "mutex_pool",
    ),
    *("perfcounter", "profiling", "sem", "seqread", "stdalign", "stdbool", "stddef", "stdint"),
    *("stdio", "stdlib", "stdnoreturn", "string", "vmutex", "wramfifo"),
)

PROGRAM = """
constexpr uint32_t MASK = 0b1111'0000, MILLION = 1'000'000;
static_assert(sizeof(long) == 8, "the DPU's data model");
template <unsigned N, typename T> constexpr T rounded(T v) { return (v + N - 1) & ~(T)(N - 1); }

BARRIER_INIT(all, NR_TASKLETS)
MUTEX_INIT(door);
MUTEX_POOL_INIT(pool, 8);
SEMAPHORE_INIT(one, 1);
VMUTEX_INIT(many, 64, 8);

struct Shape { virtual int32_t area() const = 0; };
struct Square : Shape {
    int32_t side;
    constexpr Square(int32_t side) : side(side) {}
    int32_t area() const override { return side * side; }
};
namespace dpu {
__mram_noinit uint64_t table[2 * NR_TASKLETS];
}
extern "C" {
__host uint64_t sum;
__host int32_t areas;
}
Square squares[2] = {Square(2), Square(5)};

namespace dpu {
static void add(uint64_t value)
{
    mutex_lock(door);
    sum += value;
    mutex_unlock(door);
    __asm__ volatile("acquire zero, 5, nz, .; release zero, 5, nz, .+1");
}
}

int main()
{
    static int32_t calls = 0;
    __dma_aligned uint64_t row[2] = {me(), 10};
    mram_write(row, &dpu::table[2 * me()], sizeof(row));
    barrier_wait(&all);
    mram_read(&dpu::table[2 * (NR_TASKLETS - 1 - me())], row, sizeof(row));
    auto both = [&](auto function) { function(row[0]); function(row[1]); };
    both([](uint64_t value) { dpu::add(value); });
    mutex_pool_lock(&pool, 3);
    mutex_pool_unlock(&pool, 3);
    vmutex_lock(&many, 9);
    vmutex_unlock(&many, 9);
    sem_take(&one);
    sem_give(&one);
    barrier_wait(&all);
    if (me() == 0) {
        dpu::add(MASK + MILLION + rounded<8>(25));
        const Shape *shape = &squares[1];
        areas = shape->area() + ++calls;
        printf("%lu %s\\n", sum, "text");
    }
    return 0;
}
"""


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A C++ source that includes every header of the SDK, wrapped or not as the test says."""
    return tmp_path / "program.cpp"


def compile_with(name: str, source: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DPU_COMPILER_ROUTE": name} if name else dict(os.environ)
    given = ["-O2", "-Wall", "-Wextra", "-Werror", "-std=c++17", "-DNR_TASKLETS=4", *flags]
    done = dpu_cc(*given, "-o", source.with_suffix(""), source, env=environment)
    if "no compiler" in done.stderr:
        pytest.skip(f"{name} is not installed")
    return done


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name", ["clang-x32", "gcc-x32", "clang-m64", "gcc-m64"])
def test_a_program_in_cxx_runs(name: str, wrapped: bool, compiled: Path, bench: Bench) -> None:
    """UPMEM's headers are C: programs include them in an ``extern "C"`` of their own; some of
    their functions are inline there, and work without."""
    includes = "".join(f"#include <{name}.h>\n" for name in HEADERS)
    compiled.write_text((f'extern "C" {{\n{includes}}}\n' if wrapped else includes) + PROGRAM)
    done = compile_with(name, compiled)
    assert (done.returncode, done.stderr) == (0, "")
    outcome = bench.run(Program(compiled.with_suffix("")))
    assert (outcome.status, outcome.text) == ("done", "")
    wanted = 0 + 1 + 2 + 3 + 4 * 10 + 0xF0 + 1_000_000 + 32
    assert (int(bench.var("sum").view("u8")[0]), int(bench.var("areas")[0])) == (wanted, 26)
    assert bench.log() == f"{wanted} text\n"


@pytest.mark.parametrize("timing", ["off", "model"])
def test_instructions_are_counted_in_cxx_too(
    timing: str, compiled: Path, bench: Bench, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not route.startswith("clang"):
        pytest.skip("counting needs clang: gcc's programs do not count")
    monkeypatch.setenv("CUDLA_SIM_UPMEM_TIMING", timing)
    compiled.write_text(
        "".join(f"#include <{name}.h>\n" for name in HEADERS) + PROGRAM.replace("printf", "//")
    )
    assert compile_with("", compiled).returncode == 0
    bench.load(Program(compiled.with_suffix("")))
    if timing == "model":
        assert bench.time().cycles > 1000
    else:
        assert not bench.launch(slots=[0]).faulted


def test_constructors_do_not_run(compiled: Path, bench: Bench) -> None:
    """A DPU's start code jumps to main. So says a warning, and the variable is 0."""
    compiled.write_text(
        """
#include <attributes.h>
extern "C" int given();
struct Seven { int value; Seven() : value(given()) {} };
Seven seven;
__host int found;
int main() { found = seven.value + 1; return 0; }
extern "C" __attribute__((noinline)) int given() { asm(""); return 7; }
"""
    )
    done = compile_with("", compiled)
    assert done.returncode == 0
    assert (
        "program.cpp: warning: a variable of static lifetime is initialised by code" in done.stderr
    )
    bench.load(Program(compiled.with_suffix("")))
    assert not bench.launch(slots=[0]).faulted
    assert bench.var("found")[0] == 1


def test_what_a_dpu_has_not_is_refused(compiled: Path) -> None:
    compiled.write_text("int main() { throw 1; }\n")
    done = compile_with("", compiled)
    assert done.returncode == 1
    assert "exception" in done.stderr
    compiled.write_text("#include <vector>\nint main() { return 0; }\n")
    assert "vector" in compile_with("", compiled).stderr


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["cc", "cxx", "C", "c++"])
def test_sources_in_cxx_by_name_or_by_option(suffix: str, tmp_path: Path) -> None:
    text = "template <typename T> T same(T x) { return x; }\nint main() { return same(0); }\n"
    (tmp_path / f"a.{suffix}").write_text(text)
    (tmp_path / "a.c").write_text(text)
    assert dpu_cc(f"a.{suffix}", cwd=tmp_path).returncode == 0
    assert dpu_cc("-x", "c++", "a.c", cwd=tmp_path).returncode == 0
    assert dpu_cc("a.c", cwd=tmp_path).returncode == 1


def test_grouped_digits() -> None:
    assert widen("1'000L + 0b11'00 + 'a' + x'") == "1000LL + 0b1100 + 'a' + x'"


@pytest.mark.slow
def test_a_header_brings_what_the_sdks_brings(tmp_path: Path) -> None:
    """Programs count on it: mutex_pool.h has assert, mram_unaligned.h virtual mutexes, ..."""
    brings = {
        "mutex_pool": "assert(1); mutex_lock(0)",
        "vmutex": "assert(1); mutex_lock(0)",
        "mram_unaligned": "int f = sizeof(struct vmutex); (void)f",
        "mram": "int n = DPU_MRAM_SIZE; (void)n",
        "mutex": "sysname_t n = 0; (void)n",
        "errno": "sysname_t n = me(); (void)n",
        "stdint": "int n = INT_MAX; (void)n",
        "seqread": "const char *s = __STR(x); (void)s",
    }
    for name, statement in brings.items():
        (tmp_path / "a.c").write_text(f"#include <{name}.h>\nint main(void) {{ {statement}; }}\n")
        done = dpu_cc("-Wall", "-Werror", "-O2", "a.c", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), name
