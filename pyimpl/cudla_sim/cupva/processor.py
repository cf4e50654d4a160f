"""What a VPU executable needs of the processor, and what this one has.

A kernel is compiled for the machine that compiles it, or (``--portable``) in several builds, of
which the best one that the processor can run is taken. Each build names what it needs in a section,
in the words of ``/proc/cpuinfo``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

NEEDS_SECTION = ".cudla_sim_cpu"
BUILD_SECTION = ".cudla_sim_build."
LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64-v2")
"""Builds of a portable executable, best first (x86-64 psABI)."""

# What compilers make use of by themselves; a kernel that names other instructions has to know.
_X86 = {
    **{flag: f"__{flag.upper()}__" for flag in ("ssse3", "sse4_1", "sse4_2", "sse4a", "popcnt")},
    **{flag: f"__{flag.upper()}__" for flag in ("movbe", "avx", "avx2", "fma", "f16c", "bmi2")},
    **{flag: f"__{flag.upper()}__" for flag in ("fma4", "xop", "tbm", "gfni", "avx512f")},
    **{flag: f"__{flag.upper()}__" for flag in ("avx512bw", "avx512cd", "avx512dq", "avx512vl")},
    **{flag: f"__{flag.upper()}__" for flag in ("avx512ifma", "avx512vbmi")},
    **{f"avx512_{name}": f"__AVX512{name.upper()}__" for name in ("vbmi2", "vnni", "bitalg")},
    **{f"avx512_{name}": f"__AVX512{name.upper()}__" for name in ("vpopcntdq", "bf16", "fp16")},
    "pni": "__SSE3__",
    "bmi1": "__BMI__",
    "abm": "__LZCNT__",
    "avx_vnni": "__AVXVNNI__",
}
_ARM = {
    "sve": "__ARM_FEATURE_SVE",
    "sve2": "__ARM_FEATURE_SVE2",
    "asimdhp": "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC",
    "asimddp": "__ARM_FEATURE_DOTPROD",
    "atomics": "__ARM_FEATURE_ATOMICS",
    "i8mm": "__ARM_FEATURE_MATMUL_INT8",
}
MACROS = {**_X86, **_ARM}
"""By flag of /proc/cpuinfo the macro that compilers define when they may use it."""


@cache
def flags() -> frozenset[str] | None:
    """What this processor has; None when the system does not say."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return None


def lacking(needs: str) -> list[str]:
    """The words of a needs section that this processor does not have."""
    have = flags()
    return [] if have is None else [word for word in needs.split() if word not in have]
