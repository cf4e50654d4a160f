"""Makes a DPU program count the instructions that a DPU would execute.

The text of optimised LLVM IR gets, at the beginning of each basic block, an addition to the counter
of the runtime (``shim/dpu_run/count.c``); multiplications, divisions and copies of unknown size add
what they take by their operands. Names and unnamed numbers of values stay as they are.

Source of the rules: facts of DPU timing, section 8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import costs, mram_costs
from .intermediate import ONE, Instruction, Values, opaque_pointers
from .profile import Recorder

OPTIMISER = (
    *("-fno-vectorize", "-fno-slp-vectorize", "-mllvm", "-unroll-runtime=0"),
    *("-mllvm", "-unroll-allow-partial=0"),
)
"""Flags that make the optimiser do what that of a DPU does: vectors and unrolling by parts are for
other processors."""

NO_CLANG = (
    "dpu-upmem-dpurte-clang: warning: this program will have no times of the hardware: they need "
    "clang, gcc does not show its intermediate code\n"
)


def asked(environment: Mapping[str, str]) -> bool:
    """Whether CUDLA_SIM_UPMEM_TIMING, or CUDLA_SIM_TIME without it, asks for hardware times."""
    timing = environment.get("CUDLA_SIM_UPMEM_TIMING")
    return (
        timing in ("model", "profile")
        if timing
        else environment.get("CUDLA_SIM_TIME") == "hardware"
    )


_LABEL = re.compile(r"^(?:([\w.$-]+)|\"([^\"]+)\"):")
_TARGET = re.compile(r"label %(?:([\w.$-]+)|\"([^\"]+)\")")
_OWN = re.compile(r"^define .*@__dpu_\w+\(")

_PURE = re.compile(
    r" (?:readnone|readonly|writeonly|argmemonly|inaccessiblememonly|inaccessiblemem_or_argmemonly"
    r"|memory\([^)]*\))(?= )"
)
"""What the optimiser found out about functions that touched no memory and now count: who calls them
must not keep the counter in a register meanwhile."""

_ADD = "call void @__rt_c_add(i64 {})"


class _Block:
    def __init__(self, label: str) -> None:
        self.label = label
        self.head = ""  # the line of the label
        self.instructions: list[Instruction] = []

    @property
    def targets(self) -> list[str]:
        if not self.instructions:
            return []
        return [a or b for a, b in _TARGET.findall(self.instructions[-1].text)]


def _blocks(lines: list[str]) -> list[_Block]:
    blocks = [_Block("")]
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        label = _LABEL.match(line)
        if label:
            if blocks[-1].instructions or blocks[-1].head or blocks[-1].label:
                blocks.append(_Block(label[1] or label[2]))
            else:
                blocks[-1].label = label[1] or label[2]
            blocks[-1].head = line
            continue
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        if line.rstrip().endswith("["):
            while not lines[at - 1].strip().startswith("]"):
                line += " " + lines[at].strip()
                at += 1
        blocks[-1].instructions.append(Instruction.read(line))
    return blocks


def _back_edges(blocks: list[_Block]) -> list[tuple[_Block, _Block]]:
    """(latch, header) of the loops, by a walk in depth."""
    by_label = {b.label: b for b in blocks}
    found, state = [], {id(blocks[0]): 1}
    stack = [(blocks[0], iter(blocks[0].targets))]
    while stack:
        block, rest = stack[-1]
        label = next(rest, None)
        if label is None:
            state[id(block)] = 2
            stack.pop()
            continue
        target = by_label[label]
        seen = state.get(id(target), 0)
        if seen == 1:
            found.append((block, target))
        elif seen == 0:
            state[id(target)] = 1
            stack.append((target, iter(target.targets)))
    return found


def _loop(blocks: list[_Block], latch: _Block, header: _Block) -> list[_Block]:
    """The blocks between header and latch."""
    before: dict[str, list[_Block]] = {}
    for block in blocks:
        for target in block.targets:
            before.setdefault(target, []).append(block)
    inside, waiting = [header], [latch]
    while waiting:
        block = waiting.pop()
        if block not in inside:
            inside.append(block)
            waiting += before.get(block.label, [])
    return inside


def _counts_to_a_variable(latch: _Block, header: _Block, values: Values) -> bool:
    """The latch compares a counter (a phi of the header and a constant step) with a variable."""
    last = latch.instructions[-1]
    compare = values.made.get(last.uses[0]) if last.name == "br" and last.uses else None
    if compare is None or compare.name != "icmp":
        return False
    operands = [x.strip() for x in compare.rest.split(" ", 2)[-1].split(",")]
    phis = {i.result for i in header.instructions if i.name == "phi"}
    for one, other in (operands[:2], operands[1::-1]):
        step = values.made.get(one)
        if step is None or step.name not in ("add", "getelementptr") or len(step.uses) != 1:
            continue
        if step.uses[0] in phis and other.startswith("%"):
            return True
    return False


def _waits(blocks: list[_Block]) -> bool:
    """Whether a loop may wait for what another tasklet writes."""
    return any(
        "load volatile" in i.text or "load atomic" in i.text or " asm sideeffect" in i.text
        for b in blocks
        for i in b.instructions
    )


def _made(blocks: list[_Block]) -> frozenset[str]:
    return frozenset(i.result for b in blocks for i in b.instructions if i.result)


def _counted(lines: list[str], mram: frozenset[str], recorder: Recorder | None) -> list[str]:
    """The body of a function with its counters; ``mram``: variables there."""
    blocks = _blocks(lines)
    values = Values(mram)
    for block in blocks:
        for instruction in block.instructions:
            values.add(instruction)
    latches: dict[str, int] = {}
    spins = set()
    around: dict[str, list[_Block]] = {}  # the innermost loop around a block
    for latch, header in _back_edges(blocks):
        inside = _loop(blocks, latch, header)
        for block in inside:
            if block.label not in around or len(inside) < len(around[block.label]):
                around[block.label] = inside
        if _counts_to_a_variable(latch, header, values):
            latches[latch.label] = costs.LATCH
        if _waits(inside):
            spins.add(latch.label)
    result = []
    leaf = not any(i.name == "call" and costs.is_event(i) for b in blocks for i in b.instructions)
    for number, block in enumerate(blocks):
        more = latches.get(block.label, 0)
        loop = around.get(block.label)
        values.loop = None if loop is None else _made(loop)
        if number == 0 and not leaf:
            more += costs.ENTRY
        result += _block(block, values, more, block.label in spins, recorder)
    return result


def _block(
    block: _Block, values: Values, halves: int, spins: bool, recorder: Recorder | None
) -> list[str]:
    """``halves``: what it costs beside its instructions. What calls may see the counter, so each
    part up to a call is added before it."""
    if recorder is not None:
        recorder.more(block.instructions[-1] if block.instructions else None, halves)
    head = [block.head] if block.head else []
    done: list[str] = []
    part: list[str] = []
    seen: set[tuple[str, str]] = set()

    def flush() -> None:
        nonlocal halves
        if halves:
            done.append(f"  {_ADD.format(halves)}")
        if recorder is not None:
            done.extend(recorder.flush())
        done.extend(part)
        part.clear()
        halves = 0

    for i in block.instructions:
        if i.name == "phi":
            head.append(i.text)
            continue
        cost = costs.of(i, values, seen)
        halves += cost.halves
        lines = [f"  {x}" for x in cost.lines]
        if recorder is not None:
            recorder.add(i, cost.halves)
            lines = recorder.dynamic(i, cost.lines) if lines else []
        if cost.events:
            flush()
            done.extend(f"  {x}" for x in cost.events)
        part += [*lines, i.text]
        if costs.is_event(i):
            flush()
    if spins:
        part.insert(len(part) - 1, "  call void @__rt_spin()")
    flush()
    return [*head, *done]


def count(module: str, profiled: bool = False) -> str:
    """The module (text of optimised IR) with counters; ``profiled``: of source lines, too."""
    recorder = Recorder(module) if profiled else None
    numbers = [int(n) for n in re.findall(r"^!(\d+) = ", module, re.MULTILINE)]
    apart = max(numbers, default=-1) + 1
    mram = mram_costs.variables(module)
    result: list[str] = []
    lines = iter(module.split("\n"))
    for line in lines:
        if not line.startswith("define "):
            result.append(_PURE.sub("", line) if line.startswith("attributes #") else line)
            continue
        body = []
        for inner in lines:
            if inner == "}":
                break
            body.append(inner)
        if _OWN.match(line):
            line = re.sub(r" #\d+ \{$", " alwaysinline nounwind {", line)
            line = re.sub(r"^define (?:dso_local )?", "define internal ", line)
            result += [line, *body, "}"]
        else:
            result += [line, *(_apart(x, apart) for x in _counted(body, mram, recorder)), "}"]
    more = recorder.functions(module, _pointer(module), apart) if recorder is not None else ""
    return "\n".join([*result, _functions(module, apart), more])


def _apart(line: str, scope: int) -> str:
    """A load or store of the program: it is never that of the counter, which so can stay in a
    register in a loop."""
    bare = line.lstrip()
    memory = bare.startswith("store ") or re.match(r"%\S+ = load ", bare)
    return f"{line}, !noalias !{scope}" if memory and "!noalias" not in line else line


def _pointer(module: str) -> str:
    """The type of a pointer to the counter."""
    return "ptr" if opaque_pointers(module) else "i64*"


def _functions(module: str, apart: int) -> str:
    """What the counters call; inlined. Sizes and counts are those of the library's routines."""
    pointer = _pointer(module)
    ctlz = "" if "@llvm.ctlz.i32(" in module else "declare i32 @llvm.ctlz.i32(i32, i1)\n"
    return f"""
!{apart} = !{{!{apart + 1}}}
!{apart + 1} = distinct !{{!{apart + 1}, !{apart + 2}}}
!{apart + 2} = distinct !{{!{apart + 2}}}
@__rt_count = external dso_local global i64
{ctlz}declare void @__rt_spin()
declare void @__rt_mram_variable(i32, i32)
declare void @__rt_copied(i32, i32, i32)
declare void @__rt_filled(i32, i32)
define internal void @__rt_c_add(i64 %n) alwaysinline nounwind {{
  %a = load i64, {pointer} @__rt_count, !alias.scope !{apart}
  %b = add i64 %a, %n
  store i64 %b, {pointer} @__rt_count, !alias.scope !{apart}
  ret void
}}
define internal i32 @__rt_c_length(i32 %a) alwaysinline nounwind {{
  %z = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %n = sub i32 32, %z
  ret i32 %n
}}
define internal void @__rt_c_mul(i32 %a, i32 %b) alwaysinline nounwind {{
  %c = icmp ult i32 %a, %b
  %m = select i1 %c, i32 %a, i32 %b
  %l = call i32 @__rt_c_length(i32 %m)
  %d = add i32 %l, 6
  %w = zext i32 %d to i64
  %n = mul i64 %w, {ONE}
  call void @__rt_c_add(i64 %n)
  ret void
}}
define internal void @__rt_c_udiv(i32 %a, i32 %b) alwaysinline nounwind {{
  %c = icmp ult i32 %a, %b
  %k = call i32 @__rt_c_length(i32 %a)
  %l = call i32 @__rt_c_length(i32 %b)
  %d = sub i32 %k, %l
  %e = add i32 %d, 8
  %f = select i1 %c, i32 5, i32 %e
  %w = zext i32 %f to i64
  %n = mul i64 %w, {ONE}
  call void @__rt_c_add(i64 %n)
  ret void
}}
define internal void @__rt_c_sdiv(i32 %a, i32 %b) alwaysinline nounwind {{
  %na = sub i32 0, %a
  %ca = icmp slt i32 %a, 0
  %pa = select i1 %ca, i32 %na, i32 %a
  %nb = sub i32 0, %b
  %cb = icmp slt i32 %b, 0
  %pb = select i1 %cb, i32 %nb, i32 %b
  call void @__rt_c_udiv(i32 %pa, i32 %pb)
  call void @__rt_c_add(i64 {costs.DIVIDE_SIGNED})
  %oa = zext i1 %ca to i64
  %ob = zext i1 %cb to i64
  %o = add i64 %oa, %ob
  %x = mul i64 %o, {ONE}
  call void @__rt_c_add(i64 %x)
  ret void
}}
"""
