"""Reading loadables: cross-check with the flatbuffers package, and every kind of wrong input."""

from __future__ import annotations

import struct

import flatbuffers
import pytest

from cudla_sim.nvdla import BadLoadable, Loadable, Status
from cudla_sim.nvdla.loadable import MemoryFlags


class Builder(flatbuffers.Builder):
    """Writes tables from (slot, kind, value) lists."""

    def table(self, fields: list[tuple[int, str, object]]) -> int:
        self.StartObject(20)
        for slot, kind, value in fields:
            if kind == "ref":
                self.PrependUOffsetTRelativeSlot(slot, value, 0)
            elif kind == "version":
                self.Prep(1, 3)
                for number in reversed(value):
                    self.PrependUint8(number)
                self.PrependStructSlot(slot, self.Offset(), 0)
            else:
                getattr(self, f"Prepend{kind}Slot")(slot, value, 0)
        return self.EndObject()

    def refs(self, items: list[int]) -> int:
        self.StartVector(4, len(items), 4)
        for item in reversed(items):
            self.PrependUOffsetTRelative(item)
        return self.EndVector()

    def shorts(self, items: list[int]) -> int:
        self.StartVector(2, len(items), 2)
        for item in reversed(items):
            self.PrependUint16(item)
        return self.EndVector()

    def longs(self, items: list[int]) -> int:
        self.StartVector(8, len(items), 8)
        for item in reversed(items):
            self.PrependUint64(item)
        return self.EndVector()


def make(**change) -> bytes:
    """A loadable with one DLA task; keyword arguments change single values."""
    b = Builder(256)
    content = change.get("content", bytes(40))
    blob = b.table(
        [
            (0, "ref", b.CreateString("task-0-addr0")),
            (1, "Uint64", change.get("blob_size", len(content))),
            (2, "Uint32", change.get("interface", 1)),
            (3, "Uint32", 1),
            (4, "version", change.get("blob_version", (0, 12, 3))),
            (5, "ref", b.CreateByteVector(content)),
        ]
    )
    names = b.refs([b.CreateString(change.get("contents", "task-0-addr0"))])
    offsets = b.longs([change.get("content_offset", 0)])
    memories = [
        b.table(
            [
                (0, "Uint16", 0),
                (1, "Uint8", change.get("domain", 0)),
                (2, "Uint16", 3),
                (3, "Uint64", change.get("memory_size", 64)),
                (4, "Uint32", 4096),
                (5, "ref", names),
                (6, "ref", offsets),
            ]
        )
    ]
    for bind in change.get("bind_ids", (0, 1)):
        memories.append(
            b.table(
                [
                    (0, "Uint16", len(memories)),
                    (2, "Uint16", 5),
                    (3, "Uint64", 128),
                    (7, "Uint16", bind),
                    (8, "Uint16", change.get("tensor_desc_id", 0)),
                ]
            )
        )
    tensor = b.table(
        [
            (0, "ref", b.CreateString("data")),
            (2, "Uint16", change.get("tensor_memory", 1)),
            (3, "Uint64", change.get("tensor_size", 128)),
            *(
                (slot, "Uint8", value)
                for slot, value in zip(range(5, 9), (3, 4, 2, 36), strict=True)
            ),
            *(
                (slot, "Int32", value)
                for slot, value in zip(range(10, 14), change.get("dims", (1, 3, 2, 2)), strict=True)
            ),
            *(
                (slot, "Uint32", value)
                for slot, value in zip(range(14, 17), (1, 64, 128), strict=True)
            ),
        ]
    )
    address = b.table(
        [(1, "Uint16", change.get("mem_id", 0)), (2, "Uint64", change.get("address_offset", 0))]
    )
    addresses = b.shorts(change.get("address_list", [0]))
    task = b.table(
        [(1, "Uint32", change.get("interface", 1)), (2, "Int16", -1), (3, "ref", addresses)]
    )
    submit = b.table([(1, "ref", b.shorts(change.get("task_id", [0])))])
    lists = {
        1: b.refs([task]),
        2: b.refs(memories),
        3: b.refs([address]),
        5: b.refs([blob]),
        6: b.refs([tensor]),
        8: b.refs([submit]),
    }
    fields = [(slot, "ref", lists[slot]) for slot in lists if slot not in change.get("without", ())]
    b.Finish(b.table([*fields, (0, "version", (0, 7, 0))]), change.get("identifier"))
    return bytes(b.Output())


