"""The checker: good loadables pass, each wrong field is reported under its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, HardwareFault, KmdError, LoadedNetwork, target
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.descriptors import (
    DEPENDENCY_SIZE,
    NETWORK_SIZE,
    OPERATION_SIZE,
    SURFACE_SIZE,
    Event,
    NetworkDesc,
    OpType,
)
from cudla_sim.nvdla.loadable import Loadable
from tests.conftest import FIXTURES
from tests.nvdla.wide import wide_pooling

NVDLA = FIXTURES / "nvdla"


# --- what others compiled ------------------------------------------------------------------------


def compiled() -> Iterator[Any]:
    """Loadables of the public compiler, and whether the real driver takes them."""
    manifest = NVDLA / "compiled" / "MANIFEST.json"
    if manifest.exists():
        for tag, case in json.loads(manifest.read_text())["cases"].items():
            file = NVDLA / "compiled" / "loadables" / f"{tag}.nvdla"
            yield pytest.param(file, "nv_" + case["config"], case["expect"] == "ok", id=tag)
    for file in sorted((NVDLA / "public" / "loadables").glob("*.nvdla")):
        suffix = file.stem.rpartition("_")[2]
        config = suffix if suffix in ("small", "large") else "full"
        yield pytest.param(file, "nv_" + config, True, id=file.stem)


@pytest.mark.parametrize(("file", "config", "good"), [*compiled()] or [(Path(), "", True)])
def test_hardware_takes_what_the_public_driver_takes(
    file: Path, config: str, good: bool, fixtures: Path
) -> None:
    found = check(Loadable.parse(file.read_bytes()), config)
    assert (not found) == good, "\n".join(map(str, found))


# --- what we build, with one thing wrong ---------------------------------------------------------


@cache
def built(config: str, precision: str) -> Loadable:
    """A network with every unit that the configuration has."""
    rng = np.random.default_rng(5)
    net = Network(input=("x", (1, 40, 20, 24)), precision=precision, config=config)
    net.conv2d(rng.normal(size=(40, 40, 3, 3)), rng.normal(size=40), padding=1, relu=True)
    first = net.output
    second = net.conv2d(rng.normal(size=(40, 40, 1, 1)), rng.normal(size=40))
    net.add(first, second)
    if net.config.lut:
        net.sigmoid()
    net.lrn(5)
    net.add(net.max_pool(2), net.max_pool(2, source=second))
    if net.config.rubik:
        net.deconv2d(rng.normal(size=(40, 24, 2, 2)))
    net.scale(rng.normal(size=net.output.shape[0]))
    if net.config.compression:
        weights = rng.normal(size=(24, net.output.shape[0], 3, 3))
        net.conv2d(weights * (rng.random(weights.shape) > 0.5), compress=True)
    calibration = None if precision == "fp16" else rng.normal(size=(2, 40, 20, 24))
    return Loadable.parse(net.build(calibration))


@pytest.mark.parametrize(
    ("config", "precision"),
    [
        ("nv_full", "fp16"),
        ("nv_full", "int8"),
        ("nv_full", "int16"),
        ("nv_large", "int8"),
        ("nv_small", "int8"),
        ("nv_small_256_full", "int8"),
        ("nv_medium_512", "int8"),
    ],
)
def test_what_we_build_is_good(config: str, precision: str) -> None:
    assert check(built(config, precision), config) == []


def changed(loadable: Loadable, blob: str, change: Callable[[bytearray], None]) -> Loadable:
    """A loadable with other bytes in a blob."""
    data = bytearray(loadable.blobs[blob].data)
    change(data)
    entry = replace(loadable.blobs[blob], data=memoryview(bytes(data)))
    return replace(loadable, blobs={**loadable.blobs, blob: entry})


def mutated(loadable: Loadable, kind: OpType, number: int, path: str, value: Any) -> Loadable:
    """Change a member of the *number*-th operation of a kind; a callable value gets the old one."""
    layer = [item for item in target.layers(loadable) if item.op_type == kind][number]
    part, *members, last = path.split(".")
    whole = {
        "operation": layer.operation,
        "surface": layer.surface,
        "dependency": layer.dependency,
    }[part]
    copy = type(whole).decode(whole.encode())
    owner: Any = copy
    for member in members:
        owner = owner[int(member)] if member.isdigit() else getattr(owner, member)
    old = owner[int(last)] if last.isdigit() else getattr(owner, last)
    new = value(old) if callable(value) else value
    if last.isdigit():
        owner[int(last)] = new
    else:
        setattr(owner, last, new)
    blob, size = {
        "operation": ("task-0-op_list", OPERATION_SIZE),
        "surface": ("task-0-surf_list", SURFACE_SIZE),
        "dependency": ("task-0-dep_graph", DEPENDENCY_SIZE),
    }[part]

    def put(data: bytearray) -> None:
        data[layer.index * size : (layer.index + 1) * size] = copy.encode(pad_to=size)

    return changed(loadable, blob, put)


def plus(step: int) -> Callable[[int], int]:
    return lambda old: old + step


CONV, SDP, PDP, CDP, RUBIK = OpType.CONV, OpType.SDP, OpType.PDP, OpType.CDP, OpType.RUBIK
# the first convolution is 0 of CONV, with 0 of SDP behind it; 2 of SDP is the addition with the
# curve
MUTATIONS: list[tuple[OpType, int, str, Any, str]] = [
    (CONV, 0, "operation.data_bank", 16, "data_bank"),
    (CONV, 0, "operation.data_bank", 0, "data_bank"),
    (CONV, 0, "operation.weight_bank", 16, "data_bank"),
    (CONV, 0, "operation.entry_per_slice", plus(1), "entry_per_slice"),
    (CONV, 0, "operation.entry_per_slice", 5000, "entry_per_slice"),
    (CONV, 0, "operation.fetch_grain", 0, "fetch_grain"),
    (CONV, 0, "operation.fetch_grain", 21, "fetch_grain"),
    (CONV, 0, "operation.release", 21, "release"),
    (CONV, 0, "operation.conv_stride_x", 9, "conv_stride_x"),
    (CONV, 0, "operation.conv_stride_y", 0, "conv_stride_y"),
    (CONV, 0, "operation.dilation_x", 33, "dilation_x"),
    (CONV, 0, "operation.dilation_y", 2, "surface.dst.height"),
    (CONV, 0, "operation.kernel_width_csc", 33, "kernel_width_csc"),
    (CONV, 0, "operation.kernel_height_csc", 5, "bytes_per_kernel"),
    (CONV, 0, "operation.kernel_channel_csc", 41, "kernel_channel_csc"),
    (CONV, 0, "operation.bytes_per_kernel", 8, "bytes_per_kernel"),
    (CONV, 0, "operation.pad_x_left", 32, "pad_x_left"),
    (CONV, 0, "operation.pad_x_left", 3, "pad_x_left"),
    (CONV, 0, "operation.pad_y_bottom", 64, "pad_y_bottom"),
    (CONV, 0, "operation.pad_val", 200, "pad_val"),
    (CONV, 0, "operation.in_cvt.truncate", 64, "in_cvt.truncate"),
    (CONV, 0, "operation.in_cvt.offset", 40000, "in_cvt.offset"),
    (CONV, 0, "operation.out_cvt.truncate", 32, "out_cvt.truncate"),
    (CONV, 0, "operation.out_cvt.scale", 2, "out_cvt.scale"),
    (CONV, 0, "operation.input_width_cmac", 23, "input_width_cmac"),
    (CONV, 0, "operation.input_height_csc", 19, "input_height_csc"),
    (CONV, 0, "operation.in_precision", 3, "in_precision"),
    (CONV, 0, "operation.batch", 33, "batch"),
    (CONV, 0, "operation.conv_mode", 1, "kernel_width_csc"),
    (CONV, 0, "operation.data_format", 12, "kernel_width_csc"),
    (CONV, 0, "operation.data_format", 60, "data_format"),
    (CONV, 0, "operation.data_reuse", 1, "data_reuse"),
    (CONV, 1, "operation.weight_reuse", 1, "weight_reuse"),
    (CONV, 0, "operation.post_extension", 1, "post_extension"),
    (CONV, 0, "surface.weight.size", plus(-128), "surface.weight.size"),
    (CONV, 0, "surface.weight.size", plus(128), "surface.weight.size"),
    (CONV, 0, "surface.weight.offset", plus(16), "surface.weight.offset"),
    (CONV, 0, "surface.weight.address", 77, "surface.weight.address"),
    (CONV, 0, "surface.weight.type", 1, "surface.weight.type"),
    (CONV, 0, "surface.src.offset", 8, "surface.src.offset"),
    (CONV, 0, "surface.src.line_stride", 770, "surface.src.line_stride"),
    (CONV, 0, "surface.src.line_stride", 736, "surface.src.line_stride"),
    (CONV, 0, "surface.src.surf_stride", plus(-32), "surface.src.line_stride"),
    (CONV, 0, "surface.src.width", 8193, "surface.src.width"),
    (CONV, 0, "surface.src.type", 2, "surface.src.type"),
    (CONV, 0, "surface.dst.width", 23, "surface.dst.width"),
    (CONV, 0, "surface.dst.type", 0, "surface.dst.type"),
    (CONV, 2, "operation.weight_format", 1, "surface.wmb.size"),
    (SDP, 0, "operation.src_precision", 3, "src_precision"),
    (SDP, 0, "operation.out_cvt.truncate", 64, "out_cvt.truncate"),
    (SDP, 0, "operation.x1.type", 4, "x1.type"),
    (SDP, 0, "operation.x1.alu_type", 3, "x1.alu_type"),
    (SDP, 0, "operation.x1.shift_value", 64, "x1.shift_value"),
    (SDP, 0, "operation.x1.precision", 2, "x1.precision"),
    (SDP, 0, "operation.x1.act", 2, "x1.act"),
    (SDP, 0, "operation.lut_index", 5, "lut_index"),
    (SDP, 0, "operation.batch_num", 33, "batch_num"),
    (SDP, 0, "surface.src.width", 25, "surface.src.width"),
    (SDP, 0, "surface.dst.channel", 41, "surface.dst.channel"),
    (SDP, 0, "surface.dst.offset", plus(8), "surface.dst.offset"),
    (SDP, 0, "surface.dst.offset", 1 << 24, "surface.dst"),
    (SDP, 0, "surface.dst.address", 1, "surface.dst"),
    (SDP, 0, "surface.dst.type", 2, "surface.dst.type"),
    (SDP, 0, "surface.x1.offset", plus(2), "surface.x1.offset"),
    (SDP, 0, "surface.x1.type", 2, "surface.x1.type"),
    (SDP, 2, "surface.src.type", 2, "surface.src.type"),
    (SDP, 2, "operation.lut_index", -1, "lut_index"),
    (PDP, 0, "operation.pool_width", 8, "pool_width"),
    (PDP, 0, "operation.stride_y", 9, "stride_y"),
    (PDP, 0, "operation.pad_left", 2, "pad_left"),
    (PDP, 0, "operation.pad_top", 8, "pad_top"),
    (PDP, 0, "operation.pool_mode", 3, "pool_mode"),
    (PDP, 0, "operation.split_num", 65, "split_num"),
    (PDP, 0, "operation.split_num", 2, "partial_width_first"),
    (PDP, 0, "operation.padding_value.3", 1 << 18, "padding_value.3"),
    (PDP, 0, "surface.dst.height", 9, "surface.dst.height"),
    (PDP, 0, "surface.dst.channel", 20, "surface.dst.channel"),
    (PDP, 0, "surface.dst.type", 2, "surface.dst.type"),
    (CDP, 0, "operation.lut_index", -1, "lut_index"),
    (CDP, 0, "operation.out_precision", 1, "out_precision"),
    (CDP, 0, "operation.in_cvt.truncate", 32, "in_cvt.truncate"),
    (CDP, 0, "surface.dst.width", 20, "surface.dst.width"),
    (RUBIK, 0, "operation.mode", 3, "mode"),
    (RUBIK, 0, "operation.stride_x", 3, "surface.src.channel"),
    (RUBIK, 0, "operation.stride_y", 1, "surface.dst.height"),
    (RUBIK, 0, "operation.mode", 1, "surface.dst.width"),
    (CONV, 0, "dependency.dependency_count", plus(1), "dependency.dependency_count"),
    (SDP, 2, "dependency.dependency_count", 0, "dependency.dependency_count"),
    (SDP, 0, "dependency.consumers.2.index", -1, "dependency.consumers"),
    (SDP, 0, "dependency.consumers.2.index", 400, "dependency.consumers.2"),
    (SDP, 0, "dependency.consumers.2.event", 9, "dependency.consumers.2"),
    (PDP, 0, "dependency.consumers.3.index", 0, "op_type"),
]


@pytest.mark.parametrize(
    ("kind", "number", "path", "value", "where"),
    MUTATIONS,
    ids=[f"{kind.name}{number}.{path}" for kind, number, path, _, _ in MUTATIONS],
)
def test_one_wrong_field(kind: OpType, number: int, path: str, value: Any, where: str) -> None:
    bad = mutated(built("nv_full", "int8"), kind, number, path, value)
    found = check(bad, "nv_full")
    assert where in [item.field for item in found], "\n".join(map(str, found))


def executed(loadable: Loadable, config: str) -> list[np.ndarray]:
    """The outputs of a run on zeros."""
    space = AddressSpace("memory")
    network = LoadedNetwork(loadable, space, config)
    inputs = [space.allocate(t.size, name=t.name) for t in loadable.inputs]
    outputs = [space.allocate(t.size, name=t.name) for t in loadable.outputs]
    Core(config).run(network, [r.base for r in inputs], [r.base for r in outputs])
    return [region.data for region in outputs]


def test_the_firmware_refuses_a_mean_format_that_there_is_not() -> None:
    bad = mutated(built("nv_small", "int8"), CONV, 0, "operation.mean_format", 2)
    with pytest.raises(KmdError, match="mean_format = 2"):
        executed(bad, "nv_small")


def test_a_pixel_alone_has_a_line_of_one_atom() -> None:
    rng = np.random.default_rng(1)
    net = Network(input=("x", (1, 8, 4, 4)), precision="int8", config="nv_small")
    net.conv2d(rng.normal(size=(8, 8, 4, 4)))
    good = Loadable.parse(net.build(rng.normal(size=(1, 8, 4, 4))))
    assert check(good, "nv_small") == []
    found = check(mutated(good, CONV, 0, "surface.dst.line_stride", 64), "nv_small")
    assert [item.field for item in found] == ["surface.dst.line_stride"]


@pytest.mark.parametrize("axis", ["width", "height"])
def test_windows_far_beyond_the_input_are_a_fault(axis: str) -> None:
    """30 windows in steps of 2 need 60 columns, or rows, of 40; padding ends after 15."""
    rng = np.random.default_rng(1)
    net = Network(input=("x", (1, 8, 40, 40)), precision="int8", config="nv_small")
    net.max_pool(2)
    good = Loadable.parse(net.build(rng.normal(size=(1, 8, 40, 40))))
    width, height = (30, 10) if axis == "width" else (10, 30)
    bad = mutated(good, PDP, 0, "surface.dst.width", width)
    bad = mutated(bad, PDP, 0, "surface.dst.height", height)
    bad = mutated(bad, PDP, 0, "surface.dst.line_stride", width * 8)
    with pytest.raises(HardwareFault, match="does not belong to an input of 40 x 40"):
        executed(bad, "nv_small")


@pytest.mark.parametrize(
    ("config", "fields"),
    [
        ("nv_large", {"entry_per_slice", "mode", "weight_format"}),
        ("nv_medium_512", {"y.enable", "lut_index", "mode", "weight_format"}),
    ],
)
def test_units_that_others_lack(config: str, fields: set[str]) -> None:
    found = {item.field for item in check(built("nv_full", "int8"), config)}
    assert fields <= found


def test_precisions_that_others_lack() -> None:
    found = {item.message for item in check(built("nv_full", "fp16"), "nv_large")}
    assert "nv_large has no fp16" in found


def test_banks_must_hold_the_input_and_a_kernel_group() -> None:
    """In banks of 4 KiB: 40 x 64 pixels of 16 bytes, and 8 kernels of 576 bytes."""
    rng = np.random.default_rng(3)
    net = Network(input=("x", (1, 16, 40, 64)), precision="int8", config="nv_small")
    net.conv2d(rng.normal(size=(16, 16, 6, 6)))
    good = Loadable.parse(net.build(rng.normal(size=(1, 16, 40, 64))))
    assert check(good, "nv_small") == []
    for name, least in (("data_bank", 10), ("weight_bank", 2)):
        assert check(mutated(good, CONV, 0, f"operation.{name}", least), "nv_small") == []
        (found,) = check(mutated(good, CONV, 0, f"operation.{name}", least - 1), "nv_small")
        assert found.field == name
        assert found.message.endswith(str(least))


def test_weights_that_stay_are_those_that_are_taken() -> None:
    """Pieces of one convolution; the second takes other weights, or the first keeps none."""
    rng = np.random.default_rng(3)
    net = Network(input=("x", (1, 64, 40, 40)), precision="int8", config="nv_small")
    net.conv2d(rng.normal(size=(16, 64, 1, 1)))
    good = Loadable.parse(net.build(rng.normal(size=(1, 64, 40, 40)), without=()))
    assert check(good, "nv_small") == []
    for number, path, value, told in (
        (1, "surface.weight.size", plus(8), "those that stayed have 1024"),
        (0, "operation.skip_weight_rls", 0, "does not keep its weights"),
        (1, "operation.data_bank", plus(-1), "data_bank is"),
    ):
        found = check(mutated(good, CONV, number, path, value), "nv_small")
        assert any(item.field == "weight_reuse" and told in item.message for item in found)


# --- order ---------------------------------------------------------------------------------------


def test_an_addition_must_wait_for_its_operands() -> None:
    """Told when its source is programmed, not when it is complete, it reads too early."""
    good = built("nv_full", "int8")
    bad = mutated(good, SDP, 1, "dependency.consumers.2.event", Event.OP_PROGRAMMED)
    (found, *_) = check(bad, "nv_full")
    assert found.field in ("surface.src", "surface.x1")
    assert "nothing makes one wait" in found.message


def test_memory_must_not_be_used_again_before_it_is_read() -> None:
    """The pooling writes where the addition still reads."""
    good = built("nv_small", "int8")
    layers = list(target.layers(good))
    source = next(item for item in layers if item.op_type == SDP and item.index == 4).surface
    pool = next(item for item in layers if item.op_type == PDP)
    assert pool.surface.dst.address == source.x2.address  # type: ignore[union-attr]
    bad = mutated(good, PDP, 0, "surface.dst.offset", pool.surface.src.offset)  # type: ignore[union-attr]
    fields = [item.field for item in check(bad, "nv_small")]
    assert fields == ["surface.dst"]


def branches() -> Loadable:
    """Two convolutions read what a pooling makes; only the first of them waits for it."""
    rng = np.random.default_rng(5)
    net = Network(input=("x", (1, 16, 12, 12)), precision="int8", config="nv_small")
    net.conv2d(rng.normal(size=(16, 16, 1, 1)))
    first = net.max_pool(2)
    one = net.conv2d(rng.normal(size=(16, 16, 3, 3)), padding=1)
    net.add(one, net.conv2d(rng.normal(size=(16, 16, 1, 1)), source=first))
    return Loadable.parse(net.build(rng.normal(size=(1, 16, 12, 12))))


def waiting(good: Loadable, kind: OpType, number: int) -> list[tuple[int, int]]:
    """(unit, operation) whose completion an operation waits for."""
    layers = list(target.layers(good))
    index = [item.index for item in layers if item.op_type == kind][number]
    return [
        (item.op_type, item.index)
        for item in layers
        for told in item.dependency.consumers
        if (told.index, told.event) == (index, Event.OP_COMPLETED)
    ]


def test_a_convolution_fetches_behind_the_one_before() -> None:
    """The second branch waits for nothing and reads what is certainly there."""
    good = branches()
    assert check(good, "nv_small") == []
    assert waiting(good, CONV, 1) == [(PDP, 2)]
    assert waiting(good, CONV, 2) == []
    early = good
    for unit in (CONV, SDP):
        place = f"dependency.consumers.{int(unit)}.event"
        early = mutated(early, PDP, 0, place, Event.OP_PROGRAMMED)
    found = {(item.operation, item.field) for item in check(early, "nv_small")}
    assert found >= {(3, "surface.src"), (5, "surface.src")}


def test_an_operand_is_fetched_as_soon_as_its_pass_is_enabled() -> None:
    """Before the convolution begins, which waits for something else."""
    good = branches()
    (unit, maker), *_ = waiting(good, SDP, 2)
    assert (unit, maker) == (SDP, 4)
    place = f"dependency.consumers.{int(SDP)}.event"
    found = check(mutated(good, SDP, 1, place, Event.OP_PROGRAMMED), "nv_small")
    assert [(item.operation, item.unit) for item in found] == [(6, "SDP")]
    assert "nothing makes one wait" in found[0].message


def test_operations_that_wait_for_each_other() -> None:
    good = built("nv_full", "int8")
    head = next(item for item in target.layers(good) if item.op_type == CONV)
    last = [item for item in target.layers(good) if item.op_type == SDP][-1]
    place = f"dependency.consumers.{int(CONV)}"
    bad = mutated(good, SDP, -1, f"{place}.index", head.index)
    bad = mutated(bad, SDP, -1, f"{place}.event", Event.OP_COMPLETED)
    bad = mutated(bad, CONV, 0, "dependency.dependency_count", plus(1))
    assert any("wait for each other" in item.message for item in check(bad, "nv_full"))
    assert last.index > head.index


def test_a_task_with_wrong_numbers() -> None:
    def fewer(data: bytearray) -> None:
        network = NetworkDesc.decode(bytes(data))
        network.num_addresses, network.op_head = 50, [-1, 3, 1, -1, -1, -1]
        data[:NETWORK_SIZE] = network.encode()

    found = check(changed(built("nv_small", "int8"), "task-0-addr0", fewer), "nv_small")
    assert {"num_addresses", "op_type", "dependency.consumers"} <= {item.field for item in found}


# --- stripes, compressed weights -----------------------------------------------------------------


def test_a_wide_pooling_needs_stripes() -> None:
    loadable = Loadable.parse(wide_pooling())
    assert [item.field for item in check(loadable, "nv_small")] == ["surface.dst.width"]
    striped = loadable
    for name, value in (
        ("split_num", 2),
        ("partial_width_first", 128),
        ("partial_width_last", 22),
        ("partial_in_width_first", 256),
        ("partial_in_width_last", 44),
    ):
        striped = mutated(striped, PDP, 0, f"operation.{name}", value)
    assert check(striped, "nv_small") == []
    narrow = mutated(striped, PDP, 0, "operation.partial_in_width_last", 43)
    assert [item.field for item in check(narrow, "nv_small")] == [
        "partial_in_width_last",
        "partial_in_width_first",
    ]


def test_masks_must_say_what_is_there() -> None:
    good = built("nv_full", "int8")
    layer = [item for item in target.layers(good) if item.op_type == CONV][-1]
    mask = layer.surface.wmb  # type: ignore[union-attr]

    def flip(data: bytearray) -> None:
        data[mask.offset + 3] ^= 1

    found = check(changed(good, "tb-0", flip), "nv_full")
    assert found[0].field == "surface.wgs"
    assert "kernel group 0" in found[0].message
