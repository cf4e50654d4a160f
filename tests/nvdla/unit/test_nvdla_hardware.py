"""Where a chip does other than its registers seem to say: as the RTL, or an explained error."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.descriptors import SURFACE_SIZE
from cudla_sim.nvdla.errors import KmdError, NvdlaError
from cudla_sim.nvdla.facts import cbuf
from cudla_sim.nvdla.facts.configs import CONFIGS, config
from cudla_sim.nvdla.facts.pooling import begun, covered, pending, spoils
from cudla_sim.nvdla.kmd.firmware import FirmwareEngine
from cudla_sim.nvdla.kmd.list_port import ListPort
from cudla_sim.nvdla.layout import pack_weights


def two_convolutions() -> bytes:
    """Two convolutions with the same banks, whose kernels do not fill 128 bytes."""
    rng = np.random.default_rng(1)
    net = Network(input=("x", (1, 8, 4, 4)), precision="int8", config="nv_small")
    net.conv2d(rng.normal(size=(3, 8, 1, 1)))
    net.conv2d(rng.normal(size=(5, 3, 1, 1)))
    return net.build(calibration=rng.normal(size=(1, 8, 4, 4)))


def run(data: bytes, behaviour: str, times: int = 1) -> np.ndarray:
    """The output after some runs."""
    loadable = Loadable.parse(data)
    space = AddressSpace("memory")
    net = LoadedNetwork(loadable, space, "nv_small")
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    source.data[:] = np.arange(len(source.data)) * 37 % 251
    core = Core("nv_small", behaviour=behaviour)
    for _ in range(times):
        core.run(net, [source.base], [target.base])
    return target.data.copy()


def padded(data: bytes, number: int, size: int) -> bytes:
    """The loadable with another size of the weights of convolution *number*."""
    loadable = Loadable.parse(data)
    wanted = [
        (3 * 8, 24),
        (5 * 3, 16),
    ][number][1]
    changed = bytearray(data)
    for blob in loadable.blobs.values() if isinstance(loadable.blobs, dict) else loadable.blobs:
        raw = bytes(blob.data)
        if len(raw) % SURFACE_SIZE or "surf" not in blob.name.lower():
            continue
        at = data.find(raw)
        for first in range(0, len(raw), SURFACE_SIZE):
            place = at + first
            # weight is the first cube: type and address (2 bytes each), offset, size (4 each)
            if int.from_bytes(changed[place + 8 : place + 12], "little") == wanted:
                changed[place + 8 : place + 12] = size.to_bytes(4, "little")
                return bytes(changed)
    raise AssertionError("no such convolution")


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_weights_fill_entries_of_the_buffer(name: str) -> None:
    entry = {"nv_full": 128, "nv_large": 64, "nv_small": 8}.get(name, 32)
    packed = pack_weights(np.ones((5, 20, 5, 1), np.int8), config(name), 0)
    assert len(packed) == -(-500 // entry) * entry
    assert cbuf.weight_bytes(config(name), 500) == len(packed)


def test_weights_that_no_kernel_takes_must_fit_into_the_buffer() -> None:
    """CDMA is not done before it has fetched them all."""
    with pytest.raises(NvdlaError, match=r"do not fit into .* and it waits for room"):
        run(padded(two_convolutions(), 0, 1 << 28), "strict")


def test_entries_over_shift_the_weights_of_the_next_convolution() -> None:
    data = two_convolutions()
    right = run(data, "strict")
    shifted = padded(data, 0, 128)
    with pytest.raises(NvdlaError, match="104 bytes of weights were left in the buffer"):
        run(shifted, "strict")
    assert (run(shifted, "chip") != right).any()
    found = check(Loadable.parse(shifted), "nv_small")
    assert [item.field for item in found] == ["surface.weight.size"]


def test_what_the_last_convolution_leaves_meets_the_next_run() -> None:
    data = padded(two_convolutions(), 1, 24)
    run(data, "strict")
    with pytest.raises(NvdlaError, match="8 bytes of weights were left"):
        run(data, "strict", 2)


def test_missing_weights_are_waited_for() -> None:
    with pytest.raises(NvdlaError, match=r"WEIGHT_BYTES is 16; 3 kernels take 24"):
        run(padded(two_convolutions(), 0, 16), "chip")


class Uncleared(ListPort):
    """A chip whose convolution buffer is never cleared, or after some reads."""

    def __init__(self, core: Core, entries, address: int, reads: int) -> None:
        super().__init__(core.chip, entries)
        self.left, self.seen, self._address = reads, 0, address

        def read(place: int) -> int:
            if place != address:
                return core.chip.read(place)
            self.seen += 1
            return int(self.seen > self.left)

        self.reg_read = read


def started(reads: int) -> Uncleared:
    """A task that was started on a chip whose buffer is cleared after some reads."""
    loadable = Loadable.parse(two_convolutions())
    space = AddressSpace("memory")
    net = LoadedNetwork(loadable, space, "nv_small")
    memory = [space.allocate(t.size, name=t.name) for t in (*loadable.inputs, *loadable.outputs)]
    task = next(item for item in loadable.tasks if item.interface == 1)
    entries = net.entries(task, net.bind([memory[0].base], [memory[1].base]))
    port = Uncleared(Core("nv_small"), entries, 0x300C, reads)
    FirmwareEngine(port, net.config, loadable.new_layout).execute_task()
    return port


@pytest.mark.parametrize("reads", [0, 1, 500])
def test_firmware_waits_until_the_buffer_is_cleared(reads: int) -> None:
    assert started(reads).seen == reads + 1


def test_firmware_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudla_sim.nvdla.kmd.scheduler._FLUSH_READS", 100)
    with pytest.raises(KmdError, match="never cleared"):
        started(10**9)


# Each line was tried on the RTL (nv_small, 16 channels): size, kernel, stride, pads before and
# behind, and whether the result was right.
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "before", "behind", "right"),
    [
        (6, 6, 4, 2, 4, False), (12, 4, 3, 0, 3, False), (6, 4, 2, 3, 2, False),
        (8, 8, 2, 7, 4, False), (9, 3, 2, 1, 2, False), (6, 5, 4, 4, 4, False),
        (8, 5, 3, 1, 3, False), (4, 4, 6, 2, 3, True), (9, 4, 4, 1, 1, True),
        (7, 5, 8, 3, 1, True), (5, 4, 5, 0, 2, True), (8, 3, 2, 0, 1, True),
    ],
)  # fmt: skip
def test_pads_behind_the_input(size, kernel, stride, before, behind, right) -> None:
    there, expected = pending(size, kernel, stride, before, behind)
    assert (there == expected) == right


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "before", "right"),
    [
        (5, 8, 3, 5, False), (2, 5, 3, 4, False), (4, 5, 2, 4, False), (2, 6, 3, 5, False),
        (5, 3, 2, 1, True), (7, 3, 2, 2, True), (1, 2, 3, 1, True),
    ],
)  # fmt: skip
def test_windows_that_begin_in_the_pad(size, kernel, stride, before, right) -> None:
    output = (size + before - kernel) // stride + 1
    assert begun(output, stride, before) != right


def pooling(height: int, width: int, kernel: tuple[int, int], stride: tuple[int, int]) -> bool:
    """Whether a pooling without pads disturbs those after it."""
    lines, columns = (height - kernel[0]) // stride[0] + 1, (width - kernel[1]) // stride[1] + 1
    axes = ((height, kernel[0], stride[0], 0, 0), (width, kernel[1], stride[1], 0, 0))
    return spoils(axes[0], lines, axes[1], columns)


def test_lines_that_no_window_takes() -> None:
    """Tried on the RTL: the same pooling three times without a reset."""
    assert pooling(5, 1, (2, 1), (2, 1))
    assert pooling(9, 2, (4, 2), (4, 2))
    assert pooling(11, 3, (4, 1), (3, 1))
    assert not pooling(5, 5, (2, 2), (2, 2))
    assert not pooling(13, 13, (2, 2), (2, 2))
    assert not pooling(8, 4, (2, 1), (3, 2))


@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 4])
def test_what_windows_cover(kernel: int, stride: int) -> None:
    for size in range(kernel, 12):
        for before in range(kernel):
            for output in range(1, (size + before + kernel - 1 - kernel) // stride + 2):
                touched = {
                    at * stride - before + tap for at in range(output) for tap in range(kernel)
                }
                lines, behind = covered(size, output, kernel, stride, before)
                assert lines == min(max(touched) + 1, size)
                assert behind == max(max(touched) + 1 - size, 0)


def test_loadables_of_the_builder_pass_the_checker() -> None:
    rng = np.random.default_rng(3)
    net = Network(input=("x", (1, 12, 9, 6)), precision="int8", config="nv_small")
    net.max_pool((2, 3), (2, 3), (0, 1, 0, 2))
    net.avg_pool((3, 2), (2, 1), (1, 2, 0, 1))
    data = net.build(calibration=rng.normal(size=(1, 12, 9, 6)))
    assert check(Loadable.parse(data), "nv_small") == []
