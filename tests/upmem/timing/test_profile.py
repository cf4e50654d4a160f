"""Profiled programs: instructions by class, by tasklet and by source line.

What is expected comes from the programs' own results (how often a branch was taken) and from the
same program without a profile.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.tools.root import run_command
from cudla_sim.tools.upmem import profile as upmem_profile
from cudla_sim.upmem.timing import profiling

from ..dpu_side.bench import Bench, Program, dpu_cc
from ..dpu_side.conftest import Build

pytestmark = pytest.mark.slow


@pytest.fixture
def profiled(build: Build, route: str) -> Build:
    """build(source, tasklets=1, *flags) -> Program, which counts by source line."""
    if not route.startswith("clang"):
        pytest.skip("counting needs clang")

    def compile_(source: str, tasklets: int = 1, *flags: str) -> Program:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUDLA_SIM_UPMEM_TIMING", "profile")
            return build(source, tasklets, "-DPROFILED", *flags)

    return compile_


def profile(bench: Bench, slots: int = 1) -> dict[str, Any]:
    """Of a launch of what is loaded."""
    ended = bench.launch(slots=list(range(slots)), timed=True)
    assert not ended.faulted, ended.faulted[0]
    size = profiling.size(bench.program.image)
    at = [s * 0x420_0000 + 0x402_0000 for s in range(slots)]
    counters = {str(s): bench.bytes[p : p + size].tobytes() for s, p in enumerate(at)}
    times = {str(s): t for s, t in ended.times.items()}
    found = profiling.collect(bench.program.image, times, counters)
    assert found is not None
    return found


def line(found: dict[str, Any], number: int) -> int:
    return sum(x["instructions"] for x in found["lines"] if x["line"] == number)


BRANCHES = """#include <stdint.h>
#include <attributes.h>
#include <defs.h>
#include <mutex.h>
#include <barrier.h>
MUTEX_INIT(lock);
BARRIER_INIT(all, NR_TASKLETS);
__host int32_t data[512];
__host uint32_t smaller[24];
__host uint32_t total;
__attribute__((noinline)) static uint32_t product(uint32_t a, uint32_t b)
{
    return a * b;
}
__attribute__((noinline)) uint32_t nobody(uint32_t a) { return a * 3; }
int main(void)
{
    uint32_t count = 0, sum = 0;
    for (unsigned i = me(); i < 512; i += NR_TASKLETS) {
        if (data[i] < 1000) {
            count++; /* 21 */
            __asm__ volatile("" : "+r"(count));
        }
        sum += product(data[i], i);
    }
    smaller[me()] = count;
    barrier_wait(&all);
    mutex_lock(lock);
    total += sum;
    mutex_unlock(lock);
    return 0;
}
"""


@pytest.mark.parametrize("tasklets", [1, 3, 16])
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_a_line_counts_how_often_it_ran(
    tasklets: int, level: str, bench: Bench, profiled: Build
) -> None:
    bench.load(profiled(BRANCHES, tasklets, level))
    data = np.random.default_rng(tasklets).integers(0, 2000, 512).astype(np.int32)
    bench.var("data", np.int32)[:] = data
    found = profile(bench)
    expected = [int((data[t::tasklets] < 1000).sum()) for t in range(tasklets)]
    assert bench.var("smaller")[:tasklets].tolist() == expected
    # at -O0 the variable is loaded and stored, too
    assert line(found, 21) == sum(expected) * (3 if level == "-O0" else 1)
    totals = upmem_profile.class_totals({"profile": found})
    assert line(found, 13) >= totals["multiply and divide"] >= 512 * 6
    (dpu,) = found["dpus"]
    for each, classes in zip(dpu["tasklets"], dpu["classes"], strict=True):
        assert sum(classes.values()) == pytest.approx(each["half_instructions"] / 2, abs=3)
    products = [c["multiply and divide"] for c in dpu["classes"]]
    assert sum(products) == totals["multiply and divide"]
    assert sum(x["share"] for x in found["lines"]) <= 1
    assert not any(x["function"] == "nobody" for x in found["lines"])


def test_a_profile_changes_no_time(bench: Bench, profiled: Build, counted: Build) -> None:
    times = []
    for build in (profiled, counted):
        bench.load(build(BRANCHES, 16))
        bench.var("data", np.int32)[:] = np.arange(512) * 4
        times.append(bench.time())
    assert times[0] == times[1]


def test_each_dpu_and_launch_has_its_own_counts(bench: Bench, profiled: Build) -> None:
    bench.load(profiled(BRANCHES, 2))
    for slot in range(2):
        bench.var("data", np.int32, slot)[:] = np.where(np.arange(512) < 100 + slot, 0, 5000)
    for _ in range(2):
        found = profile(bench, slots=2)
        assert line(found, 21) == 100 + 101
    assert [d["dpu"] for d in found["dpus"]] == ["0", "1"]


def test_counters_of_several_files(bench: Bench, profiled: Build, tmp_path: Path) -> None:
    other = tmp_path / "other.c"
    other.write_text(
        "unsigned other(unsigned n)\n{\n    unsigned s = 0;\n"
        '    for (unsigned i = 0; i < n; i++)\n        __asm__ volatile("" : "+r"(s));\n'
        "    return s;\n}\n"
    )
    source = "unsigned other(unsigned);\nint main(void)\n{\n    return other(1000);\n}\n"
    bench.load(profiled(source, 1, str(other)))
    found = profile(bench)
    by_function = {x["function"]: 0 for x in found["lines"]}
    for x in found["lines"]:
        by_function[x["function"]] += x["instructions"]
    assert by_function["other"] >= 1000 > by_function["main"] > 0
    assert {Path(x["file"]).name for x in found["lines"]} >= {"other.c"}


def test_a_program_without_a_profile(bench: Bench, counted: Build) -> None:
    program = counted(BRANCHES, 2)
    assert profiling.modules(program.image) == ()
    assert profiling.size(program.image) == 0
    assert profiling.collect(program.image, {}, {}) is None


def test_a_damaged_table_is_no_table(profiled: Build) -> None:
    image = bytearray(profiled(BRANCHES, 2).image)
    (module,) = profiling.modules(bytes(image))
    assert module.slots > 5
    at = image.find(b"eJ")  # how compressed text begins in base64
    image[at : at + 40] = b"!" * 40
    assert profiling.modules(bytes(image)) == ()
    assert profiling.modules(b"") == ()


HOST = r"""
#include <dpu.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    (void)argc;
    struct dpu_set_t set;
    DPU_ASSERT(dpu_alloc(3, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_free(set));
    return 0;
}
"""
FLOATS = """
#include <mram.h>
__mram_noinit float data[4096];
__dma_aligned float block[2];
float sum;
int main(void)
{
    for (int i = 0; i < 4096; i += 2) {
        mram_read(&data[i], block, 8);
        sum = sum + block[0] * block[1];
    }
    return 0;
}
"""


def test_the_command(
    sim_cc: Any, tmp_path: Path, route: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if not route.startswith("clang"):
        pytest.skip("counting needs clang")
    host = sim_cc.build(HOST)
    source, kernel = tmp_path / "floats.c", tmp_path / "floats"
    source.write_text(FLOATS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDLA_SIM_UPMEM_TIMING", "profile")
        done = dpu_cc("-O2", source, "-o", kernel)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "page.html"
    words = ["upmem", "report", "--json", "-o", str(page), str(host), str(kernel)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDLA_SIM_UPMEM_CHECKS", "off")
        assert run_command(words) == 0
    text = capfd.readouterr().out
    found = json.loads(text)
    assert found["version"] == 1
    (launch,) = [s for s in found["steps"] if s["step"] == "launch"]
    assert [d["dpu"] for d in launch["profile"]["dpus"]] == ["0.0.0", "0.1.0", "0.2.0"]
    assert set(launch["dpu_cycles"]) == {"0.0.0", "0.1.0", "0.2.0"}
    best = launch["profile"]["lines"][0]
    assert best["text"] == "sum = sum + block[0] * block[1];"
    (tasklet,) = launch["tasklets"]
    assert tasklet["dma_transfers"] == 2048
    # floating sums and products take 62.5 and 167 instructions in the library's routines
    assert best["instructions"] >= 3 * 2048 * (62.5 + 167)
    assert '"floats.c:10"' in page.read_text()
    saved = tmp_path / "times.json"
    saved.write_text(text)
    assert run_command(["upmem", "report", "--lines", "1", str(saved)]) == 0
    shown = capfd.readouterr().out
    assert "floats.c:10 main" in shown
    assert "floating poi." in shown  # the column of the tasklets' classes
    assert "hint: 1 tasklet fills 1/11 of the pipeline" in shown
    assert "floating point, which is software on a DPU" in shown
    assert run_command(["upmem", "report"]) == 2


def test_hints() -> None:
    tasklet = {
        "half_instructions": 2000,
        "retries": 0,
        "dma_cycles": 60_000,
        "wait_cycles": 0,
        "end_cycles": 100_000,
        "dma_read": 8000,
        "dma_written": 0,
        "dma_transfers": 1000,
    }
    launch = {
        "cycles": 100_000,
        "instructions": 1000,
        "engine_cycles": 9000,
        "program": "p",
        "tasklets": [tasklet] * 16,
        "step": "launch",
    }
    assert any("8 bytes at a time" in h for h in upmem_profile.hints(launch))
    larger = {**tasklet, "dma_transfers": 8}
    assert not any("at a time" in h for h in upmem_profile.hints({**launch, "tasklets": [larger]}))
