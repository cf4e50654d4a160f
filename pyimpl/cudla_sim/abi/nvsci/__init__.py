"""``nvscierror.h``, ``nvscibuf.h``, ``nvscisync.h``, ``nvsciipc.h``."""

from __future__ import annotations

from . import buf, ipc, sync  # noqa: F401  (imported to attach handlers)
