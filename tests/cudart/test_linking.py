"""Links of the driver."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from cudla_sim.constants.cudart import CUjit_option_enum as O
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
    assert cuda.sim.last_explanation().startswith("cuLinkAddData_v2: state has several images")
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


PARTS = (
    "extern __device__ int given, times(int, int);\n"
    'extern "C" __global__ void fill(int *to) {\n'
    "    __shared__ int shared[32];\n"
    "    shared[threadIdx.x] = times(given, threadIdx.x);\n"
    "    __syncthreads();\n"
    "    to[threadIdx.x] = shared[31 - threadIdx.x];\n"
    "}\n",
    "__device__ int given = 3;\n",
    "__device__ int times(int a, int b) { return a * b; }\n",
)
"""A kernel, a variable and a function that it needs."""


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = tmp_path_factory.mktemp("parts")
    found = []
    for number, text in enumerate(PARTS):
        source, made = folder / f"{number}.cu", folder / f"{number}.cubin"
        source.write_text(text)
        done = nvcc("-cubin", "-rdc=true", "-O1", source, "-o", made)
        assert done.returncode == 0, done.stderr
        found.append(made.read_bytes())
    return found


def _linked(cuda: Cuda, images: list[bytes]) -> tuple[int, ctypes.c_void_p, bytes]:
    """The status, the image, and what the log says."""
    link, image, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    log = ctypes.create_string_buffer(200)
    options = (ctypes.c_int * 2)(O.CU_JIT_ERROR_LOG_BUFFER, O.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 200)
    cuda.ok.cuLinkCreate_v2(2, options, values, ctypes.byref(link))
    for number, data in enumerate(images):
        cuda.ok.cuLinkAddData_v2(link, 0, data, len(data), f"part {number}".encode(), *OPTIONS)
    status: int = cuda.cuLinkComplete(link, ctypes.byref(image), ctypes.byref(size))
    assert (values[1] or 0) == (len(log.value) + 1 if log.value else 0)
    return status, image, log.value


def test_a_link_of_several_images(cuda: Cuda, parts: list[bytes]) -> None:
    cuda.ok.cudaFree(None)
    assert cuda.cuInit(0) == 0
    status, image, log = _linked(cuda, parts)
    assert (status, log) == (0, b"")
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.ok.cuModuleLoadData(ctypes.byref(module), image)
    cuda.ok.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill")
    memory, back = ctypes.c_void_p(cuda.malloc(128)), (ctypes.c_int * 32)()
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    cuda.ok.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
    cuda.ok.cuMemcpyDtoH_v2(back, memory.value, 128)
    assert list(back) == [3 * (31 - i) for i in range(32)]
    cuda.ok.cuModuleUnload(module)


def test_what_nobody_defines_is_named(cuda: Cuda, parts: list[bytes]) -> None:
    cuda.ok.cudaFree(None)
    assert cuda.cuInit(0) == 0
    status, _, log = _linked(cuda, parts[:2])
    assert status == R.CUDA_ERROR_INVALID_SOURCE
    assert log == b"error   : Undefined reference to '_Z5timesii' in 'part 0'"
    status, _, log = _linked(cuda, [*parts, parts[2]])
    assert status == R.CUDA_ERROR_INVALID_SOURCE
    assert log == b"error   : Multiple definition of '_Z5timesii' in 'part 3'"


def test_an_image_that_is_damaged(cuda: Cuda, parts: list[bytes]) -> None:
    cuda.ok.cudaFree(None)
    assert cuda.cuInit(0) == 0
    link = ctypes.c_void_p()
    cuda.ok.cuLinkCreate_v2(*OPTIONS, ctypes.byref(link))
    cuda.ok.cuLinkAddData_v2(link, 0, parts[0], len(parts[0]), None, *OPTIONS)
    damaged = parts[1][:4] + bytes([9]) + parts[1][5:]  # neither 32 nor 64 bits
    more = (damaged, len(damaged), None, *OPTIONS)
    assert cuda.cuLinkAddData_v2(link, 0, *more) == R.CUDA_ERROR_INVALID_IMAGE
    assert "an image is damaged" in cuda.sim.last_explanation()
    cuda.ok.cuLinkDestroy(link)
