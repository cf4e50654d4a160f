"""All fixture traces, replayed; absent where the fixtures are."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cudla_sim.nvdla.replay import play, read

from .report import Figure

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = Path(os.environ.get("CUDLA_SIM_FIXTURES", ROOT.parent / "shared" / "fixtures"))


def figures() -> list[Figure]:
    folder = FIXTURES / "nvdla" / "traces"
    if not folder.is_dir():
        return []
    begin = time.perf_counter()
    verdicts = [play(t, name).verdict for t in read(folder) for name in t.configs]
    seconds = time.perf_counter() - begin
    remark = f"{len(verdicts)} runs, {verdicts.count('pass')} pass"
    return [Figure("all fixture traces replayed", seconds, "s", 60, remark=remark)]
