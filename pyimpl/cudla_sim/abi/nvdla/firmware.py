"""``nvdla_interface.h``: the built-in firmware as an engine for other drivers, and the registers.

An engine whose driver context is one of ours and whose portability layer is ours runs a call in
one go. Over a foreign portability layer the call becomes a conversation (``kmd/conversation.py``)
that ``shim/library/nvdla/engine.c`` leads. Source: nvdla/sw firmware interface, Linux port.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...core import explain, process
from ...core.errors import ApiError, ConfigError
from ...core.memory import MemoryFault, host_bytes, read_host
from ...core.text import tell
from ...nvdla.errors import Firmware, KmdError
from ...nvdla.facts.limits import MOST_ADDRESSES
from ...nvdla.kmd.conversation import Conversation
from ..embedding import address, ffi, lib, pointer
from .family import Handle, firmware, firmware_errors, nvdla, the_machine

if TYPE_CHECKING:
    from ...nvdla.dla_core import Core
    from ...nvdla.facts.configs import HardwareConfig
    from ...nvdla.kmd.firmware import FirmwareEngine
    from ...nvdla.kmd.list_port import Entry

_CONVERSE, _COMPLETE = 1, 2


def _core(context: int) -> Core | None:
    """The core that a driver_context names; None for one of somebody else's."""
    if context == 0 and the_machine().cores:
        return the_machine().cores[0]
    core = _contexts.get(context)
    return core if core is not None and core in the_machine().cores else None


class EngineContext:
    """What dla_register_driver makes. ``talk`` is there when the portability layer is foreign."""

    def __init__(self, context: int, foreign: bool) -> None:
        self.context = context
        self.talk = Conversation() if foreign else None
        self.task = 0
        self.outcome = ""
        self.firmware: FirmwareEngine | None = None

    @cached_property
    def core(self) -> Core | None:
        """The core of the context, made with the first task."""
        return _core(self.context)

    @property
    def ours(self) -> bool:
        """Whether the context is one of ours."""
        return bool(the_machine().count) if self.context == 0 else self.core is not None

    def hardware(self, config_data: Any) -> HardwareConfig:
        """The configuration: the core's, else the one that config_data describes."""
        own = self.core.config if self.core is not None else the_machine().cores[0].config
        if self.core is None and config_data:
            return _described(config_data, own)
        return own

    def running(self) -> FirmwareEngine:
        """The firmware of the task in progress."""
        if self.firmware is None:
            raise KmdError(Firmware.INVALID_TASK, "no task is in progress on this engine")
        return self.firmware


def _described(config_data: Any, otherwise: HardwareConfig) -> HardwareConfig:
    """The configuration that a struct dla_config means.

    Callers of the two-argument form of dla_execute_task leave garbage here, so the pointer is not
    trusted: what does not read as a configuration is not one.
    """
    try:
        raw = read_host(address(config_data), 7)
    except MemoryFault:
        return otherwise
    from ...nvdla.facts.configs import CONFIGS

    wanted = (int.from_bytes(raw[:4], "little"), *map(bool, raw[4:]))
    if any(value > 1 for value in raw[4:]):
        return otherwise
    for hardware in (otherwise, *(CONFIGS[name] for name in ("nv_full", "nv_small", "nv_large"))):
        have = (hardware.memory_atom, hardware.bdma, hardware.rubik, hardware.compression)
        if have == wanted:
            return hardware
    return otherwise


def _engine(engine_context: Any) -> EngineContext:
    engine: EngineContext = firmware.resolve(engine_context, Handle.ENGINE, "engine_context")
    return engine


@firmware.export("dla_register_driver")
def register_driver(engine_context: Any, driver_context: Any) -> None:
    firmware.require(-int(Firmware.INVALID_INPUT), engine_context=engine_context)
    engine = EngineContext(address(driver_context), bool(lib.sim_nvdla_foreign_port()))
    if engine.talk is None and not engine.ours:
        raise ApiError(
            -int(Firmware.INVALID_INPUT),
            f"driver_context ({engine.context:#x}) is none of simNvdlaContext, and dla_reg_write"
            " is the simulator's",
        )
    engine_context[0] = pointer(process.current().handles.add(Handle.ENGINE, engine))


def _listed(task_data: Any) -> list[Entry]:
    """The address list of a simNvdlaTask."""
    from ...nvdla.kmd.list_port import Entry

    if not task_data:
        raise KmdError(Firmware.INVALID_INPUT, "task_data is NULL; expected a simNvdlaTask")
    try:
        read_host(address(task_data), ffi.sizeof("simNvdlaTask"))
        task = ffi.cast("simNvdlaTask *", task_data)
        count = task.num_addresses
        if not 0 < count <= MOST_ADDRESSES:
            raise KmdError(
                Firmware.INVALID_INPUT,
                f"task_data: num_addresses is {count}; 1 to {MOST_ADDRESSES} expected",
            )
        read_host(address(task.address_list), count * ffi.sizeof("simNvdlaAddress"))
    except MemoryFault as error:
        raise KmdError(Firmware.INVALID_INPUT, f"task_data: {error.explanation}") from None
    return [
        Entry(address(item.data), host_bytes(address(item.data), item.size), item.offset)
        for item in (task.address_list[i] for i in range(count))
    ]


def _call(engine: EngineContext, outcome: str, call: Any) -> int:
    """Runs an engine function here, or starts it as a conversation."""
    if engine.talk is not None:
        engine.outcome = outcome
        engine.talk.start(call)
        return _CONVERSE
    with firmware_errors():
        done = call()
    return _COMPLETE if done and outcome == "process" else 0


