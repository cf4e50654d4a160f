"""``include/upmem/``: the host API of UPMEM's DPUs."""

from __future__ import annotations

from . import (  # noqa: F401  (attach)
    launches,
    loader,
    logs,
    management,
    memory,
    older,
    programs,
    runner,
    scatter,
    sets,
    transfers,
    unsupported,
)
