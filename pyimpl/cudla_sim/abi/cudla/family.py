"""The cuDLA family, its handles, and how arguments are checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...constants import cudla_parameters
from ...constants.cudla import cudlaStatus as Status
from ...cudla.errors import CudlaError, invalid_param
from ..checked import CheckedFamily

if TYPE_CHECKING:
    from ...cudla.device import Device

DEVICE, MODULE = "cuDLA device", "cuDLA module"

cudla = CheckedFamily(
    "cudla",
    Status,
    cudla_parameters,
    error=CudlaError,
    bad_pointer=Status.cudlaErrorInvalidParam,
    only=("cudlaCreateDevice", "cudlaDeviceGetCount", "cudlaGetExternalExportTable"),
)

null = partial(cudla.require, Status.cudlaErrorInvalidParam)
"""Results must have a place."""
given = partial(cudla.require, Status.cudlaErrorInvalidParam, "what the call reads")
"""What a call reads must be there."""


device_of: Callable[..., Device] = cudla.resolver(
    kind=DEVICE, argument="devHandle", status=Status.cudlaErrorInvalidDevice
)

module_of = cudla.resolver(kind=MODULE, argument="hModule", status=Status.cudlaErrorInvalidModule)


def only_flags(value: int, allowed: int, names: str) -> None:
    if value & ~allowed:
        raise invalid_param(f"flags is {value:#x}; valid are {names}")
