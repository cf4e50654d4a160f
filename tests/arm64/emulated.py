"""pytest under qemu-user: tests that start programs are left out, as the system starts none.

Only this one process is emulated, and the workers that interpret DPU programs, which this plugin
starts below an emulator of their own (not confined). What a test compiles for arm64, and Python
itself, would need an emulator that the system calls by itself (binfmt_misc), which is not there
everywhere.
"""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
from collections.abc import Sequence
from types import ModuleType

import pytest

from cudla_sim.constants import confine
from cudla_sim.workers import process
from cudla_sim.workers.image import Image

_STARTS = ("subprocess", "os.fork", "import_module", "Popen")


def _starts_programs(item: pytest.Item) -> bool:
    if {"sim_cc", "program", "build"} & set(getattr(item, "fixturenames", ())):
        return True
    test = getattr(item, "function", None)
    try:
        source = inspect.getsource(test) if test is not None else ""
    except OSError:
        return False
    module: ModuleType | None = inspect.getmodule(test)
    return any(word in source for word in _STARTS) or (
        module is not None and "subprocess" in vars(module)
    )


def _start_emulated(image: Image, words: Sequence[str], files: tuple[int, ...], quiet: bool) -> int:
    """What lib/confine does, without taking rights: greets, then executes."""
    _, program, host, _, _, *arguments = words
    emulator = shutil.which("qemu-aarch64")
    assert emulator is not None
    waiting = ["sh", "-c", 'read go; exec "$@"', "sh"]
    worker = subprocess.Popen(
        [*waiting, emulator, f"/proc/self/fd/{program}", *arguments],
        pass_fds=files,
        stdin=subprocess.PIPE,
        start_new_session=True,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.DEVNULL if quiet else None,
    )
    hello = confine.confine_hello(process=worker.pid, layers=confine.CONFINED_FULLY)
    os.write(int(host), bytes(hello))
    worker.stdin.write(b"\n")
    worker.stdin.close()
    return 0


process._start = _start_emulated


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects what cannot run here."""
    out = {item for item in items if _starts_programs(item)}
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]
