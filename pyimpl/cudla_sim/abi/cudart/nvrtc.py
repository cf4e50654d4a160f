"""NVRTC: the name of an error, which cuda-python asks for when it is imported."""

from __future__ import annotations

from typing import Any

from ...constants import cudart_parameters
from ...constants.cudart import nvrtcResult as Result
from ...cudart.errors import CudaError
from ..embedding import ffi
from ..entry import Family
from .device import lasting

nvrtc = Family("nvrtc", Result, cudart_parameters, error=CudaError)


@nvrtc.export("nvrtcGetErrorString", status=False, failure=ffi.NULL, always=True)
def get_error_string(result: int) -> Any:
    known = result in Result._value2member_map_
    return lasting(Result(result).name if known else "NVRTC_ERROR unknown")
