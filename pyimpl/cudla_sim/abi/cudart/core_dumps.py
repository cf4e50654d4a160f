"""Where a GPU's core would go: kept, and told again; none is written.

CUDA Driver API, "Coredump Attributes Control API".
"""

from __future__ import annotations

import os
import socket
from typing import Any

from ...constants.cudart import CUcoredumpSettings_enum as Setting
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import ffi
from .driver import driver, null, require_current

_BOOLEANS = {
    Setting.CU_COREDUMP_ENABLE_ON_EXCEPTION: False,
    Setting.CU_COREDUMP_TRIGGER_HOST: True,
    Setting.CU_COREDUMP_LIGHTWEIGHT: False,
    Setting.CU_COREDUMP_ENABLE_USER_TRIGGER: False,
}
_TEXTS = {Setting.CU_COREDUMP_FILE: "core", Setting.CU_COREDUMP_PIPE: "corepipe"}
_LONGEST = 1023
_SIZES = {
    **dict.fromkeys(_BOOLEANS, 1),
    **dict.fromkeys(_TEXTS, _LONGEST + 1),
    Setting.CU_COREDUMP_GENERATION_FLAGS: 4,
}
"""Bytes of a value."""


class _Settings:
    """Of the whole process; those of a context begin as these and are its own once they are set."""

    def __init__(self) -> None:
        self.everywhere: dict[int, bytes] = {}
        self.of: dict[int, dict[int, bytes]] = {}

    def get(self, context: int, setting: Setting) -> bytes:
        own = self.of.get(context, {})
        return own.get(setting, self.everywhere.get(setting, _usual(setting)))


def _usual(setting: Setting) -> bytes:
    if setting in _TEXTS:
        return f"{_TEXTS[setting]}.cuda.{socket.gethostname()}.{os.getpid()}".encode() + b"\0"
    if setting in _BOOLEANS:
        return bytes([_BOOLEANS[setting]])
    return bytes(4)


def _settings() -> _Settings:
    found: _Settings = context.current().process.family("cuda core dumps", lambda _: _Settings())
    return found


def _current() -> int:
    require_current()
    return int(context.current().thread.own_context)


def _known(attribute: int, size: Any) -> Setting:
    null(size=size)
    if not 0 < attribute < Setting.CU_COREDUMP_MAX:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"attrib is {attribute}; CUcoredumpSettings has 1 to {Setting.CU_COREDUMP_MAX - 1}",
        )
    return Setting(attribute)


def _get(of: int, attribute: int, value: Any, size: Any) -> None:
    setting = _known(attribute, size)
    if not value:
        size[0] = _SIZES[setting]
        return
    found = _settings().get(of, setting)
    if size[0] < len(found):
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"*size is {size[0]}; {setting.name} has {len(found)} bytes",
        )
    ffi.memmove(value, found, len(found))
    size[0] = len(found)


def _set(kept: dict[int, bytes], attribute: int, value: Any, size: Any) -> None:
    setting = _known(attribute, size)
    if not value:
        size[0] = _SIZES[setting]
        return
    given = int(size[0])
    if setting not in _TEXTS and given != _SIZES[setting]:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"*size is {given}; {setting.name} has {_SIZES[setting]} bytes",
        )
    if setting in _TEXTS:
        if not 0 < given <= _LONGEST + 1:
            raise CudaError(
                Result.CUDA_ERROR_INVALID_VALUE,
                f"*size is {given}; a name has 1 to {_LONGEST} characters and a zero",
            )
        kept[setting] = bytes(ffi.string(ffi.cast("char *", value), given)) + b"\0"
    else:
        kept[setting] = bytes(ffi.buffer(value, given))


@driver.export("cuCoredumpGetAttribute")
def get_attribute(attribute: int, value: Any, size: Any) -> None:
    _get(_current(), attribute, value, size)


@driver.export("cuCoredumpGetAttributeGlobal")
def get_attribute_global(attribute: int, value: Any, size: Any) -> None:
    _get(-1, attribute, value, size)


@driver.export("cuCoredumpSetAttribute")
def set_attribute(attribute: int, value: Any, size: Any) -> None:
    _set(_settings().of.setdefault(_current(), {}), attribute, value, size)


@driver.export("cuCoredumpSetAttributeGlobal")
def set_attribute_global(attribute: int, value: Any, size: Any) -> None:
    _set(_settings().everywhere, attribute, value, size)
