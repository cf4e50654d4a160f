"""Pairs of 16 bits that are assigned from braces and from raw bits."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .conftest import nvcc

SOURCE = """
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void pairs(__half a, __half b, __nv_bfloat16 c)
{
    __half2 x, empty;
    x = {a, b};
    empty = {};
    printf("%g %g\\n", __low2float(x), __high2float(x));
    printf("%g %g\\n", __low2float(empty), __high2float(empty));
    x = __half2_raw{0x3c00, 0xc000};
    printf("%g %g\\n", __low2float(x), __high2float(x));
    __nv_bfloat162 y;
    y = {c, c};
    printf("%g %g\\n", __low2float(y), __high2float(y));
    y = __nv_bfloat162_raw{0x3f80, 0xc000};
    printf("%g %g\\n", __low2float(y), __high2float(y));
    constexpr __half one{__half_raw{0x3c00}};
    printf("%g\\n", __half2float(one));
}
int main()
{
    pairs<<<1, 1>>>(__half(1.5f), __half(-2.5f), __nv_bfloat16(3.0f));
    return cudaDeviceSynchronize();
}
"""


def test_pairs(tmp_path: Path) -> None:
    source = tmp_path / "pairs.cu"
    source.write_text(SOURCE)
    done = nvcc(source, "-o", tmp_path / "pairs")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([tmp_path / "pairs"], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n") == ["1.5 -2.5", "0 0", "1 -2", "3 3", "1 -2", "1", ""]
