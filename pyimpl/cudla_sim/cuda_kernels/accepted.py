"""Which options the compiler of the host knows: g++ 12 and clang++ differ."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from ..workers.answers import answer
from .precompiled import KIND


def accepted(compiler: str, options: Sequence[str]) -> list[str]:
    """Those of *options* that it knows."""

    def ask() -> str | None:
        found = (
            options if _knows(compiler, options) else [o for o in options if _knows(compiler, [o])]
        )
        return " ".join(found) if found or _knows(compiler, ()) else None

    return answer(KIND, compiler, tuple(options), ask).split()


def _knows(compiler: str, options: Sequence[str]) -> bool:
    command = [compiler, "-Werror", *options, "-x", "c++", "-E", "-P", os.devnull]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
