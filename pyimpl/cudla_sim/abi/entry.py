"""The one gate that every exported function passes.

An ABI module declares its family once and decorates one function per exported name::

    cudla = Family("cudla", cudlaStatus, cudla_parameters, error=CudlaError)

    @cudla.export("cudlaGet...")
    def get_version(version):          # raw cffi arguments, the header's parameter order
        if not version:
            raise CudlaError(CudlaStatus.cudlaErrorInvalidParam, "version is NULL; ...")
        version[0] = 1005000           # None is success; a number is returned as it is

The gate turns what the function raises into the API's status and remembers the explanation. In
these APIs 0 is success, and cffi answers 0 when anything goes wrong, so every function is attached
with a non-zero error value. ``attach`` imports a module of handlers when one of its functions is
called for the first time; ``check_complete`` compares what all of them attach with what the headers
declare.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from time import perf_counter_ns
from typing import Any, cast

from ..core import explain, process
from ..core.errors import ApiError, ConfigError
from ..core.handles import BadHandle
from ..core.memory import MemoryFault
from ..core.pages import accessible
from ..core.shortage import shortage
from ..core.text import tell
from .embedding import UINTPTR, address, ffi, lib

Handler = Callable[..., Any]

_attached: set[str] = set()
_NOT_A_STATUS = ("_Bool", "uint8_t", "uint16_t", "uint64_t")


class Family:
    """One API: its statuses, and what it answers for failures nobody documented."""

    def __init__(
        self,
        name: str,
        statuses: type[IntEnum],
        declared: Any,
        *,
        answers: Mapping[str, int] | None = None,
        error: type[ApiError] = ApiError,
    ) -> None:
        """``declared``: the generated module ``constants.<name>_parameters``. It has the names of
        parameters, and what the gate answers by itself; ``answers`` replaces the latter."""
        given: Mapping[str, int] = answers or declared.ANSWERS[statuses.__name__]
        self.name = name
        self.statuses = statuses
        self._constants = sys.modules[statuses.__module__]  # all enumerations of the family
        self.parameters: Mapping[str, tuple[str, ...]] = declared.PARAMETERS
        self.unknown = given["unknown"]
        self.no_memory = given["no_memory"]
        self.bad_handle = given["bad_handle"]
        self.bad_memory = given["bad_memory"]
        self.not_supported = given["not_supported"]
        self.error = error

    def status_name(self, status: int) -> str:
        try:
            return self.statuses(status).name
        except ValueError:
            return str(status)

    def enumerator(self, enum: str, value: int) -> str:
        """The name of an enumerator, the number when there is none."""
        kind = getattr(self._constants, enum, None)
        try:
            return str(kind(value).name) if kind is not None else str(value)
        except ValueError:
            return str(value)

    def resolve(self, value: Any, kind: str, argument: str, status: int | None = None) -> Any:
        """The object behind a handle argument; raises this family's error, naming the argument."""
        number = value if isinstance(value, int) else int(ffi.cast(UINTPTR, value))
        state = process._Current.process or process.current()
        try:
            return state.handles.get(number, kind)
        except BadHandle as error:
            raise self.error(
                self.bad_handle if status is None else status, f"{argument} {error}"
            ) from None

    def resolver(self, kind: str, argument: str, status: int) -> Callable[..., Any]:
        """``resolve`` for one kind, with what most calls name and answer. A partial function with
        names takes twice as long."""
        resolve, named, answered = self.resolve, argument, status

        def resolved(value: Any, argument: str = named, status: int = answered) -> Any:
            number = value if isinstance(value, int) else int(ffi.cast(UINTPTR, value))
            state = process._Current.process
            found = None if state is None else state.handles.find_one(number, kind)
            return resolve(value, kind, argument, status) if found is None else found

        return resolved

    def require(self, status: int, to: str = "memory for the result", /, **pointers: Any) -> None:
        """Raises this family's error for the first of the named pointers that is NULL."""
        for name, value in pointers.items():
            if not value:
                raise self.error(status, f"{name} is NULL; it points to {to}")

    def export(
        self, name: str, *, failure: Any = None, status: bool = True, always: bool = False
    ) -> Callable[[Handler], Handler]:
        """Attaches a handler to ``name``.

        ``status=False``: the function returns something else than a status (nothing, a size, a
        pointer); it then returns ``failure`` when it fails. ``always=True``: it also works while
        the settings cannot be understood.
        """

        def attach(handler: Handler) -> Handler:
            self._gate(name, _Call(self, name, handler, failure, status, always))
            return handler

        return attach

    def export_as(
        self, shown: str, name: str, *, failure: Any = None, status: bool = True
    ) -> Callable[[Handler], Handler]:
        """The same for a private function of shim/: ``shown`` is the public name that it serves,
        for explanations, logs and faults."""

        def attach(handler: Handler) -> Handler:
            self._gate(name, _Call(self, shown, handler, failure, status, False))
            return handler

        return attach

    def _gate(self, name: str, call: _Call) -> None:
        void = not call.returns_status and call.failure is None
        options = {} if void else {"error": call.failure}
        call.attached = name
        ffi.def_extern(name="impl_" + name, **options)(call.gate())
        _attached.add(name)

    def attach(self, name: str, handler: Handler, failure: Any = None) -> None:
        """Attaches a handler without the gate: for private functions where microseconds count."""
        options = {} if failure is None else {"error": failure}
        ffi.def_extern(name="impl_" + name, **options)(handler)
        _attached.add(name)

    def unsupported(self, *names: str, because: str) -> None:
        """Attaches functions that exist, fail with the not-supported status, and say why."""
        for name in names:

            def refuse(*_: Any) -> None:
                raise self.error(self.not_supported, f"not supported: {because}")

            result = ffi.typeof(getattr(lib, "impl_" + name)).result
            if result.kind == "void":
                self.export(name, status=False)(refuse)
            elif result.kind == "pointer":
                self.export(name, status=False, failure=ffi.NULL)(refuse)
            elif result.cname in _NOT_A_STATUS:
                self.export(name, status=False, failure=0)(refuse)
            else:
                self.export(name)(refuse)


