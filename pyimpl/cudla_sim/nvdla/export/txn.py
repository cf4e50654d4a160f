"""``input.txn``: a bench for the trace player of the nvdlav1 branch (nv_full).

One command after the other. ``wait`` returns when the interrupt line is up, so all interrupts but
the awaited one are masked before it. Source: nvdla/hw (nvdlav1), ``verif/traces/traceplayer``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..cosim.placement import BEHIND
from ..facts import registers
from ..hw.glb import ALL_BITS
from .bench import Await, Bench, Load, Poll, Write

_BUS = 0xFFFF0000


def lines(bench: Bench) -> Iterator[str]:
    """The commands. Data files are ``memoryN.dat``, ``hostN.dat`` and ``goldenN.dat``."""
    glb = registers.block(bench.config.line, "GLB")
    status, mask = glb.address("S_INTR_STATUS"), glb.address("S_INTR_MASK")
    yield f"# {bench.name}, {bench.config.name}: from reset, memory from {bench.base:#x} on"
    for number, region in enumerate(bench.regions):
        size = len(region.before) + BEHIND
        yield f"load_mem {region.address:#x} {size:#x} memory{number}.dat"
    masked, hosts = 0, 0
    for step in bench.steps:
        if isinstance(step, Write):
            if step.address == mask:
                masked = step.value
            yield _write(bench, step.address, step.value)
        elif isinstance(step, Poll):
            yield _read(bench, step.address, step.mask, step.value)
        elif isinstance(step, Await):
            bit = 1 << step.bit
            yield _write(bench, mask, ALL_BITS & ~bit)
            yield "wait"
            yield _write(bench, status, bit)
            yield _read(bench, status, bit, 0)
            yield _write(bench, mask, masked)
        elif isinstance(step, Load):
            yield f"load_mem {step.address:#x} {len(step.data):#x} host{hosts}.dat"
            hosts += 1
    for number, region in enumerate(bench.regions):
        yield f"dump_mem {region.address:#x} {len(region.after):#x} golden{number}.dat"


def _write(bench: Bench, address: int, value: int) -> str:
    name = registers.describe_address(bench.config.line, address)
    return f"write_reg {_BUS | address >> 2:#x} {value:#x} #NVDLA_{name}_0"


def _read(bench: Bench, address: int, mask: int, value: int) -> str:
    name = registers.describe_address(bench.config.line, address)
    return f"read_reg {_BUS | address >> 2:#x} {mask:#010x} {value:#x} #NVDLA_{name}_0"
