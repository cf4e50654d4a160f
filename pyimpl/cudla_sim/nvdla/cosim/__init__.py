"""Hardware in the loop: our firmware over registers that are not ours, compared with our model.

:class:`Hardware` is what such a core has to offer; :func:`open_library` makes one of a shared
library behind ``nvdla/cosim.h``. :class:`lockstep.Lockstep` runs tasks on it. ``nvdla.export``
goes the other way: it writes down what a bench without us has to do.
"""

from __future__ import annotations

from .errors import CosimDifference, CosimError, CosimHang
from .hardware import Hardware
from .library import open_library

__all__ = ["CosimDifference", "CosimError", "CosimHang", "Hardware", "open_library"]
