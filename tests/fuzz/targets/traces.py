"""Register traces: each is played, or refused by a sentence that names file and line."""

from __future__ import annotations

import functools
import gzip
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from cudla_sim.nvdla import replay
from cudla_sim.nvdla.facts import registers

from ..mutate import altered, text_mutated
from .models import explained

DATA = "{offset:0, size:16, payload:0x01 0x02 0x03}\n{offset:0x20, size:4, payload:0xff}\n"
LINES = "0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08\n" * 4
TXN = """write_reg 0xffff0003 0x7
read_reg 0xffff0003 0xffffffff 0x7
load_mem 0x1000 0x20 data.dat
wait
until 0xffff0002 0x1
dump_mem 0x1000 0x20 data.dat
"""
CFG = """reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x0);
mem_init(pri_mem, 0x1000, 0x100, "ALL_ZERO");
mem_load(pri_mem, 0x1000, "data.hex");
sync_wait(NVDLA_SDP, "a");
sync_notify(NVDLA_SDP, "a");
reg_read_check(NVDLA_GLB.S_INTR_MASK_0, 0x0);
intr_notify(SDP_0, "done");
check_crc("done", pri_mem, 0x1000, 0x40, 0x1234);
check_file("done", pri_mem, 0x1000, 0x40, "data.hex");
check_nothing("done");
"""
PACKED: dict[str, Any] = {
    "name": "t", "map": "nv_full", "configs": ["nv_full"], "ops": [
        {"op": "reg_write", "addr": 12, "data": 7},
        {"op": "reg_check", "addr": 12, "data": 7, "mask": 7},
        {"op": "mem_init", "mem": "pri", "addr": 4096, "size": 256, "pattern": "ONES"},
        {"op": "mem_load", "mem": "pri", "addr": 4096, "file": "f", "blob": "b",
         "runs": [[0, 4, 2, 8]]},
        {"op": "intr", "bits": 1, "sync": "s"}, {"op": "wait_intr"},
        {"op": "check_mem", "mem": "pri", "addr": 4096, "file": "f", "blob": "b"},
        {"op": "check_crc", "sync": "s", "mem": "pri", "addr": 4096, "size": 64, "crc": 5},
        {"op": "check_none", "sync": "s"},
    ],
}  # fmt: skip


@functools.cache
def _words() -> tuple[str, ...]:
    """Registers that exist, start layers, clear interrupts; patterns, memories, files."""
    units = ("SDP", "CDMA", "BDMA", "PDP", "GLB", "MCIF")
    found = [
        f"NVDLA_{unit}.{name}_0"
        for unit in units
        for name in list(registers.block("master", unit).by_name)[:12]
    ]
    return (
        *found,
        "sec_mem",
        "1",
        "0",
        "ADDR",
        "ONES",
        "SDP_1",
        "/dev/zero",
        "../data.hex",
        "wait",
    )


def trace(random: Random) -> None:
    """A damaged .cfg, .txn, .jsonl or .jsonl.gz is read, and played where it can be read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "blobs").mkdir()
        (folder / "blobs" / "b.gz").write_bytes(
            gzip.compress(bytes(range(64)))[: random.choice((99, 99, 9))]
        )
        for file, text in (("data.hex", DATA), ("data.dat", LINES)):
            if random.random() < 0.95:
                damaged = text_mutated(text, random, ()) if random.random() < 0.3 else text
                (folder / file).write_text(damaged, errors="replace")
        kind = random.choice(("test.cfg", "input.txn", "tests.jsonl", "tests.jsonl.gz"))
        (folder / kind).write_bytes(_text(kind, random))
        try:
            for found in replay.read(folder):
                replay.play(found, random.choice(("", "", "nv_small", "nv_full")))
        except replay.TraceError as error:
            explained(error)


def _text(kind: str, random: Random) -> bytes:
    if "jsonl" in kind:
        text = json.dumps(altered(PACKED, random))
        if random.random() < 0.2:
            text = text_mutated(text, random, ("[", "{", "NaN"))
        data = text.encode(errors="replace")
        return gzip.compress(data) if kind.endswith("gz") and random.random() < 0.9 else data
    return text_mutated(CFG if kind == "test.cfg" else TXN, random, _words()).encode(
        errors="replace"
    )
