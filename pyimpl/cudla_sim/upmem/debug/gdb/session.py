"""One debugger's questions about one DPU, and the answers."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from ....constants.dpu_protocol import WATCH_BOTH, WATCH_CHANGES, WATCH_READS, FaultKind
from . import beside
from .description import register_info, target_xml
from .monitor import Monitor
from .packets import INTERRUPT, MOST, Connection
from .target import NAMES, PC, Target

_SIGINT, _SIGILL, _SIGTRAP, _SIGABRT, _SIGFPE, _SIGSEGV = 2, 4, 5, 6, 8, 11
"""As gdb numbers them."""
_SIGNALS = {
    FaultKind.MEMORY: _SIGSEGV,
    FaultKind.DMA_WRAM: _SIGSEGV,
    FaultKind.MRAM_BOUNDS: _SIGSEGV,
    FaultKind.INSTRUCTION: _SIGILL,
    FaultKind.UNKNOWN: _SIGILL,
    FaultKind.JUMP: _SIGILL,
    FaultKind.BIT: _SIGILL,
    FaultKind.STOPPED: _SIGTRAP,
}
_DIVISION = 2
_FEATURES = "QStartNoAckMode+;qXfer:features:read+;vContSupported+"
_WATCHES = {"2": WATCH_CHANGES, "3": WATCH_READS, "4": WATCH_BOTH}
"""Of a packet, of those of gdb's watch, rwatch and awatch."""
_WATCHED = {WATCH_CHANGES: "watch", WATCH_READS: "rwatch", WATCH_BOTH: "awatch"}
_BAD, _NO_MEMORY = "E01", "E0e"


