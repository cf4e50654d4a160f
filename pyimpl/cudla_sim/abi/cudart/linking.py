"""Links of the driver: of one image, as modules here are linked when they are compiled."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUjitInputType_enum as Input
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from .driver import driver, null, require_current
from .modules import image_of, image_of_file

LINK = "CUlinkState"


class Link:
    """``image`` is there once one was added, ``shown`` is what the program was given."""

    def __init__(self) -> None:
        self.handle = 0
        self.image: bytes | None = None
        self.shown: Any = None

    def add(self, kind: int, image: bytes) -> None:
        """Raises CudaError (INVALID_VALUE, NOT_SUPPORTED)."""
        if not 0 <= kind < Input.CU_JIT_NUM_INPUT_TYPES:
            raise CudaError(
                Result.CUDA_ERROR_INVALID_VALUE,
                f"type is {kind}; CUjitInputType has 0 to {Input.CU_JIT_NUM_INPUT_TYPES - 1}",
            )
        if self.image is not None:
            raise CudaError(
                Result.CUDA_ERROR_NOT_SUPPORTED,
                "state has an image already; `cudla-sim nvcc -fatbin` links sources of several",
            )
        self.image = image


def _link(state: Any) -> Link:
    found: Link = driver.resolve(state, LINK, "state", Result.CUDA_ERROR_INVALID_HANDLE)
    return found


@driver.export("cuLinkCreate_v2")
def link_create(_: int, options: Any, values: Any, target: Any) -> None:
    null(stateOut=target)
    require_current()
    made = Link()
    made.handle = context.current().process.handles.add(LINK, made)
    target[0] = pointer(made.handle)


@driver.export("cuLinkAddData_v2")
def link_add_data(
    state: Any, kind: int, data: Any, size: int, name: Any, _: int, options: Any, values: Any
) -> None:
    found = _link(state)
    null(data=data)
    found.add(kind, image_of(data))


@driver.export("cuLinkAddFile_v2")
def link_add_file(state: Any, kind: int, path: Any, _: int, options: Any, values: Any) -> None:
    found = _link(state)
    null(path=path)
    found.add(kind, image_of_file(path, "path"))


@driver.export("cuLinkComplete")
def link_complete(state: Any, image: Any, size: Any) -> None:
    null(cubinOut=image)
    found = _link(state)
    if found.image is None:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, "state has no image; cuLinkAddData comes first"
        )
    found.shown = ffi.new("char[]", found.image)
    image[0] = found.shown
    if size:
        size[0] = len(found.image)


@driver.export("cuLinkDestroy")
def link_destroy(state: Any) -> None:
    found = _link(state)
    context.current().process.handles.remove(found.handle, LINK, "cuLinkDestroy")
