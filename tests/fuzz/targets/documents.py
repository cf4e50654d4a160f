"""JSON that other programs of ours wrote: times, layers, dataflows, notes in loadables."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from cudla_sim.cupva.described import FORMAT, Described
from cudla_sim.nvdla.annotation import Annotation, read
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.tools.nvdla import times
from cudla_sim.tools.report import ReportError, page

from ..mutate import altered, mutated
from .models import explained
from .packages import sound

SHEET = {
    "network": "n",
    "config": {"feature_bytes": 1, "weight_bytes": 1, "cbuf_kb": 512, "atomic_c": 64,
               "atomic_k": 32, "clock_mhz": 1000.0, "dram_gbps": 10.0},
    "layers": [{"name": "conv", "kind": "conv", "c": 3, "h": 8, "w": 8, "k": 4, "r": 3, "s": 3}],
}  # fmt: skip
SPANS = [
    {"name": "a", "ph": "X", "ts": 1.0, "dur": 2.0, "pid": 1, "tid": 1, "cat": "call", "args": {}},
    {"name": "b", "ph": "X", "ts": 2.0, "dur": 2.0, "pid": 2, "tid": 1, "cat": "hardware",
     "args": {"cycles": 9, "kind": "layer", "macs": 5, "bound": "reads",
              "dpu_cycles": {"0.0.0": 5}, "explanation": "", "tasklets": [{"cycles": 5}]}},
    {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "program"}},
    {"name": "c", "ph": "s", "ts": 1.0, "pid": 1, "tid": 1, "id": 3, "cat": "flow"},
    {"name": "c", "ph": "f", "ts": 2.0, "pid": 2, "tid": 1, "id": 3, "cat": "flow"},
]  # fmt: skip
STEPS = {
    "version": 1, "seconds": 1.0, "clock_mhz": 350,
    "steps": [
        {"kind": "transfer", "name": "t", "begin": 0.0, "end": 1.0, "bytes": 8, "dpus": 1,
         "to_dpu": True, "ranks": 1},
        {"kind": "launch", "program": "p", "begin": 1.0, "end": 2.0, "cycles": 100, "dpus": 1,
         "instructions": 50, "slowest": "0.0.0", "tasklets": [], "profile": None},
    ],
}  # fmt: skip
FLOW = {
    "format": FORMAT, "name": "f", "title": "t", "geometry": "g", "extent": [8, 8],
    "region": [0, 0, 8, 8], "place_bytes": 64, "tiles": [],
}  # fmt: skip


@functools.cache
def _note() -> dict[str, Any]:
    found = read(Loadable.parse(next(data for name, data in sound()[1].items() if "nvdla" in name)))
    assert found is not None, "made by our compiler"
    return dict(json.loads(found.encode()))


def document(random: Random) -> None:
    """Each reader takes what it gets, or says what is wrong with it."""
    which = random.randrange(4)
    value = (SHEET, random.choice((SPANS, STEPS)), FLOW, _note())[which]
    data = json.dumps(altered(value, random)).encode(errors="replace")
    if random.random() < 0.2:
        data = mutated(data, random)
    try:
        if which == 2:
            Described.from_json(data.decode(errors="replace"))
        elif which == 3:
            Annotation.decode(data)
        else:
            _file(data, which)
    except (NvdlaError, ReportError) as error:
        explained(error)
    except ValueError as error:
        if which in (1, 3):
            raise
        explained(error)


def _file(data: bytes, which: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file.json"
        file.write_bytes(data)
        if which == 0:
            times.read(file)
        else:
            page(file)
