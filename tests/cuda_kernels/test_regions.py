"""Kernels with barriers, as loops over their threads and with a stack for each: against numpy."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.cuda_kernels.kernels import GLOBAL, SHARED
from cudla_sim.cuda_kernels.regions import LANES
from cudla_sim.cuda_kernels.rewrite import rewrite
from cudla_sim.cudart.settings import BARRIERS

from .conftest import PROGRAMS, nvcc
from .random_kernels import Kernel, program

N, BLOCKS = 96, 3
X = np.arange(N * BLOCKS) ** 2 % 101
IN = X.reshape(BLOCKS, N)
T = np.arange(N)
SPLIT = ("neighbours", "sums", "early", "loops", "kinds", "either", "solid")


def ran(source: Path, folder: Path, barriers: str) -> dict[str, list[int]]:
    target = folder / f"{source.stem}-{barriers}"
    environment = {**os.environ, "CUDLA_SIM_CUDA_BARRIERS": barriers}
    done = nvcc("-O1", "-Xcompiler", "-Wall", source, "-o", target, environment=environment)
    assert done.returncode == 0, done.stderr
    assert source.stem == "random" or "warning" not in done.stderr
    told = subprocess.run([target], capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 0, told.stderr
    lines = (line.split() for line in told.stdout.splitlines())
    return {name: [int(number) for number in numbers] for name, *numbers in lines}


@pytest.fixture(scope="module", params=BARRIERS)
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[int]]:
    return ran(PROGRAMS / "regions.cu", tmp_path_factory.mktemp("regions"), request.param)


def test_what_crosses_barriers(told: dict[str, list[int]]) -> None:
    assert told["neighbours"] == (IN * 1000 + np.roll(IN, -1, axis=1)).ravel().tolist()
    assert told["sums"] == IN.sum(axis=1).tolist()
    grown, other = IN[:, ::-1] + 11, 2 * (IN + T)[:, ::-1]
    unset = T + 7 + T + 3 + 4 + T
    kinds = 4 + T + IN + 5 + T + 2 * IN + IN[:, ::-1] + grown + unset + other
    assert told["kinds"] == kinds.ravel().tolist()


def test_threads_that_return(told: dict[str, list[int]]) -> None:
    here = (np.arange(N * BLOCKS) < 250) & (np.tile(T, BLOCKS) % 5 != 4)
    shared = np.where(here, X, -1).reshape(BLOCKS, N)
    sums = shared.sum(axis=1) - shared[:, N // 2]
    assert told["early"] == np.where(here, np.repeat(sums, N), 0).tolist()


def test_loops_around_barriers(told: dict[str, list[int]]) -> None:
    found = IN
    for r in (0, 2, 3):  # 3: limits[3] + 3 > 13
        for turn in range(r + 1, 0, -2):
            found = np.roll(found, -turn, axis=1) + r
    assert told["loops"] == found.ravel().tolist()


def test_barriers_that_blocks_do_not_share(told: dict[str, list[int]]) -> None:
    first = np.where((T < N // 2) & (T > 3), IN[0][::-1], -IN[0][::-1])
    assert told["either"] == [*first.tolist(), *IN[1][::-1].tolist(), *(3 * IN[2]).tolist()]


def test_three_dimensions(told: dict[str, list[int]]) -> None:
    solid = X.reshape(BLOCKS, 3, 4, 8) + np.where(np.arange(8) < 6, 100, 0)
    solid = solid[:, ::-1, ::-1, ::-1] * np.where(np.arange(8) == 5, -1, 1)
    assert told["solid"] == solid.ravel().tolist()


def test_a_barrier_that_depends_on_the_thread(told: dict[str, list[int]]) -> None:
    turns = np.stack([(np.roll(IN, -t, axis=1) * T).sum(axis=1) for t in T], axis=1)
    assert told["apart"] == turns.ravel().tolist()


def test_random_kernels(tmp_path: Path) -> None:
    """Against a model that does a statement for all threads, then the next."""
    kernels = [Kernel(seed) for seed in range(60)]
    source = tmp_path / "random.cu"
    source.write_text(program(kernels))
    assert rewrite(source.read_text().replace("__global__", GLOBAL)).count(f"{LANES}<") == 60
    found = ran(source, tmp_path, "auto")
    for kernel in kernels:
        assert found[kernel.name] == kernel.expected().ravel().tolist(), kernel.text


def split(text: str) -> bool:
    kernel = f"{GLOBAL} void k(int *in, int *out, int n) {{ {SHARED} int s[64]; {text} }}"
    return LANES in rewrite(kernel)


def test_what_is_split() -> None:
    text = (PROGRAMS / "regions.cu").read_text()
    text = text.replace("__global__", GLOBAL).replace("__shared__", SHARED)
    assert rewrite(text).count(f"{LANES}<") == len(SPLIT)
    assert split("s[threadIdx.x] = n; __syncthreads(); out[0] = s[1];")
    assert LANES not in rewrite(
        f"{GLOBAL} void k(int *x) {{ x[0] = 1; __syncthreads(); x[1] = 2; }}", regions=False
    )


@pytest.mark.parametrize(
    "text",
    [
        "if (threadIdx.x < 4) __syncthreads();",
        "int t = threadIdx.x; while (t--) __syncthreads();",
        "for (int i = 0; i < n; i++) { if (in[threadIdx.x]) break; __syncthreads(); }",
        "int m = n; if (threadIdx.x) m = 3; for (; m; m--) __syncthreads();",
        "out[0] = __syncthreads_count(n); __syncthreads();",
        "n += __shfl_down_sync(~0u, n, 1); __syncthreads();",
        "void (*f)(int *) = g; __syncthreads(); f(in);",
        "again: __syncthreads(); if (n) goto again;",
        "auto f = [&] { return 1; }; __syncthreads(); out[0] = f();",
        "switch (n) { case 1: __syncthreads(); }",
        'asm volatile("bar.sync 0;"); __syncthreads();',
        "if (threadIdx.x == 3) return; int m = in[n]; for (; m; m--) __syncthreads();",
        "__syncthreads(); if (threadIdx.x < 32) __syncwarp();",
    ],
)
def test_what_is_not(text: str) -> None:
    assert not split(text)


@pytest.mark.parametrize(
    "text",
    ["__syncthreads(); if (n)", "__syncthreads(); switch (n) { case 1 }", "__syncthreads(); n = 1"],
)
def test_what_is_no_statement(text: str) -> None:
    """It is left for the compiler to tell."""
    assert not split(text)


def test_functions_that_wait(tmp_path: Path) -> None:
    """Functions of the file are looked into; one that is pointed to says it as it runs."""
    waits = "void w() { __syncthreads(); } void v() { w(); } "
    kernel = f"{GLOBAL} void k() {{ __syncthreads(); v(); }}"
    assert LANES not in rewrite(waits + kernel)
    assert LANES not in rewrite(f"void v(); {kernel}")
    assert LANES in rewrite(f"void v() {{}} {kernel}")
    source = tmp_path / "pointed.cu"
    source.write_text(
        "__device__ void waits() { __syncthreads(); }\n"
        "__device__ void (*functions[])() = {waits};\n"
        "__global__ void k(int *x) { x[0] = 1; __syncthreads(); functions[0](); }\n"
        "int main() { int *x; cudaMalloc(&x, 4); k<<<1, 64>>>(x);\n"
        "  return cudaDeviceSynchronize() != cudaErrorLaunchFailure; }\n"
    )
    assert nvcc(source, "-o", tmp_path / "pointed").returncode == 0
    done = subprocess.run([tmp_path / "pointed"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "CUDLA_SIM_CUDA_BARRIERS=threads" in done.stderr


def test_faults_name_the_thread(tmp_path: Path) -> None:
    source = tmp_path / "fault.cu"
    source.write_text(
        "__global__ void k(int *x) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads();\n"
        "  int *p = threadIdx.x == 37 ? nullptr : x + threadIdx.x;\n"
        "  *p = s[63 - threadIdx.x]; }\n"
        "int main() { int *x; cudaMalloc(&x, 256); k<<<2, 64>>>(x);\n"
        "  return cudaDeviceSynchronize() != cudaErrorIllegalAddress; }\n"
    )
    assert nvcc(source, "-o", tmp_path / "fault").returncode == 0
    done = subprocess.run([tmp_path / "fault"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "thread (37, 0, 0)" in done.stderr
    assert "fault.cu:3" in done.stderr


def test_messages_are_of_the_text_itself(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text("__global__ void k(int *x) { *x = 1; __syncthreads();\n  *x = missing; }\n")
    done = nvcc("-c", source, "-o", tmp_path / "wrong.o")
    assert done.returncode != 0
    assert "wrong.cu:2:8: error: ‘missing’" in done.stderr
    assert "cudla_sim" not in done.stderr
