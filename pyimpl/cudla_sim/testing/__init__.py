"""For tests: the C ABI through ctypes, compile-and-run, pytest fixtures."""

from __future__ import annotations

from ..capi import CApi, load, prototypes
from .boards import assert_on_dla
from .compile import Compiler, Result

__all__ = ["CApi", "Compiler", "Result", "assert_on_dla", "load", "prototypes"]
