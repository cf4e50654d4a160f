"""The C++ host API."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cudla_sim import paths
from cudla_sim.testing import Compiler

from .kernels import Kernel

# Every overload, with arguments as public programs write them.
OVERLOADS = """
#include <dpu>
#include <array>
#include <iostream>
using namespace dpu;

static bool get_block(struct sg_block_info *, uint32_t, uint32_t, void *) { return false; }

void populate(DpuSetOps &dpu, std::vector<int> &keys)
{
    dpu.copy("keys", keys, static_cast<unsigned>(8 * sizeof(int)));
}

class Storage {
    dpu::DpuSet set = dpu::DpuSet::allocate(1020);
};

int main()
{
    auto system = DpuSet::allocate(4, "sgXferEnable=true");
    auto ranks = DpuSet::allocateRanks();
    DpuProgram program = system.load("kernel");
    DpuSymbol s = program.get("y");
    const DpuSymbol fixed(0x08000000, 64);
    std::vector<std::array<uint32_t, 2>> in(10, {{1, 2}});
    std::vector<std::vector<uint64_t>> out(4, std::vector<uint64_t>(2));
    system.copy("a", in), system.copy("a", 8, in), system.copy("a", in, 8);
    system.copy("a", 0u, in, 8u), system.copy(fixed, in);
    system.copy(s, in), system.copy(s, 8, in), system.copy(s, in, 8), system.copy(s, 0, in, 8);
    system.copy("a", out), system.copy("a", 8, out), system.copy("a", out, 8);
    system.copy("a", 0, out, 8), system.copy(program.get("z"), out);
    system.copy(s, out), system.copy(s, 8, out), system.copy(s, out, 8), system.copy(s, 0, out, 8);
    system.copy(out, "a"), system.copy(out, "a", 8), system.copy(out, 8, "a");
    system.copy(out, static_cast<unsigned>(out.size()), DPU_MRAM_HEAP_POINTER_NAME, 7u);
    system.copy(out, s), system.copy(out, s, 8), system.copy(out, 8, s), system.copy(out, 8, s, 8);

    get_block_t blocks{get_block, nullptr, 0};
    auto three = [&](struct sg_block_info *, uint32_t d, uint32_t b) { return d + b == 99; };
    auto four = [&](sg_block_info *, uint32_t d, uint32_t b, void *) { return d + b == in.size(); };
    system.copyScatterGather("a", blocks, 8), system.copyScatterGather("a", 0, three, 8);
    system.copyScatterGather("a", four, 8, false), system.copyScatterGather(s, 8, blocks, 8);
    system.copyScatterGather(blocks, 8, "a"), system.copyScatterGather(three, 8, s, 8, false);
    system.copyScatterGather(DPU_XFER_FROM_DPU, "a", 0, 8, four);
    system.copyScatterGather(DPU_XFER_TO_DPU, s, 0, 8, blocks, false);

    auto async = system.async();
    std::vector<dpu::DpuSetAsync> all;
    all.push_back(system.ranks()[0]->async());
    all.back().copy("b", out);
    async.exec();
    async.call([](DpuSet &rank, unsigned) { rank.log(std::cout); });
    async.call([](DpuSet &, unsigned) {}, false, true);
    async.copyScatterGather("a", three, 8);
    async.sync();

    auto one = system.dpus()[0];
    one->load("other");
    one->log(std::cout);
    populate(*one, *new std::vector<int>);
    DpuSet view = *one;
    view.exec();
    ranks = DpuSet::allocate(1);
    try {
        DpuError::throwOnErr(DPU_OK);
    } catch (const DpuError &e) {
        std::cerr << e.what() << std::endl;
    }
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++20"])
def test_every_overload_compiles_clean(compiler: str, standard: str, tmp_path: Path) -> None:
    source = tmp_path / "overloads.cpp"
    source.write_text(OVERLOADS)
    options = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    include = f"-I{paths.include_dir() / 'upmem'}"
    command = [compiler, f"-std={standard}", *options, include, str(source)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{compiler} is not installed")
    assert done.stderr == ""


@pytest.mark.slow
def test_the_header_may_be_in_several_files(sim_cc: Compiler, tmp_path: Path) -> None:
    (tmp_path / "b.cpp").write_text(
        "#include <dpu>\nint other() { return dpu::ALLOCATE_ALL > 1; }\n"
    )
    main = tmp_path / "a.cpp"
    main.write_text("#include <dpu>\nint other();\nint main() { return other() - 1; }\n")
    program = sim_cc.build(main, options=[str(tmp_path / "b.cpp")])
    assert sim_cc.run(program).status == 0


KERNEL = """
#include <mram.h>
#include <stdint.h>
#include <stdio.h>
__host uint32_t factor;
__host uint64_t sum;
__mram_noinit uint64_t numbers[64];
__mram_noinit uint64_t results[64];
int main(void)
{
    sum = 0;
    for (int i = 0; i < 64; i++) {
        __dma_aligned uint64_t one;
        mram_read(&numbers[i], &one, 8);
        one *= factor;
        sum += one;
        mram_write(&one, &results[i], 8);
    }
    printf("sum %lu\\n", sum);
    return 0;
}
"""

PROGRAM = """
#include <dpu>
#include <iostream>
#include <sstream>
using namespace dpu;

#define CHECK(x) if (!(x)) { std::cout << "line " << __LINE__ << ": " #x << std::endl; return 1; }

int main(int, char **argv)
{
    auto set = DpuSet::allocate(70, "sgXferEnable=true");
    CHECK(set.dpus().size() == 70 && set.ranks().size() == 2);
    CHECK(set.ranks()[1]->dpus().size() == 32);
    auto program = set.load(argv[1]);
    auto results = program.get("results");

    std::vector<std::vector<uint64_t>> in(70), out(70, std::vector<uint64_t>(64)), sums(70);
    for (unsigned d = 0; d < 70; d++) {
        sums[d].resize(1);
        for (unsigned i = 0; i < 64; i++)
            in[d].push_back(d * 100 + i);
    }
    set.copy("numbers", in);
    set.copy("factor", std::vector<uint32_t>{3});
    set.exec();
    set.copy(out, results);
    set.copy(sums, "sum");
    for (unsigned d = 0; d < 70; d++) {
        CHECK(out[d][63] == 3 * in[d][63]);
        CHECK(sums[d][0] == 3 * (64 * 100 * d + 2016));
    }
    std::ostringstream log;
    set.dpus()[69]->log(log);
    CHECK(log.str().find("=== DPU#0x") == 0);
    CHECK(log.str().find("sum " + std::to_string(sums[69][0])) != std::string::npos);

    // one after the other in each rank, the callback in between
    auto async = set.async();
    std::atomic<unsigned> called(0), seen(0);
    const std::vector<std::vector<uint32_t>> factors(70, {5});
    async.copy("factor", factors);
    async.exec();
    async.call([&](DpuSet &rank, unsigned) {
        std::vector<std::vector<uint64_t>> part(rank.dpus().size(), std::vector<uint64_t>(1));
        rank.copy(part, "sum");
        called++;
        seen += part.size();
    });
    async.sync();
    CHECK(called == 2 && seen == 70);
    set.copy(sums, "sum");
    CHECK(sums[69][0] == 5 * (6400 * 69 + 2016));

    async.call([](DpuSet &, unsigned) { throw DpuError(DPU_ERR_TIMEOUT); }, true, true);
    try {
        async.sync();
        CHECK(!"sync threw");
    } catch (const DpuError &error) {
        CHECK(error.error() & DPU_ERR_ASYNC_JOBS);
        std::cout << error.what() << std::endl;
    }

    std::vector<uint64_t> flat(70 * 64);
    async.copyScatterGather(
        [&flat](sg_block_info *out, uint32_t d, uint32_t block) {
            out->addr = reinterpret_cast<uint8_t *>(flat.data() + 64 * d + 32 * block);
            out->length = 32 * 8;
            return block < 2;
        },
        64 * 8, results);
    async.sync();
    CHECK(flat[64 * 69 + 63] == 5 * in[69][63]);

    try {
        set.copy("numbers", std::vector<std::vector<uint64_t>>(3, std::vector<uint64_t>(1)));
        CHECK(!"too few buffers");
    } catch (const DpuError &error) {
        CHECK(error.error() == DPU_ERR_INVALID_MEMORY_TRANSFER);
    }
    try {
        program.get("nothing");
        CHECK(!"unknown symbol");
    } catch (const DpuError &error) {
        CHECK(std::string(error.what()) == "undefined symbol");
    }
    DpuSet moved = std::move(set);
    DpuSet view = moved;
    view.exec();
    return 0;
}
"""


def test_a_program_through_all_layers(sim_cc: Compiler, kernel: Kernel) -> None:
    program = sim_cc.build(PROGRAM, language="c++", options=["-std=c++11"])
    result = sim_cc.run(program, str(kernel(KERNEL)))
    assert result.status == 0, result.out + result.err
    assert re.fullmatch(
        r"asynchronous operation error \(callback\): result timeout \(0x[0-9a-f]+\)\n", result.out
    )
