"""One instruction of PTX as C++: calls of what ``include/cuda/kernels/ptx*.hpp`` declare."""

from __future__ import annotations

from collections.abc import Callable

from . import lanes, memory
from .scope import TYPES, CannotTranslate, Scope, parts_of, split

_IGNORED = {
    *("applypriority", "brkpt", "createpolicy", "discard", "griddepcontrol", "nanosleep"),
    *("pmevent", "prefetch", "prefetchu", "setmaxnreg"),
}
"""They say how fast something is, not what."""
_NUMBERS = {
    *("abs", "add", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot", "copysign"),
    *("cos", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "lg2", "lop3", "mad", "mad24", "max"),
    *("min", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt", "sad"),
    *("shl", "shr", "sin", "sqrt", "sub", "szext", "tanh", "xor"),
}
_VARIANTS = {
    "mul": ("hi", "wide"),
    "mad": ("hi", "wide"),
    "mul24": ("hi",),
    "mad24": ("hi",),
    "dp2a": ("hi",),
    "min": ("NaN",),
    "max": ("NaN",),
    "bfind": ("shiftamt",),
    "bmsk": ("wrap",),
    "szext": ("wrap",),
    "prmt": ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"),
}
_ROUNDED = {
    "float": {
        **{name: f"__f{name}" for name in ("add", "sub", "mul", "div", "rcp", "sqrt")},
        **dict.fromkeys(("fma", "mad"), "__fmaf"),
    },
    "double": {
        **{name: f"__d{name}" for name in ("add", "sub", "mul", "div", "rcp", "sqrt")},
        **dict.fromkeys(("fma", "mad"), "__fma"),
    },
}
_ROUNDINGS = {"rz": "rz", "rm": "rd", "rp": "ru"}
"""PTX's names, and the ends of CUDA's: to the nearest is what C++ does."""
_TO_WHOLE = ("rni", "rzi", "rmi", "rpi")
_REAL = ("float", "double", "__half", "__nv_bfloat16")
_CARRIED = ("add", "addc", "sub", "subc", "mad", "madc")
_TESTS = {
    *("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"),
    *("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"),
}
_JOINED = {"and": "&&", "or": "||", "xor": "!="}
_OF_PAIRS = ("add", "min", "max")
_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr")


def instruction(text: str, scope: Scope) -> str:
    """C++ without its semicolon. Raises CannotTranslate."""
    word, _, rest = text.partition(" ")
    parts = word.split(".")
    places = split(rest)
    if parts[0] in _IGNORED:
        return "(void)0"
    if parts[0] in ("membar", "fence"):
        return "__threadfence()"
    if parts[0] == "trap":
        return "__trap()"
    if parts[0] == "exit" and not places:
        return "cudla_sim::exit_thread()"
    if parts[0] == "bra" and len(places) == 1:
        return f"goto {scope.label(places[0])}"
    for family in (memory, lanes):
        made = family.instruction(parts, places, scope, text)
        if made is not None:
            return made
    if parts[0] in _OF_PAIRS and parts[-1] in ("u16x2", "s16x2"):
        return _pairs(parts, places, scope)
    types = [TYPES[part] for part in parts[1:] if part in TYPES]
    if not places or not types:
        raise CannotTranslate(text)
    own = _OWN.get(parts[0])
    if own is not None:
        return own(parts, types, places, scope)
    if parts[0] in _CARRIED and ("cc" in parts or parts[0] in ("addc", "subc", "madc")):
        return _carried(parts, types[0], places, scope)
    if parts[0] in _VIDEO:
        return _video(parts, types, places, scope, text)
    if parts[0] in _NUMBERS or word == "vabsdiff4.u32.u32.u32.add":
        return _number(parts, types, places, scope)
    raise CannotTranslate(text)


def _pairs(parts: list[str], places: list[str], scope: Scope) -> str:
    """Two integers of 16 bits in each operand (PTX ISA, "Integer Arithmetic Instructions")."""
    taken = ", ".join(scope.read("uint32_t", place) for place in places[1:])
    signed = parts[-1][0] if parts[0] != "add" else ""
    value = f"__v{parts[0]}{signed}2({taken})"
    return scope.write(places[0], f"__vmaxs2({value}, 0)" if "relu" in parts else value)


def _number(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    name = parts[0]
    kinds = types if name in ("dp4a", "dp2a") else types[:1]
    operands = [_operand(name, kinds[0], i, p, scope) for i, p in enumerate(places[1:])]
    flushed = "ftz" in parts and types[0] == "float"
    if flushed:
        operands = [f"cudla_sim::ptx_ftz({operand})" for operand in operands]
    taken = ", ".join(operands)
    rounding = next((_ROUNDINGS[p] for p in parts[1:] if p in _ROUNDINGS), "")
    if rounding and name in _ROUNDED.get(types[0], {}):
        value = f"{_ROUNDED[types[0]][name]}_{rounding}({taken})"
    else:
        variant = next((f"_{p}" for p in parts[1:] if p in _VARIANTS.get(name, ())), "")
        if "sat" in parts and types[0] == "int32_t" and name in ("add", "sub", "mad"):
            variant = f"{variant}_sat"
        value = f"cudla_sim::ptx_{name}{variant}<{', '.join(kinds)}>({taken})"
    if flushed:
        value = f"cudla_sim::ptx_ftz({value})"
    if "sat" in parts and types[0] in ("float", "double", "__half", "__half2"):
        value = f"cudla_sim::ptx_sat({value})"
    if "relu" in parts:
        value = f"cudla_sim::ptx_relu({value})"
    return scope.write(places[0], value)


def _operand(name: str, kind: str, index: int, place: str, scope: Scope) -> str:
    """Counts of shifts and places of bits have 32 bits, whatever is shifted."""
    if (name in ("shl", "shr") and index == 1) or (
        name in ("bfe", "bfi") and index >= 1 + (name == "bfi")
    ):
        return scope.read("uint32_t", place)
    if name in ("dp4a", "dp2a") and index == 2:
        return scope.read("uint32_t", place)
    if name == "mad" and index == 2:
        return scope.value(place)  # as wide as the sum
    return scope.read(kind, place)


def _mov(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    """Also between a register and the parts of it in braces."""
    to, source = places
    if to.startswith("{"):
        names = parts_of(to)
        whole = scope.read(f"uint{_bits(types[0])}_t", source)
        piece = f"uint{_bits(types[0]) // len(names)}_t"
        stores = [
            scope.write(name, f"cudla_sim::ptx_part<{piece}>(cudla_sim_all, {i})")
            for i, name in enumerate(names)
        ]
        return f"auto cudla_sim_all = {whole}; " + "; ".join(stores)
    if source.startswith("{"):
        names = parts_of(source)
        piece = f"uint{_bits(types[0]) // len(names)}_t"
        taken = ", ".join(scope.read(piece, name) for name in names)
        return scope.write(to, f"cudla_sim::ptx_joined<uint{_bits(types[0])}_t>({taken})")
    return scope.write(to, scope.read(types[0], source))


def _bits(kind: str) -> int:
    named = {"float": 32, "double": 64}
    return named.get(kind) or int("".join(c for c in kind.split("_")[0] if c.isdigit()) or 32)


def _cvt(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    to, source = types
    if len(places) == 3:  # two numbers into one register; the first is the upper half
        made = [f"cudla_sim::ptx_cvt_{_half_of(to)}({scope.read(source, p)})" for p in places[1:]]
        if "relu" in parts:
            made = [f"cudla_sim::ptx_relu({value})" for value in made]
        return scope.write(
            places[0], f"cudla_sim::ptx_joined<uint32_t>({', '.join(reversed(made))})"
        )
    rounding = next((p for p in parts[1:] if p in _TO_WHOLE), "")
    if not rounding and next((p for p in parts[1:] if p in ("rn", *_ROUNDINGS)), "rn") != "rn":
        way = next(_ROUNDINGS[p] for p in parts[1:] if p in _ROUNDINGS)
        value = f"cudla_sim::ptx_cvt_{way}<{to}>({scope.read(source, places[1])})"
    elif "tf32" in parts:
        value = f"cudla_sim::ptx_tf32({scope.read('float', places[1])})"
    else:
        cut = "cut" if to in _REAL and rounding == "rzi" else ""
        name = f"cudla_sim::ptx_cvt_{cut or rounding or 'rzi'}"
        if "sat" in parts and not rounding:
            name = "cudla_sim::ptx_cvt_sat"
        value = f"{name}<{to}>({scope.read(source, places[1])})"
    if "relu" in parts:
        value = f"cudla_sim::ptx_relu({value})"
    if "ftz" in parts and to == "float":
        value = f"cudla_sim::ptx_ftz({value})"
    return scope.write(places[0], value)


def _half_of(kind: str) -> str:
    if kind not in ("__half2", "__nv_bfloat162"):
        raise CannotTranslate(f"cvt of two numbers to {kind}")
    return "half" if kind == "__half2" else "bfloat"


def _setp(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    """``setp.cmp{.bool}.type p{|q}, a, b{, c}``: p has the test, q what it is not."""
    test = _test(parts, types[-1], places[1], places[2], scope)
    joined = next((sign for name, sign in _JOINED.items() if name in parts), "")
    other = f" {joined} {scope.read('bool', places[3])}" if joined and len(places) > 3 else ""
    targets = [part.strip() for part in places[0].split("|")]
    stores = [scope.write(targets[0], f"(cudla_sim_test{other})")]
    if len(targets) > 1:
        stores.append(scope.write(targets[1], f"(!cudla_sim_test{other})"))
    both = "; ".join(stores)
    if other:
        both = f"const bool cudla_sim_other = {scope.read('bool', places[3])}; " + both.replace(
            other, f" {joined} cudla_sim_other"
        )
    return f"const bool cudla_sim_test = {test}; {both}"


def _test(parts: list[str], kind: str, a: str, b: str, scope: Scope) -> str:
    name = next((part for part in parts[1:] if part in _TESTS), "")
    if not name:
        raise CannotTranslate(".".join(parts))
    taken = [scope.read(kind, place) for place in (a, b)]
    if "ftz" in parts and kind == "float":
        taken = [f"cudla_sim::ptx_ftz({value})" for value in taken]
    return f"cudla_sim::ptx_is_{name}<{kind}>({', '.join(taken)})"


def _set(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    test = _test(parts, types[-1], places[1], places[2], scope)
    yes = "1.0f" if types[0] == "float" else "~uint32_t{0}"
    return scope.write(places[0], f"{types[0]}({test} ? {yes} : 0)")


def _selp(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    a, b = (scope.read(types[0], place) for place in places[1:3])
    return scope.write(places[0], f"({scope.read('bool', places[3])} ? {a} : {b})")


def _slct(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    a, b = (scope.read(types[0], place) for place in places[1:3])
    return scope.write(places[0], f"({scope.read(types[1], places[3])} >= 0 ? {a} : {b})")


def _shf(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    name = "__funnelshift_" + ("l" if "l" in parts else "r") + ("c" if "clamp" in parts else "")
    taken = ", ".join(scope.read("uint32_t", place) for place in places[1:4])
    return scope.write(places[0], f"{name}({taken})")


def _testp(parts: list[str], types: list[str], places: list[str], scope: Scope) -> str:
    value = scope.read(types[0], places[1])
    return scope.write(places[0], f"cudla_sim::ptx_testp_{parts[1]}({value})")


def _carried(parts: list[str], kind: str, places: list[str], scope: Scope) -> str:
    """With the carry of the instruction before, and for the next (the register CC)."""
    name = parts[0].removesuffix("c") if parts[0] != "subc" else "sub"
    half = next((f"_{p}" for p in parts if p in ("hi", "lo")), "")
    taken = ", ".join(scope.read(kind, place) for place in places[1:])
    unsigned = f"std::make_unsigned_t<{kind}>"
    flags = f"{str(parts[0].endswith('c')).lower()}, {str('cc' in parts).lower()}"
    value = f"cudla_sim::ptx_carry_{name}{half}<{unsigned}, {kind}, {flags}>({taken})"
    return scope.write(places[0], value)


def _video(parts: list[str], types: list[str], places: list[str], scope: Scope, text: str) -> str:
    """Of whole registers: ``vadd.d.a.b{.sat}{.op2} d, a, b{, c}``."""
    if len(types) != 3 or any("." in place for place in places if not place.startswith("%%")):
        raise CannotTranslate(text)
    a, b = scope.read(types[1], places[1]), scope.read(types[2], places[2])
    wraps = ", true" if "wrap" in parts and parts[0] in ("vshl", "vshr") else ""
    held = f"cudla_sim::ptx_{parts[0]}(int64_t({a}), int64_t({b}){wraps})"
    value = f"cudla_sim::ptx_video<{types[0]}, {str('sat' in parts).lower()}>({held})"
    if len(places) == 4:
        second = next((part for part in parts[4:] if part in ("add", "min", "max")), "")
        if not second:
            raise CannotTranslate(text)
        other = scope.read(types[0], places[3])
        value = f"cudla_sim::ptx_{second}<{types[0]}>({value}, {other})"
    return scope.write(places[0], value)


_OWN: dict[str, Callable[[list[str], list[str], list[str], Scope], str]] = {
    "mov": _mov,
    "cvt": _cvt,
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
    "shf": _shf,
    "testp": _testp,
}
