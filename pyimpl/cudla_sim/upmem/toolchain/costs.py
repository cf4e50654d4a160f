"""How many DPU instructions a piece of optimised LLVM IR becomes.

Costs are in half instructions: an unconditional jump often merges into the instruction before it,
so it counts half. Source: facts of DPU timing, section 8 (cost table, tested against programs of
the vendor's compiler) and sections 3 and 4 (instructions of operations and routines).
"""

from __future__ import annotations

import re

from . import mram_costs
from .intermediate import ONE, Cost, Instruction, Values, arguments, bits, value

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

_VARIABLE_INDEX = re.compile(r", i(?:8|16|32|64) (%[\w.$-]+)")
_FIXED_OFFSET = re.compile(r"(.*, i(?:8|16|32|64) %[\w.$-]+)(?:, i(?:8|16|32|64) \d+)+(?:, !.*)?")

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
_INLINE = {"__rt_acquire": 1, "__rt_release": 1, "perfcounter_get": 1, "mutex_lock": 1,
           "mutex_unlock": 1}  # fmt: skip
# Those whose call is known: arguments moved, a result that is kept; the routine counts for itself.
_CALLS = {"__rt_seqread_get": 4, "__rt_seqread_tell": 3, "mram_read_unaligned": 4,
          "mram_write_unaligned": 4}  # fmt: skip


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition(", ")
    return first.strip(), second.strip()


def _multiply(i: Instruction, values: Values) -> Cost:
    kind, text = i.typed
    a, b = _pair(text)
    widths = [values.narrow(x) or (8 if re.fullmatch(r"-?\d{1,2}", x) else 0) for x in (a, b)]
    if bits(kind) <= 8 or (all(widths) and max(widths) <= 8):
        return Cost(ONE)  # one instruction for bytes
    if bits(kind) <= 16 or (all(widths) and max(widths) <= 16 and bits(kind) <= 32):
        return Cost(7 * ONE)  # products of bytes, shifted and added
    if bits(kind) > 32:
        return Cost(LONG_ROUTINE + (LONG_MOVES + MULTIPLY_64) * ONE)
    return Cost(ROUTINE, [f"call void @__rt_c_mul(i32 {a}, i32 {b})"])


def _power_of_two(text: str) -> bool:
    return text.isdigit() and int(text) & (int(text) - 1) == 0 and text != "0"


def _divide(kind: str, a: str, b: str, signed: bool, merged: bool) -> Cost:
    if signed and _power_of_two(b):
        return Cost(4 * ONE * (2 if bits(kind) > 32 else 1))
    if merged:
        return Cost(ONE)  # quotient and remainder come from one call
    if bits(kind) > 32:
        return Cost(LONG_ROUTINE + DIVIDE_64 * ONE)
    if bits(kind) < 32:
        return Cost(ROUTINE + 20 * ONE)
    return Cost(ROUTINE, [f"call void @__rt_c_{'s' if signed else 'u'}div(i32 {a}, i32 {b})"])


def _memory(name: str, operands: list[str], values: Values) -> Cost:
    """memcpy and memset: in place when small, else the library's loop."""
    found = mram_costs.block(name, operands, values)
    if found is not None:
        return Cost(CALL, events=found.events)
    alignments = [int(x) for a in operands[:2] for x in re.findall(r"align (\d+)", a)]
    step = min([8, *alignments]) if alignments else 1
    return Cost(-(-int(value(operands[2])) // step) * (2 if "memset" not in name else 1) * ONE)


def _call(i: Instruction, values: Values, seen: set[tuple[str, str]]) -> Cost:
    name, text = i.callee
    if " asm " in f" {i.rest} " and not name:
        template = re.search(r'asm [a-z ]*"([^"]*)"', i.rest)
        lines = [x for x in re.split(r"\\0A|;", template[1]) if x.strip()] if template else []
        return Cost(len(lines) * ONE)
    if name.startswith(_FREE_CALLS):
        return Cost()
    operands = arguments(text)
    if name.startswith(("llvm.memcpy", "llvm.memmove", "llvm.memset")):
        return _memory(name, operands, values)
    if name.startswith("llvm."):
        short = name.split(".")[1]
        narrow, wide = _INTRINSICS.get(short, (3, 6))
        return Cost((wide if name.endswith(("i64", "f64")) else narrow) * ONE)
    if name in ("mram_read", "mram_write"):
        return mram_costs.transfer(i, values, seen)
    if name in _INLINE or name in _CALLS:
        return Cost((_INLINE.get(name) or _CALLS[name]) * ONE)
    if name in ("__dpu_sdiv_i32", "__dpu_srem_i32", "__dpu_sdiv_i64", "__dpu_srem_i64"):
        a, b = (value(x) for x in operands)
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
    wide = bits(kind) > 32
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


def _address(i: Instruction, values: Values, seen: set[tuple[str, str]]) -> Cost:
    """Addresses that differ in a constant at their end are one, with offsets in the loads."""
    fixed = _FIXED_OFFSET.fullmatch(i.rest)
    if fixed is not None:
        key = (i.name, fixed[1])
        if key in seen:
            return Cost()
        seen.add(key)
    indexes = len(_VARIABLE_INDEX.findall(i.rest))
    base = arguments(i.rest)[1]
    return Cost(ONE * indexes + (mram_costs.array(base, values, seen) if indexes else 0))


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
    if i.name in ("load", "store"):
        found = mram_costs.access(i, values)
        if found is not None:
            return found
    if i.name == "load":
        return Cost(0 if "@__rt_me" in i.rest else ONE)
    if i.name in ("store", "ret", "fneg", "atomicrmw", "cmpxchg"):
        return Cost(ONE)
    if i.name == "getelementptr":
        return _address(i, values, seen)
    if i.name in ("icmp", "fcmp"):
        return _comparison(i, values)
    if i.name == "br":
        return Cost(ONE if i.rest.startswith("i1 ") else 1)
    if i.name == "switch":
        return Cost(ONE * min(3, i.rest.count("label") - 1))
    if i.name == "select":
        return Cost(3 * ONE if re.search(r", i64 ", i.rest) else 2 * ONE)
    if i.name == "call":
        return _call(i, values, seen)
    return _arithmetic(i, values, seen) or _conversion(i, values) or Cost(ONE)
