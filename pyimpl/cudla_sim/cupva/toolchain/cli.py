"""``cudla-sim pva-cc``: the compiler of VPU kernels."""

from __future__ import annotations

import sys
from pathlib import Path

from ...core.text import tell
from .build import compile_kernel
from .options import USAGE, UsageError, parse
from .steps import StepFailed


def main(words: list[str]) -> int:
    """Runs the command; its exit status."""
    if "--help" in words or "-h" in words:
        print(USAGE, end="")
        return 0
    try:
        options = parse(words)
    except UsageError as error:
        print(f"pva-cc: error: {error}\n{USAGE}", file=sys.stderr, end="")
        return 2
    try:
        compile_kernel(options)
    except (StepFailed, OSError) as error:
        for line in str(error).splitlines():
            tell(f"pva-cc: error: {line}")
        Path(options.output).unlink(missing_ok=True)
        return 1
    return 0
