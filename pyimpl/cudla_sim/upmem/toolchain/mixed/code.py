"""The C of one instruction, on variables r0 to r23 and the flags __c and __z."""

from __future__ import annotations

from ...assembler import operands
from ...assembler.expressions import AsmError, Expression
from ...assembler.operands import Instruction
from ...assembler.sections import TEXT, Item
from ...isa import fields as f
from ...isa.conditions import name_of
from ...isa.forms import Destination, Flag, Form, Role
from .. import instructions
from .values import Values

RETURN = 0xFFFF_FFFE
"""What r23 is when C calls: no instruction has this number."""
SAVE = " ".join(f"__registers[{n}] = r{n};" for n in range(f.REGISTERS))
LOAD = " ".join(f"r{n} = __registers[{n}];" for n in range(f.REGISTERS))
"""Registers to where other functions see them, and back."""

_CONSTANTS = instructions.CONSTANTS | {
    "id": "__rt_me", "id2": "(2u * __rt_me)", "id4": "(4u * __rt_me)", "id8": "(8u * __rt_me)",
}  # fmt: skip
_PAIRS = {
    "MOVD": ("__e", "__o", "__z"),
    "SWAPD": ("__o", "__e", "__z"),
    "MUL_STEP": ("__e >> 1", "__o + (-(__e & 1) & (__a << {s}))", "__e >> 1 == 0"),
}
_ACCESSES = {*instructions.LOADS, *instructions.STORES, "ld", "sd"}
_WAITING = ("ACQUIRE", "RELEASE", "STOP", "RESUME")


