"""How many DPU instructions a piece of optimised LLVM IR becomes.

Costs are in half instructions: an unconditional jump often merges into the instruction before it,
so it counts half. Source: facts of DPU timing, section 8 (cost table, tested against programs of
the vendor's compiler) and sections 3 and 4 (instructions of operations and routines).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ONE = 2
"""One instruction, in the unit of all costs here."""

ENTRY = 4 * ONE
"""Beginning of a function that calls others: stack adjustment and saved registers."""
LATCH = 2 * ONE
"""More for each round of a loop that counts to a variable: the compiler counts from -n to 0 and
tests the overflow with four instructions instead of one."""
CALL = 3 * ONE
"""Call and moves of arguments; the callee counts for itself."""
ROUTINE = 2 * ONE
"""The same for multiplication and division of 32 bits, which take their operands in registers of
their own."""
LONG_ROUTINE = 4 * ONE
"""The same for other routines of arithmetic: operands and result are moved, pairs of registers."""

FLAGS = r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|exact|nuw|nsw|inbounds|volatile) )*"
_INSTRUCTION = re.compile(
    r"^\s*(?:(%\S+) = )?(?:(?:tail|musttail|notail) )?([a-z_0-9]+)(?: (.*))?$"
)
_TYPED = re.compile(rf"{FLAGS}(\S+) (.*)")
_VARIABLE_INDEX = re.compile(r", i(?:8|16|32|64) (%[\w.$-]+)")
_FIXED_OFFSET = re.compile(r"(.*, i(?:8|16|32|64) %[\w.$-]+)(?:, i(?:8|16|32|64) \d+)+(?:, !.*)?")
_CALLEE = re.compile(r"@([\w.$]+|\"[^\"]+\")\((.*)\)")
_NAME = re.compile(r"%[\w.$-]+")

ROUTINES = {  # instructions of one call, the return included
    "__dpu_fadd_f32": 62.5,
    "__dpu_fsub_f32": 68.5,
    "__dpu_fmul_f32": 167,
    "__dpu_fdiv_f32": 983,
    "__dpu_fadd_f64": 95,
    "__dpu_fsub_f64": 101,
    "__dpu_fmul_f64": 621,
    "__dpu_fdiv_f64": 2043,
    "__dpu_fptosi_f32": 30,
    "__dpu_fptoui_f32": 30,
    "__dpu_fptosi_f64": 18,
    "__dpu_fptoui_f64": 18,
    "__dpu_fpext_f32": 18,
    "__dpu_sdiv_i64": 236,
    "__dpu_srem_i64": 236,
}
FLOAT_COMPARE, DOUBLE_COMPARE = 13, 16
DIVIDE_SIGNED = 7 * ONE
"""More than an unsigned division of 32 bits, and one for each negative operand."""
MULTIPLY_64, DIVIDE_64 = 123, 236
LONG_MOVES = 4
"""More around a product of 64 bits: both operands and the result are pairs. Published throughputs
of int64 products, of STREAM's scale and of triad all want 136 to 137 instructions in all."""
INT_TO_FLOAT, LONG_TO_FLOAT, TRUNCATE_DOUBLE = 17, 41, 21.5

_FREE = {
    *("phi", "bitcast", "trunc", "zext", "inttoptr", "ptrtoint", "freeze", "extractvalue"),
    *("insertvalue", "addrspacecast", "unreachable", "alloca", "fence"),
}
_FREE_CALLS = ("llvm.dbg.", "llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias", "__rt_c_")
_INTRINSICS = {  # instructions for up to 32 bits, for 64 bits
    **dict.fromkeys(("smax", "smin", "umax", "umin"), (2, 4)),
    "abs": (2, 5),
    "ctpop": (1, 3),
    "ctlz": (1, 3),
    "cttz": (4, 6),
    "bswap": (5, 10),
    "fshl": (2, 8),
    "fshr": (2, 8),
    "fabs": (1, 1),
    "copysign": (3, 3),
}
# Functions of the DPU library that its compiler inlines, in instructions.
_INLINE = {"__rt_acquire": 1, "__rt_release": 1, "perfcounter_get": 1, "__rt_seqread_get": 5}


@dataclass
class Cost:
    """``halves`` known now; ``lines``: IR in front of the instruction that adds what is not."""

    halves: int = 0
    lines: list[str] = field(default_factory=list)


@dataclass
class Instruction:
    """One line (a ``switch`` is put on one) of a function."""

    text: str
    result: str = ""
    name: str = ""
    rest: str = ""

    @classmethod
    def read(cls, text: str) -> Instruction:
        bare = text.split(", !", 1)[0].split(" !dbg", 1)[0]
        match = _INSTRUCTION.match(bare)
        if match is None:
            return cls(text)
        return cls(text, match[1] or "", match[2], match[3] or "")

    @property
    def uses(self) -> list[str]:
        return _NAME.findall(self.rest)

    @property
    def typed(self) -> tuple[str, str]:
        """Type of an arithmetic instruction, and its operands."""
        match = _TYPED.match(self.rest)
        return (match[1], match[2]) if match else ("", "")

    @property
    def callee(self) -> tuple[str, str]:
        """Function and arguments of a call; without a name for a pointer."""
        match = _CALLEE.search(self.rest)
        return (match[1].strip('"'), match[2]) if match else ("", "")


