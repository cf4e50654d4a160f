"""Links of the driver: of one image."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from cudla_sim.constants.cudart import cudaError_enum as R

from ..cuda_kernels.conftest import PROGRAMS, nvcc
from .conftest import Cuda

OPTIONS = (0, None, None)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("module") / "module.cubin"
    done = nvcc("-cubin", "-O1", "-arch=sm_87", PROGRAMS / "module.cu", "-o", made)
    assert done.returncode == 0, done.stderr
    return made


def test_a_link_of_one_image(cuda: Cuda, compiled: Path) -> None:
    cuda.ok.cuInit(0)
    link, image, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    assert cuda.cuLinkCreate_v2(*OPTIONS, ctypes.byref(link)) == R.CUDA_ERROR_INVALID_CONTEXT
    cuda.ok.cudaFree(None)  # the runtime makes the primary context current
    cuda.ok.cuLinkCreate_v2(*OPTIONS, ctypes.byref(link))
    complete = (link, ctypes.byref(image), ctypes.byref(size))
    assert cuda.cuLinkComplete(*complete) == R.CUDA_ERROR_INVALID_VALUE
    data = ctypes.create_string_buffer(compiled.read_bytes())
    more = (data, len(data), b"name", *OPTIONS)
    assert cuda.cuLinkAddData_v2(link, 9, *more) == R.CUDA_ERROR_INVALID_VALUE
    cuda.ok.cuLinkAddData_v2(link, 0, *more)
    assert cuda.cuLinkAddData_v2(link, 0, *more) == R.CUDA_ERROR_NOT_SUPPORTED
    assert cuda.sim.last_explanation().startswith("cuLinkAddData_v2: state has an image already")
    missing = str(compiled.parent / "none.cubin").encode()
    assert cuda.cuLinkAddFile_v2(link, 0, missing, *OPTIONS) == R.CUDA_ERROR_FILE_NOT_FOUND
    cuda.ok.cuLinkComplete(*complete)
    assert ctypes.string_at(image, size.value) == data.raw[:-1]
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.ok.cuModuleLoadData(ctypes.byref(module), image)
    cuda.ok.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill")
    cuda.ok.cuModuleUnload(module)
    cuda.ok.cuLinkDestroy(link)
    assert cuda.cuLinkDestroy(link) == R.CUDA_ERROR_INVALID_HANDLE
    cuda.ok.cuModuleLoad(ctypes.byref(module), str(compiled).encode())
    cuda.ok.cuModuleUnload(module)
