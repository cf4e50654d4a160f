"""Software tasks: rounding, softmax, power in both structure layouts."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from cudla_sim.nvdla import NvdlaError, UnsupportedOperation, emu


def test_half_conversion_rounds_ties_away() -> None:
    step = 2.0**-10
    values = np.array([1 + step / 2, 1 + 1.5 * step, -1 - step / 2, 1 + step / 4, 0.0], np.float32)
    expected = np.array([1 + step, 1 + 2 * step, -1 - step, 1.0, 0.0], np.float16)
    assert emu.half_ties_away(values).tolist() == expected.tolist()


def operation(kind: int, op: int, **change) -> emu.EmuOperation:
    size = 64
    cube = emu.BufferDesc(0, 0, size, kind, 1, 1, 10, 32, 32)
    values = {"in_scale": 0.1, "out_scale": 1 / 127, "power": 1.0, "scale": 1.0, "shift": 0.0}
    values |= change
    target = emu.BufferDesc(1, 0, size, kind, 1, 1, 10, 32, 32)
    return emu.EmuOperation(op, **values, axis=1, src=cube, dst=target)


def run(op: emu.EmuOperation, source: np.ndarray, dtype: str) -> np.ndarray:
    buffers = [np.zeros(64, np.uint8), np.zeros(64, np.uint8)]
    buffers[0][: source.nbytes] = source.view(np.uint8)
    emu.run(op, buffers.__getitem__)
    return buffers[1][: source.nbytes].view(dtype).copy()


def test_softmax_int8_truncates() -> None:
    source = np.arange(10, dtype=np.int8)
    result = run(operation(emu.EmuFormat.INT8, emu.EmuOp.SOFTMAX), source, "i1")
    exact = np.exp(source * 0.1) / np.exp(source * 0.1).sum() * 127
    assert np.all(np.abs(result - exact) < 1.1)
    assert result.max() <= exact.max()


def test_softmax_fp16_sums_to_one() -> None:
    source = np.linspace(-3, 3, 10).astype(np.float16)
    result = run(operation(emu.EmuFormat.FF16, emu.EmuOp.SOFTMAX), source, "<f2")
    assert abs(result.astype(float).sum() - 1) < 2e-3


def test_power_scales_and_shifts() -> None:
    source = np.arange(10).astype(np.float16)
    op = operation(emu.EmuFormat.FF16, emu.EmuOp.POWER, power=2.0, scale=0.5, shift=1.0)
    result = run(op, source, "<f2")
    np.testing.assert_array_equal(result, ((1 + 0.5 * source) ** 2).astype(np.float16))


def test_logarithm() -> None:
    """The numbers are those that ONNC's tutorial prints for its lab 5."""
    source = np.arange(10).astype(np.float16)
    result = run(operation(emu.EmuFormat.FF16, emu.EmuOp.LOG), source, "<f2")
    text = "-inf 0 0.693359 1.09863 1.38672 1.60938 1.79199 1.94629 2.08008 2.19727"
    assert [f"{float(value):.6g}" for value in result] == text.split()
    assert np.isnan(run(operation(emu.EmuFormat.FF16, emu.EmuOp.LOG), -source, "<f2")[1])


def test_unknown_operation_and_format() -> None:
    with pytest.raises(UnsupportedOperation):
        run(operation(emu.EmuFormat.INT8, 9), np.zeros(10, np.int8), "i1")
    with pytest.raises(UnsupportedOperation):
        run(operation(2, emu.EmuOp.SOFTMAX), np.zeros(10, np.int8), "i1")


def test_buffer_that_is_too_small() -> None:
    op = operation(emu.EmuFormat.FF16, emu.EmuOp.SOFTMAX)
    with pytest.raises(NvdlaError):
        emu.run(op, lambda index: np.zeros(4, np.uint8))


def test_old_layout() -> None:
    network = struct.pack("<hhH", 1, 2, 1).ljust(256, b"\0")
    operations = struct.pack("<Bfff", 0, 2.0, 3.0, 4.0).ljust(16, b"\0")
    buffer = struct.pack("<hIHHHHII", 3, 32, 2, 1, 1, 10, 32, 32).ljust(256, b"\0")
    lists = [np.frombuffer(item, np.uint8) for item in (network, operations, buffer * 2)]
    (found,) = emu.operations(lists.__getitem__, new=False)
    assert (found.power, found.scale, found.shift) == (2.0, 3.0, 4.0)
    assert found.src.format == emu.EmuFormat.FF16
    assert (found.src.channel, found.src.offset) == (10, 0)