@dataclass
class Values:
    """Where the values of a function come from and who uses them."""

    made: dict[str, Instruction] = field(default_factory=dict)
    users: dict[str, list[Instruction]] = field(default_factory=dict)

    def add(self, instruction: Instruction) -> None:
        if instruction.result:
            self.made[instruction.result] = instruction
        for name in instruction.uses:
            self.users.setdefault(name, []).append(instruction)

    def only_used_by(self, instruction: Instruction, names: set[str]) -> bool:
        return all(user.name in names for user in self.users.get(instruction.result, []))

    def narrow(self, operand: str) -> int:
        """Bits of the value that an extension made wider; 0: no extension made it."""
        maker = self.made.get(operand)
        if maker is not None and maker.name in ("sext", "zext"):
            found = re.match(r"i(\d+) ", maker.rest)
            return int(found[1]) if found else 0
        return 0


def _bits(kind: str) -> int:
    match = re.match(r"i(\d+)", kind)
    return int(match[1]) if match else 32


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition(", ")
    return first.strip(), second.strip()


def _multiply(i: Instruction, values: Values) -> Cost:
    kind, text = i.typed
    a, b = _pair(text)
    widths = [values.narrow(x) or (8 if re.fullmatch(r"-?\d{1,2}", x) else 0) for x in (a, b)]
    if _bits(kind) <= 8 or (all(widths) and max(widths) <= 8):
        return Cost(ONE)  # one instruction for bytes
    if _bits(kind) <= 16 or (all(widths) and max(widths) <= 16 and _bits(kind) <= 32):
        return Cost(7 * ONE)  # products of bytes, shifted and added
    if _bits(kind) > 32:
        return Cost(LONG_ROUTINE + (LONG_MOVES + MULTIPLY_64) * ONE)
    return Cost(ROUTINE, [f"call void @__rt_c_mul(i32 {a}, i32 {b})"])


def _power_of_two(text: str) -> bool:
    return text.isdigit() and int(text) & (int(text) - 1) == 0 and text != "0"


def _divide(kind: str, a: str, b: str, signed: bool, merged: bool) -> Cost:
    if signed and _power_of_two(b):
        return Cost(4 * ONE * (2 if _bits(kind) > 32 else 1))
    if merged:
        return Cost(ONE)  # quotient and remainder come from one call
    if _bits(kind) > 32:
        return Cost(LONG_ROUTINE + DIVIDE_64 * ONE)
    if _bits(kind) < 32:
        return Cost(ROUTINE + 20 * ONE)
    return Cost(ROUTINE, [f"call void @__rt_c_{'s' if signed else 'u'}div(i32 {a}, i32 {b})"])


def _arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _value(argument: str) -> str:
    """``i32 noundef 12`` -> ``12``; a constant expression stays whole."""
    return argument if argument.endswith(")") else argument.rsplit(" ", 1)[-1]


def _constant(argument: str) -> bool:
    return not _value(argument).startswith("%")


