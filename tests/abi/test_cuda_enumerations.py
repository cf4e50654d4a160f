"""Names that programs have in tables, with the numbers of CUDA 12.9."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudla_sim import flags

NUMBERS = {
    "cudaSharedmemCarveoutDefault": -1,
    "cudaSharedmemCarveoutMaxL1": 0,
    "cudaSharedmemCarveoutMaxShared": 100,
    "cudaResViewFormatFloat4": 24,
    "cudaResViewFormatUnsignedBlockCompressed7": 34,
    "cudaChannelFormatKindNV12": 4,
    "cudaChannelFormatKindUnsignedNormalized8X4": 7,
    "cudaChannelFormatKindUnsignedNormalized1010102": 31,
    "cudaGPUDirectRDMAWritesOrderingAllDevices": 200,
    "cudaGraphicsRegisterFlagsTextureGather": 8,
    "cudaMemAllocationTypeMax": 0x7FFFFFFF,
    "CU_CTX_BLOCKING_SYNC": 4,
    "CU_CTX_USER_COREDUMP_ENABLE": 0x40,
    "CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE": 1,
    "CU_EVENT_SCHED_BLOCKING_SYNC": 4,
    "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 102,
    "CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED": 4,
    "CU_AD_FORMAT_NV12": 0xB0,
    "CU_AD_FORMAT_BC1_UNORM": 0x91,
    "CU_AD_FORMAT_UNORM_INT_101010_2": 0x50,
    "CU_TARGET_COMPUTE_100F": 0x20064,
    "CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE": 3,
    "CU_COREDUMP_LIGHTWEIGHT_FLAGS": 47,
    "CU_MEM_DECOMPRESS_ALGORITHM_LZ4": 4,
    "CUDA_ARRAY3D_SPARSE": 0x40,
    "CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER": 2,
    "sizeof(struct cudaResourceViewDesc)": 48,
    "sizeof(CUDA_RESOURCE_VIEW_DESC)": 112,
    "CHAR_BIT": 8,
}


@pytest.mark.parametrize("language", [["-xc", "-std=c11"], ["-xc++", "-std=c++17"]])
def test_numbers_are_the_vendor_s(tmp_path: Path, language: list[str]) -> None:
    word = "_Static_assert" if "-xc" in language else "static_assert"
    lines = [f'{word}({name} == {number}, "{name}");' for name, number in NUMBERS.items()]
    source = tmp_path / "numbers.c"
    source.write_text(
        "#include <cuda.h>\n#include <cuda_runtime_api.h>\n" + "\n".join(lines) + "\n"
    )
    words = [f"-I{folder}" for folder in flags.include_dirs(cuda=True)]
    command = ["gcc", *language, "-fsyntax-only", "-Werror", *words, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
