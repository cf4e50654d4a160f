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