def _memory(name: str, arguments: list[str]) -> Cost:
    """memcpy and memset: in place when small, else the library's loop."""
    size = _value(arguments[2])
    copy = "memset" not in name
    if size.isdigit() and int(size) <= 64:
        alignments = [int(x) for a in arguments[:2] for x in re.findall(r"align (\d+)", a)]
        step = min([8, *alignments]) if alignments else 1
        return Cost(-(-int(size) // step) * (2 if copy else 1) * ONE)
    wide = arguments[2].startswith("i64")
    suffix = "64" if wide else ""
    return Cost(CALL, [f"call void @__rt_c_{'copy' if copy else 'set'}{suffix}({arguments[2]})"])


def _call(i: Instruction, seen: set[tuple[str, str]]) -> Cost:
    name, text = i.callee
    if " asm " in f" {i.rest} " and not name:
        template = re.search(r'asm [a-z ]*"([^"]*)"', i.rest)
        lines = [x for x in re.split(r"\\0A|;", template[1]) if x.strip()] if template else []
        return Cost(len(lines) * ONE)
    if name.startswith(_FREE_CALLS):
        return Cost()
    arguments = _arguments(text)
    if name.startswith(("llvm.memcpy", "llvm.memmove", "llvm.memset")):
        return _memory(name, arguments)
    if name.startswith("llvm."):
        short = name.split(".")[1]
        narrow, wide = _INTRINSICS.get(short, (3, 6))
        return Cost((wide if name.endswith(("i64", "f64")) else narrow) * ONE)
    if name in ("mram_read", "mram_write"):
        return Cost((2 if _constant(arguments[2]) else 4) * ONE)
    if name in ("mutex_lock", "mutex_unlock"):
        return Cost((1 if _constant(arguments[0]) else 2) * ONE)
    if name in _INLINE:
        return Cost(_INLINE[name] * ONE)
    if name in ("__dpu_sdiv_i32", "__dpu_srem_i32", "__dpu_sdiv_i64", "__dpu_srem_i64"):
        a, b = (_value(x) for x in arguments)
        merged = (name[-4:], text) in seen
        seen.add((name[-4:], text))
        return _divide(name[-3:], a, b, signed=True, merged=merged)
    for routine, count in ROUTINES.items():
        if name.startswith(routine):
            return Cost(LONG_ROUTINE + round(count * ONE))
    return Cost(CALL)


def is_event(i: Instruction) -> bool:
    """A call of something that may read the counter: no intrinsic, no routine of arithmetic."""
    name, _ = i.callee if i.name == "call" else ("llvm.", "")
    return not name.startswith(("llvm.", "__dpu_")) and " asm " not in f" {i.rest} "


def _arithmetic(i: Instruction, values: Values, seen: set[tuple[str, str]]) -> Cost | None:
    kind, text = i.typed
    wide = _bits(kind) > 32
    if i.name in ("add", "sub", "and", "or", "xor"):
        if i.name == "xor" and kind == "i1" and text.endswith("true"):
            return Cost()
        return Cost(2 * ONE if wide else ONE)
    if i.name in ("shl", "lshr", "ashr"):
        index = values.only_used_by(i, {"getelementptr", "trunc"})
        return Cost(4 * ONE if wide and not index else ONE)
    if i.name == "mul":
        return _multiply(i, values)
    if i.name in ("udiv", "urem", "sdiv", "srem"):
        a, b = _pair(text)
        key = (f"{i.name[0]}{kind}", text)
        merged = key in seen
        seen.add(key)
        return _divide(kind, a, b, i.name[0] == "s", merged)
    if i.name in ("fadd", "fsub", "fmul", "fdiv"):
        size = "f64" if kind == "double" else "f32"
        return Cost(LONG_ROUTINE + round(ROUTINES[f"__dpu_{i.name}_{size}"] * ONE))
    return None


def _conversion(i: Instruction, values: Values) -> Cost | None:
    if i.name == "sext":
        source, operand = i.rest.split(" ")[:2]
        if source == "i32":
            return Cost(0 if values.only_used_by(i, {"getelementptr"}) else ONE)
        maker = values.made.get(operand)
        return Cost(0 if maker is not None and maker.name == "load" else ONE)
    if i.name in ("sitofp", "uitofp"):
        count = LONG_TO_FLOAT if i.rest.startswith("i64") else INT_TO_FLOAT
        return Cost(LONG_ROUTINE + count * ONE)
    if i.name == "fptrunc":
        return Cost(LONG_ROUTINE + round(TRUNCATE_DOUBLE * ONE))
    if i.name in ("fptosi", "fptoui", "fpext"):
        kind = "f64" if i.rest.startswith("double") else "f32"
        return Cost(LONG_ROUTINE + round(ROUTINES[f"__dpu_{i.name}_{kind}"] * ONE))
    return None


def _address(i: Instruction, seen: set[tuple[str, str]]) -> Cost:
    """Addresses that differ in a constant at their end are one, with offsets in the loads."""
    fixed = _FIXED_OFFSET.fullmatch(i.rest)
    if fixed is not None:
        key = (i.name, fixed[1])
        if key in seen:
            return Cost()
        seen.add(key)
    return Cost(ONE * len(_VARIABLE_INDEX.findall(i.rest)))


def _comparison(i: Instruction, values: Values) -> Cost:
    if i.name == "fcmp":
        double = " double " in f" {i.rest}"
        return Cost(ROUTINE + (DOUBLE_COMPARE if double else FLOAT_COMPARE) * ONE)
    more = ONE if re.match(r"\w+ i64 ", i.rest) else 0
    if more and i.rest.startswith(("eq", "ne")):
        more //= 2  # words that differ end the comparison
    fused = values.only_used_by(i, {"br", "select", "call"})
    return Cost(more if fused else ONE + more)


def of(i: Instruction, values: Values, seen: set[tuple[str, str]]) -> Cost:
    """The cost of an instruction; ``seen``: divisions and addresses of its block so far."""
    if not i.name or i.name in _FREE:
        return Cost()
    if i.name == "load":
        return Cost(0 if "@__rt_me" in i.rest else ONE)
    if i.name in ("store", "ret", "fneg", "atomicrmw", "cmpxchg"):
        return Cost(ONE)
    if i.name == "getelementptr":
        return _address(i, seen)
    if i.name in ("icmp", "fcmp"):
        return _comparison(i, values)
    if i.name == "br":
        return Cost(ONE if i.rest.startswith("i1 ") else 1)
    if i.name == "switch":
        return Cost(ONE * min(3, i.rest.count("label") - 1))
    if i.name == "select":
        return Cost(3 * ONE if re.search(r", i64 ", i.rest) else 2 * ONE)
    if i.name == "call":
        return _call(i, seen)
    return _arithmetic(i, values, seen) or _conversion(i, values) or Cost(ONE)
