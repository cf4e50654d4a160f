"""pytest under qemu-user: tests that start programs are left out, as the system starts none.

Only this one process is emulated. What a test compiles for arm64, and Python itself, would need an
emulator that the system calls by itself (binfmt_misc), which is not there everywhere.
"""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects what cannot run here."""
    out = {item for item in items if _starts_programs(item)}
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]
