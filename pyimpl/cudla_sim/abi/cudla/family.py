"""The cuDLA family, its handles, and how arguments are checked."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...constants import cudla_parameters
from ...constants.cudla import cudlaStatus as Status
from ...cudla.errors import CudlaError, invalid_param
from ..entry import Family

if TYPE_CHECKING:
    from ...cudla.device import Device

DEVICE, MODULE = "cuDLA device", "cuDLA module"

cudla = Family("cudla", Status, cudla_parameters, error=CudlaError)

null = partial(cudla.require, Status.cudlaErrorInvalidParam)


def device_of(handle: Any, status: Status = Status.cudlaErrorInvalidDevice) -> Device:
    found: Device = cudla.resolve(handle, DEVICE, "devHandle", status)
    return found


def module_of(handle: Any, argument: str = "hModule") -> Any:
    return cudla.resolve(handle, MODULE, argument, Status.cudlaErrorInvalidModule)


def only_flags(value: int, allowed: int, names: str) -> None:
    if value & ~allowed:
        raise invalid_param(f"flags is {value:#x}; valid are {names}")
