"""What loadables of the ONNX compiler say of themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.nvdla.annotation import (
    BLOB,
    GENERATION,
    Annotation,
    OperationNote,
    PlaceNote,
    PortNote,
    read,
)
from cudla_sim.nvdla.build.container import Container
from cudla_sim.nvdla.errors import BadLoadable
from cudla_sim.nvdla.loadable import Interface, Loadable

names = st.text(max_size=12)
sizes = st.integers(1, 8192)
shapes = st.tuples(sizes, sizes, sizes, sizes)
scales = st.none() | st.floats(2**-126, 1e30)


def port(value: tuple[int, int, int, int], flat: bool, cut: bool, seed: int, **rest) -> PortNote:
    """Shape, value and split have the same elements; the order is one of the split's axes."""
    n, c, h, w = value
    split = (n, c, 1, h, w) if cut else ()
    order = np.random.default_rng(seed).permutation(len(split or value)).tolist()
    shape = (n * c * h * w,) if flat else value
    return PortNote(shape=shape, value=value, split=split, order=tuple(order), **rest)


ports = st.builds(
    port,
    name=names,
    value=shapes,
    flat=st.booleans(),
    cut=st.booleans(),
    seed=st.integers(0, 99),
    dtype=st.sampled_from(["float32", "float16", "uint8"]),
    scale=scales,
    zero=st.integers(-128, 127),
    integer_scale=scales,
    integer_zero=st.integers(0, 255),
)
places = st.builds(
    PlaceNote,
    name=names,
    value=shapes,
    operations=st.lists(st.integers(0, 70000), min_size=1, max_size=3).map(tuple),
    address=st.integers(0, 6143),
    offset=st.integers(0, 2**40),
    line=sizes,
    surface=sizes,
    precision=st.sampled_from(["int8", "int16", "fp16"]),
    scale=scales,
    channels=st.none() | st.lists(sizes, max_size=4).map(tuple),
)
annotations = st.builds(
    Annotation,
    inputs=st.lists(ports, max_size=2).map(tuple),
    outputs=st.lists(ports, max_size=2).map(tuple),
    operations=st.lists(
        st.builds(OperationNote, index=sizes, nodes=st.lists(names, max_size=3).map(tuple)),
        max_size=3,
    ).map(tuple),
    places=st.lists(places, max_size=3).map(tuple),
    options=st.dictionaries(names, names, max_size=2),
)


@given(annotations)
def test_what_is_written_is_read(note: Annotation) -> None:
    assert Annotation.decode(note.encode()) == note


def test_it_travels_in_a_blob_of_no_interface_and_no_memory() -> None:
    note = Annotation(
        inputs=(PortNote(name="x", shape=(3,), value=(1, 3, 1, 1), scale=0.5),), outputs=()
    )
    container = _container()
    container.blob(BLOB, note.encode())
    loadable = Loadable.parse(container.finish())
    assert read(loadable) == note
    assert loadable.blobs[BLOB].interface == Interface.NONE
    assert not any(BLOB in memory.contents for memory in loadable.memories)


def test_a_loadable_of_others_has_none() -> None:
    assert read(Loadable.parse(_container().finish())) is None


def _container() -> Container:
    """The least that is a loadable."""
    container = Container()
    container.task(Interface.EMU1, [container.memory(4096)])
    return container


def test_numbers_of_numpy_are_numbers() -> None:
    port = PortNote(name="x", shape=(3,), value=(1, 3, 1, 1), scale=float(np.float32(0.5)), zero=0)
    same = PortNote(
        name="x",
        shape=(np.int64(3),),  # type: ignore[arg-type]
        value=(1, 3, 1, 1),
        scale=np.float32(0.5),  # type: ignore[arg-type]
        zero=np.int8(0),  # type: ignore[arg-type]
    )
    one, other = (Annotation(inputs=(item,), outputs=()).encode() for item in (port, same))
    assert one == other


def test_unknown_members_are_left_out() -> None:
    raw = json.loads(Annotation(inputs=(), outputs=()).encode())
    raw["places"] = [{"colour": 3, **json.loads(json.dumps(_place()))}]
    assert Annotation.decode(json.dumps(raw).encode()).places[0].name == "y"


def _place() -> dict[str, object]:
    return {
        "name": "y",
        "value": [1, 1, 1, 1],
        "operations": [0],
        "address": 2,
        "offset": 0,
        "line": 32,
        "surface": 32,
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[]", "cannot be read"),
        (b"{}", "no 'generation'"),
        (json.dumps({"generation": GENERATION + 1}).encode(), f"reads {GENERATION}"),
        (b'{"generation":1,"inputs":[{}],"outputs":[]}', "missing"),
        (b'{"generation":1,"inputs":[3],"outputs":[]}', "cannot be read"),
    ],
)
def test_broken_ones_say_why(data: bytes, reason: str) -> None:
    with pytest.raises(BadLoadable, match=reason):
        Annotation.decode(data)