class Session:
    """``serve`` answers until the debugger leaves (the program goes on), kills the program, or has
    seen its end."""

    def __init__(self, connection: Connection, target: Target, triple: str) -> None:
        """``triple``: which processor lldb is told."""
        self._connection = connection
        self._triple = triple
        self._target = target
        self._chosen = target.tasklets[0]  # for registers
        self._resumed: int | None = None  # by Hc
        self._interrupt = False
        self._over = False
        self._commands: dict[str, Callable[[str], str | None]] = {
            "?": lambda _: self._stopped(),
            "g": lambda _: "".join(self._value(n) for n in range(len(NAMES))),
            "G": self._write_registers,
            "p": self._read_register,
            "P": self._write_register,
            "m": self._read_memory,
            "M": self._write_memory,
            "c": lambda words: self._resume(None, words),
            "C": lambda words: self._resume(None, words.partition(";")[2]),
            "s": lambda words: self._resume(self._stepped, words),
            "S": lambda words: self._resume(self._stepped, words.partition(";")[2]),
            "Z": self._set_breakpoint,
            "z": self._clear_breakpoint,
            "H": self._choose,
            "T": lambda words: "OK" if self._tasklet(words) in target.tasklets else _BAD,
            "D": self._detach,
            "k": self._kill,
            "q": self._query,
            "Q": self._set,
            "v": self._verb,
            "j": self._json,
        }

    def serve(self) -> None:
        """Raises Closed when the debugger is gone without a word."""
        while not self._over:
            packet = self._connection.receive()
            if packet == INTERRUPT:
                continue  # nothing runs
            text = packet.decode("latin-1")
            command = self._commands.get(text[:1])
            try:
                answer = command(text[1:]) if command else ""
            except (ValueError, IndexError):
                answer = _BAD
            if answer is not None:
                self._connection.send(answer)
            if self._target.ended:
                return

    # ---- registers ----

    def _value(self, number: int) -> str:
        return self._target.register(self._chosen, number).to_bytes(4, "little").hex()

    def _read_register(self, words: str) -> str:
        number = int(words.partition(";")[0], 16)
        return self._value(number) if 0 <= number < len(NAMES) else _BAD

    def _write_register(self, words: str) -> str:
        number, _, value = words.partition("=")
        if not value or not 0 <= int(number, 16) < len(NAMES):
            return _BAD
        self._target.set_register(self._chosen, int(number, 16), _number(value[:8]))
        return "OK"

    def _write_registers(self, words: str) -> str:
        values = [_number(words[i : i + 8]) for i in range(0, len(words), 8)]
        for number, value in zip(range(len(NAMES)), values, strict=False):
            self._target.set_register(self._chosen, number, value)
        return "OK"

    # ---- memory ----

    def _read_memory(self, words: str) -> str:
        address, size = (int(word, 16) for word in words.split(","))
        data = self._target.memory(address, min(size, MOST // 2))
        return data.tobytes().hex() if len(data) or not size else _NO_MEMORY

    def _write_memory(self, words: str) -> str:
        place, _, data = words.partition(":")
        address, size = (int(word, 16) for word in place.split(","))
        room, new = self._target.memory(address, size), bytes.fromhex(data)
        if len(room) != size or len(new) != size:
            return _NO_MEMORY
        room[:] = np.frombuffer(new, np.uint8)
        return "OK"

    # ---- breakpoints ----

    def _place(self, words: str) -> int | None:
        """The instruction of a breakpoint; None: of a kind that there is not."""
        kind, address, _ = words.split(",", 2)
        return self._target.index(int(address, 16)) if kind in ("0", "1") else None

    def _set_breakpoint(self, words: str) -> str:
        if words[:1] in _WATCHES:
            return "OK" if self._target.watch(*_watched(words)) else _BAD
        index = self._place(words)
        if index is None:
            return ""
        self._target.breakpoints.add(index)
        return "OK"

    def _clear_breakpoint(self, words: str) -> str:
        if words[:1] in _WATCHES:
            self._target.unwatch(*_watched(words))
            return "OK"
        index = self._place(words)
        if index is None:
            return ""
        self._target.breakpoints.discard(index)
        return "OK"

    # ---- threads: the tasklet's number and one ----

    def _tasklet(self, words: str) -> int | None:
        """None: all of them, or any."""
        text = words.rpartition(".")[2] or "0"
        number = int(text, 16) if text != "-1" else -1
        return None if number <= 0 else number - 1

    def _choose(self, words: str) -> str:
        found = self._tasklet(words[1:])
        if found is not None and found not in self._target.tasklets:
            return _BAD
        if words[:1] == "g":
            self._chosen = self._target.tasklets[0] if found is None else found
        else:
            self._resumed = found
        return "OK"

    @property
    def _stepped(self) -> int:
        return self._chosen if self._resumed is None else self._resumed

    # ---- going on ----

    def _resume(self, step: int | None, address: str = "", *, alone: bool = True) -> str:
        target = self._target
        if address:
            target.set_register(self._stepped, PC, int(address, 16))
        self._interrupt = beside.run(
            self._connection, target.state, lambda: target.go_on(step, alone=alone)
        )
        if target.outcome is not None:
            self._chosen, self._resumed = target.outcome.tasklet, None
        return self._stopped()

    def _stopped(self) -> str:
        """The stop reply: which signal, which thread."""
        target = self._target
        if target.ended:
            return f"W{target.register(0, 0) & 0xFF:02x}"
        watched = target.watched
        place = ""
        if watched is not None and not self._interrupt:
            place = f"{_WATCHED[watched[0]]}:{watched[1]:x};"
        reply = f"T{self._signal():02x}{place}thread:{self._chosen + 1:x};"
        return f"{reply}reason:{'watchpoint' if place else self._reason()};"

    def _signal(self) -> int:
        outcome = self._target.outcome
        if outcome is None or outcome.fault is None:
            return _SIGTRAP
        if self._target.interrupted and self._interrupt:
            return _SIGINT
        if outcome.fault == FaultKind.PROGRAM:
            known = {0: _SIGTRAP, _DIVISION: _SIGFPE}
            return known.get(outcome.code, _SIGABRT)
        return _SIGNALS.get(outcome.fault, _SIGTRAP)

    def _reason(self) -> str:
        if self._target.interrupted:
            return "signal" if self._interrupt else "trace"
        return "breakpoint" if self._signal() == _SIGTRAP else "exception"

    def _detach(self, _: str) -> str:
        self._over = True
        return "OK"

    def _kill(self, _: str) -> None:
        self._target.kill()

    # ---- the rest ----

    def _verb(self, words: str) -> str:
        if words == "Cont?":
            return "vCont;c;C;s;S"
        if words.startswith("Cont;"):
            return self._continue(words[5:].split(";"))
        if words.startswith("Kill"):
            self._target.kill()
            return "OK"
        return ""

    def _continue(self, actions: list[str]) -> str:
        """Only one tasklet is stepped; the others go on where an action says so."""
        alone = not any(action[:1] in "cC" for action in actions)
        for action in actions:
            what, _, whom = action.partition(":")
            if what[:1] in "sS":
                found = self._tasklet(whom)
                step = self._stepped if found is None else found
                return self._resume(step, alone=alone)
        return self._resume(None)

    def _set(self, words: str) -> str | None:
        if words != "StartNoAckMode":
            return ""
        self._connection.send("OK")
        self._connection.acknowledged = False
        return None

    def _query(self, words: str) -> str:
        name = words.partition(":")[0]
        threads = ",".join(f"{n + 1:x}" for n in self._target.tasklets)
        triple = self._triple.encode().hex()
        fixed = {
            "Supported": f"PacketSize={MOST:x};{_FEATURES}",
            "C": f"QC{self._chosen + 1:x}",
            "fThreadInfo": f"m{threads}",
            "sThreadInfo": "l",
            "Attached": "1",
            "Symbol": "OK",
            "HostInfo": f"triple:{triple};ptrsize:4;endian:little;",
            "ProcessInfo": f"pid:1;triple:{triple};ptrsize:4;endian:little;",
        }
        if name in fixed:
            return fixed[name]
        if words.startswith("Xfer:features:read:target.xml:"):
            return _piece(target_xml(), words.rpartition(":")[2])
        if words.startswith("Rcmd,"):
            text = Monitor(self._target).answer(bytes.fromhex(words[5:]).decode())
            return f"{text}\n".encode().hex()
        if words.startswith("ThreadExtraInfo,"):
            return self._extra(words.partition(",")[2]).encode().hex()
        if words.startswith("RegisterInfo"):
            return register_info(int(words[len("RegisterInfo") :], 16)) or "E45"
        if name == "MemoryRegionInfo":
            return self._region(int(words.partition(":")[2], 16))
        return ""

    def _extra(self, words: str) -> str:
        tasklet = self._tasklet(words)
        if tasklet is None:
            return ""
        runs = self._target.state.live[tasklet]
        return f"tasklet {tasklet}, {'runs' if runs else 'has stopped'}"

    def _region(self, address: int) -> str:
        found = self._target.region(address)
        if found is None:
            return "error:6e6f206d656d6f7279;"  # "no memory"
        return f"start:{found[0]:x};size:{found[1]:x};permissions:rwx;"

    def _json(self, words: str) -> str:
        if words != "ThreadsInfo":
            return ""
        outcome = self._target.outcome
        stopped = outcome.tasklet if outcome is not None else -1
        return json.dumps(
            [
                {"tid": n + 1, "reason": self._reason() if n == stopped else "none"}
                for n in self._target.tasklets
            ]
        )


def _watched(words: str) -> tuple[int, int, int]:
    """What for, address and bytes."""
    kind, address, size = words.partition(";")[0].split(",")
    return _WATCHES[kind], int(address, 16), int(size, 16)


def _number(text: str) -> int:
    """Of hexadecimal bytes, the lowest first."""
    return int.from_bytes(bytes.fromhex(text), "little")


def _piece(text: str, place: str) -> str:
    offset, size = (int(word, 16) for word in place.split(","))
    part = text[offset : offset + size]
    return ("m" if offset + size < len(text) else "l") + part
