"""``cudla-sim cache``: what is kept between runs, and its end."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import click

from ..workers import runtime
from .command import JSON, Command, option
from .text_table import Table

KINDS = {
    "dpu": "runtimes of DPU programs",
    "vpu": "runtimes of VPU programs, their headers precompiled",
    "cuda": "headers of CUDA kernels, precompiled",
    "calibration": "ranges that calibration measured",
}
"""What each folder below the cache holds; who writes there names its folder."""
VERSION = 1


@click.command("cache", cls=Command)
@option("--clear", is_flag=True, help="Remove all of it, or that of --kind.")
@option("--kind", type=click.Choice(sorted(KINDS)), multiple=True, help="Only this kind.")
@JSON
def show_cache(clear: bool, kind: tuple[str, ...], as_json: bool) -> None:
    """Show what is kept between runs below $XDG_CACHE_HOME/cudla-sim, or remove it.

    An entry is named by a hash of all that it was made from: compilers and sources of a runtime;
    the network, samples, options and this version for calibration. So nothing old is ever used
    again, and removing costs only the time to make it anew.
    """
    chosen = list(kind or KINDS)
    removed = sum(runtime.clear(name) for name in chosen) if clear else 0
    found = {name: _entries(name) for name in chosen}
    if as_json:
        folder = str(runtime.root())
        known: dict[str, Any] = {"schema_version": VERSION, "folder": folder, "kinds": found}
        print(json.dumps({**known, "removed": removed} if clear else known, indent=1))
        return
    if clear:
        print(f"entries removed from {runtime.root()}: {removed}")
        return
    table = Table(("kind", "entries", "bytes", "last used", "what"), right=frozenset({1, 2}))
    for name, known in found.items():
        last = known["last_used"] or "-"
        table.add(name, str(known["entries"]), str(known["bytes"]), last, KINDS[name])
    print(runtime.root())
    table.show()


def _entries(kind: str) -> dict[str, Any]:
    known = runtime.entries(kind)
    last = max((entry.used for entry in known), default=None)
    told = None if last is None else datetime.fromtimestamp(last).isoformat(timespec="seconds")
    total = sum(entry.size for entry in known)
    return {"entries": len(known), "bytes": total, "last_used": told, "what": KINDS[kind]}
