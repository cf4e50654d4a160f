"""What a compiler says of itself: asked once, and kept in the cache of what it has built.

A question takes 20 to 60 ms, a tenth of the compilation of a small kernel.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable
from pathlib import Path

from . import runtime

_NAME = "answer"


def answer(kind: str, compiler: str, question: object, ask: Callable[[], str | None]) -> str:
    """What ``ask`` returns, or returned when the same *question* was put to this *compiler*.

    None, from one that cannot answer today, is "" and not kept. *kind* is the cache's.
    """

    def build(folder: Path) -> None:
        said = ask()
        if said is None:
            raise OSError("there is nothing to keep")
        (folder / _NAME).write_text(said)

    with contextlib.suppress(OSError):  # no answer, no compiler, a full disk
        folder = runtime.kept(kind, runtime.key(("answer", question), compiler, ()), _NAME, build)
        if folder is not None:
            return (folder / _NAME).read_text()
    return ask() or ""


def processor() -> str:
    """What ``-march=native`` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text("ascii", "replace").splitlines()
    except OSError:
        return platform.machine()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
