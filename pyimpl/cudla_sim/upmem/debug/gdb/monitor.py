"""gdb's ``monitor``: what its own commands cannot show, because it knows no DPU."""

from __future__ import annotations

from collections.abc import Callable

from ...isa import listing
from ...isa.disassembler import disassemble
from ..trace import places
from .target import NAMES, PC, Target

_COLUMNS = 4


class Monitor:
    """Commands in words, answers in lines."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._code = listing.of_elf(target.state.program.image)
        self._places = places(self._code)
        self._commands: dict[str, tuple[str, Callable[[list[int]], str]]] = {
            "tasklets": ("where each tasklet is", self._tasklets),
            "registers": ("[TASKLET] its registers", self._registers),
            "cycles": ("since the launch began", lambda _: str(target.state.core.cycles)),
        }

    def answer(self, text: str) -> str:
        name, *words = text.split() or ["help"]
        command = self._commands.get(name)
        if command is None:
            return "\n".join(f"monitor {n}: {what}" for n, (what, _) in self._commands.items())
        return command[1]([int(word) for word in words])

    def _tasklets(self, _: list[int]) -> str:
        return "\n".join(f"{n:2} {self._where(n)}" for n in self._target.tasklets)

    def _where(self, tasklet: int) -> str:
        state = self._target.state
        index = int(state.pcs[tasklet])
        word = int(state.iram[index]) if index < len(state.iram) else 0
        text = disassemble(word, self._code.names.get) if not word >> 48 else None
        runs = "runs" if state.live[tasklet] else "has stopped"
        place = self._places.get(index, "")
        address = self._target.register(tasklet, PC)
        return f"{runs:11} {address:08x} {place:24} {text or '<unknown>'}"

    def _registers(self, words: list[int]) -> str:
        tasklet = words[0] if words else self._target.tasklets[0]
        if not 0 <= tasklet < self._target.state.threads:
            return f"there is no tasklet {tasklet}"
        cells = [f"{n:>5} {self._target.register(tasklet, i):08x}" for i, n in enumerate(NAMES)]
        rows = [cells[i : i + _COLUMNS] for i in range(0, len(cells), _COLUMNS)]
        return "\n".join("  ".join(row) for row in rows)
