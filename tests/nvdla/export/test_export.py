"""Exported benches: replayed, played in C, and compared with what ran."""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork, NvdlaError
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.export import Bench, record, write
from cudla_sim.nvdla.export.bench import Await, Check, Load, Poll, Write
from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.replay import play, read
from cudla_sim.testing import Compiler
from cudla_sim.tools import schemas
from tests import warm
from tests.nvdla.cosim.conftest import relu, several

BASE = 0x8000_0000
CONFIGS = [("nv_small", "int8"), ("nv_large", "int8"), ("nv_full", "fp16"), ("nv_full", "int8"),
           ("nv_medium_1024_full", "int8")]  # fmt: skip


def source(loadable: Loadable, seed: int = 1) -> dict[int, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {n: rng.integers(0, 256, t.size, np.uint8) for n, t in enumerate(loadable.inputs)}


def recorded(config: str, precision: str, base: int = BASE) -> tuple[Bench, bytes]:
    data = several(config, precision)
    loadable = Loadable.parse(data)
    return record(loadable, config, source(loadable), base, name="several"), data


def plain_run(data: bytes, config: str) -> list[np.ndarray]:
    loadable, space = Loadable.parse(data), AddressSpace()
    network = LoadedNetwork(loadable, space, config)
    inputs = [space.allocate(t.size, name=t.name) for t in loadable.inputs]
    outputs = [space.allocate(t.size, name=t.name) for t in loadable.outputs]
    for number, values in source(loadable).items():
        inputs[number].data[:] = values
    Core(config).run(network, [r.base for r in inputs], [r.base for r in outputs])
    return [r.data for r in outputs]


@pytest.mark.parametrize(("config", "precision"), CONFIGS)
def test_replay_plays_it(config: str, precision: str, tmp_path: Path) -> None:
    bench, data = recorded(config, precision)
    write(bench, tmp_path, data)
    (trace,) = read(tmp_path)
    outcome = play(trace, config)
    assert outcome.verdict == "pass", outcome.failures
    assert len(outcome.layers) == 3
    for number, wanted in enumerate(plain_run(data, config)):
        assert (tmp_path / f"output{number}.bin").read_bytes() == wanted.tobytes()


@pytest.mark.parametrize(("config", "precision"), CONFIGS[:3])
def test_a_wrong_weight_is_found(config: str, precision: str, tmp_path: Path) -> None:
    bench, data = recorded(config, precision)
    write(bench, tmp_path, data)
    weights = max(bench.regions, key=lambda r: int(np.count_nonzero(r.before)))
    (file,) = tmp_path.rglob(f"memory{bench.regions.index(weights)}.dat")
    text = file.read_text()
    file.write_text(re.sub(r"0x([1-9a-f])([0-9a-f])", r"0x0\2", text))
    (trace,) = read(tmp_path)
    outcome = play(trace, config)
    assert outcome.verdict == "fail"
    assert "is expected" in outcome.failures[0] or "differ" in outcome.failures[0]


@pytest.mark.parametrize("config", ["nv_small", "nv_full"])
def test_what_is_in_a_bench(config: str) -> None:
    bench, _ = recorded(config, "int8")
    line = "v1" if config == "nv_full" else "master"
    cdma = registers.block(line, "CDMA")
    flush, enable = cdma.address("S_CBUF_FLUSH_STATUS"), cdma.address("D_OP_ENABLE")
    steps = bench.steps
    enables = [n for n, s in enumerate(steps) if s == Write(enable, 1)]
    polls = [n for n, s in enumerate(steps) if s == Poll(flush, 1, 1)]
    assert len(enables) == 2
    assert all(any(before < n for before in polls) for n in enables)
    status = registers.block(line, "GLB").address("S_INTR_STATUS")
    assert not any(isinstance(s, Write) and s.address == status for s in steps)
    events = [s.event for s in steps if isinstance(s, Await)]
    assert len(set(events)) == len(events)
    # a convolution is announced by CDMA twice, CACC and SDP; PDP once
    assert sum("_PDP_" in e for e in events) == 1
    assert sum("CACC" in e for e in events) == 2
    (softmax,) = [s for s in steps if isinstance(s, Load)]
    assert "softmax" in softmax.what
    assert steps.index(softmax) > max(n for n, s in enumerate(steps) if isinstance(s, Await))
    assert {s.what for s in steps if isinstance(s, Check) and not s.event} == {"output 0"}
    # addresses in registers are the bench's
    for step in steps:
        if isinstance(step, Write) and registers.describe_address(line, step.address).endswith(
            "ADDR_LOW"
        ):
            assert step.value == 0 or bench.base <= step.value < bench.end


@pytest.mark.parametrize("base", [0x1000, 0x8000_0000, 0xC000_0000])
def test_addresses_are_ours_to_choose(base: int) -> None:
    bench, _ = recorded("nv_small", "int8", base)
    other, _ = recorded("nv_small", "int8", 0x4000_0000)
    assert bench.base == base
    assert len(bench.steps) == len(other.steps)
    assert (bench.image() == other.image()).all()
    assert (bench.image(after=True) == other.image(after=True)).all()


@pytest.mark.parametrize("base", [0, 0x8000_0010, 1 << 32, -4096])
def test_a_base_that_is_none(base: int) -> None:
    with pytest.raises(NvdlaError, match="multiple of 0x1000"):
        recorded("nv_small", "int8", base)


def test_memory_beyond_32_bits() -> None:
    with pytest.raises(NvdlaError, match=r"would end at|ends at"):
        recorded("nv_small", "int8", 0xFFFF_F000)


def verilog(text: str) -> dict[int, int]:
    """What ``$readmemh`` makes of a text."""
    at, found = 0, {}
    for word in text.split():
        if word.startswith("@"):
            at = int(word[1:], 16)
        else:
            found[at] = int(word, 16)
            at += 1
    return found


def test_files(tmp_path: Path) -> None:
    bench, data = recorded("nv_small", "int8")
    files = write(bench, tmp_path, data)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    jsonschema.validate(manifest, schemas.read("nvdla-export"))
    names = {str(f.relative_to(tmp_path)) for f in files} - {"manifest.json"}
    assert set(manifest["files"]) == names
    assert all(f.exists() for f in files)
    before = (tmp_path / "memory.bin").read_bytes()
    after = (tmp_path / "golden.bin").read_bytes()
    assert len(before) == len(after) == manifest["size"]
    known = verilog((tmp_path / "memory.hex").read_text())
    assert all(before[a - BASE] == v for a, v in known.items())
    assert sum(before) == sum(known.values())
    for region in manifest["regions"]:
        start = region["address"] - manifest["base"]
        for name, image in (("crc32_before", before), ("crc32_after", after)):
            assert zlib.crc32(image[start : start + region["size"]]) == region[name]
    assert [o["unit"] for o in manifest["operations"]] == ["CONV+SDP", "PDP", "CONV+SDP"]
    assert all(o["cycles"] > 0 for o in manifest["operations"])


PLAY = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include "cudla_sim.h"
#include "nvdla_player.h"
static uint32_t get(void *b, uint32_t a) { (void)b; return simNvdlaRead(0, a); }
static void put(void *b, uint32_t a, uint32_t v) { (void)b; simNvdlaWrite(0, a, v); }
int main(int count, char **words)
{
    size_t size = nvdla_trace.memory_size;
    void *m = mmap((void *)(uintptr_t)nvdla_trace.memory_base, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    FILE *image = fopen(words[1], "rb"), *left;
    if (count < 3 || m == MAP_FAILED || fread(m, 1, size, image) != size) return 2;
    if (simNvdlaMemory(m, size) != simSuccess) return 3;
    if (simNvdlaMemory(m, size) == simSuccess) return 4; /* it is there already */
    struct nvdla_board board = {.reg_read = get, .reg_write = put, .polls = 1000};
    struct nvdla_result r = nvdla_play(&nvdla_trace, &board);
    printf("%d %s %u %u\n", r.ok, r.why, r.steps, r.checks);
    left = fopen(words[2], "wb");
    fwrite(m, 1, size, left);
    fclose(left);
    if (simNvdlaMemory(m, 0) != simSuccess || simNvdlaMemory(m, 0) == simSuccess) return 5;
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("config", "precision"), CONFIGS[:3])
def test_the_player_in_c(config: str, precision: str, tmp_path: Path, sim_cc: Compiler) -> None:
    bench, data = recorded(config, precision)
    write(bench, tmp_path, data)
    metal = tmp_path / "baremetal"
    main = tmp_path / "main.c"
    main.write_text(PLAY)
    sources = [str(f) for f in metal.glob("*.c")]
    program = sim_cc.build(main, options=[f"-I{metal}", "-Wall", "-Wextra", "-Werror", *sources])
    words = [str(tmp_path / "memory.bin"), str(tmp_path / "left.bin")]
    done = sim_cc.run(program, *words, settings={"CUDLA_SIM_CONFIG": config})
    checks = sum(isinstance(s, Check) for s in bench.steps)
    assert (done.status, done.out) == (0, f"1  {len(bench.steps)} {checks}\n"), done.err
    assert (tmp_path / "left.bin").read_bytes() == (tmp_path / "golden.bin").read_bytes()
    (tmp_path / "memory.bin").write_bytes(bytes(bench.end - bench.base))
    done = sim_cc.run(program, *words, settings={"CUDLA_SIM_CONFIG": config})
    assert done.out.startswith("0 memory is not what it must be")


def test_the_player_needs_no_library(tmp_path: Path) -> None:
    write(recorded("nv_small", "int8")[0], tmp_path)
    flags = ["-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c"]
    for file in (tmp_path / "baremetal").glob("*.c"):
        target = file.with_suffix(".o")
        subprocess.run(["gcc", *flags, str(file), "-o", str(target)], check=True)
        names = subprocess.run(
            ["nm", "-u", str(target)], capture_output=True, text=True, check=True
        )
        assert not set(names.stdout.split()) - {"U", "nvdla_play"}


def test_one_operation_has_no_waits_between_blocks(tmp_path: Path) -> None:
    """The converter of the public suite for Verilator knows writes, polls and checks only, but for
    the order of enables."""
    loadable = Loadable.parse(relu())
    write(record(loadable, "nv_small", source(loadable), BASE, name="one"), tmp_path)
    (file,) = tmp_path.rglob("*.cfg")
    commands = {re.match(r"\w+", line)[0] for line in file.read_text().splitlines()[1:]}  # type: ignore[index]
    assert commands <= {
        "mem_init", "mem_load", "reg_write", "intr_notify", "check_crc", "sync_wait", "sync_notify",
    }  # fmt: skip


def test_parallel_branches_are_checked_when_they_are_done(tmp_path: Path) -> None:
    """A pooling beside a convolution: more than one operation runs at a time."""
    rng = np.random.default_rng(5)
    net = Network(input=("x", (1, 8, 12, 12)), precision="int8", config="nv_small")
    both = net.conv2d(rng.normal(size=(8, 8, 3, 3)), padding=1)
    pooled = net.max_pool(2, source=both)
    net.add(pooled, net.conv2d(rng.normal(size=(8, 8, 2, 2)), stride=2, source=both))
    data = net.build(calibration=rng.normal(size=(2, 8, 12, 12)))
    loadable = Loadable.parse(data)
    write(record(loadable, "nv_small", source(loadable), BASE), tmp_path)
    (trace,) = read(tmp_path)
    assert play(trace, "nv_small").verdict == "pass"


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [warm.python(), "-m", "cudla_sim", "nvdla", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "my net.nvdla").write_bytes(several())
    out = tmp_path / "bench"
    done = command("export", str(tmp_path / "my net.nvdla"), "--config", "small", "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert "3 operations" in done.stdout
    assert "is fed zeros" in done.stderr
    assert (out / "trace_tests" / "nv_small" / "my_net" / "my_net.cfg").exists()
    assert "1 pass" in command("replay", str(out)).stdout
    for words, why in (
        (["--base", "zero"], "'zero' is no number"),
        (["--base", "0x80000001"], "multiple of 0x1000"),
        (["--input", "7=x.npy"], "input 7: the network has 1"),
        (["--config", "nv_full"], "was compiled for"),
    ):
        done = command("export", str(tmp_path / "my net.nvdla"), "-o", str(out), *words)
        assert done.returncode
        assert why in done.stderr.splitlines()[-1]
