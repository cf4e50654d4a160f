"""Watches ``core.events``: the API log, the layer log, the trace."""

from __future__ import annotations

from ..core import process
from ..core.errors import ConfigError
from ..core.events import warn
from . import log, trace

__all__ = ["at_exit", "begin", "log", "trace"]


def begin() -> None:
    """Starts what the configuration asks for. A bad configuration is left for the first call."""
    try:
        current = process.current()
    except ConfigError:
        return
    words = set(filter(None, current.config.log.split(",")))
    if "api" in words:
        current.events.subscribe(log.api)
    if "layers" in words:
        current.events.subscribe(log.layers)
    if current.config.trace:
        try:
            trace.start(current.config.trace)
        except OSError as error:
            warn(f"no trace: {current.config.trace} cannot be written: {error.strerror}")


def at_exit() -> None:
    """Writes what is still to be written."""
    process.write_reports()
    trace.stop()
