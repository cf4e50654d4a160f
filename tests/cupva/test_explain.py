"""What a dataflow does, told to a person: tables, pictures, and for programs that know nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cudla_sim.cupva import report
from cudla_sim.cupva.dataflow.raster import RasterDataFlow

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
        assert lines[0] == "flow: 6 tiles"
        assert lines[1].split()[:4] == ["tile", "trigger", "x", "y"]
        assert lines[4].split()[:7] == ["2", "2", "3", "0", "2", "3", "0"]
        assert "0,2,1,0" in lines[4]


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    from cudla_sim.cupva.picture import draw

    with bench() as machine:
        draw(flow_of(machine), machine.memory.locate, str(tmp_path / "flow.png"))
    assert (tmp_path / "flow.png").read_bytes()[:4] == b"\x89PNG"
