"""Copies between host and DPUs."""

from __future__ import annotations

from typing import Any

from ...upmem import transfer
from ...upmem.rank import Selection
from ...upmem.symbols import Symbol
from ...upmem.transfer import Flags
from ..embedding import address
from . import fast
from .family import name, selection, upmem
from .family import symbol as symbol_of


def named(chosen: Selection, symbol_name: Any) -> Symbol:
    """The symbol of that name in the program that all DPUs of the set hold."""
    program = transfer.common_program(chosen)
    return program.symbol(name(symbol_name, "symbol_name"))


_NOW = Flags()


@upmem.export("dpu_copy_to")
def copy_to(given: Any, symbol_name: Any, offset: int, src: Any, length: int) -> None:
    chosen = selection(given)
    found = named(chosen, symbol_name)
    transfer.broadcast(chosen, found, offset, address(src), length, _NOW)
    fast.learn(given, symbol_name, found)


@upmem.export("dpu_copy_to_symbol")
def copy_to_symbol(given: Any, symbol: Any, offset: int, src: Any, length: int) -> None:
    transfer.broadcast(selection(given), symbol_of(symbol), offset, address(src), length, _NOW)


@upmem.export("dpu_copy_from")
def copy_from(given: Any, symbol_name: Any, offset: int, dst: Any, length: int) -> None:
    chosen = selection(given)
    found = named(chosen, symbol_name)
    transfer.fetch(chosen, found, offset, address(dst), length)
    fast.learn(given, symbol_name, found)


@upmem.export("dpu_copy_from_symbol")
def copy_from_symbol(given: Any, symbol: Any, offset: int, dst: Any, length: int) -> None:
    transfer.fetch(selection(given), symbol_of(symbol), offset, address(dst), length)


@upmem.export("dpu_broadcast_to")
def broadcast_to(
    given: Any, symbol_name: Any, offset: int, src: Any, length: int, flags: int
) -> None:
    chosen = selection(given)
    found = named(chosen, symbol_name)
    transfer.broadcast(chosen, found, offset, address(src), length, Flags.of(flags))
    fast.learn(given, symbol_name, found)


@upmem.export("dpu_broadcast_to_symbol")
def broadcast_to_symbol(
    given: Any, symbol: Any, offset: int, src: Any, length: int, flags: int
) -> None:
    chosen = selection(given)
    transfer.broadcast(chosen, symbol_of(symbol), offset, address(src), length, Flags.of(flags))


@upmem.export("dpu_prepare_xfer")
def prepare_xfer(given: Any, buffer: Any) -> None:
    transfer.prepare(selection(given), address(buffer))


@upmem.export("dpu_push_xfer")
def push_xfer(
    given: Any, direction: int, symbol_name: Any, offset: int, length: int, flags: int
) -> None:
    chosen = selection(given)
    found = named(chosen, symbol_name)
    transfer.push(chosen, direction, found, offset, length, Flags.of(flags))
    fast.learn(given, symbol_name, found)


@upmem.export("dpu_push_xfer_symbol")
def push_xfer_symbol(
    given: Any, direction: int, symbol: Any, offset: int, length: int, flags: int
) -> None:
    chosen = selection(given)
    transfer.push(chosen, direction, symbol_of(symbol), offset, length, Flags.of(flags))
