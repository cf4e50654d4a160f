"""Which of its systems the Thrust of a user's CCCL has as its device.

Its C++ system compiles in half the time. Its CUDA system is for programs that name it, as in
``thrust::cuda::par.on(stream)``, or that count on what its headers include: ``thrust::device``
without <thrust/execution_policy.h>.
"""

from __future__ import annotations

import re
from pathlib import Path

from .. import paths

SYSTEM = "THRUST_DEVICE_SYSTEM"
USUAL = f"-D{SYSTEM}={SYSTEM}_CPP"
_CUDA = re.compile(r"\bthrust\s*::\s*(?:system\s*::\s*)?cuda\b|\bcuda_cub\s*::")
_POLICY = re.compile(r"\bthrust\s*::\s*(?:device|seq)\b")
_EXECUTION = "thrust/execution_policy.h"
_SYSTEM_HEADER = "3"  # GCC manual, "Preprocessor Output"


def cuda_system() -> Path:
    """The header that chooses it, read before the source."""
    return paths.include_dir() / "cuda" / "kernels" / "thrust_cuda.hpp"


def needs_cuda_system(text: str) -> bool:
    """Whether the preprocessed *text* is of a program that the C++ system does not compile."""
    if "thrust" not in text:
        return False
    if _in_the_program(text, _CUDA):
        return True
    return _EXECUTION not in text and _in_the_program(text, _POLICY)


def _in_the_program(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether it is found outside what CCCL's headers mark as a system's."""
    for found in pattern.finditer(text):
        mark = text.rfind("\n# ", 0, found.start())
        line = text[mark + 1 : text.find("\n", mark + 1)]
        if _SYSTEM_HEADER not in line.rpartition('"')[2].split():
            return True
    return False
