"""A program's memory without a VPU program: DRAM buffers, VMEM variables, the DMA engine."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cudla_sim import native
from cudla_sim.capi import load
from cudla_sim.cupva import engine
from cudla_sim.cupva.dataflow.base import DataFlow, Handler
from cudla_sim.cupva.engine import Space, Spaces
from cudla_sim.cupva.memory import DeviceMemory, VmemSymbol

VMEM_BYTES = 1 << 17
HANDLER = Handler("handler", 64)


class Bench:
    """``vmem`` is the VMEM that the engine sees; variables are given out one after the other."""

    def __init__(self) -> None:
        load().simWarmup()  # brings the C engine
        self.memory = DeviceMemory()
        self.vmem: NDArray[np.uint8] = np.full(VMEM_BYTES, 0xEE, np.uint8)
        self.base = 0
        self._buffers: list[int] = []

    def dram(self, content: NDArray[np.generic]) -> int:
        """The device address of a copy."""
        data = np.ascontiguousarray(content)
        address = self.memory.allocate(data.nbytes)
        self._buffers.append(address)
        ctypes.memmove(self.memory.host_address(address), data.ctypes.data, data.nbytes)
        return address

    def read(self, address: int, like: NDArray[np.generic]) -> NDArray[np.generic]:
        out = np.empty_like(like)
        ctypes.memmove(out.ctypes.data, self.memory.host_address(address), out.nbytes)
        return out

    def variable(self, size: int, offset: int = 128) -> int:
        """The device address of a VMEM variable."""
        self.base = self.memory.publish([VmemSymbol("buffer", offset, size)])
        return self.base + offset

    def run(self, flow: DataFlow, triggers: int = -1) -> int:
        packed = flow.descriptors(self.memory.locate)
        return engine.run(native.load().pva, packed, self.spaces, triggers)

    @property
    def spaces(self) -> Spaces:
        return Spaces(
            dram=Space(self.memory.host_base, self.memory.dram_size),
            l2=Space(self.memory.l2_host_base, self.memory.l2_size),
            vmem=Space(self.vmem.ctypes.data, len(self.vmem)),
        )

    def step(self, flow: DataFlow) -> Iterator[int]:
        """After each trigger, its number."""
        from cudla_sim.native.compiled import ffi, lib

        packed = flow.descriptors(self.memory.locate)
        memory = self.spaces.described()
        cursor = ffi.new("struct pva_cursor *")
        listed = ffi.cast("struct pva_descriptor *", ffi.from_buffer(packed))
        number = 0
        while lib.pva_dma_trigger(listed, len(packed), cursor, memory) == 0:
            yield number
            number += 1

    def close(self) -> None:
        for address in self._buffers:
            self.memory.free(address)
        self._buffers.clear()
        self.vmem.fill(0xEE)


_shared: list[Bench] = []


@contextmanager
def bench() -> Iterator[Bench]:
    """The one bench of this test process, clean."""
    if not _shared:
        _shared.append(Bench())
    made = _shared[0]
    try:
        yield made
    finally:
        made.close()
