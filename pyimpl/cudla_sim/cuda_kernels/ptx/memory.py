"""Instructions of PTX that read or write memory."""

from __future__ import annotations

import re

from .scope import TYPES, CannotTranslate, Scope, parts_of

_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_SPACES = ("global", "shared", "local", "const", "param")
_ORDERED = ("volatile", "relaxed", "acquire", "release", "acq_rel", "sc")
_ATOMS = {"add", "and", "cas", "dec", "exch", "inc", "max", "min", "or", "xor"}


def instruction(parts: list[str], places: list[str], scope: Scope, text: str) -> str | None:
    """C++; None where the instruction is of another kind. Raises CannotTranslate."""
    name = parts[0]
    if name in ("ld", "ldu", "st"):
        return _moved(name != "st", parts, places, scope, text)
    if name in ("atom", "red"):
        return _atom(parts, places, scope, text)
    if name == "cp" and parts[1] == "async":
        return _copied(parts, places, scope, text)
    if name == "mbarrier":
        return _arrival(parts, places, scope, text)
    if name == "cvta":
        return _converted(parts, places, scope)
    if name == "isspacep" and len(places) == 2:
        kind = _space(parts).capitalize()
        return scope.write(
            places[0], f"__is{kind}((const void *)(uintptr_t)({scope.value(places[1])})) != 0"
        )
    if name in ("ldmatrix", "stmatrix"):
        return _matrices(name, parts, places, scope, text)
    if name == "mma":
        return _mma(parts, places, scope, text)
    return None


def _space(parts: list[str]) -> str:
    """``.shared::cta`` is ``.shared``."""
    return next((p.partition("::")[0] for p in parts if p.partition("::")[0] in _SPACES), "")


def _address(place: str, parts: list[str], scope: Scope) -> str:
    inside = re.fullmatch(r"\[\s*([^\[\]+]+?)\s*(?:\+\s*(-?\w+)\s*)?\]", place)
    if inside is None:
        raise CannotTranslate(place)
    base, offset = scope.value(inside[1]), scope.value(inside[2] or "0")
    if _space(parts) == "shared":
        return scope.in_shared(base, offset)
    return f"cudla_sim::ptx_address({base}, {offset})"


