"""Names of the standard library are a program's own where it has not included them."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from cudla_sim import flags

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

HEADERS = """
    algorithm array atomic bitset chrono complex condition_variable deque fstream functional
    future iomanip iostream iterator list map memory mutex numeric optional queue random
    regex set shared_mutex sstream stack string thread tuple typeinfo unordered_map
    unordered_set valarray variant vector
"""


def test_headers_of_the_library_read_behind_cudas(tmp_path: Path) -> None:
    """They have ``__noinline__`` and its like inside ``__attribute__``."""
    source = tmp_path / "library.cu"
    source.write_text(
        "".join(f"#include <{name}>\n" for name in HEADERS.split())
        + "__noinline__ __device__ int three() { return 3; }\n"
        "__global__ void k(int *to) { *to = three(); }\n"
        "std::shared_ptr<int> one = std::make_shared<int>(1);\n"
    )
    done = nvcc("-c", source, "-o", tmp_path / "library.o")
    assert done.returncode == 0, done.stderr


def test_using_namespace_std_makes_none_of_them_ambiguous(tmp_path: Path) -> None:
    source = tmp_path / "names.cu"
    source.write_text(SOURCE)
    done = nvcc("-O1", source, "-o", tmp_path / "names")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([tmp_path / "names"], capture_output=True, text=True, check=False)
    assert ran.stdout == f"{40 + 32 + 12}\n"


OF_THE_SYSTEM = """
    access accept bind close connect dup fork kill link listen open pause pipe poll read send
    signal sigaction sleep socket stat sync unlink wait write
"""


def test_a_kernel_may_have_the_name_of_a_function_of_the_system(tmp_path: Path) -> None:
    """What nvcc's headers do not declare, either."""
    source = tmp_path / "kernels.cu"
    source.write_text(
        "".join(
            f'extern "C" __global__ void {name}(float *to) {{ *to = {n}; }}\n'
            for n, name in enumerate(OF_THE_SYSTEM.split())
        )
        + "int main() {}\n"
    )
    done = nvcc("-c", source, "-o", tmp_path / "kernels.o")
    assert done.returncode == 0, done.stderr


def test_atomic_functions_that_cuda_does_not_have(tmp_path: Path) -> None:
    """CUDA C++ Programming Guide, "Atomic Functions": programs write those for other types."""
    source = tmp_path / "atomics.cu"
    source.write_text(
        "#include <cstdio>\n"
        "typedef unsigned long long wide;\n"
        "__device__ wide atomicSub(wide *at, wide value) { return atomicAdd(at, 0 - value); }\n"
        "__device__ long long atomicAdd(long long *at, long long value)\n"
        "{ return atomicAdd(reinterpret_cast<wide *>(at), wide(value)); }\n"
        "__device__ float atomicMax(float *at, float value) { return *at = fmaxf(*at, value); }\n"
        "__global__ void k(wide *out) {\n"
        "    float f = 2;\n    atomicMax(&f, 7.f);\n    atomicSub(out, wide(3));\n"
        "    atomicAdd(reinterpret_cast<long long *>(out), -4ll);\n    *out += f;\n}\n"
        "int main() {\n    wide *out, found = 100;\n    cudaMallocManaged(&out, sizeof *out);\n"
        "    *out = found;\n    k<<<1, 1>>>(out);\n    cudaDeviceSynchronize();\n"
        '    printf("%llu", *out);\n}\n'
    )
    done = nvcc(source, "-o", tmp_path / "atomics")
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run([tmp_path / "atomics"], capture_output=True, text=True, check=True)
    assert said.stdout == str(100 - 3 - 4 + 7)


def test_words_of_nvidia_s_headers_for_any_compiler(tmp_path: Path) -> None:
    source = tmp_path / "words.cpp"
    source.write_text(
        "#include <cuda_runtime.h>\n"
        "struct __align__(16) Four { float x[4]; };\n"
        "typedef __align__(8) short Short;\n"
        "__host__ __device__ __forceinline__ int f(const __grid_constant__ int x) { return x; }\n"
        "int main() { return f(alignof(Four) + alignof(Short)); }\n"
    )
    include = shlex.split(flags.cflags(cuda=True))
    subprocess.run(["g++", *include, source, "-o", tmp_path / "words"], check=True)
    assert subprocess.run([tmp_path / "words"], check=False).returncode == 16 + 8
