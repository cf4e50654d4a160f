"""Hardware time of the engines of a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cudla_sim
from cudla_sim.core.events import Event, EventHub
from cudla_sim.core.hardware import KIND, Part, Step, Timeline
from cudla_sim.obs import trace


def test_steps_of_an_engine_follow_each_other() -> None:
    events, seen = EventHub(), list[Event]()
    events.subscribe(seen.append)
    timeline = Timeline(events)
    timeline.add(Step("a", "first", 2e-6, 700), {"n": 1}, [Part("unit", "x", 1e-6, 2e-6)])
    timeline.add(Step("b", "other", 5e-6, None))
    timeline.add(Step("a", "second", 1e-6, 350))
    spans = [(e.track, e.name, e.begin_ns, e.end_ns) for e in seen]
    assert spans == [
        ("a", "first", 0, 2000),
        ("a unit", "x", 1000, 2000),
        ("b", "other", 0, 5000),
        ("a", "second", 2000, 3000),
    ]
    assert {e.kind for e in seen} == {KIND}
    assert seen[0].details["n"] == 1


def test_a_block_is_timed(sim: object) -> None:
    process = cudla_sim.process
    assert not process.timed
    with cudla_sim.time() as found:
        assert process.timed
        process.timeline.add(Step("a", "task", 3e-3, 100), parts=[Part("u", "x", 0, 1)])
        process.timeline.add(Step("b", "copy", 1e-3, None))
    process.timeline.add(Step("a", "later", 1, 1))
    assert not process.timed
    assert [s.name for s in found.steps] == ["task", "copy"]
    assert (found.cycles, found.milliseconds) == (100, pytest.approx(4))


def test_a_trace_has_hardware_time_beside_the_process(sim: object, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    trace.start(str(file))
    cudla_sim.process.timeline.add(
        Step("DLA0", "task", 2e-6, 7), {"n": 1}, [Part("SDP", "x", 0, 1e-6)]
    )
    cudla_sim.process.events.emit("task", "task", 5, {}, "DLA0")
    trace.stop()
    records = [r for r in json.loads(file.read_text()) if r]
    spans = [r for r in records if r["ph"] == "X"]
    hardware, unit, host = spans
    assert (hardware["ts"], hardware["dur"]) == (0, 2)
    assert hardware["args"] == {"n": 1, "cycles": 7}
    assert hardware["pid"] == unit["pid"] != host["pid"]
    names = {(r["pid"], r["name"]): r["args"]["name"] for r in records if r["ph"] == "M"}
    assert names[hardware["pid"], "process_name"] == "hardware time"
    tracks = {r["tid"]: r["args"]["name"] for r in records if r["name"] == "thread_name"}
    assert [tracks[s["tid"]] for s in spans] == ["DLA0", "DLA0 SDP", "DLA0"]
    assert len({(s["pid"], s["tid"]) for s in spans}) == 3


def test_the_clock_is_a_setting() -> None:
    from cudla_sim.core.config import from_environment
    from cudla_sim.core.errors import ConfigError

    assert from_environment({"CUDLA_SIM_CLOCK": "614.4"}).clock == 614.4
    for wrong in ("fast", "0", "-3", "nan"):
        with pytest.raises(ConfigError):
            from_environment({"CUDLA_SIM_CLOCK": wrong})
