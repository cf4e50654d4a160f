"""What gdb is taught of a worker: its tasklets, and its signals.

gdb runs this with its own Python, which may know nothing of this package. The tasklets of a DPU are
fibers: one runs, the others have left their registers on their stacks (``rt_switch``). To look at
one of them gdb is given its registers, and back those of the one that runs before anything goes on.
"""

from __future__ import annotations

import json
import os
from typing import Any

import gdb  # type: ignore[import-not-found,import-untyped,unused-ignore]

_TOLD = json.loads(os.environ["CUDLA_SIM_GDB"])
_WAITS = {int(kind): text for kind, text in _TOLD["waits"].items()}
_ENDED = int(_TOLD["ended"])
_SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")
"""What a tasklet leaves at its stack pointer, 8 bytes each."""
_WAIT_BYTES = 16
_QUIET = "SIGSEGV SIGBUS SIGFPE SIGILL SIGALRM SIGVTALRM SIGPROF"
_GO_ON = (
    *("continue", "finish", "until", "advance", "jump", "signal", "call", "detach", "kill", "quit"),
)
_STEP = ("step", "next", "stepi", "nexti")
_TICK_US = 500_000
_TICK = "SIGALRM"
"""With it the runtime puts tasklets aside that spin. While gdb steps it would come before each
instruction, and nothing would go on."""


def _address(name: str) -> int:
    return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))


def _word(at: int, size: int) -> int:
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(at, size)), "little")


def _count() -> int:
    return _address("NR_TASKLETS")


def _running() -> int:
    return _word(_address("__rt_me"), 4)


class _Shown:
    """The tasklet whose registers gdb has, when it is not the one that runs."""

    def __init__(self) -> None:
        self.tasklet: int | None = None
        self._own: dict[str, int] = {}

    def show(self, tasklet: int) -> None:
        self.restore()
        if tasklet == _running():
            return
        at = _word(_address("rt_stack_pointer") + 8 * tasklet, 8)
        if at == 0:
            raise gdb.GdbError(f"tasklet {tasklet} has not begun")
        gdb.newest_frame().select()
        names = ("rsp", *_SAVED)
        self._own = {name: int(gdb.parse_and_eval(f"(long)${name}")) for name in names}
        self.tasklet = tasklet
        for place, name in enumerate(_SAVED):
            _set(name, _word(at + 8 * place, 8))
        _set("rsp", at + 8 * len(_SAVED))

    def restore(self) -> None:
        if self.tasklet is None:
            return
        self.tasklet = None
        gdb.newest_frame().select()
        for name, value in self._own.items():
            _set(name, value)


def _set(name: str, value: int) -> None:
    gdb.execute(f"set ${name} = {value}", to_string=True)


_shown = _Shown()


def _check(words: str) -> int:
    try:
        tasklet = int(gdb.parse_and_eval(words))
    except gdb.error as error:
        raise gdb.GdbError(f"name a tasklet by its number: {error}") from None
    if not 0 <= tasklet < _count():
        raise gdb.GdbError(f"there is no tasklet {tasklet}; there are 0 to {_count() - 1}")
    return tasklet


def _user_frame() -> Any:
    """The innermost frame of the program's own code; the runtime has no source lines."""
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.find_sal().symtab is not None:
            return frame
        frame = frame.older()
    return None


def _where() -> str:
    frame = _user_frame()
    if frame is None:
        return "at the beginning"
    place = frame.find_sal()
    return f"{frame.name()} () at {os.path.basename(place.symtab.filename)}:{place.line}"


