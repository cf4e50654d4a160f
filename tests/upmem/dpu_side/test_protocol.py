"""The addresses that C and Python know are those of the linker script."""

from __future__ import annotations

from cudla_sim.constants import dpu_protocol
from cudla_sim.upmem.toolchain.runtime import sources


def test_addresses() -> None:
    script = (sources() / "program.ld").read_text()
    for address in (dpu_protocol.WRAM_BASE, dpu_protocol.MRAM_BASE, dpu_protocol.TEXT_BASE):
        assert f"ORIGIN = {address:#010x}" in script
