"""What a dataflow does, told to a person: tables, pictures, and for programs that know nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.cupva import report
from cudla_sim.cupva.dataflow.gather import GatherScatterDataFlow
from cudla_sim.cupva.dataflow.raster import RasterDataFlow
from cudla_sim.cupva.dataflow.static import StaticDataFlow
from cudla_sim.cupva.errors import CupvaError
from cudla_sim.cupva.picture import draw
from cudla_sim.cupva.program import Program

from .dataflow.bench import HANDLER, Bench, bench


def flow_of(machine: Bench) -> RasterDataFlow:
    """5 x 3 pixels in tiles of 2 x 2 with a halo of 1."""
    flow = RasterDataFlow("flow")
    flow.handler(HANDLER)
    flow.image(True, machine.dram(np.zeros(15, np.uint8)), 5, 3, 0, 1)
    flow.tile(2, 2)
    flow.halo(1, 1)
    flow.tile_buffer(machine.variable(16))
    return flow


def test_tiles_are_listed_in_order() -> None:
    with bench() as machine:
        tiles = report.tiles(flow_of(machine), machine.memory.locate)
        rectangles = [(t.x, t.y, t.width, t.height) for t in tiles]
        assert rectangles == [
            (0, 0, 3, 3), (1, 0, 4, 3), (3, 0, 2, 3), (0, 1, 3, 2), (1, 1, 4, 2), (3, 1, 2, 2),
        ]  # fmt: skip
        pads = [(p.left, p.right, p.top, p.bottom) for p in (t.padding for t in tiles)]
        assert pads == [
            (1, 0, 1, 0), (0, 0, 1, 0), (0, 2, 1, 0), (1, 0, 0, 2), (0, 0, 0, 2), (0, 2, 0, 2),
        ]  # fmt: skip
        assert [t.trigger for t in tiles] == list(range(6))


def test_the_table_has_a_line_a_tile() -> None:
    with bench() as machine:
        lines = report.text(flow_of(machine), machine.memory.locate).splitlines()
        assert lines[0] == "flow (handler 'handler', into VMEM): 6 tiles"
        assert lines[1] == (
            "memory 5 x 3, line pitch 5, region (0, 0, 5, 3), tile 2 x 2, halo 1 x 1, "
            "bytes a pixel 1"
        )
        assert lines[2].split()[:4] == ["tile", "trigger", "x", "y"]
        assert lines[5].split()[:7] == ["2", "2", "3", "0", "2", "3", "0"]
        assert "0,2,1,0" in lines[5]


def test_a_gather_shows_its_memory(tmp_path: Path) -> None:
    """Where its tiles lie only the kernel knows."""
    pytest.importorskip("matplotlib")
    with bench() as machine:
        flow = GatherScatterDataFlow("flow")
        flow.handler(HANDLER)
        flow.memory(True, machine.dram(np.zeros(40 * 24, np.uint8)))
        flow.extents(40, 24, 40)
        lines = report.text(flow, machine.memory.locate).splitlines()
        assert lines[0].endswith("0 tiles")
        assert lines[1] == "memory 40 x 24, bytes a pixel 1"
        draw(flow, machine.memory.locate, str(tmp_path / "flow.png"))
        assert (tmp_path / "flow.png").read_bytes().startswith(b"\x89PNG")


def test_tiles_of_one_line_without_a_pitch_lie_in_one_line() -> None:
    with bench() as machine:
        flow = StaticDataFlow("flow")
        flow.handler(HANDLER)
        flow.src(machine.dram(np.zeros(64, np.uint8)))
        flow.dst(machine.variable(64))
        flow.tile(8)
        flow.dim("source", 1, 4, 16)
        flow.dim("destination", 1, 4, 8)
        tiles = report.tiles(flow, machine.memory.locate)
        assert [(t.x, t.y) for t in tiles] == [(0, 0), (16, 0), (32, 0), (48, 0)]
        flow.line_pitch("source", 32)
        tiles = report.tiles(flow, machine.memory.locate)
        assert [(t.x, t.y) for t in tiles] == [(0, 0), (16, 0), (0, 1), (16, 1)]


def test_a_tile_that_leaves_its_memory_is_named() -> None:
    with bench() as machine:
        flow = flow_of(machine)
        flow.image(True, machine.dram(np.zeros(15, np.uint8)), 5, 4, 0, 1)
        with pytest.raises(CupvaError, match=r"tile 3 at \(0, 1\): the source touches bytes 5 to"):
            flow.descriptors(machine.memory.locate)


def test_without_matplotlib_it_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    report._say_that_pictures_need_matplotlib.cache_clear()
    with bench() as machine:
        program = Program(machine.memory, None)
        flow = flow_of(machine)
        program.add_head(flow)
        program.add_head(flow_of(machine))
        report.save(program, str(tmp_path), machine.memory.locate)
    stems = ("program0_RasterDataFlow0_handler", "program0_RasterDataFlow1_handler")
    names = sorted(f"{stem}.{kind}" for stem in stems for kind in ("txt", "json"))
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    assert capsys.readouterr().err.count("pictures need matplotlib") == 1


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    from cudla_sim.cupva.picture import draw

    with bench() as machine:
        draw(flow_of(machine), machine.memory.locate, str(tmp_path / "flow.png"))
    assert (tmp_path / "flow.png").read_bytes()[:4] == b"\x89PNG"
