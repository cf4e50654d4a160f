"""Sizes of the look-up tables. Source: nvdla hardware manual, "LUT"."""

from __future__ import annotations

LE_ENTRIES, LO_ENTRIES = 65, 257
"""LE is exponential or linear, LO linear only; entries are the ends of 64 and 256 steps."""

LUT_SIZES = (LE_ENTRIES, LO_ENTRIES)
"""By the number of the table."""
