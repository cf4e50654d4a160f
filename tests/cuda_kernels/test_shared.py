"""Where variables in shared memory lie: programs count on more than their types say."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .conftest import nvcc

PROGRAM = """#include <cstdint>
#include <cstdio>
struct alignas(128) Far { char c; };
__global__ void k(int *out) {
    __shared__ char odd[3];
    __shared__ float numbers[8], others[4];
    static __shared__ short pair[2];
    __shared__ alignas(4) unsigned char bytes[16];
    __shared__ Far far;
    odd[0] = 1;
    pair[0] = pair[1] = 2;
    far.c = 3;
    for (int i = 0; i < 8; i++)
        numbers[i] = float(i);
    for (int i = 0; i < 16; i++)
        bytes[i] = i;
    others[3] = 0.5f;
    float4 last = reinterpret_cast<float4 *>(numbers)[1]; /* as a vector */
    uintptr_t swizzled = reinterpret_cast<uintptr_t>(&numbers[5]) ^ 8; /* 5 ^ 2 */
    out[0] = int(last.x + last.w);
    out[1] = int(*reinterpret_cast<float *>(swizzled));
    out[2] = reinterpret_cast<uint4 *>(bytes)->z == 0x0b0a0908u;
    out[3] = int(reinterpret_cast<uintptr_t>(&far) % 128);
    out[4] = odd[0] + pair[1] + far.c + int(2 * others[3]);
}
int main() {
    int *out, found[5];
    cudaMalloc(&out, sizeof found);
    k<<<1, 1>>>(out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int one : found)
        printf("%d ", one);
}
"""


def test_arrays_are_read_as_vectors_and_with_exchanged_bits(tmp_path: Path) -> None:
    source = tmp_path / "shared.cu"
    source.write_text(PROGRAM)
    done = nvcc(source, "-o", tmp_path / "shared")
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run([tmp_path / "shared"], capture_output=True, text=True, check=True).stdout
    assert said.split() == [str(4 + 7), str(5 ^ 2), "1", "0", str(1 + 2 + 3 + 1)]
