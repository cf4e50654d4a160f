"""What a profiled program counts besides its instructions: how often each part of a block runs.

A part is a run of instructions up to a call; the table says which source lines and classes of
instructions it holds. Each module has counters for 24 tasklets, which the runtime writes out after
a launch (``shim/dpu_run/profile.c``), and a section with the table, which
``cudla_sim.upmem.timing.profiling`` reads.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping

from . import costs
from .intermediate import Instruction

SECTION = ".debug_cudla_sim_profile"
"""Named like debug information: the linker forgives references to functions that it left out."""
VERSION = 1
TASKLETS = 24

ARITHMETIC = "arithmetic and logic"
MULTIPLY = "multiply and divide"
FLOAT = "floating point"
MEMORY = "WRAM loads and stores"
CONTROL = "branches and calls"
DMA = "DMA instructions"
SYNCHRONISATION = "locks"

_MEMORY = {"load", "store", "atomicrmw", "cmpxchg"}
_CONTROL = {"br", "switch", "ret"}
_MULTIPLY = {"mul", "udiv", "urem", "sdiv", "srem"}
_FLOAT = {
    *("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp", "fptrunc", "fpext", "fptosi"),
    *("fptoui", "sitofp", "uitofp"),
}
_WORD = r'"((?:[^"\\]|\\.)*)"'


def asked(environment: Mapping[str, str]) -> bool:
    """Whether CUDLA_SIM_UPMEM_TIMING asks for counts of source lines."""
    return environment.get("CUDLA_SIM_UPMEM_TIMING") == "profile"


def kind(i: Instruction) -> str:
    """The class of an instruction."""
    if i.name in _MEMORY:
        return MEMORY
    if i.name in _CONTROL:
        return CONTROL
    if i.name in _MULTIPLY:
        return MULTIPLY
    if i.name in _FLOAT:
        return FLOAT
    if i.name != "call":
        return ARITHMETIC
    name, _ = i.callee
    if name.startswith(("__dpu_sdiv", "__dpu_srem")):
        return MULTIPLY
    if name.startswith("__dpu_f"):
        return FLOAT
    if name.startswith(("llvm.memcpy", "llvm.memmove", "llvm.memset")):
        return MEMORY
    if name in ("mram_read", "mram_write"):
        return DMA
    if name in ("mutex_lock", "mutex_unlock", "__rt_acquire", "__rt_release"):
        return SYNCHRONISATION
    return ARITHMETIC if name.startswith("llvm.") or not costs.is_event(i) else CONTROL


class Lines:
    """The source lines of a module's instructions, from its debug information."""

    def __init__(self, module: str) -> None:
        self._nodes = dict(re.findall(r"^(!\d+) = (?:distinct )?(!DI\w+\(.*\))$", module, re.M))
        self._known: dict[str, tuple[str, str, int]] = {}

    def of(self, text: str) -> tuple[str, str, int]:
        """(file, function, line) of an instruction; ("", "", 0) when nothing tells."""
        found = re.search(r"!dbg (!\d+)", text)
        if not found:
            return "", "", 0
        if found[1] not in self._known:
            self._known[found[1]] = self._find(found[1])
        return self._known[found[1]]

    def _find(self, number: str) -> tuple[str, str, int]:
        node = self._nodes.get(number, "")
        line = re.search(r"line: (\d+)", node)
        scope, file, function = _reference(node, "scope"), "", ""
        for _ in range(100):  # blocks in blocks in a function
            node = self._nodes.get(scope, "")
            if not file and _reference(node, "file"):
                file = self._file(_reference(node, "file"))
            if node.startswith("!DISubprogram"):
                named = re.search(rf"name: {_WORD}", node)
                function = named[1] if named else ""
                break
            scope = _reference(node, "scope")
        return (file, function, int(line[1])) if line else ("", "", 0)

    def _file(self, number: str) -> str:
        node = self._nodes.get(number, "")
        name = re.search(rf"filename: {_WORD}", node)
        folder = re.search(rf"directory: {_WORD}", node)
        if not name:
            return ""
        if name[1].startswith("/") or not folder or not folder[1]:
            return name[1]
        return f"{folder[1]}/{name[1]}"


def _reference(node: str, field: str) -> str:
    found = re.search(rf"\b{field}: (!\d+)", node)
    return found[1] if found else ""


