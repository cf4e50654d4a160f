"""Links of the driver: of texts of PTX, or of one module that was linked when it was compiled.

CUDA Driver API, "Module Management", ``cuLinkCreate`` and its like.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUjitInputType_enum as Input
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from .driver import driver, null, require_current
from .images import compiled, read, sources_of
from .jit_options import Logs

LINK = "CUlinkState"


class Link:
    """``module`` is one of ours, ``texts`` are PTX; ``shown`` is what the program was given."""

    def __init__(self, logs: Logs) -> None:
        self.handle = 0
        self.logs = logs
        self.module: bytes | None = None
        self.texts: list[str] = []
        self.shown: Any = None

    def add(self, kind: int, sources: bytes | list[str]) -> None:
        """Raises CudaError (INVALID_VALUE, NOT_SUPPORTED)."""
        if not 0 <= kind < Input.CU_JIT_NUM_INPUT_TYPES:
            raise CudaError(
                Result.CUDA_ERROR_INVALID_VALUE,
                f"type is {kind}; CUjitInputType has 0 to {Input.CU_JIT_NUM_INPUT_TYPES - 1}",
            )
        if self.module is not None or (self.texts and isinstance(sources, bytes)):
            raise CudaError(
                Result.CUDA_ERROR_NOT_SUPPORTED,
                "state has an image already, and only PTX is linked; `cudla-sim nvcc -fatbin` "
                "links sources of several",
            )
        if isinstance(sources, bytes):
            self.module = sources
        else:
            self.texts += sources


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
        found.add(kind, sources_of(data, size))


@driver.export("cuLinkAddFile_v2")
def link_add_file(state: Any, kind: int, path: Any, _: int, options: Any, values: Any) -> None:
    found = _link(state)
    null(path=path)
    with found.logs:
        found.add(kind, read(path, "path")[0])


@driver.export("cuLinkComplete")
def link_complete(state: Any, image: Any, size: Any) -> None:
    null(cubinOut=image)
    found = _link(state)
    if found.module is None and not found.texts:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, "state has no image; cuLinkAddData comes first"
        )
    with found.logs:
        made = found.module if found.module is not None else compiled(found.texts, "link")
    found.shown = ffi.new("char[]", made)
    image[0] = found.shown
    if size:
        size[0] = len(made)


@driver.export("cuLinkDestroy")
def link_destroy(state: Any) -> None:
    found = _link(state)
    context.current().process.handles.remove(found.handle, LINK, "cuLinkDestroy")
