"""Modules of PTX as one source of CUDA C++."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..scope import CannotTranslate
from . import calls
from .assembly import Assembly, Function, Place, parse
from .body import Body, register_type, type_of
from .scope import BLOCK, SHARED, FunctionScope
from .variables import memory, named, plain

WANTED = "cudla_sim_wanted"
"""Of a piece: the table of variables that it wants to find."""
_OWN = '__attribute__((visibility("protected")))'
"""The program may have something of that name, as the function that launches a kernel has."""
_DYNAMIC = "(uintptr_t)::cudla_sim::block->dynamic_start()"


def translate(modules: Sequence[tuple[str, str]]) -> str:
    """CUDA C++ of modules that are linked with each other: name and text of each.

    Raises CannotTranslate, with the instruction that is not known.
    """
    return Program(modules).source()


class Program:
    """Modules that are linked with each other: name and text of each. Raises CannotTranslate.

    It is one source, or one of its variables and one of each kernel.
    """

    def __init__(self, modules: Sequence[tuple[str, str]]) -> None:
        self.units = [_Unit(n, shown, parse(text)) for n, (shown, text) in enumerate(modules)]
        target = re.search(r"^\s*\.target\s+sm_(\d+)", modules[0][1], re.MULTILINE)
        self.version = int(target[1]) if target else 0
        self.indirect = any(".callprototype" in text for _, text in modules)

    def source(self) -> str:
        """Of all of it."""
        return self._source(self._define(_Linked(self.units)))

    def variables(self) -> str | None:
        """The source of its variables. None where it cannot be in pieces: a function whose address
        is in memory has to be of the module that calls it."""
        linked = self._define(_Linked(self.units, ""))
        return None if linked.called or self.indirect else self._source(linked)

    def kernel(self, name: str) -> str:
        """The source of one kernel, which has a table of the variables that it wants to find."""
        return self._source(self._define(_Linked(self.units, name)))

    def _source(self, linked: _Linked) -> str:
        version = f'extern "C" const int cudla_sim_ptx_version = {self.version};'
        return f"{linked.source()}{version}\n"

    def _define(self, linked: _Linked) -> _Linked:
        for unit in self.units:
            linked.define(unit)
        linked.define_called()
        return linked


class _Unit:
    def __init__(self, number: int, shown: str, assembly: Assembly) -> None:
        self.number = number
        self.shown = shown.replace("\\", "\\\\").replace('"', '\\"')
        self.assembly = assembly
        self.variables = {place.name: place for place in assembly.variables}
        self.functions: dict[str, Function] = {}
        for function in assembly.functions:  # a declaration may be before or behind
            if function.body is not None or function.name not in self.functions:
                self.functions[function.name] = function


class _Linked:
    """Names of units and of all of them; C++ for each. Of a piece *only* is the kernel, "" the
    variables without any."""

    def __init__(self, units: Sequence[_Unit], only: str | None = None) -> None:
        self.units = units
        self.only = only
        self.wanted: dict[str, str] = {}
        """Of a piece: symbols of variables elsewhere, and where it has their addresses."""
        self.inside: set[str] = set()
        """Variables of a piece's functions."""
        self.declarations: list[str] = []
        self.definitions: list[str] = []
        self.spelled: dict[tuple[int, str], str] = {}
        self.shared: dict[int, set[str]] = {unit.number: set() for unit in units}
        self.visible: dict[str, tuple[_Unit, Place | Function]] = {}
        self.called: list[tuple[_Unit, Function]] = []
        """Functions that something names, in the order in which that was found."""
        for unit in units:
            for place in unit.variables.values():
                self._publish(unit, place.name, place)
            for function in unit.functions.values():
                self._publish(unit, function.name, function)

    def _publish(self, unit: _Unit, name: str, found: Place | Function) -> None:
        absent = found.linkage == "extern" or (isinstance(found, Function) and found.body is None)
        if absent or not (found.linkage or (isinstance(found, Function) and found.entry)):
            return
        if name in self.visible and found.linkage not in ("weak", "common"):
            if self.visible[name][1].linkage not in ("weak", "common"):
                raise CannotTranslate(f"{name} is defined by two images")
        elif name in self.visible:
            return
        self.visible[name] = unit, found

    def find(self, unit: _Unit, name: str) -> tuple[_Unit, Place | Function] | None:
        """Where a unit's name is defined."""
        name = unit.assembly.aliases.get(name, name)
        own = unit.variables.get(name) or unit.functions.get(name)
        if own is None:
            return None
        return self.visible.get(name, (unit, own))

    def spell(self, unit: _Unit, name: str) -> str:
        made = f"cudla_sim_u{unit.number}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        return self.spelled.setdefault((unit.number, name), made)

    def address(self, unit: _Unit, name: str) -> str:
        """C++ for a generic address, "" where there is no such name."""
        found = self.find(unit, name)
        if found is None:
            return ""
        home, what = found
        if isinstance(what, Place) and what.space == "shared" and what.count is None:
            return _DYNAMIC
        if isinstance(what, Place) and what.linkage == "extern":
            raise CannotTranslate(f"{name}, which no image defines")
        if isinstance(what, Function) and what.body is None:
            if what.name not in calls.BUILT_IN:
                raise CannotTranslate(f"{name}, which no image defines")
            return f"(uintptr_t)&{calls.BUILT_IN[what.name]}"
        if isinstance(what, Place) and self.only and what.name not in self.inside:
            return self._in_a_piece(home, what)
        self._need(home, what)
        return f"(uintptr_t)&{self.spell(home, what.name)}"

    def _in_a_piece(self, home: _Unit, place: Place) -> str:
        if place.space == "shared":
            if (home.number, place.name) not in self.spelled:
                self._shared(home, place)
            return f"(uintptr_t)&{self.spell(home, place.name)}"
        symbol = self._symbol(home, place)
        if symbol not in self.wanted:
            self.wanted[symbol] = f"cudla_sim_at_{len(self.wanted)}"
            self.declarations.append(f"static uintptr_t {self.wanted[symbol]};")
        return self.wanted[symbol]

    def _need(self, home: _Unit, what: Place | Function) -> None:
        if isinstance(what, Function) and not what.entry and (home, what) not in self.called:
            self.called.append((home, what))

    def define(self, unit: _Unit) -> None:
        """What the unit defines, to the source; functions when something names them."""
        for place in unit.variables.values():
            if self.visible.get(place.name, (unit,))[0] is unit:
                self._variable(unit, place)
        for function in unit.functions.values():
            own = self.visible.get(function.name, (unit,))[0] is unit
            if self.only not in (None, function.name):
                continue
            if function.entry and function.body is not None and own:
                self._function(unit, function)

    def define_called(self) -> None:
        """Functions that kernels and variables name, and those that these name."""
        done = 0
        while done < len(self.called):
            self._function(*self.called[done])
            done += 1

    def _variable(self, unit: _Unit, place: Place) -> None:
        if place.kind in ("texref", "surfref", "samplerref"):
            raise CannotTranslate(f"{place.name}: references to textures")
        if place.space == "shared":
            self.shared[unit.number].add(place.name)
            if place.count is not None and self.only is None:
                self._shared(unit, place)
            return
        if place.linkage == "extern" or (self.only and place.name not in self.inside):
            return
        name = self.spell(unit, place.name)
        symbol = self._symbol(unit, place)
        symbol = "" if symbol == name else f' asm("{symbol}") {_OWN}'
        made = memory(place, lambda value: self._initial(unit, value))
        self.declarations += [made.types(name), f"extern {made.named(name)}{symbol};"]
        self.definitions.append(made.definition(name))

    def _shared(self, unit: _Unit, place: Place) -> None:
        name = self.spell(unit, place.name)
        self.declarations.append(f"__shared__ {plain(place).named(name)};")

    def _symbol(self, unit: _Unit, place: Place) -> str:
        own = (not place.linkage and unit.number > 0) or "$" in place.name
        return self.spell(unit, place.name) if own else place.name

    def _initial(self, unit: _Unit, value: str) -> str:
        name, offset = named(value)
        found = self.address(unit, name)
        if not found:
            raise CannotTranslate(f"{name}, which no image defines")
        return f"(uint64_t)({found}) + ({offset})"

    def _function(self, unit: _Unit, function: Function) -> None:
        name = self.spell(unit, function.name)
        scope = FunctionScope(lambda wanted: self.address(unit, wanted))
        scope.shared = self.shared[unit.number]
        parameters = []
        for number, place in enumerate(function.parameters):
            given = f"p{number}"
            parameters.append(f"{type_of(place)} {given}")
            if place.space == "reg":
                scope.registers[0][place.name] = given
            else:
                scope.memory[0][place.name] = f"(uintptr_t)&{given}"
        known = calls.Known(unit.functions, lambda wanted: self._called(unit, wanted), type_of)

        def hoist(place: Place) -> None:
            if place.space != "shared":
                self.inside.add(place.name)
            unit.variables[place.name] = place
            self._variable(unit, place)

        body = Body(function, scope, known, unit.assembly.files, unit.shown, hoist).lines()
        if scope.in_shared_memory:
            body.insert(0, f"const auto {SHARED} = {BLOCK}.shared;")
        result = "void"
        if function.returned:
            first = function.returned[0]
            result = type_of(first) if first.space == "param" else register_type(first.kind)
        listed = ", ".join(parameters)
        if function.entry:
            limits = f" __launch_bounds__({function.threads})" if function.threads else ""
            self.declarations.append(
                f'extern "C" void {name}({listed}) asm("{function.name}") {_OWN};'
            )
            inner = f"{name}_body"
            given = "".join(f", p{number}" for number in range(len(parameters)))
            taken = ", ".join((f"const cudla_sim::PtxBlock &{BLOCK}", *parameters))
            self.definitions += [
                *(f"static inline void {inner}({taken})", "{", *body, "}"),
                f"template <> struct cudla_sim::BodyOf<&{name}>",
                f"    : cudla_sim::PtxBody<&{inner}> {{}};",
            ]
            head = f'extern "C" __global__ void{limits} {name}({listed})'
            body = [f"{inner}(cudla_sim::PtxBlock::here(){given});"]
        else:
            self.declarations.append(f"static {result} {name}({listed});")
            head = f"static {result} {name}({listed})"
            if scope.asks_block:
                body.insert(0, f"const auto {BLOCK} = cudla_sim::PtxBlock::here();")
        self.definitions += [head, "{", *body, "}"]

    def _called(self, unit: _Unit, name: str) -> str:
        found = self.find(unit, name)
        if found is None or not isinstance(found[1], Function) or found[1].body is None:
            raise CannotTranslate(f"a call of {name}, which no image defines")
        self._need(*found)
        return self.spell(found[0], found[1].name)

    def source(self) -> str:
        rows = "".join(f'{{"{symbol}", &{place}}}, ' for symbol, place in self.wanted.items())
        table = (
            [f'extern "C" const cudla_sim::PtxWanted {WANTED}[] = {{{rows}{{}}}};']
            if self.only
            else []
        )
        head = '#include "kernels/ptx_module.hpp"'
        return "\n".join([head, *self.declarations, *self.definitions, *table, ""])
