"""Instructions of PTX in which threads meet: barriers, shuffles, votes."""

from __future__ import annotations

from .scope import TYPES, CannotTranslate, Scope

_MOVES = ("up", "down", "bfly", "idx")
_EVERYBODY = "0xffffffffu"
"""The mask of instructions from before Volta, which have none."""
_PLACES = 1 << 16
"""What ``rewrite.py`` counts calls of ``__activemask`` by stays below."""


def instruction(parts: list[str], places: list[str], scope: Scope, text: str) -> str | None:
    """C++; None where the instruction is of another kind. Raises CannotTranslate."""
    name = parts[0]
    if name in ("bar", "barrier"):
        return _barrier(parts, places, scope, text)
    if name == "shfl":
        return _shuffle(parts, places, scope, text)
    if name == "vote":
        return _vote(parts, places, scope, text)
    if name == "match":
        return _match(parts, places, scope, text)
    if name == "redux" and len(places) == 3:
        kind = next(TYPES[p] for p in parts if p in TYPES)
        value, mask = scope.read(kind, places[1]), scope.read("uint32_t", places[2])
        return scope.write(places[0], f"__reduce_{parts[2]}_sync({mask}, {value})")
    if name == "activemask" and places:
        return scope.write(places[0], f"__activemask({_PLACES + scope.number})")
    if name == "elect" and len(places) == 2:
        targets = [part.strip() for part in places[0].split("|")]
        mask = scope.read("uint32_t", places[1])
        stores = [scope.write(targets[0], "cudla_sim_first")]
        if len(targets) > 1:
            stores.append(scope.write(targets[1], "cudla_sim::lane() == cudla_sim_first"))
        return f"const uint32_t cudla_sim_first = cudla_sim::ptx_elected({mask}); " + "; ".join(
            stores
        )
    return None


def _barrier(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    if parts[:2] == ["bar", "warp"]:
        return f"__syncwarp({scope.read('uint32_t', places[0])})"
    if "cluster" in parts:
        return "__syncthreads()"  # clusters are of one block
    if "red" in parts and places:
        test = scope.read("bool", places[-1])
        name = next((p for p in parts if p in ("popc", "and", "or")), "")
        ending = {"popc": "count", "and": "and", "or": "or"}.get(name)
        if ending is None or len(places) > 3:
            raise CannotTranslate(text)
        return scope.write(places[0], f"__syncthreads_{ending}({test})")
    taken = [scope.read("uint32_t", place) for place in places]
    if "arrive" in parts and len(taken) == 2:
        return f"cudla_sim::ptx_arrive({', '.join(taken)})"
    if "sync" in parts and len(taken) in (1, 2):
        if len(taken) == 1 and places[0] == "0":
            return "__syncthreads()"
        return f"cudla_sim::ptx_barrier({', '.join(taken)})"
    raise CannotTranslate(text)


def _shuffle(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    """``shfl.sync.mode.b32 d{|p}, a, b, c{, mask}``."""
    mode = next((p for p in parts if p in _MOVES), "")
    if not mode or len(places) != (5 if "sync" in parts else 4):
        raise CannotTranslate(text)
    targets = [part.strip() for part in places[0].split("|")]
    taken = [scope.read("uint32_t", place) for place in places[1:]]
    mask = taken[3] if "sync" in parts else _EVERYBODY
    call = f"cudla_sim::ptx_shfl_{mode}({mask}, {', '.join(taken[:3])})"
    stores = [scope.write(targets[0], "cudla_sim_got.value")]
    if len(targets) > 1:
        stores.append(scope.write(targets[1], "cudla_sim_got.inside"))
    return f"const auto cudla_sim_got = {call}; " + "; ".join(stores)


def _vote(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    mode = next((p for p in parts if p in ("all", "any", "uni", "ballot")), "")
    if not mode or len(places) != (3 if "sync" in parts else 2):
        raise CannotTranslate(text)
    mask = scope.read("uint32_t", places[2]) if "sync" in parts else _EVERYBODY
    return scope.write(places[0], f"__{mode}_sync({mask}, {scope.read('bool', places[1])})")


def _match(parts: list[str], places: list[str], scope: Scope, text: str) -> str:
    kind = next(TYPES[p] for p in parts if p in TYPES)
    if len(places) != 3:
        raise CannotTranslate(text)
    value, mask = scope.read(kind, places[1]), scope.read("uint32_t", places[2])
    if "any" in parts:
        return scope.write(places[0], f"__match_any_sync({mask}, {value})")
    targets = [part.strip() for part in places[0].split("|")]
    call = f"__match_all_sync({mask}, {value}, &cudla_sim_all)"
    stores = [scope.write(targets[0], "cudla_sim_mask")]
    if len(targets) > 1:
        stores.append(scope.write(targets[1], "cudla_sim_all != 0"))
    return f"int cudla_sim_all = 0; const unsigned cudla_sim_mask = {call}; " + "; ".join(stores)
