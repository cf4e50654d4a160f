"""``cudla.h`` and ``cudlaExternalEtbl.hpp``."""

from __future__ import annotations

from . import devices, memory, modules, statistics, tasks  # noqa: F401  (attach their handlers)
