"""Sections of a page for a network in parts."""

from __future__ import annotations

from dataclasses import replace

from ...core.text import printable
from ...nvdla.facts.configs import config
from ...nvdla.loadable import Loadable
from ...nvdla.parts import times
from ...nvdla.parts.package import Package
from ...nvdla.parts.summary import summary
from ...nvdla.timing.parameters import Surroundings
from . import nvdla
from .page import Cell, Section, Table, number

_COLUMNS = [
    ("part", "number"),
    ("runs on", "text"),
    ("nodes", "number"),
    ("MACs", "number"),
    ("cycles", "number"),
    ("inputs", "text"),
    ("outputs", "text"),
]


def of_package(
    name: str, package: Package, hardware: str, around: Surroundings
) -> tuple[str, list[Section]]:
    """The title, what is known of all parts together, and then of each for the hardware. Raises
    NvdlaError."""
    runs = times.of_parts(package, name, hardware, around)
    chosen = config(hardware or package.config).name
    share = summary(package, around)
    cycles = sum(run.cycles for run in runs.values())
    rows: list[list[Cell]] = [
        [
            *(place, part.where, len(part.nodes), part.macs),
            runs[place].cycles if place in runs else None,
            *(printable(", ".join(names)) for names in (part.inputs, part.outputs)),
        ]
        for place, part in enumerate(package.parts)
    ]
    facts = [
        ("configuration", chosen),
        ("parts", number(len(package.parts))),
        ("cycles of hardware", number(cycles)),
        (f"ms of hardware at {around.clock_mhz:g} MHz", number(cycles / around.clock_mhz / 1e3)),
        ("nodes on the hardware", f"{share.hardware_nodes} of {share.nodes}"),
        ("MACs on the hardware", _macs(share.hardware_macs, share.macs)),
        ("transfers", number(share.transfers)),
        ("bytes of transfers", number(share.bytes)),
        ("ms of transfers", number(share.milliseconds)),
    ]
    text = ["Host time is not modelled; transfers: at the bandwidth of the hardware's memory."]
    sections = [Section("Parts", "parts", text, facts, tables=[Table(_COLUMNS, list(rows))])]
    for place, run in runs.items():
        loadable = Loadable.parse(package.parts[place].data)
        for section in nvdla.of_loadable(loadable, run, around):
            title = f"Part {place}: {section.title}"
            sections.append(replace(section, title=title, name=f"part{place}-{section.name}"))
    return f"{name} on {chosen}", sections


def _macs(hardware: int | None, whole: int | None) -> str:
    if hardware is None or whole is None:
        return "-"
    return f"{hardware / whole:.1%}" if whole else "there are none"
