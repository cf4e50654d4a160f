"""What executes a DPU program: the program itself, or the interpreter of the DPU's instructions."""

from __future__ import annotations

from ... import paths
from ..isa.fields import EM_DPU

NATIVE = "x86_64"
"""The processor whose registers a program of our compiler switches tasklets by."""


def in_own_instructions(contents: bytes) -> bool:
    """Whether a program file is one of the vendor's compiler."""
    return contents[18:20] == EM_DPU.to_bytes(2, "little")


def executable(contents: bytes) -> bytes:
    """The executable of the workers of a program with these contents."""
    if not in_own_instructions(contents):
        return contents
    return (paths.lib_dir() / "dpu_isa").read_bytes()
