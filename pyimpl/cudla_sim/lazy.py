"""Modules that are imported when something of them is first used.

The first call of a C program waits for every import that it causes, and numpy alone takes longer
than Python's start. A module that uses numpy in some of its functions names it like this::

    if TYPE_CHECKING:
        import numpy as np
    else:
        np = lazy.module("numpy")

Only functions may use such a name, never the body of a module.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from types import ModuleType
from typing import Any

importing = threading.RLock()
"""Held by whoever imports after the start. A fork waits for it: in the child nobody would finish
what another thread had begun."""

os.register_at_fork(
    before=importing.acquire,
    after_in_parent=importing.release,
    after_in_child=importing.release,
)


class _Lazy(ModuleType):
    def __getattr__(self, name: str) -> Any:
        with importing:
            found = import_module(self.__name__)
        self.__dict__.update(found.__dict__)
        # from now on looking up a name costs what it does elsewhere
        object.__setattr__(self, "__class__", ModuleType)
        return getattr(found, name)


def module(name: str) -> Any:
    """Stands for the module ``name``, which the first use of an attribute imports.

    That use raises what the import raises.
    """
    return _Lazy(name)
