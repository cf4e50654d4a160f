"""ctypes structures, and ``PROTOTYPES``: name -> (result, arguments) of each C function."""

from __future__ import annotations

from .generated.prototypes import *  # noqa: F403 - the structures of all headers
