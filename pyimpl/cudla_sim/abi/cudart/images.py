"""What programs hand in as code: modules of our compiler, PTX, fat binaries of NVIDIA's.

CUDA Driver API, "Module Management", ``cuModuleLoadData``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ...constants.cudart import cudaError_enum as Result
from ...cuda_kernels import jit
from ...cudart import fat_binary, module_text
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer

_GPU_MACHINE = 190  # EM_CUDA
_OURS = "`cudla-sim nvcc -fatbin` compiles sources for this processor"
_Made = TypeVar("_Made")
_COMPATIBLE = 87
"""An Orin's architecture: PTX for it and for earlier ones is made for this device."""


def _elf_size(image: Any) -> int:
    """Bytes of an ELF file in memory: its table of sections is at its end."""
    head = bytes(ffi.buffer(image, 64))
    sections, size, count = (
        *struct.unpack_from("<Q", head, 40),
        *struct.unpack_from("<HH", head, 58),
    )
    return int(sections + size * count)


def sources_of(image: Any, room: int = 0) -> bytes | list[str]:
    """What is at an address: a module of ours, or texts of PTX that belong together. A text ends
    with a zero, or behind *room* bytes if that is given. Raises CudaError with what it is instead.
    """
    start = bytes(ffi.buffer(image, 16))
    magic = struct.unpack_from("<I", start)[0]
    if magic == fat_binary.MAGIC:
        return [_best(_entries(image), "image")]
    if magic == fat_binary.WRAPPER_MAGIC:
        return wrapped(image)
    if start[:4] == b"\x7fELF":
        machine = struct.unpack_from("<H", bytes(ffi.buffer(image, 20)), 18)[0]
        if machine == _GPU_MACHINE:
            raise CudaError(
                Result.CUDA_ERROR_NO_BINARY_FOR_GPU,
                "image is a cubin: code for a GPU, and there is none; PTX is compiled, and "
                f"{_OURS}",
            )
        return bytes(ffi.buffer(image, _elf_size(image)))
    if start.lstrip()[:1] in (b"/", b"."):
        text = ffi.string(ffi.cast("char *", image), room or -1)
        if (module := module_text.contained(text)) is not None:
            return module
        if jit.is_ptx(text):
            return [text.decode("utf-8", "replace")]
    raise CudaError(
        Result.CUDA_ERROR_INVALID_IMAGE,
        f"image begins with {start[:8].hex(' ')}; PTX, or a module that `cudla-sim nvcc -fatbin` "
        "wrote",
    )


def wrapped(wrapper: Any) -> list[str]:
    """The PTX of what a program registers: one, or one of each source that was linked."""
    _, version, data, linked = fat_binary.WRAPPER.unpack(
        bytes(ffi.buffer(wrapper, fat_binary.WRAPPER.size))
    )
    if version != fat_binary.LINKED or not linked:
        return [_best(_entries(pointer(data)), "the fat binary")]
    listed = ffi.cast("void **", linked)
    texts, at = [], 0
    while listed[at] != ffi.NULL:
        texts.append(_best(_entries(listed[at]), "a linked fat binary"))
        at += 1
    return texts


def _entries(data: Any) -> list[fat_binary.Entry]:
    try:
        size = fat_binary.size(bytes(ffi.buffer(data, fat_binary.HEAD.size)))
        return fat_binary.entries(bytes(ffi.buffer(data, size)))
    except fat_binary.Damaged as error:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_IMAGE, f"the fat binary cannot be read: {error}"
        ) from None


def _best(entries: Sequence[fat_binary.Entry], what: str) -> str:
    """The PTX that is nearest to the device: of later ones the first."""
    found = {entry.architecture: entry.ptx for entry in entries if entry.ptx is not None}
    if not found:
        cubins = ", ".join(f"sm_{entry.architecture}" for entry in entries) or "nothing"
        raise CudaError(
            Result.CUDA_ERROR_NO_BINARY_FOR_GPU,
            f"{what} has cubins for GPUs only ({cubins}), and there is none; with PTX it runs "
            f"(-gencode arch=compute_{_COMPATIBLE},code=compute_{_COMPATIBLE}), and {_OURS}",
        )
    fitting = [number for number in found if number <= _COMPATIBLE]
    return found[max(fitting) if fitting else min(found)] or ""


def compiled(sources: bytes | Sequence[str], name: str = "module") -> bytes:
    """A module of ours. Raises CudaError (INVALID_PTX)."""
    return sources if isinstance(sources, bytes) else _compiled(jit.compiled, sources, name)


def as_needed(sources: bytes | Sequence[str], name: str = "module") -> bytes | jit.Pieces:
    """The same; a large one in pieces, which are compiled when something of them is needed."""
    if isinstance(sources, bytes):
        return sources
    return _compiled(jit.in_pieces, sources, name) or _compiled(jit.compiled, sources, name)


def piece(pieces: jit.Pieces, name: str) -> bytes:
    """That of a kernel. Raises CudaError (INVALID_PTX)."""
    return _told(lambda: pieces.compile(name))


def _compiled(
    how: Callable[[Sequence[tuple[str, str]]], _Made], sources: Sequence[str], name: str
) -> _Made:
    named = [
        (f"{name}.ptx" if number == 0 else f"{name}-{number + 1}.ptx", text)
        for number, text in enumerate(sources)
    ]
    return _told(lambda: how(named))


def _told(make: Callable[[], _Made]) -> _Made:
    try:
        return make()
    except jit.CannotCompile as error:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_PTX, f"the PTX cannot be compiled: {error}"
        ) from None
    except OSError as error:
        raise CudaError(
            Result.CUDA_ERROR_JIT_COMPILER_NOT_FOUND, f"PTX is compiled by g++: {error}"
        ) from None


def later(
    sources: Callable[[], bytes | list[str]], name: str = "module"
) -> Callable[[], bytes | jit.Pieces]:
    """What makes a module of them. Raises CudaError if they cannot be read; that none is for this
    device is said by the result, as a driver does that loads code when it is needed."""
    try:
        found = sources()
    except CudaError as error:
        if error.status != Result.CUDA_ERROR_NO_BINARY_FOR_GPU:
            raise
        status, explanation = error.status, error.explanation

        def refuse() -> bytes:
            raise CudaError(status, explanation)

        return refuse
    return lambda: as_needed(found, name)


def read(name: Any, argument: str) -> tuple[bytes | list[str], str]:
    """What is in a file, and its name. Raises CudaError."""
    path = Path(os.fsdecode(ffi.string(name)))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CudaError(
            Result.CUDA_ERROR_FILE_NOT_FOUND, f"{argument} is {path}: {error.strerror}"
        ) from None
    return sources_of(ffi.from_buffer(data + bytes(64))), path.stem


def image_of(image: Any) -> bytes | jit.Pieces:
    """A module of ours, of what is at an address. Raises CudaError."""
    return as_needed(sources_of(image))


def image_of_file(name: Any, argument: str) -> bytes | jit.Pieces:
    """Raises CudaError."""
    return as_needed(*read(name, argument))