class _Info(gdb.Command):  # type: ignore[misc]
    """Where each tasklet of the DPU is, and what it waits for; * is the one that runs."""

    def __init__(self) -> None:
        super().__init__("info tasklets", gdb.COMMAND_STATUS)

    def invoke(self, words: str, from_tty: bool) -> None:
        before = _shown.tasklet
        for tasklet in range(_count()):
            print(self._line(tasklet))
        _shown.restore()
        if before is not None:
            _shown.show(before)

    def _line(self, tasklet: int) -> str:
        kind = _word(_address("rt_wait") + _WAIT_BYTES * tasklet, 4)
        runs = tasklet == _running()
        start = f"{'*' if runs else ' '} {tasklet:2} {_WAITS.get(kind, 'runs'):32}"
        if kind == _ENDED:
            return start.rstrip()
        try:
            _shown.show(tasklet)
            return f"{start} {_where()}"
        except gdb.GdbError:
            return f"{start} not begun"
        except gdb.error as error:
            return f"{start} {error}"


class _Tasklet(gdb.Command):  # type: ignore[misc]
    """tasklet N: look at the stack of a tasklet (backtrace, up, print ...). Without N: which one
    runs. What makes the program go on begins with the one that runs."""

    def __init__(self) -> None:
        super().__init__("tasklet", gdb.COMMAND_STACK)

    def invoke(self, words: str, from_tty: bool) -> None:
        if words.strip():
            tasklet = _check(words)
            _shown.show(tasklet)
            frame = _user_frame()
            if frame is not None:
                frame.select()
        else:
            tasklet = _running() if _shown.tasklet is None else _shown.tasklet
        print(f"[tasklet {tasklet}] {_where()}")


class _Restore(gdb.Command):  # type: ignore[misc]
    """Before the program goes on: the registers of who runs. ``step``: without ticks."""

    def __init__(self) -> None:
        super().__init__("cudla-restore", gdb.COMMAND_OBSCURE)

    def invoke(self, words: str, from_tty: bool) -> None:
        _shown.restore()
        gdb.execute(f"handle {_TICK} {'no' if words == 'step' else ''}pass", to_string=True)


class _Number(gdb.Function):  # type: ignore[misc]
    """$_tasklet(): the number of the tasklet that runs, as for ``break f if $_tasklet() == 3``."""

    def __init__(self) -> None:
        super().__init__("_tasklet")

    def invoke(self) -> int:
        return _running()


class _Fault(gdb.Breakpoint):  # type: ignore[misc]
    """The runtime's function in which a DPU ends when its program is wrong."""

    def __init__(self) -> None:
        super().__init__("*" + hex(_address("rt_stop_dpu")), internal=True)

    def stop(self) -> bool:
        address = int(gdb.parse_and_eval("(unsigned long)$rdx"))
        place = gdb.find_pc_line(max(address - 1, 0))
        where = f"{os.path.basename(place.symtab.filename)}:{place.line}" if place.symtab else ""
        print(f"[tasklet {_running()} is in fault at {where or hex(address)}; continue ends it]")
        return True


class _Tick(gdb.Breakpoint):  # type: ignore[misc]
    """Slower ticks: gdb steps over a breakpoint before it goes on, and each tick throws it back."""

    def __init__(self) -> None:
        super().__init__("*" + hex(_address("rt_set_tick")), internal=True)

    def stop(self) -> bool:
        if int(gdb.parse_and_eval("(unsigned int)$rdi")) != 0:
            _set("rdi", _TICK_US)
        return False


def _said(event: Any) -> None:
    if isinstance(event, gdb.BreakpointEvent):
        print(f"[tasklet {_running()}]")


def _begin() -> None:
    gdb.execute(f"handle {_QUIET} nostop noprint pass", to_string=True)
    for setting in ("confirm off", "breakpoint pending on", "print thread-events off"):
        gdb.execute(f"set {setting}", to_string=True)
    for make in (_Info, _Tasklet, _Restore, _Number, _Fault, _Tick):
        make()
    for commands, how in ((_GO_ON, ""), (_STEP, " step")):
        for command in commands:
            gdb.execute(f"define hook-{command}\ncudla-restore{how}\nend", to_string=True)
    gdb.events.stop.connect(_said)
    os.write(int(_TOLD["ready"]), b"\n")


_begin()
