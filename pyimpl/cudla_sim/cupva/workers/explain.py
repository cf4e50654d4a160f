"""Turns a worker's reply into a sentence: cause, variable or dataflow, function, file and line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..executable import Kind
from .protocol import Cause, LaunchRequest, Reply, Status

if TYPE_CHECKING:
    from .places import Places

_NON_CANONICAL = (1 << 64) - 1


def explain(image: bytes, reply: Reply, request: LaunchRequest) -> str:
    """One line; empty when the launch ended well."""
    if reply.status == Status.DONE:
        return ""
    # these need a library that launches that end well do without
    from ...workers.places import readable
    from .places import places

    known = readable(places, image)
    where = known.code(reply.pc, reply.chain) if known else ""
    if reply.status == Status.INTERRUPTED:
        return f"the kernel did not end; it was in {where}" if where else "the kernel did not end"
    if reply.cause in _OF_A_FLOW and not 1 <= reply.flow <= len(request.flows):
        return "the kernel wrote over the memory in which its process answers"
    text = _CAUSES.get(reply.cause, _unknown)(known, reply, request)
    if reply.cause in (Cause.OVERRUN, Cause.UNFINISHED) or not where:
        return text
    return f"{text}; in {where}"


def warnings(image: bytes, reply: Reply, request: LaunchRequest) -> list[tuple[str, str]]:
    """The names of checks, and what they have found in a launch that ended well: a line each."""
    late = [i for i, count in enumerate(reply.unsynced) if count] * (request.checks.sync != "off")
    if not late and not reply.written[2]:
        return []
    from ...workers.places import readable
    from .places import places

    known = readable(places, image)
    found = []
    for number in late:
        about = replace(reply, flow=number + 1)
        found.append(("sync", _unsynced(known, about, request)))
    if reply.written[2]:
        address, pc, flow = reply.written
        where = known.code(pc, ()) if known else ""
        text = _pending(known, replace(reply, address=address, flow=flow), request)
        found.append(("pending", f"{text}; seen in {where}" if where else text))
    return found


def _unsynced(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    number = reply.flow - 1
    name, lacking, given = (
        _flow(known, reply, request),
        reply.unsynced[number],
        reply.triggers[number],
    )
    if request.flows[number].kind == Kind.GATHER_SCATTER:
        how = "triggered after its last sync"
    else:
        how = f"triggered {given} times, and {lacking} of them have no sync"
    return (
        f"{name} was {how}: on hardware the kernel may use its tiles before they have moved "
        "(CUDLA_SIM_PVA_DMA=sync shows it)"
    )


def _unknown(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    return f"failure of unknown kind {int(reply.cause)}"


def _data(known: Places | None, address: int) -> str:
    return known.data(address) if known else f"address {address:#x}"


def _memory(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    if reply.address == _NON_CANONICAL:
        return "memory fault: access through a pointer that is no address"
    if reply.address < 4096:
        return f"memory fault: access through a NULL pointer (address {reply.address:#x})"
    return f"memory fault: access to {_data(known, reply.address)}"


def _abort(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    return f"the kernel aborted: {reply.text}" if reply.text else "an assertion failed, or abort()"


def _overrun(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    variable = known.before(reply.address) if known else None
    place = _data(known, reply.address)
    if variable is None:
        return f"the kernel or a dataflow wrote to {place}, where no variable lies"
    return f"{variable[2]} was overrun: something was written to {place}"


def _flow(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    """``dataflow 1 (handler 'source')``."""
    number = reply.flow - 1
    if not 0 <= number < len(request.flows):
        return "a transfer"
    offset = request.flows[number].handler_offset
    name = known.at(offset) if known and offset >= 0 else ""
    return f"dataflow {number} (handler {name!r})" if name else f"dataflow {number}"


def _triggers(request: LaunchRequest, number: int) -> int:
    """Triggers that a dataflow needs in all."""
    total, chained = 0, False
    for row in request.flows[number].descriptors:
        count = -(-int(row["tiles"]) // int(row["per_trigger"]))
        total += max(0, count - 1) if chained else count
        chained = bool(row["chained"])
    return total


def _progress(reply: Reply, request: LaunchRequest) -> str:
    number = reply.flow - 1
    return f"{reply.triggers[number]} of {_triggers(request, number)} triggers were given"


def _sync(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    wait = request.dma_timeout_s
    channel = f"would wait {wait:g} s" if wait > 0 else "would wait for ever"
    done = reply.syncs[reply.flow - 1]
    return (
        f"sync without trigger on {_flow(known, reply, request)}: nothing can end this wait "
        f"({_progress(reply, request)}, {done} syncs done before; the channel {channel}, "
        "CUPVA_DMATIMEOUT)"
    )


def _trigger(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    total = _triggers(request, reply.flow - 1)
    return (
        f"{_flow(known, reply, request)} was triggered {total + 2} times; it has {total} triggers "
        "(one more is harmless)"
    )


def _handler(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    if reply.flow == 0:
        return "trigger or sync of a handler without a dataflow (handler() on the host names it)"
    return (
        f"trigger or sync of dataflow {reply.flow}, but the program has {len(request.flows)}: the "
        "handler was overwritten"
    )


def _range(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    return f"{_flow(known, reply, request)} leaves its memory"


def _pending(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    return (
        f"{_data(known, reply.address)} was written to between trigger and sync of "
        f"{_flow(known, reply, request)}: the DMA may be at work on it"
    )


def _order(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    return reply.text


def _unfinished(known: Places | None, reply: Reply, request: LaunchRequest) -> str:
    return (
        f"the kernel ended, but {_flow(known, reply, request)} did not: "
        f"{_progress(reply, request)}, or it was not closed; the program would never complete"
    )


_CAUSES: dict[Cause, Callable[[Places | None, Reply, LaunchRequest], str]] = {
    Cause.MEMORY: _memory,
    Cause.DIVISION: lambda *_: "division by zero",
    Cause.INSTRUCTION: lambda *_: "illegal instruction",
    Cause.ABORT: _abort,
    Cause.OVERRUN: _overrun,
    Cause.SYNC: _sync,
    Cause.TRIGGER: _trigger,
    Cause.HANDLER: _handler,
    Cause.RANGE: _range,
    Cause.ORDER: _order,
    Cause.STACK: lambda *_: "stack overflow",
    Cause.UNFINISHED: _unfinished,
    Cause.PENDING: _pending,
    Cause.NAN: lambda *_: "an operation of floating point made a NaN",
}
_OF_A_FLOW = {Cause.SYNC, Cause.TRIGGER, Cause.UNFINISHED}
"""Causes that tell of one dataflow in numbers."""