class Recorder:
    """Counters of a module: each has a number and what one count of it stands for."""

    def __init__(self, module: str) -> None:
        self._lines = Lines(module)
        self._name = "__rt_profile_" + hashlib.sha256(module.encode()).hexdigest()[:16]
        self._places: dict[tuple[str, str, int], int] = {}
        self._kinds: dict[str, int] = {}
        self._slots: list[list[tuple[int, int, int]]] = []
        self._part: Counter[tuple[int, int]] = Counter()
        self._last = 0

    def _place(self, text: str) -> int:
        found = self._lines.of(text)
        if found[2]:
            self._last = self._places.setdefault(found, len(self._places))
        elif not self._places:
            self._places[found] = 0
        return self._last

    def _kind(self, name: str) -> int:
        return self._kinds.setdefault(name, len(self._kinds))

    def add(self, i: Instruction, halves: int) -> None:
        """``i`` belongs to the part that ends with the next ``flush``."""
        place = self._place(i.text)
        if halves:
            self._part[place, self._kind(kind(i))] += halves

    def more(self, i: Instruction | None, halves: int) -> None:
        """Costs of the block itself: the beginning of a function, the end of a loop."""
        place = self._place(i.text if i else "")
        if halves:
            self._part[place, self._kind(CONTROL)] += halves

    def flush(self) -> list[str]:
        """IR that counts the part; nothing for one without costs."""
        if not self._part:
            return []
        slot = self._slot([(place, name, n) for (place, name), n in self._part.items()])
        self._part.clear()
        return [f"  call void @__rt_p_add(i64 1, i32 {slot})"]

    def dynamic(self, i: Instruction, lines: list[str]) -> list[str]:
        """IR around ``lines``, which add to the counter by the operands of ``i``."""
        slot = self._slot([(self._place(i.text), self._kind(kind(i)), 1)])
        before = f"%__rt_p.{slot}"
        return [
            f"  {before} = call i64 @__rt_p_now()",
            *(f"  {line}" for line in lines),
            f"  call void @__rt_p_since(i64 {before}, i32 {slot})",
        ]

    def _slot(self, what: list[tuple[int, int, int]]) -> int:
        self._slots.append(what)
        return len(self._slots) - 1

    def functions(self, module: str, pointer: str, scope: int) -> str:
        """What the counters call, the counters, and their table; "" without counters.

        ``pointer``: makes a pointer type of a type's name. ``scope``: alias scope of counters.
        """
        if not self._slots:
            return ""
        array = f"[{TASKLETS} x [{len(self._slots)} x i64]]"
        to = "ptr" if pointer == "ptr" else f"{array}*"
        me = (
            ""
            if re.search(r"^@__rt_me = ", module, re.M)
            else "@__rt_me = external dso_local global i32\n"
        )
        whole = "ptr" if pointer == "ptr" else "i32*"
        return f"""
{me}@{self._name} = weak hidden global {array} zeroinitializer, section ".rt_profile", align 8
{self._table()}
define internal i64 @__rt_p_now() alwaysinline nounwind {{
  %a = load i64, {pointer} @__rt_count, !alias.scope !{scope}
  ret i64 %a
}}
define internal void @__rt_p_add(i64 %n, i32 %slot) alwaysinline nounwind {{
  %t = load i32, {whole} @__rt_me
  %p = getelementptr inbounds {array}, {to} @{self._name}, i32 0, i32 %t, i32 %slot
  %a = load i64, {pointer} %p, !alias.scope !{scope}
  %b = add i64 %a, %n
  store i64 %b, {pointer} %p, !alias.scope !{scope}
  ret void
}}
define internal void @__rt_p_since(i64 %before, i32 %slot) alwaysinline nounwind {{
  %a = call i64 @__rt_p_now()
  %n = sub i64 %a, %before
  call void @__rt_p_add(i64 %n, i32 %slot)
  ret void
}}
"""

    def _table(self) -> str:
        found = {
            "version": VERSION,
            "slots": self._slots,
            "places": list(self._places),
            "classes": list(self._kinds),
        }
        packed = zlib.compress(json.dumps(found, separators=(",", ":")).encode())
        text = base64.b64encode(packed).decode()
        words = [
            f".pushsection {SECTION},\\22\\22,@progbits",
            f".long {self._name}",
            f".long {len(text)}",
            *(f".ascii \\22{text[i : i + 4000]}\\22" for i in range(0, len(text), 4000)),
            ".popsection",
        ]
        return "\n".join(f'module asm "{word}"' for word in words)
