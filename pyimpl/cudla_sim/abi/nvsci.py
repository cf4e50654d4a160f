"""``nvscierror.h``, ``nvscibuf.h``, ``nvscisync.h``, ``nvsciipc.h``."""

from __future__ import annotations

from . import nvsci_buf, nvsci_ipc, nvsci_sync  # noqa: F401  (imported to attach handlers)
