"""What belongs to one file: functions and variables of a device without -rdc=true."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .conftest import PROGRAMS, nvcc

SOURCES = [PROGRAMS / "linkage" / name for name in ("one.cu", "two.cu")]


def _said(program: Path) -> str:
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("options", [[], ["-rdc=false", "-O0"], ["-std=c++20", "-G"]])
def test_two_files_with_the_same_names(tmp_path: Path, options: list[str]) -> None:
    program = tmp_path / "program"
    done = nvcc(*options, *SOURCES, "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    # (1 + 2) * 10 + 2 * 1 + (4 / 2 + 1), and with 100 and 2
    assert _said(program) == "35 307 1 3\n"


@pytest.mark.parametrize("options", [["-dc"], ["-c", "-rdc=true"]])
def test_relocatable_code_shares_names(tmp_path: Path, options: list[str]) -> None:
    for source in SOURCES:
        done = nvcc(*options, source, "-o", tmp_path / f"{source.stem}.o")
        assert (done.returncode, done.stderr) == (0, "")
    done = nvcc("-rdc=true", *tmp_path.glob("*.o"), "-o", tmp_path / "program")
    assert done.returncode != 0
    assert "multiple definition of `own()'" in done.stderr


def test_a_variable_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "__device__ int number = 7;\n__device__ int add(int x) { return x + number; }\n"
    )
    (tmp_path / "b.cu").write_text(
        "#include <cstdio>\n"
        "extern __device__ int number;\n__device__ int add(int x);\n"
        "#if !defined(__CUDACC_RDC__)\n#error a name of -rdc=true\n#endif\n"
        '__global__ void show() { printf("%d %d\\n", number, add(1)); }\n'
        "int main() { show<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"
    )
    program = tmp_path / "program"
    done = nvcc("-rdc=true", tmp_path / "a.cu", tmp_path / "b.cu", "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    assert _said(program) == "7 8\n"


def test_a_host_function_is_every_file_s(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "__host__ __device__ int both(int x) { return x + 1; }\nint host() { return 3; }\n"
    )
    (tmp_path / "b.cpp").write_text(
        "int both(int), host();\nint main() { return both(1) == 2 && host() == 3 ? 0 : 1; }\n"
    )
    program = tmp_path / "program"
    visibility = ["-Xcompiler", "-fvisibility=hidden"]
    done = nvcc(*visibility, tmp_path / "a.cu", tmp_path / "b.cpp", "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([program], check=False).returncode == 0


def test_short_names_of_halves_are_for_who_includes_them(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "#if defined(WITH)\n#include <cuda_fp16.h>\n"
        "__global__ void halve(half *x) { *x = *x / half(2); }\n#else\n"
        "float half = 2;\nint half2;\n#endif\nint main() {}\n"
    )
    for words in ([], ["-DWITH"]):
        done = nvcc(*words, tmp_path / "a.cu", "-o", tmp_path / "program")
        assert (done.returncode, done.stderr) == (0, "")


def test_classes_with_attributes(tmp_path: Path) -> None:
    """What their parentheses hold does not make functions of them."""
    text = (
        "#include <cstdio>\n"
        "namespace own { struct __attribute__((aligned(16))) Pair { int a;\n"
        "    __device__ int sum() const; };\n"
        "struct alignas(8) More : Pair { __device__ int twice() const; };\n"
        "__device__ int Pair::sum() const { return a + NUMBER; }\n"
        "__device__ int More::twice() const { return 2 * sum(); } }\n"
        'static __global__ void k() { own::More m; m.a = 1; printf("%d ", m.twice()); }\n'
        "int NAME() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"
    )
    one = "#define NUMBER 10\n#define NAME other\n" + text
    two = "#define NUMBER 20\n#define NAME main\nint other();\nint a = other();\n" + text
    for name, content in (("one.cu", one), ("two.cu", two)):
        (tmp_path / name).write_text(content)
    program = tmp_path / "program"
    done = nvcc(tmp_path / "one.cu", tmp_path / "two.cu", "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(_said(program).split()) == ["22", "42"]