_GATE = """
def make(state, handler, watched, failed):
    def call({names}):
        if state.watched:
            return watched(({tuple}))
        try:
            return handler({names}){success}
        except BaseException as error:
            return failed(error)
    return call
"""


@functools.cache
def _gate_of(count: int, status: bool) -> Callable[..., Handler]:
    """Makes gates of functions with that many parameters; ``status``: None is success, 0."""
    names = [f"a{i}" for i in range(count)]
    text = _GATE.format(
        names=", ".join(names),
        tuple="".join(f"{n}, " for n in names),
        success=" or 0" if status else "",
    )
    found: dict[str, Any] = {}
    exec(text, found)
    return cast(Callable[..., Handler], found["make"])


class _Call:
    """An exported function: the fast path when nobody watches, the full one otherwise."""

    def __init__(
        self,
        family: Family,
        name: str,
        handler: Handler,
        failure: Any,
        status: bool,
        always: bool,
    ) -> None:
        self.family = family
        self.name = name
        self.attached = name
        self.handler = handler
        self.returns_status = status
        self.always = always
        self.failure = family.unknown if status else failure
        self.parameters = family.parameters.get(name, ())

    def gate(self) -> Handler:
        """The function that C calls. It names its parameters: packing and unpacking them takes a
        fifth of an empty call."""
        kind = ffi.typeof(getattr(lib, "impl_" + self.attached))
        make = _gate_of(len(kind.args), self.returns_status)
        made: Handler = make(process._Current, self.handler, self.watched, self.failed)
        return made

    def watched(self, args: tuple[Any, ...]) -> Any:
        begin = perf_counter_ns()
        explanation = ""
        try:
            if not self.always:
                fault = process.current().faults.check(self.name)
                if fault is not None:
                    raise self.injected(fault)
            result = self.handler(*args)
            if result is None and self.returns_status:
                result = 0
        except BaseException as error:
            result = self.failed(error)
            explanation = explain.last()
        state = process._Current.process
        if state is not None and state.events.subscribers:
            state.events.emit(
                "call",
                self.name,
                begin,
                {
                    "family": self.family.name,
                    "arguments": self.describe(args, ok=not explanation),
                    "status": self.result_text(result),
                    "failed": bool(explanation),
                    "explanation": explanation,
                },
            )
        return result

    def injected(self, status: str) -> ApiError:
        family = self.family
        number = family.statuses[status] if status else family.unknown
        return family.error(number, "made to fail by an injected fault")

    def failed(self, error: BaseException) -> Any:
        """Remembers why, and returns what C gets."""
        family = self.family
        told, called = True, self.name
        if isinstance(error, ApiError):
            status, text, told = error.status, error.explanation, error.told
            called = error.called or called
        elif isinstance(error, BadHandle):
            status, text = family.bad_handle, f"handle {error}"
        elif isinstance(error, MemoryFault):
            status, text = family.bad_memory, error.explanation
        elif lacking := shortage(error):
            status, text = family.no_memory, lacking
        elif isinstance(error, ConfigError):
            status, text = family.unknown, str(error)
            tell(f"cudla-sim: {text}")
        else:
            status, text = family.unknown, f"internal error: {type(error).__name__}: {error}"
            internal_error(self.name, error)
        explain.remember(f"{called}: {text}", family.name, status, told=told)
        state = process._Current.process
        if told and state is not None and state.config.general.explain:
            tell(f"cudla-sim: {called}: {text} -> {family.status_name(status)} ({status})")
        return status if self.returns_status else self.failure

    def describe(self, args: Iterable[Any], ok: bool) -> str:
        shown = []
        for parameter, value in zip(self.parameters, args, strict=False):
            name, _, enum = parameter.partition(":")
            try:
                text = self.family.enumerator(enum, value) if enum else _argument_text(value)
                if ok and name.endswith("*") and value:  # where a result came back
                    text += f" -> {_argument_text(value[0])}"
                elif name.endswith("$") and value and accessible(address(value), 1):
                    text = repr(ffi.string(value, 200).decode(errors="replace"))
            except Exception as error:  # who only watches must not disturb the call
                text = f"? ({error})"
            shown.append(f"{name.rstrip('*$')}={text}")
        return ", ".join(shown)

    def result_text(self, result: Any) -> str:
        if self.returns_status and isinstance(result, int):
            return self.family.status_name(result)
        return "" if result is None else _argument_text(result)


