"""What was found wrong with hardware that is not ours, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import registers
from ..facts.configs import HardwareConfig
from ..hw import glb
from .hardware import Hardware
from .placement import Buffer
from .record import Computed, TaskLog

_STATES = ("idle", "running", "pending")


def name(computed: Computed, log: TaskLog | None) -> str:
    """Which layer: number in order, chain, operation, cube."""
    number = ""
    if log is not None:
        number = f"layer {next(i for i, c in enumerate(log.layers) if c is computed)}, "
    layer = computed.layer
    shapes = " -> ".join("x".join(map(str, s)) for s in (layer.input_shape, layer.output_shape))
    return f"{number}operation {computed.last[1]} ({layer.chain}, {shapes})"


def difference(
    config: HardwareConfig,
    log: TaskLog | None,
    buffers: Sequence[Buffer],
    computed: Computed | None,
    address: int,
    found: int,
    wanted: int,
    count: int,
) -> str:
    """The first byte that differs: after which layer, in which cube, at which coordinate."""
    when = "at the end of the task" if computed is None else f"after {name(computed, log)}"
    values = f"the hardware has {found:#04x}, {config.name}'s model {wanted:#04x}"
    more = f"; {count} bytes differ" if count > 1 else ""
    return f"{when}: {_place(log, buffers, computed, address)}: {values}{more}"


def _place(
    log: TaskLog | None, buffers: Sequence[Buffer], computed: Computed | None, address: int
) -> str:
    """Where an address is: coordinate of a cube, or distance into a buffer."""
    if computed is not None and computed.cube is not None:
        at = computed.cube.coordinate(address)
        if at is not None:
            return (
                f"its cube of {computed.cube.shape} at (n, c, h, w) = (0, {at[0]}, {at[1]},"
                f" {at[2]}), address {address:#x}"
            )
    buffer = next((b for b in reversed(buffers) if b.bus <= address < b.bus + len(b.data)), None)
    where = f"address {address:#x}"
    if buffer is not None:
        where += f", byte {address - buffer.bus} of {buffer.name or 'a buffer'}"
    owner = _owner(log, computed, address)
    if owner is not None:
        return f"{where}, which belongs to {name(owner, log)}{_within(owner, address)}"
    return f"{where}, which no operation of the task writes"


def _within(owner: Computed, address: int) -> str:
    at = None if owner.cube is None else owner.cube.coordinate(address)
    return "" if at is None else f" at (n, c, h, w) = (0, {at[0]}, {at[1]}, {at[2]})"


def _owner(log: TaskLog | None, computed: Computed | None, address: int) -> Computed | None:
    """Who writes there: the operation itself, else the last one before, else one after it."""
    layers = [] if log is None else log.layers
    order = [computed] if computed is not None else []
    order += [c for c in reversed(layers) if c is not computed]
    for candidate in order:
        for change in candidate.changes:
            if change.address <= address < change.address + change.size:
                return candidate
    return None


def unfinished(computed: Computed, right: int, total: int) -> str:
    """How far an operation came that is not done."""
    chain = name(computed, None)
    if not total:
        return f"{chain} is not done"
    return f"{chain} is not done: {right} of the {total} bytes that it changes are right"


def registers_of(hardware: Hardware, config: HardwareConfig) -> list[str]:
    """What the status registers say of units that are not idle."""
    found = []
    for block in registers.blocks(config.line).values():
        if not any(item.name == "S_STATUS" for item in block.registers):
            continue
        value = hardware.reg_read(block.address("S_STATUS"))
        states = [value >> shift & 3 for shift in (0, 16)]
        for group, state in enumerate(states):
            if state:
                word = _STATES[state] if state < len(_STATES) else f"state {state}"
                found.append(f"{block.name} group {group} {word}")
    return found


def interrupts(bits: int) -> str:
    """Names of status bits."""
    return ", ".join(f"{unit.name}_{group}" for unit, group in glb.sources(bits)) or "none"


def hang(cycles: int, status: int, parts: Sequence[str], states: Sequence[str]) -> str:
    """No interrupt came."""
    return (
        f"no interrupt for {cycles} cycles: {'; '.join(parts)}; S_INTR_STATUS:"
        f" {interrupts(status)}; status registers: {', '.join(states) or 'all idle'}"
    )
