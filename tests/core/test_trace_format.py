"""Traces keep the trace event format: read here by its rules, with nothing of the writer.

The format's document ("Trace Event Format", Google) demands of each phase its fields; flow events
bind to the slice of their thread that encloses them.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import cudla_sim
from cudla_sim.core.fence import Timeline
from cudla_sim.core.hardware import Part, Step
from cudla_sim.obs import trace

FIELDS = {
    "X": {"name": str, "pid": int, "tid": int, "ts": (int, float), "dur": (int, float)},
    "M": {"name": str, "pid": int, "args": dict},
    "s": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "id": int},
    "f": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "id": int},
}


def read(file: Path) -> list[dict[str, Any]]:
    """The records, each with the fields that its phase demands."""
    records = [r for r in json.loads(file.read_text()) if r]
    for r in records:
        for name, kind in FIELDS[r["ph"]].items():
            assert isinstance(r[name], kind), (name, r)
        assert r.get("dur", 0) >= 0
    return records


def enclosing(records: list[dict[str, Any]], event: dict[str, Any]) -> dict[str, Any]:
    """The innermost slice of the event's thread around its time."""
    found = [
        r
        for r in records
        if r["ph"] == "X"
        and (r["pid"], r["tid"]) == (event["pid"], event["tid"])
        and r["ts"] <= event["ts"] <= r["ts"] + r["dur"]
    ]
    return min(found, key=lambda r: r["dur"])


def arrows(records: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(signal, wait) of each flow, by the slices at its ends; each flow has one of both."""
    starts = {r["id"]: r for r in records if r["ph"] == "s"}
    ends = {r["id"]: r for r in records if r["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) == sum(r["ph"] == "s" for r in records)
    for number, start in starts.items():
        assert ends[number]["bp"] == "e"
        assert start["ts"] <= ends[number]["ts"]
        assert (start["name"], start["cat"]) == (ends[number]["name"], ends[number]["cat"])
    return [
        (enclosing(records, s)["name"], enclosing(records, ends[n])["name"])
        for n, s in sorted(starts.items())
    ]


def test_fences_are_arrows_from_signals_to_waits(sim: object, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    early = Timeline("early", shown=True)
    early.advance()
    trace.start(str(file))
    sync, hidden = Timeline("sync", shown=True), Timeline("hidden")
    waiting = threading.Thread(target=lambda: sync.wait(1), name="waits")
    waiting.start()
    hidden.advance(5)
    assert hidden.wait(5)
    sync.advance(1)
    waiting.join()
    sync.advance(4)
    assert sync.wait(3)  # the signal of 4 is what let it pass
    assert sync.wait(1)
    assert not sync.wait(9, 0.001)  # nobody signals it: no arrow
    assert early.wait(1)  # signaled before the trace
    trace.stop()
    assert sync.wait(1)  # nobody looks any more
    records = read(file)
    one, four = f"signal sync #{sync.id} 1", f"signal sync #{sync.id} 4"
    assert arrows(records) == [
        (one, f"wait sync #{sync.id} 1"),
        (four, f"wait sync #{sync.id} 3"),
        (one, f"wait sync #{sync.id} 1"),
    ]
    names = {r["tid"]: r["args"]["name"] for r in records if r["name"] == "thread_name"}
    first = next(r for r in records if r["ph"] == "f")
    assert names[first["tid"]] == "waits"
    assert not any("hidden" in r["name"] for r in records)


def test_parts_say_what_they_know(sim: object, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    trace.start(str(file))
    parts = [Part("SDP", "operation 0", 0, 1e-6, {"bound": "memory", "cycles": 7})]
    cudla_sim.process.timeline.add(Step("DLA0", "task", 2e-6, 9), None, parts)
    trace.stop()
    spans = [r for r in read(file) if r["ph"] == "X"]
    assert [s["args"] for s in spans] == [{"cycles": 9}, {"bound": "memory", "cycles": 7}]
    whole, part = spans
    assert whole["ts"] <= part["ts"]
    assert part["ts"] + part["dur"] <= whole["ts"] + whole["dur"]
