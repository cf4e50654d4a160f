"""Commands that builds call for each source, by name: they begin at once, without what the other
commands need."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

COMPILERS = {"nvcc": "cuda_kernels.driver", "pva-cc": "cupva.toolchain.cli"}
"""Where the ``main`` of each is."""


def run(name: str, words: Sequence[str]) -> int:
    """The exit status."""
    return int(import_module(f".{COMPILERS[name]}", __package__).main(list(words)))