def test_every_field_arrives() -> None:
    loadable = Loadable.parse(make())
    assert loadable.version == (0, 7, 0)
    assert loadable.interface_version == (0, 12, 3)
    assert loadable.new_layout
    assert [entry.size for entry in loadable.memories] == [64, 128, 128]
    assert loadable.memories[0].flags == MemoryFlags.ALLOC | MemoryFlags.SET
    assert loadable.memories[0].contents == ("task-0-addr0",)
    assert bytes(loadable.blobs["task-0-addr0"].data) == bytes(40)
    tensor = loadable.inputs[0]
    assert (tensor.name, tensor.n, tensor.c, tensor.h, tensor.w) == ("data", 1, 3, 2, 2)
    assert tensor.strides[:3] == (1, 64, 128)
    assert loadable.tasks[0].instance == -1


@pytest.mark.parametrize("version", [(0, 10, 0), (0, 11, 0), (1, 2, 0), (1, 3, 0)])
def test_old_interface_means_small_cubes(version: tuple[int, int, int]) -> None:
    """1.x are ONNC's numbers."""
    assert not Loadable.parse(make(blob_version=version)).new_layout


@pytest.mark.parametrize(("version", "new"), [((0, 0, 1), True), ((1, 2, 0), False)])
def test_layout_of_a_loadable_with_software_tasks_only(
    version: tuple[int, int, int], new: bool
) -> None:
    data = make(blob_version=version, interface=2)
    assert Loadable.parse(data).new_layout is new


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"tensor_desc_id": 77}, "memory_list[1].tensor_desc_id = 77: only 1 tensor descriptors"),
        ({"mem_id": 9}, "address_list[0].mem_id = 9: only 3 memories"),
        ({"address_offset": 65}, "address_list[0].offset = 65: memory 0 has 64 bytes"),
        ({"address_list": [4]}, "task_list[0].address_list[0] = 4: only 1 addresses"),
        ({"address_list": []}, "task_list[0].address_list is empty"),
        ({"task_id": [3]}, "submit_list[0].task_id[0] = 3: only 1 tasks"),
        ({"interface": 7}, "task_list[0].interface = 7"),
        ({"contents": "nobody"}, "memory_list[0].contents[0] = 'nobody': there is no such blob"),
        ({"content_offset": 30}, "blob 'task-0-addr0' ends at 70, the memory has 64 bytes"),
        ({"memory_size": 1 << 60}, "memory_list[0].size"),
        ({"domain": 5}, "memory_list[0].domain = 5"),
        ({"blob_size": 41}, "blobs[0].size = 41"),
        ({"tensor_size": 129}, "tensor_desc_list[0].size = 129"),
        ({"tensor_memory": 8}, "tensor_desc_list[0].mem_id = 8: only 3 memories"),
        ({"dims": (1, 0, 2, 2)}, "tensor_desc_list[0].c = 0"),
        ({"bind_ids": (0, 0)}, "memory_list[2].bind_id = 0: memory 1 has the same INPUT number"),
        ({"bind_ids": (0, 2)}, "leave out 1"),
        ({"without": (8,)}, "submit_list is empty"),
        ({"without": (1,)}, "task_list is empty"),
    ],
)
def test_contradictions_are_named(change: dict, text: str) -> None:
    with pytest.raises(BadLoadable) as caught:
        Loadable.parse(make(**change))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (b"ptrt", "TensorRT engine plan"),
        (b"\x7fELF", "ELF"),
        (b"P5\n28 28\n255\n", "PGM"),
        (b"PK\x03\x04", "zip"),
        (b"hello, this is only some text in a file", "text"),
    ],
)
def test_other_files_are_recognised(head: bytes, text: str) -> None:
    with pytest.raises(BadLoadable) as caught:
        Loadable.parse(head.ljust(64, b"\xff" if head[0] > 126 else b" "))
    assert text in str(caught.value)
    assert caught.value.code == Status.BAD_PARAMETER


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 20])
def test_short_files(size: int) -> None:
    with pytest.raises(BadLoadable):
        Loadable.parse(make()[:size])


def test_vector_length_that_lies_is_found() -> None:
    data = bytearray(make())
    where = data.find(b"task-0-addr0") - 4
    struct.pack_into("<I", data, where, 0xFFFFFFF0)
    with pytest.raises(BadLoadable):
        Loadable.parse(bytes(data))


@pytest.mark.slow
def test_one_table_that_is_shared_too_often_is_refused() -> None:
    b = Builder(256)
    blob = b.table([(0, "ref", b.CreateString("x"))])
    b.StartVector(4, 1 << 21, 4)
    for _ in range(1 << 21):
        b.PrependUOffsetTRelative(blob)
    many = b.EndVector()
    b.Finish(b.table([(5, "ref", many), (0, "version", (0, 7, 0))]))
    with pytest.raises(BadLoadable, match="more than"):
        Loadable.parse(bytes(b.Output()))


def test_file_identifier_does_not_matter() -> None:
    marked = make(identifier=b"NVDA")
    assert marked[4:8] == b"NVDA"
    assert Loadable.parse(marked).tensors == Loadable.parse(make()).tensors