@firmware.export("dla_execute_task")
def execute_task(engine_context: Any, task_data: Any, config_data: Any) -> int:
    engine = _engine(engine_context)
    if engine.firmware is not None:
        raise ApiError(-int(Firmware.PROCESSOR_BUSY), "a task is in progress on this engine")
    from ...nvdla.kmd.firmware import FirmwareEngine
    from ...nvdla.kmd.list_port import ListPort

    with firmware_errors():
        if engine.talk is not None:
            engine.task = address(task_data)
            port: Any = engine.talk.port
        else:
            assert engine.core is not None
            port = ListPort(engine.core.chip, _listed(task_data))
    made = FirmwareEngine(port, engine.hardware(config_data), None)
    engine.firmware = made

    def call() -> bool:
        try:
            return made.execute_task()
        except BaseException:
            if engine.firmware is made:  # an abandoned call ends after its successor began
                engine.firmware = None
            raise

    return _call(engine, "execute", call)


@firmware.export("dla_isr_handler")
def isr_handler(engine_context: Any) -> int:
    engine = _engine(engine_context)
    if engine.firmware is None:
        return 0  # an interrupt that belongs to no task
    return _call(engine, "isr", engine.firmware.isr_handler)


@firmware.export("dla_process_events")
def process_events(engine_context: Any, task_complete: Any) -> int:
    engine = _engine(engine_context)
    firmware.require(-int(Firmware.INVALID_INPUT), task_complete=task_complete)
    with firmware_errors():
        running = engine.running()
    return _call(engine, "process", running.process_events)


@firmware.export("dla_clear_task", status=False)
def clear_task(engine_context: Any) -> None:
    engine = _engine(engine_context)
    if engine.talk is not None:
        engine.talk.abandon()
    engine.firmware = None


# --- conversations --------------------------------------------------------------------------------

_lent: dict[int, Any] = {}  # engine -> the cffi view of the data that C code is copying


@firmware.export_as("dla_execute_task", "sim_engine_next", status=False, failure=-1)
def engine_next(engine_context: Any, fields: Any, writes: Any, data: Any) -> int:
    engine = _engine(engine_context)
    assert engine.talk is not None
    with firmware_errors():
        action = engine.talk.next()
    for position, (register, value) in enumerate(action.writes):
        writes[2 * position], writes[2 * position + 1] = register, value
    arguments = (action.first & (1 << 64) - 1, action.second, action.third)
    fields[0:7] = [
        int(action.kind), len(action.writes), *arguments, engine.context, engine.task
    ]  # fmt: skip
    view = ffi.from_buffer(action.data)
    _lent[id(engine)] = view
    data[0] = ffi.cast("void *", view)
    return 0


@firmware.export("sim_engine_answer", status=False)
def engine_answer(engine_context: Any, answer: int) -> None:
    engine = _engine(engine_context)
    _lent.pop(id(engine), None)
    assert engine.talk is not None
    engine.talk.answer(answer)


@firmware.export_as("dla_execute_task", "sim_engine_result")
def engine_result(engine_context: Any) -> int:
    engine = _engine(engine_context)
    _lent.pop(id(engine), None)
    assert engine.talk is not None
    with firmware_errors():
        done = engine.talk.result()
    return _COMPLETE if done and engine.outcome == "process" else 0


# --- registers ------------------------------------------------------------------------------------
# Every register access of a foreign firmware comes here: no gate, only what cannot be left out.

_contexts: dict[int, Core] = {}
_reported: set[int] = set()


def _find(context: int) -> Core | None:
    """The slow path: a context that was not used before, or one that means nothing (any more)."""
    try:
        machine = the_machine()
    except ConfigError as error:
        explain.remember(f"dla_reg_write: {error}")
        return None
    for core in machine.cores:
        _contexts[core.context] = core
        if core.index == 0:
            _contexts[0] = core
    for number in [n for n, core in _contexts.items() if core not in machine.cores]:
        del _contexts[number]
    found = _contexts.get(context)
    if found is None:
        explain.remember(f"dla_reg_write: driver_context ({context:#x}) is none of simNvdlaContext")
    return found


def _register_gates() -> None:
    contexts, families = _contexts, process._Current

    def write(context: int, register: int, value: int) -> None:
        core = contexts.get(context)
        if core is None or core.process is not families.process:
            core = _find(context)
            if core is None:
                return
        plain = core.plain.get(register)
        if plain is not None:
            state, index, mask, _ = plain
            group = state.producer
            if not state.enabled[group]:
                state.groups[group][index] = value & mask
                return
        core.write(register, value)

    def read(context: int, register: int) -> int:
        core = contexts.get(context)
        if core is None or core.process is not families.process:
            core = _find(context)
            if core is None:
                return 0
        plain = core.plain.get(register)
        if plain is not None:
            state, index, _, mask = plain
            return state.groups[state.producer][index] & mask
        return core.read(register)

    nvdla.attach("sim_reg_write", write)
    nvdla.attach("sim_reg_read", read, failure=0)


_register_gates()


@nvdla.export("sim_remember", status=False)
def remember(text: Any) -> None:
    """Keeps what C code in shim/ has to say about a failure."""
    why = ffi.string(text).decode(errors="replace")
    explain.remember(why)
    if process.current().config.general.explain:
        tell(f"cudla-sim: {why}")
