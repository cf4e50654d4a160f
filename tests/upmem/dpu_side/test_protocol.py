"""protocol.py says the same as shim/dpu_run/protocol.h."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from cudla_sim.upmem.toolchain.runtime import sources
from cudla_sim.upmem.workers import protocol
from cudla_sim.upmem.workers.protocol import FaultKind, State, WaitKind

PROBE = r"""
#include "protocol.h"
#include <stddef.h>
#include <stdio.h>
#define SHOW(x) printf("%s %zu\n", #x, (size_t)(x))
int main(void) {
    SHOW(offsetof(struct dpu_side, fault));
    SHOW(sizeof(struct dpu_event));
    SHOW(sizeof(struct dpu_wait));
    SHOW(sizeof(struct dpu_side));
    SHOW(offsetof(struct dpu_side, times));
    SHOW(offsetof(struct dpu_times, tasklets));
    SHOW(sizeof(struct tasklet_times));
    SHOW(offsetof(struct frame, timed));
    SHOW(offsetof(struct frame, slots));
    SHOW(offsetof(struct frame, owner));
    SHOW(offsetof(struct frame, status));
    return 0;
}"""


def test_layouts(tmp_path: Path) -> None:
    (tmp_path / "probe.c").write_text(PROBE)
    output = tmp_path / "probe"
    subprocess.run(["cc", f"-I{sources()}", "-o", output, tmp_path / "probe.c"], check=True)
    lines = subprocess.run([output], capture_output=True, text=True, check=True).stdout
    assert [int(line.split()[-1]) for line in lines.splitlines()] == [
        protocol._HEAD.size,
        protocol._EVENT.size,
        protocol._WAIT.size,
        protocol.SIDE_USED,
        protocol.TIMES_OFFSET,
        protocol._TIMES.size,
        protocol._TASKLET_TIMES.size,
        protocol.FRAME_HEADER.size - 4,
        protocol.FRAME_SLOTS_OFFSET,
        protocol.FRAME_OWNER_OFFSET,
        protocol.FRAME_STATUS_OFFSET,
    ]


def test_numbers() -> None:
    text = (sources() / "protocol.h").read_text()
    values = {m[1]: int(m[2], 0) for m in re.finditer(r"(\w+) = (\d+)", text)}
    values |= {m[1]: int(m[2].rstrip("u"), 0) for m in re.finditer(r"#define (\w+) (\w+)\n", text)}
    for kind in FaultKind:
        assert values[f"FAULT_{kind.name}"] == kind
    for state in State:
        assert values[f"STATE_{state.name}"] == state
    for wait in WaitKind:
        assert values[f"WAIT_{wait.name}"] == wait
    names = ("SLOT_SIDE", "WRAM_SIZE", "MRAM_SIZE", "FRAME_SLOTS", "FRAME_STRIDE", "MAX_FRAMES")
    for name in (*names, "MAX_TASKLETS", "MAX_WARNINGS", "PROTOCOL_VERSION"):
        assert values[name] == getattr(protocol, name)


def test_addresses() -> None:
    script = (sources() / "program.ld").read_text()
    for address in (protocol.WRAM_WINDOW, protocol.MRAM_WINDOW, protocol.TEXT_BASE):
        assert f"ORIGIN = {address:#010x}" in script
    header = (sources() / "rt.h").read_text()
    assert f"#define STACKS_BASE {protocol.STACKS_BASE:#x}u" in header
    assert f"#define STACK_STRIDE {protocol.STACK_STRIDE:#x}u" in header
