"""``include/cupva/``: the host API of the PVA SDK. The C++ classes are a layer over it."""

from __future__ import annotations

from . import commands, context, dataflows, memory, programs, streams  # noqa: F401  (attach)
