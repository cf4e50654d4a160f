"""Inline PTX: the instructions that programs write themselves, as C++.

What each does is declared in ``include/cuda/kernels/ptx*.hpp``. Source: PTX ISA 8.8, "Instruction
set" and "Special registers"; CUDA's "Inline PTX assembly".
"""

from __future__ import annotations

from .scope import CannotTranslate
from .statements import statements
from .translate import translate

__all__ = ["CannotTranslate", "statements", "translate"]
