"""Hardware time of a network in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...nvdla.facts.configs import config
from ...nvdla.parts import times
from ...nvdla.parts.package import Package
from ...nvdla.parts.summary import Summary, parts_as_list, summary
from ...nvdla.timing.parameters import Surroundings
from ...nvdla.timing.runs import TimedRun

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class TimedPackage:
    """*whole*: the parts for the hardware one after the other, without transfers and host."""

    package: Package
    parts: dict[int, TimedRun]
    whole: TimedRun
    share: Summary

    @classmethod
    def of(cls, package: Package, name: str, hardware: str, around: Surroundings) -> Self:
        """Raises NvdlaError."""
        found = times.of_parts(package, name, hardware, around)
        chosen = config(hardware or package.config).name
        whole = times.joined(name, chosen, list(found.values()), around)
        return cls(package, found, whole, summary(package, around))

    def as_dict(self) -> dict[str, Any]:
        """What JSON has beside the members of a run."""
        parts = parts_as_list(self.package)
        for item in parts:
            run = self.parts.get(item["part"])
            item["cycles"] = None if run is None else run.cycles
            item["milliseconds"] = None if run is None else run.seconds * 1e3
        return {"parts": parts, "share": self.share.as_dict()}

    def last_lines(self) -> Iterator[str]:
        """Of the table for people."""
        run = self.whole
        yield (
            f"{run.name} on {run.config}: {run.cycles} cycles of hardware = "
            f"{run.seconds * 1e3:.3g} ms at {run.clock_mhz:g} MHz, without transfers"
        )
        yield str(self.share)
