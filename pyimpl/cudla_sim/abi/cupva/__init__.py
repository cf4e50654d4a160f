"""``include/cupva/``: the host API of the PVA SDK. The C++ classes are a layer over it."""

from __future__ import annotations

from . import (  # noqa: F401  (imported to attach their handlers)
    commands,
    context,
    cuda,
    dataflows,
    fences,
    memory,
    nvsci,
    programs,
    streams,
)
