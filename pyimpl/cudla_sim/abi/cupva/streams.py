"""Streams and command buffers."""

from __future__ import annotations

import functools
from typing import Any

from ...core import process
from ...core.pages import accessible, is_memory
from ...cupva.batch import Batch
from ...cupva.commands import MAX_COMMANDS, Command, RunProgram
from ...cupva.statuses import Status
from ...cupva.stream import VPU0, VPU1, VPU_ANY, PvaEngine, Stream
from ..embedding import UINTPTR, address, ffi
from . import again
from .commands import statuses, the_command
from .family import Error, cupva, invalid, machine, object_of, put, result

STREAM, _BUFFER = "stream", "command buffer"
_stream = cupva.resolver(STREAM, "stream", Error.CUPVA_UNINITIALIZED_OBJECT)
_AFFINITIES = {1: VPU0, 2: VPU1, 3: VPU_ANY}
_IN_ORDER, _OUT_OF_ORDER = 1, 2
_MAX_NAME = 64
_STATUS = ffi.typeof("cupvaCmdStatus_t")


def engine_of(engine: int) -> PvaEngine:
    engines = machine().engines
    if not 1 <= engine <= len(engines):
        raise invalid(f"engine is {engine}; this machine has CUPVA_PVA0 (1) only")
    return engines[engine - 1]


def affinity_of(affinity: int) -> int:
    if affinity not in _AFFINITIES:
        raise invalid(f"affinity is {affinity}; CUPVA_VPU0 (1), VPU1 (2) and VPU_ANY (3) exist")
    return _AFFINITIES[affinity]


@cupva.export("CupvaStreamCreate")
def create(target: Any, engine: int, affinity: int) -> None:
    result(target, "stream")
    put(target, "cupvaStream_t", STREAM, Stream(engine_of(engine), affinity_of(affinity)))


@cupva.export("CupvaStreamDestroy")
def destroy(stream: Any) -> None:
    if stream:
        found: Stream = object_of(stream, STREAM, "stream")
        process.current().handles.remove(address(stream), STREAM, "CupvaStreamDestroy")
        found.synchronize()
        found.close()


def _commands(cmds: Any, count: int) -> list[Command]:
    if not 1 <= count <= MAX_COMMANDS:
        raise invalid(f"{count} commands; a submission has 1 to {MAX_COMMANDS}")
    if not accessible(address(cmds), 8 * count):
        raise invalid(f"cmds is not memory for {count} pointers")
    return [the_command(cmds[i], f"cmds[{i}]") for i in range(count)]


def _order(order: int) -> bool:
    if order not in (_IN_ORDER, _OUT_OF_ORDER):
        raise invalid(f"order is {order}; CUPVA_IN_ORDER (1) and CUPVA_OUT_OF_ORDER (2) exist")
    return order == _IN_ORDER


def _submit(stream: Stream, batch: Batch, status: Any, execution: int, submission: int) -> None:
    count = len(batch.statuses)
    if status and not accessible(address(status), 8 * count, write=True):
        raise invalid(f"status is not memory for {count} places")
    stream.submit(batch, execution, submission, functools.partial(_publish, status))


def _publish(status: Any, made: list[Status]) -> None:
    """Gives the program the statuses of a submission, if it wants them."""
    if status:
        for index, number in enumerate(statuses().publish(made)):
            status[index] = ffi.cast(_STATUS, number)


@cupva.export("CupvaStreamSubmit")
def submit(
    stream: Any, cmds: Any, status: Any, count: int, order: int, execution: int, submission: int
) -> None:
    found: Stream = _stream(stream)
    submit_to(found, cmds, status, count, order, execution, submission)


def submit_to(
    stream: Stream, cmds: Any, status: Any, count: int, order: int, execution: int, submission: int
) -> None:
    if execution < 0 and stream.known and _again(stream, cmds, status, count, order):
        return
    given = _commands(cmds, count)  # what is no program was made of the program's memory just now
    taken = [c.taken() if isinstance(c, RunProgram) else c for c in given]
    batch = Batch(taken, _order(order))
    again.keep(stream, cmds, given, batch, execution)
    _submit(stream, batch, status, execution, submission)


def _again(stream: Stream, cmds: Any, status: Any, count: int, order: int) -> bool:
    """Submits what says the same as an earlier submission; False: it has to be looked at."""
    if order not in (_IN_ORDER, _OUT_OF_ORDER):
        return False
    known = again.find(stream, cmds, count)
    if known is None:
        return False
    if not status:
        return stream.again(known, None)
    if not is_memory(int(ffi.cast(UINTPTR, status)), 8 * count, 1):
        return False
    return stream.again(known, functools.partial(_publish, status))


@cupva.export("CupvaStreamSynchronize")
def synchronize(stream: Any) -> None:
    object_of(stream, STREAM, "stream").synchronize()


@cupva.export("CupvaStreamSetName")
def set_name(stream: Any, name: Any) -> None:
    found: Stream = object_of(stream, STREAM, "stream")
    found.name = name_of(name)


def name_of(name: Any) -> str:
    if not name:
        raise invalid("name is NULL")
    text = ffi.string(name).decode(errors="replace")
    if len(text) >= _MAX_NAME:
        raise invalid(f"name has {len(text)} characters; at most {_MAX_NAME - 1}")
    return str(text)


class _Buffer:
    """A list of commands with the places of its statuses."""

    def __init__(self, commands: list[Command], in_order: bool, status: Any) -> None:
        self.commands = commands
        self.in_order = in_order
        self.status = status


@cupva.export("CupvaCmdBufferCreate")
def buffer_create(target: Any, cmds: Any, count: int, status: Any, order: int) -> None:
    result(target, "buffer")
    made = _Buffer(_commands(cmds, count), _order(order), status)
    put(target, "cupvaCmdBuffer_t", _BUFFER, made)


@cupva.export("CupvaCmdBufferDestroy")
def buffer_destroy(buffer: Any) -> None:
    if buffer:
        process.current().handles.remove(address(buffer), _BUFFER, "CupvaCmdBufferDestroy")


@cupva.export("CupvaStreamSubmitCmdBuffer")
def submit_buffer(stream: Any, buffer: Any, execution: int, submission: int) -> None:
    submit_buffer_to(object_of(stream, STREAM, "stream"), buffer, execution, submission)


def submit_buffer_to(stream: Stream, buffer: Any, execution: int, submission: int) -> None:
    kept: _Buffer = object_of(buffer, _BUFFER, "buffer")
    batch = Batch([c.taken() for c in kept.commands], kept.in_order)
    _submit(stream, batch, kept.status, execution, submission)
