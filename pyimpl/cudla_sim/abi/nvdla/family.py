"""What the NVDLA modules of this package share: statuses, handles, the model's exceptions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...constants import nvdla_parameters
from ...constants.nvdla import NvDlaError
from ...core import process
from ...core.errors import ApiError
from ...core.memory import MemoryFault
from ...nvdla.errors import KmdError, NvdlaError
from ...nvdla.errors import Status as Model
from ...nvdla.machine import Handle, NvdlaMachine, machine
from ..entry import Family

Status = NvDlaError

nvdla = Family("nvdla", NvDlaError, nvdla_parameters)

_FIRMWARE_FAILED = -1  # INVALID_METHOD
_INVALID_INPUT = -3

firmware = Family(
    "nvdla",
    NvDlaError,
    nvdla_parameters,
    answers={
        "unknown": _FIRMWARE_FAILED,
        "no_memory": -8,
        "bad_handle": _INVALID_INPUT,
        "bad_memory": _INVALID_INPUT,
        "not_supported": _FIRMWARE_FAILED,
    },
)
"""The engine functions: they return negated firmware error numbers."""


def the_machine() -> NvdlaMachine:
    """The cores and the driver's memory in the current process."""
    return machine(process.current())


@contextmanager
def model_errors() -> Iterator[None]:
    """Turns the model's exceptions into this API's."""
    try:
        yield
    except NvdlaError as error:
        raise ApiError(error.code, str(error)) from None


@contextmanager
def execution_errors() -> Iterator[None]:
    """The same for a task in the kernel-mode driver: whatever goes wrong there, the call fails."""
    try:
        yield
    except (NvdlaError, MemoryFault) as error:
        raise ApiError(Model.IOCTL_FAILED, str(error)) from None


@contextmanager
def firmware_errors() -> Iterator[None]:
    """The same for an engine function."""
    try:
        yield
    except KmdError as error:
        raise ApiError(error.firmware, str(error)) from None
    except NvdlaError as error:
        raise ApiError(_INVALID_INPUT, str(error)) from None


def checked(handler: Callable[..., Any]) -> Callable[..., Any]:
    """A handler whose model errors become statuses."""

    @functools.wraps(handler)
    def call(*args: Any) -> Any:
        with model_errors():
            return handler(*args)

    return call


__all__ = [
    "Handle",
    "Status",
    "checked",
    "execution_errors",
    "firmware",
    "firmware_errors",
    "model_errors",
    "nvdla",
    "the_machine",
]
