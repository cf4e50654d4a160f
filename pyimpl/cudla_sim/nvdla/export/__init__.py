"""A run of a loadable as files for a bench without us: register accesses, memory, results.

:func:`record` runs it on our own chip at addresses of the bench's choice and returns a
:class:`Bench`; :func:`write` puts that into a folder. ``nvdla.replay`` plays what was written.
"""

from __future__ import annotations

from .bench import Bench
from .files import write
from .recording import record

__all__ = ["Bench", "record", "write"]
