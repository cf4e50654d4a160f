"""Checking that the lists of a loadable agree with each other.

Source: nvdla/sw ``Runtime.cpp`` (how entries refer to each other).
"""

from __future__ import annotations

from .errors import BadLoadable, Status
from .tables import (
    AddressEntry,
    Blob,
    Interface,
    MemoryDomain,
    MemoryEntry,
    MemoryFlags,
    RelocEntry,
    SubmitEntry,
    TaskEntry,
    TensorDesc,
)

MAX_MEMORY_BYTES = 1 << 32
"""Largest total of memory_list sizes that is accepted (the simulator allocates host memory)."""


def _index(what: str, value: int, count: int, of: str) -> None:
    if not 0 <= value < count:
        raise BadLoadable(f"{what} = {value}: only {count} {of}")


def check_memories(
    memories: tuple[MemoryEntry, ...], blobs: dict[str, Blob], tensors: tuple[TensorDesc, ...]
) -> None:
    total = 0
    for index, entry in enumerate(memories):
        what = f"memory_list[{index}]"
        total += entry.size
        if total > MAX_MEMORY_BYTES:
            raise BadLoadable(
                f"{what}.size = {entry.size}: the memories need more than"
                f" {MAX_MEMORY_BYTES >> 20} MiB together",
                Status.INSUFFICIENT_MEMORY,
            )
        if entry.domain not in (MemoryDomain.SYSTEM, MemoryDomain.SRAM):
            raise BadLoadable(f"{what}.domain = {entry.domain}: 0 (system) or 1 (SRAM) expected")
        if entry.bindable:
            _index(
                f"{what}.tensor_desc_id", entry.tensor_desc_id, len(tensors), "tensor descriptors"
            )
            tensor = tensors[entry.tensor_desc_id]
            if not tensor.size:
                raise BadLoadable(
                    f"tensor_desc_list[{entry.tensor_desc_id}] ({tensor.name!r}).size = 0: a tensor"
                    " that is bound has at least one byte"
                )
        if entry.flags & MemoryFlags.SET and not entry.bindable:
            _check_contents(what, entry, blobs)


def _check_contents(what: str, entry: MemoryEntry, blobs: dict[str, Blob]) -> None:
    if len(entry.contents) != len(entry.offsets):
        raise BadLoadable(
            f"{what}: {len(entry.contents)} contents but {len(entry.offsets)} offsets"
        )
    filled = 0
    for position, (name, offset) in enumerate(zip(entry.contents, entry.offsets, strict=True)):
        if name not in blobs:
            raise BadLoadable(f"{what}.contents[{position}] = {name!r}: there is no such blob")
        end = offset + blobs[name].size
        filled += blobs[name].size
        if end > entry.size:
            raise BadLoadable(
                f"{what}.offsets[{position}] = {offset}: blob {name!r} ends at {end},"
                f" the memory has {entry.size} bytes"
            )
    if filled > entry.size:
        raise BadLoadable(f"{what}: its blobs overlap ({filled} bytes into {entry.size})")


def check_references(
    tasks: tuple[TaskEntry, ...],
    memories: tuple[MemoryEntry, ...],
    addresses: tuple[AddressEntry, ...],
    tensors: tuple[TensorDesc, ...],
    submits: tuple[SubmitEntry, ...],
    relocs: tuple[RelocEntry, ...],
) -> None:
    for label, entries in (
        ("submit_list", submits),
        ("task_list", tasks),
        ("memory_list", memories),
    ):
        if not entries:
            raise BadLoadable(f"{label} is empty: a loadable needs a task to submit and memory")
    for index, address in enumerate(addresses):
        what = f"address_list[{index}]"
        _index(f"{what}.mem_id", address.mem_id, len(memories), "memories")
        size = memories[address.mem_id].size
        if address.offset > size:
            raise BadLoadable(
                f"{what}.offset = {address.offset}: memory {address.mem_id} has {size} bytes"
            )
    for index, task in enumerate(tasks):
        if task.interface not in (Interface.DLA1, Interface.EMU1):
            raise BadLoadable(
                f"task_list[{index}].interface = {task.interface}: 1 (DLA) or 2 (EMU) expected"
            )
        if not task.address_list:
            raise BadLoadable(f"task_list[{index}].address_list is empty: entry 0 is the network")
        for position, value in enumerate(task.address_list):
            name = f"task_list[{index}].address_list[{position}]"
            _index(name, value, len(addresses), "addresses")
    for index, submit in enumerate(submits):
        for position, value in enumerate(submit.task_id):
            _index(f"submit_list[{index}].task_id[{position}]", value, len(tasks), "tasks")
    for index, tensor in enumerate(tensors):
        _check_tensor(f"tensor_desc_list[{index}]", tensor, memories)
    for index, reloc in enumerate(relocs):
        name = f"reloc_list[{index}]"
        _index(f"{name}.address_id", reloc.address_id, len(addresses), "addresses")
        _index(f"{name}.write_id", reloc.write_id, len(memories), "memories")


def _check_tensor(what: str, tensor: TensorDesc, memories: tuple[MemoryEntry, ...]) -> None:
    _index(f"{what}.mem_id", tensor.mem_id, len(memories), "memories")
    for name in "nchw":
        value = getattr(tensor, name)
        if not 0 < value <= 65536:
            raise BadLoadable(f"{what}.{name} = {value}: 1..65536 expected")
    size = memories[tensor.mem_id].size
    if tensor.offset + tensor.size > size:
        raise BadLoadable(
            f"{what}.size = {tensor.size}: with offset {tensor.offset} it does not fit into"
            f" memory {tensor.mem_id} of {size} bytes"
        )
