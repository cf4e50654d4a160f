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
    "CU_CTX_BLOCKING_SYNC": 4,
    "CU_EVENT_DISABLE_TIMING": 2,
    "CU_MEM_ATTACH_SINGLE": 4,
    "CU_AD_FORMAT_HALF": 0x10,
    "cudaComputeModeExclusiveProcess": 3,
    "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 102,
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
