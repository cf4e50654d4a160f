"""Names of the standard library are a program's own where it has not included them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .conftest import nvcc

SOURCE = """
#include <cmath>
#include <cstdio>
using namespace std;
int count, map, lock, mutex, vector, thread, size, data, search, transform, reverse, string;
__device__ int merge = 40;
__global__ void sort(int *array) { array[threadIdx.x] = merge + blockDim.x; __syncthreads(); }
int main()
{
    int *array;
    cudaMallocManaged(&array, 32 * sizeof *array);
    count = map = lock = 1;
    mutex = vector = thread = size = data = search = transform = reverse = string = 1;
    sort<<<1, 32>>>(array);
    cudaDeviceSynchronize();
    printf("%d\\n", array[31] + count + map + lock + mutex + vector + thread + size + data +
                       search + transform + reverse + string);
}
"""


def test_using_namespace_std_makes_none_of_them_ambiguous(tmp_path: Path) -> None:
    source = tmp_path / "names.cu"
    source.write_text(SOURCE)
    done = nvcc("-O1", source, "-o", tmp_path / "names")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([tmp_path / "names"], capture_output=True, text=True, check=False)
    assert ran.stdout == f"{40 + 32 + 12}\n"
