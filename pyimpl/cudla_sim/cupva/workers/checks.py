"""What is looked for in a kernel's use of the DMA, each with its own switch."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

MODES = ("off", "warn", "fault")


@dataclass(frozen=True)
class Checks:
    """Each is ``off``, ``warn`` (a line on stderr, once for each dataflow) or ``fault`` (the
    command ends with CUPVA_VPU_APPLICATION_ERROR). Hardware has other data then, or has not.
    """

    sync: str = "warn"
    """A dataflow that the kernel has synced less often than triggered when it ends."""
    pending: str = "off"
    """VMEM of a transfer that is written to between its trigger and its sync. Costs a copy and a
    comparison of each tile."""

    @classmethod
    def parse(cls, text: str) -> Checks:
        """``name=mode`` separated by commas; a mode alone is for all of them.

        Raises ValueError for a name or mode that does not exist.
        """
        checks = cls()
        names = [f.name for f in fields(cls)]
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, mode = part.rpartition("=")
            if mode not in MODES or (name and name not in names):
                raise ValueError(
                    f"{part!r} is no check: write one of {', '.join(names)} = off, warn or fault; "
                    "a mode alone is for all"
                )
            checks = replace(checks, **dict.fromkeys([name] if name else names, mode))
        return checks
