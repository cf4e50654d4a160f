"""Where things begin in memory."""

from __future__ import annotations

PAGE = 4096
"""Buffers begin at multiples of it, as a driver's pages do."""
