"""A VPU worker with memory of its own, kernels that are compiled once, and dataflows by hand."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cudla_sim.cupva.dataflow.base import Handler, Location
from cudla_sim.cupva.dataflow.raster import Layout, RasterDataFlow
from cudla_sim.cupva.dma import DRAM, L2, VMEM, Move, Side, pack
from cudla_sim.cupva.executable import Executable, Symbol
from cudla_sim.cupva.workers.worker import FlowRequest, LaunchRequest, LaunchResult, VpuWorker
from cudla_sim.workers.files import shared_memory

KERNELS = Path(__file__).parent / "kernels"
DRAM_SIZE = 16 << 20
L2_SIZE = 1 << 20
VMEM_AT = 1 << 40
"""Addresses of VMEM in the locator below."""


def modes(header: str) -> dict[str, int]:
    """The enumerators of a header in kernels/."""
    body = (KERNELS / header).read_text().partition("enum {")[2]
    return {name: number for number, name in enumerate(re.findall(r"^\s+(\w+),", body, re.M))}


class Bench:
    """``dram`` and ``l2`` are the memories as arrays."""

    def __init__(self, image: bytes) -> None:
        self.executable = Executable(image)
        self._files = [shared_memory("dram", DRAM_SIZE), shared_memory("l2", L2_SIZE)]
        self.dram = np.frombuffer(mmap.mmap(self._files[0], DRAM_SIZE), np.uint8)
        self.l2 = np.frombuffer(mmap.mmap(self._files[1], L2_SIZE), np.uint8)
        self.worker = VpuWorker(image, *self._files, DRAM_SIZE, L2_SIZE)

    def close(self) -> None:
        self.worker.close()
        for fd in self._files:
            os.close(fd)

    def symbol(self, name: str) -> Symbol:
        return self.executable.symbol(name)

    def parameter(self, name: str, value: int | bytes) -> tuple[int, bytes]:
        data = value if isinstance(value, bytes) else value.to_bytes(4, "little", signed=True)
        return self.symbol(name).offset, data

    def launch(
        self,
        flows: list[FlowRequest] | None = None,
        deadline_s: float | None = 10.0,
        allowed: int = 0,
        **parameters: int | bytes,
    ) -> LaunchResult:
        values = [self.parameter(n, v) for n, v in parameters.items()]
        request = LaunchRequest(values, flows or [], allowed=allowed)
        return self.worker.launch(request, deadline_s, snapshot=True)

    def array(self, result: LaunchResult, name: str, dtype: type = np.int32) -> NDArray[np.generic]:
        """A variable as the kernel left it."""
        assert result.vmem is not None
        symbol = self.symbol(name)
        return np.frombuffer(result.vmem, np.uint8)[symbol.offset :][: symbol.size].view(dtype)

    # --- dataflows ---

    def locate(self, address: int) -> Location:
        if address < VMEM_AT:
            return Location(DRAM, address, (0, DRAM_SIZE))
        offset = address - VMEM_AT
        for symbol in self.executable.symbols.values():
            if symbol.offset <= offset < symbol.offset + symbol.size:
                return Location(VMEM, offset, (symbol.offset, symbol.offset + symbol.size))
        raise LookupError(hex(address))

    def side(self, name: str, pitch: int = 0, dims: tuple[tuple[int, int], ...] = ()) -> Side:
        symbol = self.symbol(name)
        return Side(VMEM, symbol.offset, (symbol.offset, symbol.offset + symbol.size), pitch, dims)

    def static(self, handler: str, *moves: Move) -> FlowRequest:
        """Descriptors by hand; no handler for ""."""
        if not handler:
            return FlowRequest(0, -1, pack(list(moves)))
        symbol = self.symbol(handler)
        return FlowRequest(int(symbol.kind), symbol.offset, pack(list(moves)))

    def raster(
        self, handler: str, buffer: str, setup: Callable[[RasterDataFlow], None]
    ) -> FlowRequest:
        symbol, room = self.symbol(handler), self.symbol(buffer)
        flow = RasterDataFlow()
        flow.handler(Handler(handler, symbol.offset))
        flow.tile_buffer(VMEM_AT + room.offset)
        setup(flow)
        descriptors = pack(flow.moves(self.locate))
        layout = flow.layout(room.size)
        circular = layout is Layout.CIRCULAR
        info = {
            "layout": int(layout),
            "line_pitch": flow.ring_pitch if circular else flow.vmem_size[0],
            "bpp_log2": flow.pixel_bytes.bit_length() - 1,
            "tiles": len(descriptors),
            "half": flow.half(room.size) if layout is Layout.DOUBLE else 0,
            "advance": flow.vmem_size[0] if circular else 0,
            "ring": flow.ring_bytes // flow.pixel_bytes if circular else 0,
        }
        return FlowRequest(int(symbol.kind), symbol.offset, descriptors, info)


def dram(at: int, pitch: int = 0, dims: tuple[tuple[int, int], ...] = ()) -> Side:
    return Side(DRAM, at, (0, DRAM_SIZE), pitch, dims)


def l2(at: int, pitch: int = 0, dims: tuple[tuple[int, int], ...] = ()) -> Side:
    return Side(L2, at, (0, L2_SIZE), pitch, dims)
