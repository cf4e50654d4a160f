"""What names mean in a statement of inline PTX: operands, registers, labels, special registers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .statements import Statement

TYPES = {
    **{f"{kind}{bits}": f"uint{bits}_t" for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    "f16": "__half",
    "f16x2": "__half2",
    "bf16": "__nv_bfloat16",
    "bf16x2": "__nv_bfloat162",
    "f32": "float",
    "tf32": "float",
    "f64": "double",
    "pred": "bool",
}
_SPECIAL = {
    **{f"{name}.{d}": f"unsigned({value}.{d})" for name, value in (
        ("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"),
    ) for d in "xyz"},
    "laneid": "cudla_sim::lane()",
    "warpid": "(cudla_sim::rank() / 32)",
    "nwarpid": "((cudla_sim::block->threads + 31) / 32)",
    "smid": "0u",
    "nsmid": "1u",
    "gridid": "0u",
    "clock": "uint32_t(clock64())",
    "clock_hi": "uint32_t(uint64_t(clock64()) >> 32)",
    "clock64": "clock64()",
    "globaltimer": "::cudla_sim::nanoseconds()",
    "globaltimer_lo": "uint32_t(::cudla_sim::nanoseconds())",
    "globaltimer_hi": "uint32_t(uint64_t(::cudla_sim::nanoseconds()) >> 32)",
    "dynamic_smem_size": "uint32_t(cudla_sim::block->shape->shared_bytes)",
    "lanemask_eq": "(1u << cudla_sim::lane())",
    "lanemask_lt": "((1u << cudla_sim::lane()) - 1u)",
    "lanemask_le": "((2u << cudla_sim::lane()) - 1u)",
    "lanemask_gt": "~((2u << cudla_sim::lane()) - 1u)",
    "lanemask_ge": "~((1u << cudla_sim::lane()) - 1u)",
    "envreg1": "uint32_t(cudla_sim::grid_workspace() >> 32)",
    "envreg2": "uint32_t(cudla_sim::grid_workspace())",
    **{f"reserved_smem_offset_{name}": f"cudla_sim::ptx_reserved({number})" for name, number in (
        ("begin", 0), ("0", 0), ("1", 1), ("cap", 2), ("end", 2),
    )},
    "cluster_ctaid.x": "0u",
    "cluster_ctarank": "0u",
    "cluster_nctarank": "1u",
}  # fmt: skip
_CONSTANT = re.compile(r"[-+~\s\d()xXa-fA-FuU<>|&*/]+")


class CannotTranslate(Exception):
    """An instruction that is not known; the text says which."""


@dataclass
class Scope:
    """What names mean: operands of the statement, registers and labels of its own."""

    statement: Statement
    number: int
    registers: list[dict[str, str]] = field(default_factory=lambda: [{}])
    labels: dict[str, str] = field(default_factory=dict)

    def declare(self, name: str) -> str:
        made = f"cudla_sim_r{sum(map(len, self.registers))}_{_plain(name)}"
        self.registers[-1][name] = made
        return made

    def label(self, name: str) -> str:
        return self.labels.setdefault(name, f"cudla_sim_l{len(self.labels)}_{_plain(name)}")

    def value(self, text: str) -> str:
        """C++ for an operand. Raises CannotTranslate."""
        number = re.fullmatch(r"%(\d+)", text)
        if number:
            given = len(self.statement.operands)
            if int(number[1]) >= given:
                raise CannotTranslate(f"{text}: there are {given} operands")
            return f"cudla_sim_{number[1]}"
        text = text.replace("%%", "%")
        for known in reversed(self.registers):
            if text in known:
                return known[text]
        if text.startswith("%"):
            if text[1:] not in _SPECIAL:
                raise CannotTranslate(f"the special register {text}")
            return _SPECIAL[text[1:]]
        if real := re.fullmatch(r"(-?)0[fF]([0-9a-fA-F]{8})", text):
            return f"{real[1]}cudla_sim::ptx_in<float>(uint32_t(0x{real[2]}u))"
        if real := re.fullmatch(r"(-?)0[dD]([0-9a-fA-F]{16})", text):
            return f"{real[1]}cudla_sim::ptx_in<double>(uint64_t(0x{real[2]}ull))"
        if re.fullmatch(r"-?\d*\.\d+(?:[eE][-+]?\d+)?", text) or _CONSTANT.fullmatch(text):
            return f"({text})" if text.startswith("-") else text
        if text == "WARP_SZ":
            return "32"
        raise CannotTranslate(text)

    def in_shared(self, base: str, offset: str) -> str:
        """C++ for the generic address of one in shared memory."""
        return f"cudla_sim::from_shared(cudla_sim::ptx_address({base}, {offset}))"

    def read(self, kind: str, text: str) -> str:
        """An operand as an instruction of C++'s type *kind* reads it."""
        negated = text.startswith("!")
        value = self.value(text.removeprefix("!").strip())
        return ("!" if negated else "") + f"cudla_sim::ptx_in<{kind}>({value})"

    def write(self, text: str, value: str) -> str:
        return (
            f"(void)({value})"
            if text == "_"
            else f"cudla_sim::ptx_out({self.value(text)}, {value})"
        )


def split(text: str) -> list[str]:
    """Operands between commas; those in braces or brackets are one."""
    return [part.strip() for part in re.split(r",(?![^{}]*\})(?![^\[\]]*\])", text) if part.strip()]


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def parts_of(text: str) -> Sequence[str]:
    """The operands of ``{a, b}``."""
    return [part.strip() for part in text.strip("{} ").split(",")]
