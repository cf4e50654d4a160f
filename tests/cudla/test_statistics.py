"""Layerwise statistics: buffers, the export table, and the CSV."""

from __future__ import annotations

import csv
import ctypes
import io
import types
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.cudla.device import layer_name
from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from cudla_sim.testing import prototypes as p

from .driver import HYBRID, Client, Sync, check, pointer

_TRANSLATE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_int,
    ctypes.c_void_p,
)


class _Table(ctypes.Structure):
    _fields_ = (("translate", _TRANSLATE), ("translate_for_module", ctypes.c_void_p))


def table(client: Client) -> _Table:
    where = ctypes.POINTER(_Table)()
    check(client.api.cudlaGetExternalExportTable(ctypes.byref(where), 0))
    return where.contents


def translate(client: Client, data: ctypes.Array[ctypes.c_char], mhz: int = 1000) -> str:
    """What a program does: ask for the length, allocate, ask for the text."""
    entry, answer = table(client).translate, p.cudlaTranslateCsvAttribute_t()
    check(entry(client.device, ctypes.addressof(data), mhz, 0, 0, ctypes.addressof(answer)))
    text = ctypes.create_string_buffer(b"\xee" * answer.csvStreamLength, answer.csvStreamLength)
    answer.csvStreamStats = ctypes.addressof(text)
    check(entry(client.device, ctypes.addressof(data), mhz, 0, 1, ctypes.addressof(answer)))
    assert text.raw.endswith(b"\0"), "the length counts the terminating zero"
    return text.value.decode()


def run_with_statistics(client: Client, digits: bytes) -> ctypes.Array[ctypes.c_char]:
    check(client.load(digits))
    inputs = [client.allocate(d.size) for d in client.descriptors(2)]
    outputs = [client.allocate(d.size) for d in client.descriptors(3)]
    outputs += [client.allocate(d.size, flags=2) for d in client.descriptors(5)]
    if client.mode == HYBRID:
        check(client.submit(client.task(inputs, outputs)))
        check(client.api.cudaDeviceSynchronize())
    else:
        done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
        check(client.submit(client.task(inputs, outputs, None, [(done, fence, 1)])))
        check(done.wait(fence))
    return ctypes.create_string_buffer(outputs[-1].array.tobytes(), outputs[-1].array.size)


def test_hardware_time_is_cycles_at_the_clock_that_is_said(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    """The same figures as ``cudla-sim nvdla time``, in every run."""
    sim.configure(time="hardware")
    texts = set()
    for _ in range(2):
        made = client()
        data = run_with_statistics(made, digits)
        texts.add((translate(made, data, mhz=1000), translate(made, data, mhz=500)))
        check(made.api.cudlaDestroyDevice(made.device))
    ((fast, slow),) = texts
    expected = runs.loadable(Loadable.parse(digits), "", "nv_full", Surroundings()).operations
    for text, per_ms in ((fast, 1e6), (slow, 5e5)):
        rows = list(csv.reader(io.StringIO(text), quotechar="'"))[1:]
        found = [(float(a) * per_ms, float(b) * per_ms) for _, a, b in rows]
        first = expected[0].start
        assert found == [
            (pytest.approx(o.start - first, abs=0.6), pytest.approx(o.end - first, abs=0.6))
            for o in expected
        ]


def test_a_block_of_tasks_is_timed(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    sim.configure(clock=500)
    made = client()
    with sim.time() as found:
        run_with_statistics(made, digits)
    expected = runs.loadable(Loadable.parse(digits), "", "nv_full", Surroundings()).cycles
    assert found.cycles == expected
    assert found.milliseconds == pytest.approx(expected / 500e3)
    check(made.api.cudlaDestroyDevice(made.device))


def test_a_layer_is_named_by_its_units_and_their_operations() -> None:
    """Where an operation of each unit is known; the units alone where not."""
    layer = types.SimpleNamespace(unit="CONV+SDP", operations=(4, 5), shapes="1x2x2 -> 3x2x2")
    assert layer_name(layer) == "CONV_4 + SDP_5 [1x2x2 -> 3x2x2]"  # type: ignore[arg-type]
    layer.operations = ()
    assert layer_name(layer) == "CONV + SDP [1x2x2 -> 3x2x2]"  # type: ignore[arg-type]


def test_csv_has_a_row_per_layer_in_order(either: Client, digits: bytes) -> None:
    text = translate(either, run_with_statistics(either, digits))
    rows = list(csv.reader(io.StringIO(text), quotechar="'"))
    assert rows[0] == ["layer_name", "start_ms", "end_ms"]
    # Two convolutions with pooling after each, then the fully connected layer.
    names = [name for name, _, _ in rows[1:]]
    assert sum(n.startswith("CONV") for n in names) == 3
    assert sum("PDP" in n for n in names) == 2
    times = np.array([[float(a), float(b)] for _, a, b in rows[1:]])
    assert times[0, 0] == 0
    assert (times[:, 0] <= times[:, 1]).all()
    assert (np.diff(times[:, 0]) >= 0).all()


def test_statistics_memory_must_be_registered_as_such(either: Client, digits: bytes) -> None:
    check(either.load(digits))
    inputs = [either.allocate(d.size) for d in either.descriptors(2)]
    outputs = [either.allocate(d.size) for d in either.descriptors(3) + either.descriptors(5)]
    assert either.submit(either.task(inputs, outputs)) == S.cudlaErrorInvalidParam


def test_translation_arguments(either: Client, digits: bytes) -> None:
    data = run_with_statistics(either, digits)
    entry, answer = table(either).translate, p.cudlaTranslateCsvAttribute_t()
    where, out = ctypes.addressof(data), ctypes.addressof(answer)
    invalid = S.cudlaErrorInvalidParam
    assert entry(None, where, 1000, 0, 0, out) == invalid
    assert entry(either.device, None, 1000, 0, 0, out) == invalid
    assert entry(either.device, where, 0, 0, 0, out) == invalid
    assert entry(either.device, where, 1000, 0, 0, None) == invalid
    assert entry(either.device, where, 1000, 0, 2, out) == invalid
    blank = ctypes.create_string_buffer(len(data))
    assert entry(either.device, ctypes.addressof(blank), 1000, 0, 0, out) == S.cudlaErrorUmd


def test_table_arguments(client: Callable[..., Client]) -> None:
    api, where = client().api, pointer()
    assert api.cudlaGetExternalExportTable(None, 0) == S.cudlaErrorInvalidParam
    assert api.cudlaGetExternalExportTable(ctypes.byref(where), 1) == S.cudlaErrorInvalidParam


@pytest.mark.parametrize("extra", [1, 2])
def test_statistics_are_optional_but_whole(either: Client, digits: bytes, extra: int) -> None:
    check(either.load(digits))
    inputs = [either.allocate(d.size) for d in either.descriptors(2)]
    outputs = [either.allocate(d.size) for d in either.descriptors(3)]
    stats = [either.allocate(d.size, flags=2) for d in either.descriptors(5)]
    status = either.submit(either.task(inputs, outputs + stats * extra))
    assert status == (0 if extra == 1 else S.cudlaErrorInvalidParam)
    either.api.cudaDeviceSynchronize()
