"""Tasks on hardware that is not ours: what is found, and how it is named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork, NvdlaError
from cudla_sim.nvdla.cosim import CosimDifference, CosimHang
from cudla_sim.nvdla.cosim.cube import Cube
from cudla_sim.nvdla.cosim.placement import Placement
from cudla_sim.nvdla.errors import EngineTimeout, UnsupportedOperation, WrongConfiguration
from cudla_sim.nvdla.kmd.list_port import Entry

from .conftest import relu, run, several
from .own import Bytes, OwnChip


@pytest.mark.parametrize("compare", ["all", "layers", "off"])
@pytest.mark.parametrize(
    ("config", "precision"), [("nv_small", "int8"), ("nv_full", "fp16"), ("nv_large", "int8")]
)
def test_results_are_those_of_our_chip(config: str, precision: str, compare: str) -> None:
    chip = OwnChip(config)
    core = Core("auto", chip=chip, compare=compare)
    data = several(config, precision)
    for seed in (1, 2, 2):
        for found, wanted in zip(run(core, data, seed), run(Core(config), data, seed), strict=True):
            assert (found == wanted).all()
    assert core.beyond is not None
    units = [done.unit for done in core.beyond.done]
    assert units == ["SDP", "PDP", "SDP"] * 3
    assert all(
        a.cycle < b.cycle for a, b in zip(core.beyond.done, core.beyond.done[1:], strict=False)
    )


def flip(layer: int, offset: int) -> OwnChip:
    def after(number: int, memory: Bytes) -> None:
        if number == layer:
            memory[offset] ^= 0x40

    return OwnChip("nv_small", after=after)


def place_of_output(layer: int) -> tuple[int, Cube]:
    """Where a layer of ``several`` writes."""
    core = Core("auto", chip=OwnChip("nv_small"))
    run(core, several())
    assert core.beyond is not None
    from cudla_sim.nvdla.cosim import record

    found: list[Cube] = []
    original = record.written

    def noting(*args: object) -> Cube | None:
        cube = original(*args)  # type: ignore[arg-type]
        if cube is not None:
            found.append(cube)
        return cube

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "written", noting)
        run(Core("auto", chip=OwnChip("nv_small")), several())
    return found[layer].address - 0x8000_0000, found[layer]


@pytest.mark.parametrize(
    ("layer", "c", "y", "x"),
    [(0, 0, 0, 0), (0, 11, 7, 7), (0, 9, 3, 5), (1, 4, 2, 1), (2, 9, 0, 0)],
)
def test_a_wrong_byte_is_named_by_layer_and_coordinate(layer: int, c: int, y: int, x: int) -> None:
    start, cube = place_of_output(layer)
    # the feature format, written down once more: surfaces of 8 channels, lines, pixels
    at = start + c // 8 * cube.surface_stride + y * cube.line_stride + x * 8 + c % 8
    core = Core("auto", chip=flip(layer, at))
    with pytest.raises(CosimDifference) as caught:
        run(core, several())
    text = str(caught.value)
    assert f"after layer {layer}, operation" in text
    assert f"at (n, c, h, w) = (0, {c}, {y}, {x})" in text
    assert caught.value.address == 0x8000_0000 + at
    assert caught.value.count == 1
    run_again = Core("auto", chip=OwnChip("nv_small"))
    assert len(run(run_again, several())) == 1


def test_the_core_can_be_used_after_a_difference() -> None:
    wrong = [True]

    def after(number: int, memory: Bytes) -> None:
        if wrong[0]:
            memory[:] ^= 1

    chip = OwnChip("nv_small", after=after)
    core = Core("auto", chip=chip)
    with pytest.raises(CosimDifference, match="bytes differ"):
        run(core, relu())
    assert chip.resets
    wrong[0] = False
    assert (run(core, relu())[0] == run(Core("nv_small"), relu())[0]).all()


def test_a_stray_write_is_found_after_the_layer_that_made_it() -> None:
    def after(number: int, memory: Bytes) -> None:
        if number == 1:
            memory[0x21] ^= 0xFF  # in the network descriptor, which no unit touches

    with pytest.raises(
        CosimDifference, match=r"after layer 1.*which no operation of the task write"
    ):
        run(Core("auto", chip=OwnChip("nv_small", after=after)), several())
    with pytest.raises(CosimDifference, match="at the end of the task"):
        run(Core("auto", chip=OwnChip("nv_small", after=after), compare="layers"), several())
    run(Core("auto", chip=OwnChip("nv_small", after=after), compare="off"), several())


def test_a_hang_says_what_runs_and_how_far_it_came() -> None:
    core = Core("auto", chip=OwnChip("nv_small", stops_at=1), limit=5000)
    with pytest.raises(CosimHang) as caught:
        run(core, several())
    assert isinstance(caught.value, EngineTimeout)
    text = str(caught.value)
    assert re.search(r"no interrupt for \d+ cycles: operation \d+ \(PDP, 12x8x8 -> 12x4x4\)", text)
    assert "PDP group 0 running" in text
    assert "S_INTR_STATUS: none" in text


def test_memory_is_written_again_only_where_it_changed() -> None:
    chip = OwnChip("nv_small")
    core = Core("auto", chip=chip)
    loadable, space = Loadable.parse(relu()), AddressSpace()
    network = LoadedNetwork(loadable, space, core.config)
    x, y = (space.allocate(t[0].size, name="t") for t in (network.inputs, network.outputs))
    core.run(network, [x.base], [y.base])
    first = chip.written
    x.data[:] = 3
    core.run(network, [x.base], [y.base])
    assert 0 < chip.written - first < first


def test_too_little_memory() -> None:
    with pytest.raises(NvdlaError, match=r"buffers have \d+ bytes; the chip's memory has 4096"):
        run(Core("auto", chip=OwnChip("nv_small", size=4096)), several())


def test_the_configuration_is_the_hardwares() -> None:
    assert Core("auto", chip=OwnChip("nv_large")).config.name == "nv_large"
    with pytest.raises(WrongConfiguration, match="the hardware is nv_small, nv_full is asked for"):
        Core("nv_full", chip=OwnChip("nv_small"))


def test_a_programs_registers_are_refused() -> None:
    core = Core("auto", chip=OwnChip("nv_small"))
    for access in (lambda: core.read(0), lambda: core.write(0, 0), core.advance):
        with pytest.raises(UnsupportedOperation, match="register accesses"):
            access()


def test_close_reaches_the_hardware() -> None:
    chip = OwnChip("nv_small")
    Core("auto", chip=chip).close()
    assert chip.closed


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 6), st.integers(1, 6), st.integers(0, 3), st.integers(0, 3),
    st.sampled_from([8, 32]), st.sampled_from(["i1", "<i2", "<f2"]), st.data(),
)  # fmt: skip
def test_coordinates(
    channels: int, height: int, width: int, more_line: int, more_surface: int, atom: int,
    dtype: str, data: st.DataObject,
) -> None:  # fmt: skip
    """Against numpy's own strides."""
    kind = np.dtype(dtype)
    line = (width + more_line) * atom
    surface = (height + more_surface) * line
    cube = Cube(0x1000, channels, height, width, line, surface, atom, kind)
    per = atom // kind.itemsize
    surfaces = -(-channels // per)
    memory = np.zeros(surfaces * surface, np.uint8)
    view = np.ndarray(
        (surfaces, height, width, per), kind, memory, 0, (surface, line, atom, kind.itemsize)
    )
    c = data.draw(st.integers(0, surfaces * per - 1))
    y, x = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    view.view(f"u{kind.itemsize}")[c // per, y, x, c % per] = 1 << 8 * kind.itemsize - 1 | 1
    wanted = (c, y, x) if c < channels else None
    for byte in np.flatnonzero(memory):
        assert cube.coordinate(0x1000 + int(byte)) == wanted


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=8))
def test_placement_keeps_what_overlaps_together(spans: list[tuple[int, int]]) -> None:
    host = np.zeros(400, np.uint8)
    first = int(host.__array_interface__["data"][0])
    entries = [Entry(first + at, host[at : at + size], 0) for at, size in spans]
    placement = Placement(0x8000_0000, 1 << 20)
    buffers, moved = placement.place(entries)
    for (at, size), (other, length) in ((a, b) for a in spans for b in spans):
        if at < other + length and other < at + size:
            a, b = (moved[spans.index(s)].base for s in ((at, size), (other, length)))
            assert a - b == at - other
    assert sum(len(b.data) for b in buffers) == len(
        {byte for at, size in spans for byte in range(at, at + size)}
    )
    assert placement.place(entries)[1] == moved
