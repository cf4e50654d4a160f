"""Numbers of data formats that are no pixels.

Source: nvdla/sw ``dla_interface.h``, ``nvdla_inf.h``.
"""

from __future__ import annotations

FEATURE, FEATURE_X8 = 36, 37
"""Feature cubes, with atoms of the configuration and of 8 bytes. Lower numbers are pixels."""
