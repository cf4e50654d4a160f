"""Which system Thrust has as its device: headers of the same shape stand for the user's CCCL."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudla_sim.cuda_kernels.thrust import needs_cuda_system

from .conftest import nvcc

HEADERS = {
    "detail/systems.h": """#pragma GCC system_header
#define THRUST_DEVICE_SYSTEM_CUDA 1
#define THRUST_DEVICE_SYSTEM_CPP 4
namespace thrust { namespace detail { /* names it, as CCCL's own headers do: thrust::cuda */ } }
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
namespace thrust { namespace cuda { constexpr const char *par = "cuda"; }
inline const char *device = "cuda"; }
#endif
""",
    "execution_policy.h": """#pragma GCC system_header
#include <thrust/detail/systems.h>
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CPP
namespace thrust { inline const char *device = "cpp"; }
#endif
""",
    "iostream.h": """#pragma GCC system_header
#include <thrust/detail/systems.h>
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#include <iomanip>
#endif
""",
    "system/detail/sequential/reduce.inl": """#pragma GCC system_header
namespace thrust {
struct execution_policy { };
namespace detail { inline int one(execution_policy, const int *x) { return *x; } }
inline int reduce(execution_policy exec, const int *x, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += detail::one(exec, x + i);
    return sum;
}
constexpr int zero(execution_policy) { return 0; }
}
""",
    "system/detail/sequential/malloc_and_free.h": """#pragma GCC system_header
#include <cstdlib>
namespace thrust {
inline void *malloc(std::size_t n) { return std::malloc(n); }
inline void free(void *p) { std::free(p); }
}
""",
    "mr/new.h": """#pragma GCC system_header
#include <new>
namespace thrust {
inline void *make(std::size_t n) { return ::operator new(n, std::align_val_t(16)); }
inline void drop(void *p, std::size_t n) { ::operator delete(p, n, std::align_val_t(16)); }
}
""",
    "sort.h": """#pragma GCC system_header
#include <thrust/detail/systems.h>
namespace thrust { inline void use() { struct cuda { }; } }
""",
}


@pytest.fixture(scope="module")
def cccl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("cccl")
    for name, text in HEADERS.items():
        target = top / "thrust" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return top


@pytest.mark.parametrize(
    ("includes", "expression", "options", "told"),
    [
        ("execution_policy.h", "thrust::device", (), "cpp"),
        ("execution_policy.h", "thrust::cuda::par", (), "cuda"),
        ("sort.h", "thrust :: device", (), "cuda"),
        ("iostream.h", 'sizeof(std::setw(3)) ? "cuda" : ""', (), "cuda"),
        ("execution_policy.h", "thrust::device", ("-DTHRUST_DEVICE_SYSTEM=1",), "cuda"),
    ],
)
def test_the_system_that_a_program_needs(
    cccl: Path,
    tmp_path: Path,
    includes: str,
    expression: str,
    options: tuple[str, ...],
    told: str,
) -> None:
    source = tmp_path / "program.cu"
    source.write_text(
        f"#include <thrust/{includes}>\n#include <cstdio>\n"
        f"int main() {{ puts({expression}); return __LINE__; }}\n"
    )
    done = nvcc("-O1", f"-I{cccl}", *options, source, "-o", tmp_path / "program")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (3, f"{told}\n")


def test_what_headers_of_the_system_name_does_not_count() -> None:
    text = '# 1 "t.cu"\nint a;\n# 7 "/usr/thrust/sort.h" 1 3\nusing thrust::cuda::par;\n'
    assert not needs_cuda_system(text)
    assert needs_cuda_system(text + '# 2 "t.cu" 2\nauto p = thrust::cuda::par;\n')
    assert not needs_cuda_system("int main() { }")


def test_what_no_way_compiles_is_told_once(cccl: Path, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text("#include <thrust/sort.h>\nint main() { return std::nothing; }\n")
    done = nvcc("-c", f"-I{cccl}", source, "-o", tmp_path / "wrong.o")
    assert done.returncode == 1
    assert done.stderr.count("wrong.cu:2:") == 1


def test_algorithms_follow_kernels_and_have_the_memory_of_the_device(
    cccl: Path, tmp_path: Path
) -> None:
    source = tmp_path / "order.cu"
    source.write_text(
        """#include <thrust/system/detail/sequential/malloc_and_free.h>
#include <thrust/system/detail/sequential/reduce.inl>
#include <thrust/mr/new.h>
#include <cstdio>
__global__ void slow(int *x)
{
    for (long k = 0; k < 3000000; k++)
        asm volatile("");
    x[threadIdx.x] = threadIdx.x;
}
int main()
{
    static_assert(thrust::zero({}) == 0);
    int *x = static_cast<int *>(thrust::malloc(128)), host[32] = {};
    void *y = thrust::make(64);
    for (int i = 0; i < 3; i++) {
        if (cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice))
            return 1;
        slow<<<1, 32>>>(x);
        printf("%d ", thrust::reduce({}, x, 32));
    }
    for (void *memory : {(void *)x, y}) {
        cudaPointerAttributes found;
        cudaPointerGetAttributes(&found, memory);
        printf("%d ", found.type);
    }
    thrust::free(x);
    thrust::drop(y, 64);
    printf("%d\\n", cudaFree(x));
}
"""
    )
    done = nvcc("-O1", f"-I{cccl}", source, "-o", tmp_path / "order")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(tmp_path / "order")], capture_output=True, text=True, check=False)
    # cudaMemoryTypeDevice is 2; freed already is cudaErrorInvalidValue, 1
    assert (ran.returncode, ran.stdout) == (0, f"{sum(range(32))} " * 3 + "2 2 1\n")
