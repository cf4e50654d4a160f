"""Checkpoints (dpu_checkpoint.h): a DPU's state in a context, and a context in bytes.

The bytes are those of the SDK: a head of four words, six sizes, then each array of the context and
what it says of faults, without gaps (``dpu_debug.c`` of SDK 2023 to 2025).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ...constants.upmem import dpu_checkpoint_flags_t
from ...core.pages import accessible
from ..embedding import address, ffi
from . import contexts, debugger, memory
from .family import DPU, Status, allocate, error, invalid_set, result, upmem

_MAGIC, _CHIP, _VERSION = 0xFABDDBAF, 18, 3
_HEAD = struct.Struct("<4I6I")
_TAIL = struct.Struct("<3?3BI")
_BEFORE = ("registers", "pcs", "atomic_register", "zero_flags", "carry_flags")


def _one(given: Any) -> Any:
    if given.kind != DPU:
        raise invalid_set("checkpoints are of a set of one DPU, as DPU_FOREACH gives them")
    return given.dpu


@upmem.export("dpu_checkpoint_save")
def save(given: Any, flags: int, context: Any) -> None:
    """Stops the DPU, if it runs, and leaves it stopped."""
    dpu, into = _one(given), contexts.checked(context)
    contexts.fill_from(into, debugger.looked_into(dpu).dpu.rank)
    try:
        if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_INTERNAL:
            debugger.initialize_fault_process_for_dpu(dpu, into, 0)
            debugger.extract_context_for_dpu(dpu, into)
        if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_IRAM:
            size = _room(into, "iram")
            debugger.copy_from_iram_for_dpu(dpu, into.iram, 0, size)
        if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_MRAM:
            size = _room(into, "mram")
            memory.copy_from_mram(dpu, into.mram, 0, size)
        if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_WRAM:
            size = _room(into, "wram")
            memory.copy_from_wram_for_dpu(dpu, into.wram, 0, size)
    except BaseException:
        contexts.free(into)
        raise


def _room(context: Any, name: str) -> int:
    """Makes the array of one memory; its elements."""
    size = contexts.count(context, name)
    made = allocate(size * contexts.width(context, name))
    setattr(context, name, ffi.cast(ffi.typeof(getattr(context, name)), made))
    return size


@upmem.export("dpu_checkpoint_restore")
def restore(given: Any, flags: int, context: Any) -> None:
    """dpu_finalize_fault_process_for_dpu lets the DPU go on from there."""
    dpu, source = _one(given), contexts.checked(context)
    for name, flag in (
        ("iram", dpu_checkpoint_flags_t.DPU_CHECKPOINT_IRAM),
        ("mram", dpu_checkpoint_flags_t.DPU_CHECKPOINT_MRAM),
        ("wram", dpu_checkpoint_flags_t.DPU_CHECKPOINT_WRAM),
    ):
        if flags & flag and not getattr(source, name):
            raise error(
                Status.DPU_ERR_INTERNAL,
                f"the context has no {name.upper()}: it was saved without {flag.name}",
            )
    if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_INTERNAL:
        debugger.restore_context_for_dpu(dpu, source)
    if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_IRAM:
        debugger.copy_to_iram_for_dpu(dpu, 0, source.iram, source.info.iram_size)
    if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_MRAM:
        memory.copy_to_mram(dpu, 0, source.mram, source.info.mram_size)
    if flags & dpu_checkpoint_flags_t.DPU_CHECKPOINT_WRAM:
        memory.copy_to_wram_for_dpu(dpu, 0, source.wram, source.info.wram_size)


def _held(context: Any, name: str) -> int:
    """Elements of a memory that was saved."""
    return contexts.count(context, name) if getattr(context, name) else 0


@upmem.export("dpu_checkpoint_get_serialized_context_size", status=False, failure=0)
def serialized_size(context: Any) -> int:
    given = contexts.checked(context)
    memories = sum(_held(given, n) * contexts.width(given, n) for n in contexts.MEMORIES)
    arrays = (*_BEFORE, "scheduling")
    rest = sum(contexts.count(given, n) * contexts.width(given, n) for n in arrays)
    return _HEAD.size + memories + rest + 1 + _TAIL.size


@upmem.export("dpu_checkpoint_serialize")
def serialize(context: Any, serialized_context: Any, serialized_context_size: Any) -> None:
    """Into memory of the caller, or of malloc where the pointer is NULL."""
    result(serialized_context, "serialized_context")
    result(serialized_context_size, "serialized_context_size")
    given = contexts.checked(context)
    size = serialized_size(given)
    if not serialized_context[0]:
        serialized_context[0] = ffi.cast("uint8_t *", allocate(size))
        serialized_context_size[0] = size
    elif serialized_context_size[0] != size:
        raise error(
            Status.DPU_ERR_INVALID_BUFFER_SIZE,
            f"the buffer has {serialized_context_size[0]} bytes; this context needs {size}",
        )
    _write(given, ffi.buffer(serialized_context[0], size))


def as_bytes(context: Any) -> bytes:
    """A context, serialized."""
    given = contexts.checked(context)
    made = bytearray(serialized_size(given))
    _write(given, made)
    return bytes(made)


def _write(given: Any, out: Any) -> None:
    info = given.info
    sizes = (info.nr_threads, info.nr_registers, info.nr_atomic_bits,
             *(_held(given, name) for name in contexts.MEMORIES))  # fmt: skip
    out[: _HEAD.size] = _HEAD.pack(_MAGIC, _CHIP, _VERSION, _MAGIC, *sizes)
    at = _HEAD.size

    def put(data: Any) -> None:
        nonlocal at
        out[at : at + len(data)] = data
        at += len(data)

    for name in contexts.MEMORIES:
        length = _held(given, name) * contexts.width(given, name)
        if length:
            put(ffi.buffer(getattr(given, name), length))
    for name in _BEFORE:
        put(contexts.array(given, name).tobytes())
    put(bytes([given.nr_of_running_threads]))
    put(contexts.array(given, "scheduling").tobytes())
    put(_TAIL.pack(
        given.bkp_fault, given.dma_fault, given.mem_fault, given.bkp_fault_thread_index,
        given.dma_fault_thread_index, given.mem_fault_thread_index, given.bkp_fault_id,
    ))  # fmt: skip


def _damaged(why: str) -> Exception:
    return error(Status.DPU_ERR_ELF_INVALID_FILE, f"no serialized context: {why}")


@upmem.export("dpu_checkpoint_deserialize")
def deserialize(source: Any, size: int, context: Any) -> None:
    into = contexts.checked(context)
    if size < _HEAD.size or not accessible(address(source), size):
        raise _damaged(f"{size} bytes at {address(source):#x}")
    data = ffi.buffer(source, size)
    head = _HEAD.unpack(data[: _HEAD.size])
    if head[:4] != (_MAGIC, _CHIP, _VERSION, _MAGIC):
        raise _damaged("its first words are " + " ".join(f"{word:#x}" for word in head[:4]))
    threads, registers, bits, *memories = head[4:]
    if threads > 0xFF or registers > 0xFF or bits > 0xFFFF or memories[0] > 0xFFFF:
        raise _damaged(f"{threads} threads of {registers} registers, {bits} atomic bits")
    contexts.fill(
        into, threads, registers, bits, dict(zip(contexts.MEMORIES, memories, strict=True))
    )
    try:
        _read(into, data, size)
    except BaseException:
        contexts.free(into)
        raise


def _read(into: Any, data: Any, size: int) -> None:
    at = _HEAD.size

    def get(length: int) -> bytes:
        nonlocal at
        if at + length > size:
            raise _damaged(f"it ends after {size} bytes, within what it announces")
        at += length
        return bytes(data[at - length : at])

    for name in contexts.MEMORIES:
        length = contexts.count(into, name) * contexts.width(into, name)
        if length:
            piece = get(length)
            _room(into, name)
            ffi.memmove(getattr(into, name), piece, length)
    for name in _BEFORE:
        where = contexts.array(into, name).view(np.uint8)
        where[:] = np.frombuffer(get(len(where)), np.uint8)
    into.nr_of_running_threads = get(1)[0]
    scheduling = contexts.array(into, "scheduling")
    scheduling[:] = np.frombuffer(get(len(scheduling)), np.uint8)
    (into.bkp_fault, into.dma_fault, into.mem_fault, into.bkp_fault_thread_index,
     into.dma_fault_thread_index, into.mem_fault_thread_index,
     into.bkp_fault_id) = _TAIL.unpack(get(_TAIL.size))  # fmt: skip


@upmem.export("dpu_checkpoint_free")
def free(context: Any) -> None:
    contexts.free(contexts.checked(context))
