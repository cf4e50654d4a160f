"""A thread of a kernel fails: which error, which words, and that the process goes on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Run, nvcc


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ("none", "cudaSuccess", ""),
        ("read", "cudaErrorIllegalAddress", "access to address 0x10, where no memory is mapped"),
        ("write", "cudaErrorIllegalAddress", "access to address 0x10, where no memory is mapped"),
        ("trap", "cudaErrorLaunchFailure", "__trap"),
        ("assert", "cudaErrorAssert", "Assertion `zero == 1` failed."),
        ("stack", "cudaErrorLaunchFailure", "the stack of a thread, 256 KiB, is full"),
        ("stuck", "cudaErrorLaunchTimeout", "deadlock: 0 of 64 threads have ended, 64 wait"),
    ],
)
def test_a_failed_thread(faults: Run, how: str, error: str, words: str) -> None:
    for block, thread in ((0, 0), (3, 7), (5, 63)):
        done = faults(how, block, thread)
        # the context is ruined until the device is reset; then 6 blocks of 64 threads count
        first, second = done.stdout.splitlines()
        assert first.split()[1:] == [error, error], done.stderr
        assert second == "cudaSuccess 384"
        assert words in done.stderr
        if words and how != "stuck":
            assert f"thread ({thread}, 0, 0)" in done.stderr


def test_other_faults_kill_as_ever(tmp_path: Path) -> None:
    source = tmp_path / "host.cu"
    source.write_text(
        "__global__ void good() {}\n"
        "int main(int count, char **) { good<<<1, 1>>>(); cudaDeviceSynchronize();\n"
        "    return *reinterpret_cast<volatile int *>(count); }\n"
    )
    target = tmp_path / "host"
    assert nvcc("-O2", source, "-o", target).returncode == 0
    assert os.waitstatus_to_exitcode(os.system(str(target))) in (139, -11)


def test_a_little_behind_an_allocation_is_a_page_of_the_gpu(tmp_path: Path) -> None:
    source = tmp_path / "behind.cu"
    source.write_text(
        "#include <cstdio>\n#include <cstdlib>\n"
        "__global__ void touch(char *x, long at) { x[at] += 1; }\n"
        "int main(int, char **argv) {\n"
        "    char *x; cudaMalloc(&x, 4096);\n"
        "    touch<<<1, 1>>>(x, atol(argv[1]));\n"
        "    puts(cudaGetErrorName(cudaDeviceSynchronize()));\n}\n"
    )
    done = nvcc("-O1", source, "-o", tmp_path / "behind")
    assert done.returncode == 0, done.stderr
    for at, error in (
        (4095, "cudaSuccess"),
        (9000, "cudaSuccess"),
        (1 << 40, "cudaErrorIllegalAddress"),
    ):
        command = [str(tmp_path / "behind"), str(at)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.stdout.strip() == error


def test_an_assertion_that_a_header_declares_again(tmp_path: Path) -> None:
    """With NDEBUG <cassert> does not declare what asserts of a library's own call."""
    source = tmp_path / "again.cu"
    source.write_text(
        "#include <cstdio>\n"
        'extern "C" {\n__host__ __device__\n  void\n  __assert_fail(const char *, const char *, '
        "unsigned int, const char *) noexcept __attribute__((__noreturn__));\n}\n"
        "#define MUST(x) ((x) ? (void)0 : __assert_fail(#x, __FILE__, __LINE__, __func__))\n"
        "__global__ void k(int v)\n"
        '{ MUST(v == 3); if (v > 5) ::__assert_fail("", "", 0, ""); }\n'
        "int main() {\n"
        '    k<<<1, 1>>>(3);\n    printf("%d ", cudaDeviceSynchronize());\n'
        '    k<<<1, 1>>>(4);\n    printf("%d", cudaDeviceSynchronize());\n}\n'
    )
    assert nvcc("-DNDEBUG", source, "-o", tmp_path / "again").returncode == 0
    done = subprocess.run([tmp_path / "again"], capture_output=True, text=True, check=True)
    assert done.stdout == "0 710"  # cudaErrorAssert
    assert "assertion `v == 3` failed at " in done.stderr
