"""The NVDLA part of ``cudla_sim.h``: cores for programs that drive the registers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.errors import ApiError
from ...nvdla.errors import NvdlaError
from ..embedding import address, pointer
from ..sim import sim
from .family import the_machine

if TYPE_CHECKING:
    from ...nvdla.dla_core import Core

_INVALID = 1  # simErrorInvalidParam


def _core(number: int) -> Core:
    try:
        return the_machine().core(number)
    except NvdlaError as error:
        raise ApiError(_INVALID, str(error)) from None


@sim.export("simNvdlaContext", status=False, failure=pointer(0))
def context(core: int) -> Any:
    return pointer(_core(core).context)


@sim.export("simNvdlaRead", status=False, failure=0)
def read(core: int, register: int) -> int:
    return _core(core).read(register)


@sim.export("simNvdlaWrite")
def write(core: int, register: int, value: int) -> None:
    _core(core).write(register, value)


@sim.export("simNvdlaStep")
def step(core: int, moved: Any, interrupt: Any) -> None:
    target = _core(core)
    try:
        progress = target.advance()
    except NvdlaError as error:
        raise ApiError(sim.unknown, f"{error}; the core was reset") from None
    if moved:
        moved[0] = progress
    if interrupt:
        interrupt[0] = target.chip.irq


@sim.export("simNvdlaMemory")
def memory(memory: Any, size: int) -> None:
    try:
        the_machine().adopt(address(memory), size)
    except NvdlaError as error:
        raise ApiError(_INVALID, str(error)) from None


@sim.export("simNvdlaReset")
def reset(core: int) -> None:
    _core(core).reset()


@sim.export("simSetInterruptHandler")
def set_interrupt_handler(core: int, handler: Any, arg: Any) -> None:
    _core(core).set_handler(bool(handler))


@sim.export_as("simSetInterruptHandler", "sim_nvdla_handler", status=False, failure=0)
def handler_number(core: int) -> int:
    return _core(core).handler


@sim.export_as("simSetInterruptHandler", "sim_nvdla_wait", status=False, failure=0)
def wait(core: int, handler: int) -> int:
    return int(_core(core).wait(handler))