def _argument_text(value: Any) -> str:
    if not isinstance(value, ffi.CData):
        return str(value)
    kind = ffi.typeof(value).kind
    if kind == "pointer":
        return f"{address(value):#x}" if value else "NULL"
    if kind in ("struct", "union"):
        return f"{{{ffi.typeof(value).cname}}}"
    return str(value)


_reported: set[tuple[str, str]] = set()


def internal_error(where: str, error: BaseException) -> None:
    """Something nobody foresaw: the traceback goes to stderr; strict mode stops the program.

    A program that repeats the call gets one line for each repetition.
    """
    import traceback

    text = f"cudla-sim: internal error in {where}: {type(error).__name__}: {error}\n"
    if (where, str(error)) not in _reported:
        _reported.add((where, str(error)))
        text += "please report this:\n" + "".join(traceback.format_exception(error))
    tell(text.rstrip("\n"))
    state = process._Current.process
    if state is not None and state.config.general.strict:
        os.abort()


def check_attached(function: str) -> None:
    """Raises RuntimeError when the function has no handler."""
    if function not in _attached:
        raise RuntimeError(f"{function} has no handler; `python build_ffi.py` renews the table")


def check_complete() -> None:
    """Raises RuntimeError unless exactly the declared functions have handlers."""
    declared = {n.removeprefix("impl_") for n in dir(lib) if n.startswith("impl_")}
    declared -= {"sim_at_exit", "sim_attach"}
    if declared != _attached:
        missing, extra = sorted(declared - _attached), sorted(_attached - declared)
        raise RuntimeError(f"handlers missing: {missing}; handlers without a declaration: {extra}")
