"""What every .cu file begins with, precompiled: g++ reads it in a moment, and the rewriter has only
the user's text before it.

Source: GCC manual, "Using Precompiled Headers", and ``-fpch-preprocess`` in "Options Controlling
the Preprocessor".
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .. import paths
from ..workers import runtime
from ..workers.precompiled import can

KIND = "cuda"
"""Of the cache."""
_NAME = "kernels.hpp"
_MANNER = ("-include", "-imacros", "-nostdinc", "-undef", "-U", "-isysroot", "--sysroot", "-P")
"""Options with which the headers may be others, or come behind something."""

_MEANT = (
    "NDEBUG", "_GLIBCXX_", "_FORTIFY_SOURCE", "_FILE_OFFSET_BITS", "_GNU_SOURCE", "_POSIX_",
    "_XOPEN_", "__STDC_", "__CUDA_NO_",
)  # fmt: skip
"""Macros of a user's that mean something to the headers, and are common."""


def source() -> Path:
    """The header itself."""
    return paths.include_dir() / "cuda" / "kernels" / _NAME


def header(compiler: str, words: Sequence[str], given: Sequence[str]) -> Path | None:
    """The header that stands for ``source()``: beside it lies what g++ made of it with *words*.

    *given* are the user's words for the preprocessor; where other macros among them than the
    common ones mean something to the headers g++ finds that out, and reads the text.
    None for another compiler, without a cache
    that can be written, and where it cannot be made: the compilation says why then.
    """
    if not can(compiler):
        return None
    if any(word.startswith(_MANNER) for word in given):
        return None
    files = [path for path in paths.include_dir().glob("cuda/**/*") if path.is_file()]
    try:
        words = [*words, *_meant(given)]
        key = runtime.key((str(source()), words), compiler, files)
        folder = runtime.kept(
            KIND, key, f"{_NAME}.gch", lambda folder: _make(compiler, words, folder)
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if folder is None else folder / _NAME


def _meant(given: Sequence[str]) -> list[str]:
    """Definitions among a user's words that are the headers', too."""
    found = []
    for index, word in enumerate(given):
        name = given[index + 1] if word == "-D" and index + 1 < len(given) else word[2:]
        if word.startswith("-D") and name.startswith(_MEANT):
            found.append(f"-D{name}")
    return found


def _make(compiler: str, words: Sequence[str], folder: Path) -> None:
    """As the user's compilations see it; g++ remembers the name by which it was made."""
    text = folder / _NAME
    text.write_text(f'#include "{source()}"\n')
    _run([compiler, *words, "-w", "-x", "c++-header", str(text), "-o", f"{text}.gch"])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
