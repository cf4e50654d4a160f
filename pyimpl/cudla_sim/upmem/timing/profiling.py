"""Reads what profiled DPU programs counted: instructions by class and by source line.

The table lies in the program's file (``toolchain/profile.py`` writes it), the counters in each
DPU's slot after a launch: for each module 24 rows, one a tasklet.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray

from ...constants.dpu_protocol import MAX_TASKLETS, PROFILE_SIZE
from ..workers.protocol import Times

SECTION = ".debug_cudla_sim_profile"
VERSION = 1
RETRIES = "waiting for locks"
RUNTIME = "runtime library"
"""What the table does not have: barriers, handshakes, ``mem_alloc`` and the start of the DPU."""
_LINES = 200
_START = "__rt_profile_start"


@dataclass(frozen=True)
class Module:
    """Counters of one compiled file. Entry k says: each count of ``slot[k]`` is ``halves[k]`` half
    instructions of class ``kind[k]`` at ``place[k]``."""

    offset: int
    slots: int
    slot: NDArray[np.intp]
    place: NDArray[np.intp]
    kind: NDArray[np.intp]
    halves: NDArray[np.float64]
    places: list[tuple[str, str, int]]
    kinds: list[str]

    @property
    def end(self) -> int:
        return self.offset + MAX_TASKLETS * self.slots * 8

    def spent(self, counters: bytes) -> NDArray[np.float64]:
        """Half instructions of each tasklet (rows) and entry (columns)."""
        size = MAX_TASKLETS * self.slots * 8
        data = counters[self.offset : self.offset + size]
        data += bytes(size - len(data))  # what did not fit the slot
        counts = np.frombuffer(data, np.uint64).reshape(MAX_TASKLETS, self.slots)
        return counts[:, self.slot] * self.halves


@lru_cache(maxsize=16)
def modules(image: bytes) -> tuple[Module, ...]:
    """The tables of a program; () when it was not compiled for a profile."""
    try:
        elf = ELFFile(io.BytesIO(image))
        section, symbols = elf.get_section_by_name(SECTION), elf.get_section_by_name(".symtab")
        if section is None or not isinstance(symbols, SymbolTableSection):
            return ()
        start = symbols.get_symbol_by_name(_START)
        return tuple(_modules(section.data(), start[0]["st_value"])) if start else ()
    except Exception:  # damage has many kinds of exceptions; the program still has its times
        return ()


def size(image: bytes) -> int:
    """Bytes of a program's counters, as far as a slot has room for them."""
    return min(PROFILE_SIZE, max((m.end for m in modules(image)), default=0))


def _modules(data: bytes, start: int) -> Iterator[Module]:
    at = 0
    while at + 8 <= len(data):
        address, size = struct.unpack_from("<II", data, at)
        found = json.loads(zlib.decompress(base64.b64decode(data[at + 8 : at + 8 + size])))
        at += 8 + size
        if address < start or found["version"] != VERSION:
            continue  # the linker left its functions out
        entries = [(n, *entry) for n, part in enumerate(found["slots"]) for entry in part]
        table = np.array(entries, np.float64).reshape(-1, 4)
        slot, place, kind = (table[:, i].astype(np.intp) for i in range(3))
        places = [(file, function, line) for file, function, line in found["places"]]
        yield Module(
            address - start, len(found["slots"]), slot, place, kind, table[:, 3], places,
            found["classes"],
        )  # fmt: skip


def collect(
    image: bytes, times: Mapping[str, Times], counters: Mapping[str, bytes]
) -> dict[str, Any] | None:
    """The profile of a launch, for JSON; None for a program without tables.

    ``times`` and ``counters``: of each DPU by its place. ``dpus``: cycles, instructions, cycles of
    the DMA engine, and for each tasklet its times and its instructions by class. ``lines``:
    instructions of all DPUs by source line, most first, with their share of all.
    """
    found = modules(image)
    if not found:
        return None
    by_place: dict[tuple[str, str, int], float] = {}
    dpus = []
    for name, own in times.items():
        spent = [(m, m.spent(counters[name])) for m in found]
        for module, each in spent:
            sums = np.bincount(module.place, each.sum(0), len(module.places))
            for index in np.flatnonzero(sums):
                place = module.places[index]
                by_place[place] = by_place.get(place, 0.0) + sums[index]
        dpus.append({
            "dpu": name,
            "cycles": own.cycles,
            "instructions": own.instructions,
            "engine_cycles": own.engine_cycles,
            "tasklets": [asdict(t) for t in own.tasklets],
            "classes": [_classes(spent, n, t) for n, t in enumerate(own.tasklets)],
        })  # fmt: skip
    every = sum(t.instructions for t in times.values()) or 1
    most = sorted(by_place.items(), key=lambda item: (-item[1], item[0]))[:_LINES]
    return {
        "dpus": dpus,
        "lines": [
            {
                "file": file,
                "function": function,
                "line": line,
                "instructions": round(halves / 2),
                "share": halves / 2 / every,
            }
            for (file, function, line), halves in most
        ],
    }


def _classes(
    spent: list[tuple[Module, NDArray[np.float64]]], tasklet: int, times: Any
) -> dict[str, int]:
    """Instructions of a tasklet by class; what no table has is the runtime's."""
    halves: dict[str, float] = {}
    for module, each in spent:
        sums = np.bincount(module.kind, each[tasklet], len(module.kinds))
        for name, value in zip(module.kinds, sums.tolist(), strict=True):
            if value:
                halves[name] = halves.get(name, 0.0) + value
    if times.retries:
        halves[RETRIES] = 2.0 * times.retries
    left = times.half_instructions - sum(halves.values())
    if left > 0:
        halves[RUNTIME] = left
    return {name: round(value / 2) for name, value in halves.items()}
