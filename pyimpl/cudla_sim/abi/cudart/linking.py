"""Links of the driver: of texts of PTX, or of modules that were compiled to be linked.

CUDA Driver API, "Module Management", ``cuLinkCreate`` and its like.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUjitInputType_enum as Input
from ...constants.cudart import cudaError_enum as Result
from ...cuda_kernels import modules
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from .driver import driver, null, require_current
from .images import compiled, read, sources_of
from .jit_options import Logs, SaidByLinker

LINK = "CUlinkState"


class Link:
    """``module`` is one of ours, ``texts`` are PTX; ``shown`` is what the program was given."""

    def __init__(self, logs: Logs) -> None:
        self.handle = 0
        self.logs = logs
        self.modules: list[bytes] = []
        self.names: list[str] = []
        self.texts: list[str] = []
        self.shown: Any = None

    def add(self, kind: int, sources: bytes | list[str], name: str) -> None:
        """*name*: what the linker calls it. Raises CudaError (INVALID_VALUE, NOT_SUPPORTED)."""
        if not 0 <= kind < Input.CU_JIT_NUM_INPUT_TYPES:
            raise CudaError(
                Result.CUDA_ERROR_INVALID_VALUE,
                f"type is {kind}; CUjitInputType has 0 to {Input.CU_JIT_NUM_INPUT_TYPES - 1}",
            )
        if isinstance(sources, bytes):
            self._refuse_mixture(bool(self.texts))
            for module in (*self.modules, sources) if self.modules else ():
                _require_objects(module)
            self.modules.append(sources)
            self.names.append(name)
        else:
            self._refuse_mixture(bool(self.modules))
            self.texts += sources

    def _refuse_mixture(self, mixed: bool) -> None:
        if mixed:
            raise CudaError(
                Result.CUDA_ERROR_NOT_SUPPORTED,
                "state has PTX of NVIDIA's compilers and code of ours; either is linked alone",
            )

    def made(self) -> bytes:
        """The module. Raises CudaError (INVALID_PTX, INVALID_SOURCE, JIT_COMPILER_NOT_FOUND)."""
        if len(self.modules) == 1:
            return self.modules[0]
        if not self.modules:
            return compiled(self.texts, "link")
        try:
            return modules.joined(self.modules, self.names)
        except modules.CannotJoin as error:
            raise SaidByLinker(
                Result.CUDA_ERROR_INVALID_SOURCE,
                f"the images do not link: {error}",
                f"error   : {error}",
            ) from None
        except OSError as error:
            raise CudaError(
                Result.CUDA_ERROR_JIT_COMPILER_NOT_FOUND, f"g++ and binutils link: {error}"
            ) from None


def _require_objects(module: bytes) -> None:
    """Raises CudaError (NOT_SUPPORTED, INVALID_IMAGE)."""
    try:
        found = modules.objects_of(module)
    except modules.CannotJoin as error:
        raise CudaError(Result.CUDA_ERROR_INVALID_IMAGE, str(error)) from None
    if not found:
        raise CudaError(
            Result.CUDA_ERROR_NOT_SUPPORTED,
            "state has several images, and not all of them were compiled to be linked: -rdc=true "
            "of `cudla-sim nvcc -cubin`, --relocatable-device-code=true of NVRTC",
        )


def _text(name: Any) -> str:
    return bytes(ffi.string(name)).decode(errors="replace")


def _link(state: Any) -> Link:
    found: Link = driver.resolve(state, LINK, "state", Result.CUDA_ERROR_INVALID_HANDLE)
    return found


@driver.export("cuLinkCreate_v2")
def link_create(count: int, options: Any, values: Any, target: Any) -> None:
    null(stateOut=target)
    require_current()
    made = Link(Logs(count, options, values))
    made.handle = context.current().process.handles.add(LINK, made)
    target[0] = pointer(made.handle)


@driver.export("cuLinkAddData_v2")
def link_add_data(
    state: Any, kind: int, data: Any, size: int, name: Any, _: int, options: Any, values: Any
) -> None:
    found = _link(state)
    null(data=data)
    with found.logs:
        found.add(kind, sources_of(data, size), _text(name) if name else "<input>")


@driver.export("cuLinkAddFile_v2")
def link_add_file(state: Any, kind: int, path: Any, _: int, options: Any, values: Any) -> None:
    found = _link(state)
    null(path=path)
    with found.logs:
        found.add(kind, *read(path, "path"))


@driver.export("cuLinkComplete")
def link_complete(state: Any, image: Any, size: Any) -> None:
    null(cubinOut=image)
    found = _link(state)
    if not found.modules and not found.texts:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, "state has no image; cuLinkAddData comes first"
        )
    with found.logs:
        made = found.made()
    found.shown = ffi.new("char[]", made)
    image[0] = found.shown
    if size:
        size[0] = len(made)


@driver.export("cuLinkDestroy")
def link_destroy(state: Any) -> None:
    found = _link(state)
    context.current().process.handles.remove(found.handle, LINK, "cuLinkDestroy")
