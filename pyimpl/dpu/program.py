"""Loaded programs and the symbols that the host sees in them."""

from __future__ import annotations

import ctypes

from cudla_sim.capi import prototypes

from .error import DpuError, call


class DpuSymbol:
    """A variable of a DPU program; ``name`` is its name."""

    def __init__(self, name: str, place: tuple[int, int]) -> None:
        """``place``: address in the DPU's memory map and size in bytes."""
        self.name = name
        self.c_symbol = prototypes.dpu_symbol_t(*place)

    def value(self) -> int:
        """The symbol's value: of a variable its address."""
        return int(self.c_symbol.address)

    def size(self) -> int:
        """Bytes."""
        return int(self.c_symbol.size)


class DpuProgram:
    """What ``DpuSet.load`` gives."""

    def __init__(self, c_program: ctypes.c_void_p) -> None:
        self.c_program = c_program
        self.symbols: dict[str, DpuSymbol] = {}

    def get_symbol(self, symbol: str) -> DpuSymbol | None:
        """The symbol of that name; None when the host sees none."""
        if symbol not in self.symbols:
            found = prototypes.dpu_symbol_t()
            try:
                call("dpu_get_symbol", self.c_program, symbol.encode(), ctypes.byref(found))
            except DpuError:
                return None
            self.symbols[symbol] = DpuSymbol(symbol, (found.address, found.size))
        return self.symbols[symbol]

    def fetch_all_symbols(self) -> dict[str, DpuSymbol]:
        """Every symbol that the host sees, by name."""
        # Only now: these modules need the native library, which the calls before have started.
        from cudla_sim.abi.upmem.family import state

        known = state().programs.get(self.c_program.value or 0)
        if known is not None:
            for name, place in known[0].symbols.items():
                self.symbols.setdefault(name, DpuSymbol(name, (place.address, place.size)))
        return self.symbols
