"""Watches ``core.events``: the API log, the layer log, the trace."""

from __future__ import annotations

import sys
from types import ModuleType

from ..core import process
from ..core.errors import ConfigError
from ..core.events import warn
from .settings import Settings

__all__ = ["at_exit", "begin"]


def begin() -> None:
    """Starts what the configuration asks for. A bad configuration is left for the first call."""
    try:
        current = process.current()
    except ConfigError:
        return
    settings = current.config.of(Settings)
    words = set(filter(None, settings.log.split(",")))
    if words:
        from . import log

        if "api" in words:
            current.events.subscribe(log.api)
        if "layers" in words:
            current.events.subscribe(log.layers)
    if settings.trace:
        from . import trace

        try:
            trace.start(settings.trace)
        except OSError as error:
            warn(f"no trace: {settings.trace} cannot be written: {error.strerror}")


def at_exit() -> None:
    """Writes what is still to be written."""
    process.write_reports()
    trace: ModuleType | None = sys.modules.get(f"{__name__}.trace")
    if trace is not None:
        trace.stop()
