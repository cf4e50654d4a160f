"""nvrtc: CUDA C++ compiled by the program that then launches it."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...constants import cudart_parameters
from ...constants.cudart import nvrtcResult as Result
from ...cudart import context, module_text
from ...cudart.compiled import Program
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from ..entry import Family
from .device import lasting

PROGRAM = "nvrtcProgram"
VERSION = 12, 9
ARCHITECTURES = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121)
"""Of CUDA 12.9: code for this processor does not depend on them."""

nvrtc = Family("nvrtc", Result, cudart_parameters, error=CudaError)

null = partial(nvrtc.require, Result.NVRTC_ERROR_INVALID_INPUT)


def _text(value: Any) -> str:
    return ffi.string(value).decode("utf-8", "surrogateescape")


def _program(handle: Any) -> Program:
    found: Program = nvrtc.resolve(handle, PROGRAM, "prog")
    return found


def _compiled(handle: Any) -> Program:
    found = _program(handle)
    if not found.module:
        what = "was not compiled" if not found.tried else "did not compile: its log says why"
        raise CudaError(Result.NVRTC_ERROR_INVALID_PROGRAM, f"prog {what}")
    return found


def _texts(count: int, texts: Any, name: str) -> list[str]:
    if count < 0:
        raise CudaError(Result.NVRTC_ERROR_INVALID_INPUT, f"the number of {name} is {count}")
    if count:
        null(**{name: texts})
    for n in range(count):
        null(**{f"{name}[{n}]": texts[n]})
    return [_text(texts[n]) for n in range(count)]


@nvrtc.export("nvrtcGetErrorString", status=False, failure=ffi.NULL, always=True)
def get_error_string(result: int) -> Any:
    known = result in Result._value2member_map_
    return lasting(Result(result).name if known else "NVRTC_ERROR unknown")


@nvrtc.export("nvrtcVersion")
def version(major: Any, minor: Any) -> None:
    null(major=major, minor=minor)
    major[0], minor[0] = VERSION


@nvrtc.export("nvrtcGetNumSupportedArchs")
def get_num_supported_archs(count: Any) -> None:
    null(numArchs=count)
    count[0] = len(ARCHITECTURES)


@nvrtc.export("nvrtcGetSupportedArchs")
def get_supported_archs(found: Any) -> None:
    null(supportedArchs=found)
    for n, architecture in enumerate(ARCHITECTURES):
        found[n] = architecture


@nvrtc.export("nvrtcCreateProgram")
def create_program(
    target: Any, source: Any, name: Any, count: int, headers: Any, names: Any
) -> None:
    null(prog=target, src=source)
    texts = _texts(count, headers, "headers")
    included = _texts(count, names, "includeNames")
    shown = _text(name) if name else ""
    made = Program(_text(source), shown, dict(zip(included, texts, strict=True)))
    made.handle = context.current().process.handles.add(PROGRAM, made)
    target[0] = pointer(made.handle)


@nvrtc.export("nvrtcDestroyProgram")
def destroy_program(target: Any) -> None:
    null(prog=target)
    found = _program(target[0])
    context.current().process.handles.remove(found.handle, PROGRAM, "nvrtcDestroyProgram")
    target[0] = ffi.NULL


@nvrtc.export("nvrtcCompileProgram")
def compile_program(handle: Any, count: int, options: Any) -> None:
    found = _program(handle)
    found.compile(_texts(count, options, "options"))
    if found.module:
        return
    shown = found.name or "the program"
    first = next((line for line in found.log.splitlines() if "error" in line), found.log.strip())
    if found.refused_option:
        raise CudaError(
            Result.NVRTC_ERROR_INVALID_OPTION, f"{shown}: the compiler refuses an option: {first}"
        )
    raise CudaError(
        Result.NVRTC_ERROR_COMPILATION,
        f"{shown} does not compile: {first} (nvrtcGetProgramLog has all)",
    )


@nvrtc.export("nvrtcGetPTXSize")
def get_ptx_size(handle: Any, size: Any) -> None:
    null(ptxSizeRet=size)
    size[0] = len(module_text.written(_compiled(handle).module))


@nvrtc.export("nvrtcGetPTX")
def get_ptx(handle: Any, target: Any) -> None:
    null(ptx=target)
    text = module_text.written(_compiled(handle).module)
    ffi.memmove(target, text, len(text))


@nvrtc.export("nvrtcGetCUBINSize")
def get_cubin_size(handle: Any, size: Any) -> None:
    null(cubinSizeRet=size)
    size[0] = len(_compiled(handle).module)


@nvrtc.export("nvrtcGetCUBIN")
def get_cubin(handle: Any, target: Any) -> None:
    null(cubin=target)
    module = _compiled(handle).module
    ffi.memmove(target, module, len(module))


# Options that ask for these are refused; without one there is nothing (NVRTC, nvrtcGetLTOIRSize).


@nvrtc.export("nvrtcGetLTOIRSize")
def get_ltoir_size(handle: Any, size: Any) -> None:
    null(LTOIRSizeRet=size)
    _compiled(handle)
    size[0] = 0


@nvrtc.export("nvrtcGetLTOIR")
def get_ltoir(handle: Any, target: Any) -> None:
    null(LTOIR=target)
    _compiled(handle)


@nvrtc.export("nvrtcGetOptiXIRSize")
def get_optixir_size(handle: Any, size: Any) -> None:
    null(optixirSizeRet=size)
    _compiled(handle)
    size[0] = 0


@nvrtc.export("nvrtcGetOptiXIR")
def get_optixir(handle: Any, target: Any) -> None:
    null(optixir=target)
    _compiled(handle)


def _log(handle: Any) -> bytes:
    return _program(handle).log.encode() + b"\0"


@nvrtc.export("nvrtcGetProgramLogSize")
def get_program_log_size(handle: Any, size: Any) -> None:
    null(logSizeRet=size)
    size[0] = len(_log(handle))


@nvrtc.export("nvrtcGetProgramLog")
def get_program_log(handle: Any, target: Any) -> None:
    null(log=target)
    text = _log(handle)
    ffi.memmove(target, text, len(text))


@nvrtc.export("nvrtcAddNameExpression")
def add_name_expression(handle: Any, name: Any) -> None:
    null(name_expression=name)
    found = _program(handle)
    if found.tried:
        raise CudaError(
            Result.NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
            "prog is compiled; name expressions come before nvrtcCompileProgram",
        )
    text = _text(name)
    if text not in found.names:
        found.names.append(text)


@nvrtc.export("nvrtcGetLoweredName")
def get_lowered_name(handle: Any, name: Any, target: Any) -> None:
    null(name_expression=name, lowered_name=target)
    found = _program(handle)
    if not found.module:
        raise CudaError(
            Result.NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
            "prog is not compiled; lowered names come after nvrtcCompileProgram",
        )
    text = _text(name)
    if text not in found.lowered:
        raise CudaError(
            Result.NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
            f"name_expression {text!r} was not given to nvrtcAddNameExpression, or names neither a "
            "kernel nor a variable",
        )
    target[0] = lasting(found.lowered[text])