def _moved(load: bool, parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    """A load or a store of one to eight numbers, through [register] or [register+number]."""
    kind = next((TYPES[p] for p in parts[1:] if p in TYPES), None)
    if kind is None or not 2 <= len(places) <= 3:  # a policy of a cache may follow
        raise CannotTranslate(text)
    place, other = (places[1], places[0]) if load else (places[0], places[1])
    count = next((_VECTORS[p] for p in parts if p in _VECTORS), 1)
    names = parts_of(other) if count > 1 else [other.strip("{} ")]
    if len(names) != count:
        raise CannotTranslate(text)
    ordered = str(any(p in _ORDERED for p in parts)).lower()
    address = _address(place, parts, scope)
    if load:
        stores = [scope.write(name, f"cudla_sim_v.v[{i}]") for i, name in enumerate(names)]
        got = f"cudla_sim::ptx_load<{kind}, {count}, {ordered}>({address})"
        return f"const auto cudla_sim_v = {got}; " + "; ".join(stores)
    values = ", ".join(scope.read(kind, name) for name in names)
    return f"cudla_sim::ptx_store<{ordered}, {kind}>({address}, {values})"


def _atom(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    kind = next((TYPES[p] for p in parts[1:] if p in TYPES), None)
    name = next((p for p in parts[1:] if p in _ATOMS), None)
    if parts[0] == "red":
        places = ["_", *places]
    if kind is None or name is None or len(places) < 3 or any(p in _VECTORS for p in parts):
        raise CannotTranslate(text)
    count = 2 if name == "cas" else 1
    taken = ", ".join(scope.read(kind, place) for place in places[2 : 2 + count])
    address = f"({kind} *){_address(places[1], parts, scope)}"
    return scope.write(places[0], f"cudla_sim::ptx_atom_{name}<{kind}>({address}, {taken})")


def _copied(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    """Copies beside the threads are done when they are asked for, which waiting for them allows."""
    if parts[2] in ("commit_group", "wait_group", "wait_all"):
        return "(void)0"
    if parts[2:4] == ["mbarrier", "arrive"]:  # without noinc it counts itself, too
        barrier = f"cudla_sim::ptx_mbarrier({_address(places[0], ['shared'], scope)})"
        return f"{barrier}.arrive(1)" if "noinc" in parts else "(void)0"
    if parts[2] not in ("ca", "cg") or len(places) < 3:
        raise CannotTranslate(text)
    to = _address(places[0], ["shared"], scope)
    hints = any(p.startswith("L2::cache_hint") for p in parts)
    taken = places[3:-1] if hints else places[3:]
    size = scope.read("uint32_t", places[2])
    read = scope.read("uint32_t", taken[0]) if taken else size
    return f"cudla_sim::ptx_copy({to}, {_address(places[1], [], scope)}, {size}, {read})"


def _arrival(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    """``mbarrier.init``, ``arrive``, ``test_wait`` and their like, without counts of bytes."""
    if "expect_tx" in parts or "complete_tx" in parts:
        raise CannotTranslate(text)
    if parts[1] == "pending_count":
        pending = f"cudla_sim::ptx_mbarrier_pending({scope.read('uint64_t', places[1])})"
        return scope.write(places[0], pending)
    state = "" if parts[1] in ("init", "inval") else places[0]
    rest = places[1 if state else 0 :]
    address = _address(rest[0], ["shared"], scope)
    barrier = f"cudla_sim::ptx_mbarrier({address})"
    if parts[1] == "init":
        return f"{barrier}.start({scope.read('uint32_t', rest[1])})"
    if parts[1] == "inval":
        return "(void)0"
    if parts[1] in ("arrive", "arrive_drop"):
        count = scope.read("uint32_t", rest[1]) if len(rest) > 1 else "1"
        gone = count if parts[1] == "arrive_drop" else "0"
        call = f"cudla_sim::ptx_mbarrier_arrive({address}, {count}, {gone})"
        return scope.write(state, call)
    if parts[1] in ("test_wait", "try_wait"):
        kind = "parity" if "parity" in parts else "wait"
        phase = scope.read("uint32_t" if kind == "parity" else "uint64_t", rest[1])
        return scope.write(state, f"cudla_sim::ptx_mbarrier_{kind}({address}, {phase})")
    raise CannotTranslate(text)


def _converted(parts: list[str], places: list[str], scope: Scope) -> str:
    """``cvta{.to}.space.u64``."""
    value = scope.read("uint64_t", places[1])
    if _space(parts) == "shared":
        to = "to" in parts
        call = f"__cvta_generic_to_shared((const void *){value})"
        value = call if to else f"uint64_t(__cvta_shared_to_generic({value}))"
    return scope.write(places[0], value)


def _matrices(name: str, parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    """Eight by eight elements of 16 bits each: one, two or four of them."""
    count = next((int(p[1]) for p in parts if p in ("x1", "x2", "x4")), 0)
    load = name == "ldmatrix"
    if not count or "m8n8" not in parts or "b16" not in parts or len(places) != 2:
        raise CannotTranslate(text)
    place, given = (places[1], places[0]) if load else (places[0], places[1])
    names = parts_of(given)
    address = _address(place, ["shared"], scope)
    turned = str("trans" in parts).lower()
    if load:
        stores = [scope.write(n, f"cudla_sim_v.v[{i}]") for i, n in enumerate(names)]
        got = f"cudla_sim::ptx_ldmatrix<{count}, {turned}>({address})"
        return f"const auto cudla_sim_v = {got}; " + "; ".join(stores)
    values = ", ".join(scope.read("uint32_t", n) for n in names)
    return f"cudla_sim::ptx_stmatrix<{count}, {turned}>({address}, {{{values}}})"


def _mma(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    """``mma.sync.aligned.mMnNkK.row.col.d.a.b.c d, a, b, c`` with each operand in braces."""
    shape = next((m for p in parts if (m := re.fullmatch(r"m(8|16)n8k(\d+)", p))), None)
    types = [TYPES[p] for p in parts if p in TYPES]
    layouts = [p for p in parts if p in ("row", "col")]
    if shape is None or len(types) != 4 or len(places) != 4 or layouts != ["row", "col"]:
        raise CannotTranslate(text)
    if (shape[1], shape[2]) == ("8", "4") and types[1] != "double":
        raise CannotTranslate(text)  # lanes in quads, of Volta's only
    tf32 = "tf32" in parts
    kinds = [("cudla_sim::Tf32" if tf32 and i in (1, 2) else kind) for i, kind in enumerate(types)]
    registers = [_register(kind) for kind in types]
    d, *given = (parts_of(place) for place in places)
    values = [
        "{" + ", ".join(scope.read(register, name) for name in names) + "}"
        for register, names in zip(registers[1:], given, strict=True)
    ]
    rows, depth = shape[1], shape[2]
    call = f"cudla_sim::ptx_mma<{rows}, {depth}, {', '.join(kinds)}>({', '.join(values)})"
    stores = [scope.write(name, f"cudla_sim_v.v[{i}]") for i, name in enumerate(d)]
    return f"const auto cudla_sim_v = {call}; " + "; ".join(stores)


def _register(kind: str) -> str:
    """What an element's register is: several small elements share one."""
    return kind if kind in ("float", "double", "int32_t") else "uint32_t"