class Code:
    """Instructions of one text. *functions* are the symbols of other files that it calls."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.functions: set[str] = set()
        self.targets: set[int] = set()
        """Instructions that are jumped to."""
        self.returns: set[int] = set()
        """Those whose numbers calls keep."""
        self.count = 0
        self._item: Item
        self._number: int
        self._form: Form
        self._expressions: dict[str, int | Expression] = {}

    def c(self, item: Item, number: int) -> str:
        """One statement. Raises AsmError: it is not translated."""
        given = item.content
        if not isinstance(given, Instruction):
            raise AsmError("data among the instructions: it stays in IRAM, which C does not see")
        form = given.form
        if form.flags & Flag.UNKNOWN:
            raise AsmError(f"nobody has published what {form.mnemonic} does")
        self._item, self._number, self._form = item, number, form
        self._expressions = dict(given.operands)
        if form.operation == "CALL":
            return self._call()
        if form.operation.lower() in _ACCESSES:
            return self._access()
        if form.operation in _WAITING:
            return self._wait()
        if form.operation in ("LDMA", "SDMA"):
            words = (self._register("a"), self._register("b"), self._constant("imm"))
            return f"__rt_asm_{form.operation.lower()}({', '.join(words)});"
        if form.operation == "FAULT":
            return f"__rt_program_fault({self._constant('imm')});"
        if form.operation == "TELL":
            return ";"
        if form.operation in (*_PAIRS, "DIV_STEP"):
            return self._pair()
        return self._computed()

    # -- operands

    def _value(self, slot: str) -> int | Expression | None:
        return self._expressions.get(slot)

    def _register(self, slot: str) -> str:
        number = self._value(slot)
        if not isinstance(number, int):
            return "0u"
        return f"r{number}" if number < f.REGISTERS else _CONSTANTS[f.SOURCES[number]]

    def _constant(self, slot: str) -> str:
        value = self._value(slot)
        if value is None:
            return "0u"
        if isinstance(value, int):
            return f"{value & 0xFFFFFFFF:#x}u"
        text = self.values.assembler.sections[TEXT]
        found = self.values.of(value, text, self._item.offset, self._item.origin)
        if not found.symbols:
            operands.check(self._form, getattr(self._form, slot), value, found.number)
        return found.c()

    def _jump(self) -> str:
        """The jump to this instruction's target."""
        target = self._value("pc")
        if not isinstance(target, Expression):
            raise AsmError("a jump without a target")
        at = self.values.label(target, self._item.offset, self._item.origin)
        if at is None:
            raise AsmError(f"{target.text} is in another file: only call and jump go there")
        return self.go(at)

    def go(self, at: int) -> str:
        if not 0 <= at < self.count:
            raise AsmError(f"there is no instruction {at} to jump to")
        self.targets.add(at)
        return f"goto L{at};"

    def _condition(self) -> str:
        number = self._value("cc")
        if not isinstance(number, int):
            return ""
        return name_of(self._form.condition_class, number)

    # -- kinds

    def _computed(self) -> str:
        form = self._form
        name = "or" if form.operation == "MOVE" else form.operation.lower()
        operation = instructions.find(name)
        if operation is None:
            raise AsmError(f"{form.mnemonic} is not translated where assembly and C are together")
        second = self._register("b") if form.b is not None else self._constant("imm")
        first = "0u" if form.operation == "MOVE" else self._register("a")
        if form.operation == "TIME_CFG":
            first = second
        parts = [
            f"unsigned int __a = {first}, __b = {second}, __q, __k = __c, __y = __z;",
            "(void)__b, (void)__k, (void)__y;",
        ]
        if operation.sources == 3:
            parts.append(f"unsigned int __s = {self._constant('imm')};")
        if not operation.chained:
            parts.append("__k = 0;")
        parts.append(operation.compute)
        condition, jump, result = self._condition(), "", "__q"
        if condition:
            sets = form.role is Role.SET
            holds = instructions.condition(operation, condition, sets)
            if holds is None:
                raise AsmError(f"{form.mnemonic} ... {condition} is not translated")
            if sets:
                result = f"(({holds}) ? 1u : 0u)"
            else:
                jump = f"if ({holds}) {self._jump()}"
        parts.append(self._put(result))
        parts.append(f"__z = __q == 0{' && __y' if operation.chained else ''};")
        return f"{{ {' '.join([*parts, jump])} }}"

    def _put(self, result: str) -> str:
        dest = self._value("dest")
        kind = self._form.destination
        if kind is Destination.NONE or not isinstance(dest, int):
            return ""
        if kind is Destination.WORD:
            return f"r{dest} = {result};"
        high = f"(unsigned int)((int)r{dest + 1} >> 31)" if kind is Destination.PAIR_S else "0u"
        return f"r{dest + 1} = {result}; r{dest} = {high};"

    def _pair(self) -> str:
        form, dest, pair = self._form, self._value("dest"), self._value("b")
        if not isinstance(dest, int) or not isinstance(pair, int):
            raise AsmError(f"{form.mnemonic} is not translated")
        shift = f"({self._constant('imm')} & 31)"
        parts = [
            f"unsigned int __a = {self._register('a')}, __e = r{pair}, __o = r{pair + 1};",
            "(void)__a;",
        ]
        if form.operation == "DIV_STEP":
            parts += [
                f"unsigned long long __v = (unsigned long long)__a << {shift};",
                "unsigned int __f = __o >= __v;",
                f"r{dest} = __e << 1 | __f; r{dest + 1} = __f ? __o - (unsigned int)__v : __o;",
            ]
        else:
            high, low, z = _PAIRS[form.operation]
            parts.append(f"r{dest} = {high}; r{dest + 1} = {low.format(s=shift)}; __z = {z};")
        condition = self._condition()
        if condition:
            tests = {"true": "1", "z": "__z", "nz": "!__z", "sz": "__a == 0", "snz": "__a != 0",
                     "spl": "(int)__a >= 0", "smi": "(int)__a < 0"}  # fmt: skip
            if condition not in tests:
                raise AsmError(f"{form.mnemonic} ... {condition} is not translated")
            parts.append(f"if ({tests[condition]}) {self._jump()}")
        return f"{{ {' '.join(parts)} }}"

    def _access(self) -> str:
        form = self._form
        name = form.operation.lower()
        load = name in instructions.LOADS or name == "ld"
        offset = self._constant("imm" if load else "offset")
        at = f"({self._register('a')} + {offset})"
        if load:
            at = f"({at} & {instructions.LOADED_BITS})"
        if form.operation in ("LD", "SD"):
            kind, width = "unsigned long long", 64
        else:
            kind = instructions.LOADS.get(name) or instructions.STORES[name]
            width = 16 if "short" in kind else 8 if "char" in kind else 32
        place = f"*(volatile {kind} __attribute__((may_alias)) *)(unsigned long){at}"
        big = form.flags & Flag.BIG_ENDIAN and width > 8
        swap = f"__builtin_bswap{width}" if big else ""
        if form.operation == "LD":
            dest = int(str(self._value("dest")))
            return (
                f"{{ unsigned long long __q = {swap}({place}); "
                f"r{dest} = (unsigned int)(__q >> 32); r{dest + 1} = (unsigned int)__q; }}"
            )
        if load:
            return self._put(f"(unsigned int)({kind}){swap}({place})")
        if form.operation == "SD" and form.b is not None:
            pair = self._value("b")
            value = f"((unsigned long long)r{pair} << 32 | r{int(str(pair)) + 1})"
        elif form.b is not None:
            value = f"({kind}){self._register('b')}"
        else:
            value = self._stored(kind)
        return f"{place} = {swap}({value});"

    def _stored(self, kind: str) -> str:
        """The constant of a store: of 16 bits at most, with its sign."""
        field = self._form.imm
        width = 16 if field is None else field.width
        signed = "short" if width == 16 else "signed char"
        return f"({kind})(long long)({signed}){self._constant('imm')}"

    def _wait(self) -> str:
        """acquire, release, stop, resume: functions of the runtime, which wait themselves."""
        name, condition = self._form.operation.lower(), self._condition()
        jump = ""
        target = self._value("pc")
        itself = False
        if isinstance(target, Expression):
            at = self.values.label(target, self._item.offset, self._item.origin)
            itself = at == self._number
            if name == "release" and at != self._number + 1:
                jump = self._jump()  # what is released was held
        where = self._constant("imm")
        if name in ("acquire", "release", "resume"):
            where = f"({self._register('a')} + {where})"
        if name == "acquire" and condition in ("nz", "true", "z") and not itself:
            holds = {"nz": "!__q", "z": "__q", "true": "1"}[condition]
            return (
                f"{{ unsigned int __q = __rt_try_acquire({where}); __z = __q; "
                f"if ({holds}) {self._jump()} }}"
            )
        if condition == "true" or (condition == "z" and name == "resume"):
            jump = self._jump()
        elif condition and not itself:
            raise AsmError(f"{name} ... {condition} is not translated")
        return f"__rt_{name}({'' if name == 'stop' else where}); {jump}"

    def _call(self) -> str:
        form, back = self._form, self._number + 1
        keep = ""
        dest = self._value("dest")
        if form.destination is not Destination.NONE and isinstance(dest, int):
            keep = f"r{dest} = {back}u; "
            self.returns.add(back)
        target = self._value("imm")
        direct = self._value("a") == f.ZERO and isinstance(target, Expression)
        if direct and isinstance(target, Expression):
            at = self.values.label(target, self._item.offset, self._item.origin)
            if at is not None:
                return f"{keep}{self.go(at)}"
            name = target.name
            if not name:
                raise AsmError(f"{target.text} is no function")
            self.functions.add(name)
            after = f"goto L{back};" if keep else "__at = r23; goto dispatch;"
            if keep:
                self.targets.add(back)
            return f"{{ {keep}{SAVE} __asm_call_{name}(__registers); {LOAD} {after} }}"
        second = self._register("b") if form.b is not None else self._constant("imm")
        return f"__at = {self._register('a')} + {second}; {keep}goto dispatch;"
