"""Fetches from textures, and reads and writes of surfaces (PTX ISA, "Texture Instructions",
"Surface Instructions"). Objects are what CUDA's own are: handles in registers."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from ..scope import TYPES, CannotTranslate, parts_of
from .scope import FunctionScope

_FETCHES = {
    "1d": ("tex1D", 1),
    "2d": ("tex2D", 2),
    "3d": ("tex3D", 3),
    "a1d": ("tex1DLayered", 1),
    "a2d": ("tex2DLayered", 2),
    "cube": ("texCubemap", 3),
    "acube": ("texCubemapLayered", 3),
}
"""CUDA's function for a geometry, and its coordinates; the layer is their last one in CUDA and the
first one in PTX."""
_RESULTS = {"f32": "float4", "s32": "int4", "u32": "uint4"}
_MODES = {
    "trap": "cudaBoundaryModeTrap",
    "clamp": "cudaBoundaryModeClamp",
    "zero": "cudaBoundaryModeZero",
}
_CHANNELS = {"r": 0, "g": 1, "b": 2, "a": 3}
_SURFACES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}
_PLACE = re.compile(r"\[\s*(.+?)\s*,\s*\{(.*)\}\s*\]")


def instruction(parts: list[str], places: list[str], scope: FunctionScope) -> str | None:
    """C++; None where the instruction is of another kind. Raises CannotTranslate."""
    if parts[0] in ("tex", "tld4"):
        return _fetch(parts, places, scope)
    if parts[0] in ("suld", "sust"):
        return _surface(parts, places, scope)
    return None


def _taken(place: str, parts: list[str]) -> tuple[str, Sequence[str]]:
    """The object and the coordinates of ``[object, {x, y}]``."""
    found = _PLACE.fullmatch(place)
    if found is None:
        raise CannotTranslate(f"{'.'.join(parts)} {place}")
    return found[1], parts_of(found[2])


def _geometry(parts: list[str], known: Container[str]) -> str:
    found = next((part for part in parts if part in _FETCHES), "")
    if found not in known:
        raise CannotTranslate(".".join(parts))
    return found


def _fetch(parts: list[str], places: list[str], scope: FunctionScope) -> str:
    geometry = _geometry(parts, _FETCHES)
    target, *present = places[0].split("|")
    types = [part for part in parts if part in ("f16", "f16x2", "f32", "s32", "u32")]
    if len(types) != 2 or types[0] not in _RESULTS or present or "v4" not in parts:
        raise CannotTranslate(".".join(parts))
    of, given = _taken(places[1], parts)
    name, count = _FETCHES[geometry]
    layer = [scope.read("int32_t", given[0])] if geometry.startswith("a") else []
    given = given[len(layer) :][:count]
    whole = types[1] == "s32"
    coordinates = [scope.read("int32_t" if whole else "float", place) for place in given]
    if parts[0] == "tld4":
        name = "tex2Dgather"
        layer = [str(next(_CHANNELS[part] for part in parts if part in _CHANNELS))]
        if geometry != "2d":
            raise CannotTranslate(".".join(parts))
    elif whole and geometry == "1d":
        name = "tex1Dfetch"
    elif whole:
        raise CannotTranslate(f"{'.'.join(parts)}: whole coordinates of several dimensions")
    called = ", ".join([scope.read("uint64_t", of), *coordinates, *layer])
    stores = [
        scope.write(register, f"cudla_sim_v.{channel}")
        for register, channel in zip(parts_of(target), "xyzw", strict=True)
    ]
    made = f"const auto cudla_sim_v = ::{name}<{_RESULTS[types[0]]}>({called})"
    return "; ".join([made, *stores])


def _surface(parts: list[str], places: list[str], scope: FunctionScope) -> str:
    geometry = _geometry(parts, _SURFACES)
    kind = next((part for part in parts if re.fullmatch(r"b(8|16|32|64)", part)), "")
    mode = next((_MODES[part] for part in parts if part in _MODES), "")
    if parts[1] != "b" or not kind or not mode:
        raise CannotTranslate(".".join(parts))
    load = parts[0] == "suld"
    of, given = _taken(places[1 if load else 0], parts)
    layer = [scope.read("int32_t", given[0])] if geometry.startswith("a") else []
    at = [scope.read("int32_t", place) for place in given[len(layer) :][: _SURFACES[geometry]]]
    x, y, z = [*at, "0", "0"][:3]
    if layer:
        z = layer[0]
    count = next((int(part[1]) for part in parts if part in ("v2", "v4")), 1)
    names = parts_of(places[0 if load else 1])
    held = f"::cudla_sim::Loaded<{TYPES[kind]}, {count}>"
    place = f"{scope.read('uint64_t', of)}, {x}, {y}, {z}, {mode}"
    if load:
        stores = [scope.write(name, f"cudla_sim_v.v[{i}]") for i, name in enumerate(names)]
        made = f"const auto cudla_sim_v = ::cudla_sim::surface_read<{held}>({place})"
        return "; ".join([made, *stores])
    values = ", ".join(scope.read(TYPES[kind], name) for name in names)
    return f"::cudla_sim::surface_write({held}{{{{{values}}}}}, {place})"
