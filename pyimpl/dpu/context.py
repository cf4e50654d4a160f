"""A snapshot of a DPU: registers, flags, memories."""

from __future__ import annotations

import ctypes
from typing import Any

from cudla_sim.capi import load, prototypes

from .error import call

_WORDS: dict[str, Any] = {
    "iram": ctypes.c_uint64,
    "mram": ctypes.c_uint8,
    "wram": ctypes.c_uint32,
    "registers": ctypes.c_uint32,
    "pcs": ctypes.c_uint16,
    "atomic_register": ctypes.c_bool,
    "zero_flags": ctypes.c_bool,
    "carry_flags": ctypes.c_bool,
}


class DpuThreadContext:
    """Of one thread; ``idx`` is its number."""

    def __init__(self, ctx: DpuContext, idx: int) -> None:
        self.inner = ctx
        self.idx = idx

    def regs(self) -> list[int]:
        """Its work registers."""
        length = self.inner.c_ctx.info.nr_registers
        found: list[int] = self.inner.array("registers")[self.idx * length :][:length]
        return found

    def pc(self) -> int:
        """Index of its next instruction."""
        return int(self.inner.array("pcs")[self.idx])

    def zf(self) -> bool:
        """Its zero flag."""
        return bool(self.inner.array("zero_flags")[self.idx])

    def cf(self) -> bool:
        """Its carry flag."""
        return bool(self.inner.array("carry_flags")[self.idx])


class DpuContext:
    """What ``DpuSet.checkpoint`` gives; ``threads``: one context for each thread."""

    def __init__(self, c_ctx: Any) -> None:
        self.c_ctx = c_ctx
        self.threads = [DpuThreadContext(self, n) for n in range(c_ctx.info.nr_threads)]

    def __del__(self) -> None:
        load().dpu_checkpoint_free(ctypes.byref(self.c_ctx))

    @staticmethod
    def from_buffer(buf: Any) -> DpuContext:
        """From what ``serialize`` gave. Raises DpuError."""
        data = bytes(buf)
        c_ctx = prototypes.dpu_context_t()
        call("dpu_checkpoint_deserialize", data, len(data), ctypes.byref(c_ctx))
        return DpuContext(c_ctx)

    def serialize(self) -> bytearray:
        """Its bytes. Raises DpuError."""
        whole = ctypes.byref(self.c_ctx)
        size = load().dpu_checkpoint_get_serialized_context_size(whole)
        data = bytearray(size)
        place = ctypes.c_void_p(ctypes.addressof((ctypes.c_uint8 * size).from_buffer(data)))
        length = ctypes.c_uint32(size)
        call("dpu_checkpoint_serialize", whole, ctypes.byref(place), ctypes.byref(length))
        return data

    def array(self, name: str) -> list[Any]:
        """One array of the C structure."""
        info = self.c_ctx.info
        counts = {
            "registers": info.nr_threads * info.nr_registers,
            "atomic_register": info.nr_atomic_bits,
        }
        count = counts.get(name, getattr(info, f"{name}_size", info.nr_threads))
        at = getattr(self.c_ctx, name)
        return ctypes.cast(at, ctypes.POINTER(_WORDS[name]))[:count] if at else []

    def iram(self) -> list[int] | None:
        """The instructions; None when they were not saved."""
        return self.array("iram") or None

    def mram(self) -> list[int] | None:
        """The bytes of MRAM; None when they were not saved."""
        return self.array("mram") or None

    def wram(self) -> list[int] | None:
        """The words of WRAM; None when they were not saved."""
        return self.array("wram") or None

    def atomic_bits(self) -> list[bool]:
        return self.array("atomic_register")

    def bkp_fault(self) -> tuple[int, int] | None:
        """Thread and number of the ``fault`` instruction that stopped the DPU."""
        ctx = self.c_ctx
        return (ctx.bkp_fault_thread_index, ctx.bkp_fault_id) if ctx.bkp_fault else None

    def dma_fault(self) -> int | None:
        """The thread whose DMA failed."""
        return self.c_ctx.dma_fault_thread_index if self.c_ctx.dma_fault else None

    def mem_fault(self) -> int | None:
        """The thread whose load or store failed."""
        return self.c_ctx.mem_fault_thread_index if self.c_ctx.mem_fault else None
