"""``DpuSet``: allocating DPUs, loading, copying, running, reading what they print."""

from __future__ import annotations

import ctypes
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cudla_sim
from cudla_sim.capi import load, prototypes
from cudla_sim.constants.upmem import (
    DPU_ALLOCATE_ALL,
    dpu_callback_flags_t,
    dpu_checkpoint_flags_t,
    dpu_launch_policy_t,
    dpu_set_kind_t,
    dpu_xfer_flags_t,
    dpu_xfer_t,
)

from .compiler import Source, compile_sources
from .context import DpuContext
from .error import DpuError, call
from .program import DpuProgram, DpuSymbol
from .variable import DpuVariable

ALLOCATE_ALL = DPU_ALLOCATE_ALL

_LIBC = ctypes.CDLL(None)
_LIBC.open_memstream.restype = ctypes.c_void_p
_LIBC.open_memstream.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_LIBC.fclose.argtypes = [ctypes.c_void_p]
_LIBC.free.argtypes = [ctypes.c_void_p]

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, prototypes.dpu_set_t, ctypes.c_uint32, ctypes.c_void_p
)  # fmt: skip

_STATE = {
    "c_set", "_symbols", "_dpus", "_ranks", "_top", "_log", "_async_mode", "_process", "_kept",
    "_called",
}  # fmt: skip


class DpuSet:
    """A set of DPUs.

    ``nr_dpus`` or ``nr_ranks`` says how many (neither: all), ``profile`` how. ``binary`` (a file's
    name, or the bytes of one) or ``c_source`` (a file's name, an open file, or a list of them) is
    loaded at once. ``log``, an object with ``write`` or a list with one for each DPU, gets what
    the DPUs print. ``async_mode`` is the default of ``copy``, ``exec`` and ``call``.

    The symbols of the loaded program are attributes: reading one gives a DpuVariable, assigning
    one copies a buffer, or a list with a buffer for each DPU.

    Raises DpuError when the DPUs cannot be allocated or the program cannot be loaded.
    """

    def __init__(
        self,
        nr_dpus: int | None = None,
        nr_ranks: int | None = None,
        profile: str = "",
        binary: str | bytes | None = None,
        c_source: Source | list[Source] | None = None,
        asm_source: Source | list[Source] | None = None,
        log: Any = None,
        async_mode: bool = False,
    ) -> None:
        if nr_dpus is not None and nr_ranks is not None:
            raise DpuError("cannot specify nr_dpus and nr_ranks")
        c_set = prototypes.dpu_set_t()
        if nr_ranks is None:
            count = ALLOCATE_ALL if nr_dpus is None else nr_dpus
            call("dpu_alloc", count, profile.encode(), ctypes.byref(c_set))
        else:
            call("dpu_alloc_ranks", nr_ranks, profile.encode(), ctypes.byref(c_set))
        self._begin(c_set, None, None if isinstance(log, list) else log, async_mode)
        try:
            self._find_children()
            if isinstance(log, list):
                self._check_count(log, "log")
                for dpu, stream in zip(self._dpus, log, strict=True):
                    dpu._log = stream
            if binary is not None or c_source is not None or asm_source is not None:
                self.load(binary, c_source, asm_source)
        except BaseException:
            self.free()
            raise

    def _begin(self, c_set: Any, top: DpuSet | None, log: Any, async_mode: bool) -> None:
        self._symbols: dict[str, DpuSymbol] = {}
        self.c_set = c_set
        self._top = top
        self._log = log
        self._async_mode = async_mode
        self._dpus: list[DpuSet] = []
        self._ranks: list[DpuSet] = []
        self._process = cudla_sim.process if top is None else None
        self._kept: list[Any] = []  # what asynchronous operations still need
        self._called: list[Any] = []  # functions that may still run after ``sync``

    def _child(self, c_set: Any) -> DpuSet:
        child: DpuSet = object.__new__(DpuSet)
        child._begin(c_set, self, self._log, self._async_mode)
        return child

    def _find_children(self) -> None:
        for c_rank in _walk(self.c_set, "dpu_set_rank_iterator"):
            rank = self._child(c_rank)
            rank._ranks.append(rank)
            self._ranks.append(rank)
            for c_dpu in _walk(c_rank, "dpu_set_dpu_iterator"):
                dpu = self._child(c_dpu)
                dpu._dpus.append(dpu)
                dpu._ranks.append(rank)
                rank._dpus.append(dpu)
                self._dpus.append(dpu)

    def __enter__(self) -> DpuSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __iter__(self) -> Iterator[DpuSet]:
        return iter(self._dpus)

    def __len__(self) -> int:
        return len(self._dpus)

    def dpus(self) -> list[DpuSet]:
        """The DPUs of the set, each a set of one."""
        return self._dpus

    def ranks(self) -> list[DpuSet]:
        """The ranks of the set."""
        return self._ranks

    def free(self) -> None:
        """Gives the DPUs back. Raises DpuError for a part of a set."""
        call("dpu_free", self.c_set)
        self._process = None
        self._called.clear()

    def __del__(self) -> None:
        # A set that goes out of scope gives its DPUs back. Parts and freed sets have none to give,
        # and after cudla_sim.reset() they belong to somebody else.
        made_in = self.__dict__.get("_process")
        if made_in is not None and not sys.is_finalizing() and made_in is cudla_sim.process:
            load().dpu_free(self.c_set)

    # --- programs and symbols -----------------------------------------------------------------

    def load(
        self,
        binary: str | bytes | None = None,
        c_source: Source | list[Source] | None = None,
        asm_source: Source | list[Source] | None = None,
    ) -> DpuProgram:
        """Loads a program, compiled or assembled from source when that is what is given.

        Raises DpuError.
        """
        if sum(given is not None for given in (binary, c_source, asm_source)) != 1:
            raise DpuError("one and only one source or binary program must be defined")
        c_program = ctypes.c_void_p()
        with tempfile.TemporaryDirectory() as folder:
            for source, suffix in ((c_source, ".c"), (asm_source, ".S")):
                if source is not None:
                    sources = source if isinstance(source, list) else [source]
                    binary = compile_sources(sources, Path(folder), suffix)
            if isinstance(binary, str):
                call("dpu_load", self.c_set, binary.encode(), ctypes.byref(c_program))
            else:
                image = _bytes_of(binary)
                where = (self.c_set, image.ctypes.data, image.size, ctypes.byref(c_program))
                call("dpu_load_from_memory", *where)
        program = DpuProgram(c_program)
        self._know(program.fetch_all_symbols())
        return program

    def _know(self, symbols: dict[str, DpuSymbol]) -> None:
        """The sets that this one contains have the program; what contains it is mixed now."""
        for part in (self, *self._dpus, *(self._ranks if len(self._dpus) > 1 else ())):
            part._symbols = symbols
        if self._top is not None:
            containing = [r for r in self._ranks if len(r) > len(self)]
            for whole in (self._top, *containing):
                whole._symbols = {}

    def __getattr__(self, name: str) -> DpuVariable:
        """Only called for what is no attribute otherwise."""
        symbol = self.__dict__.get("_symbols", {}).get(name)
        if symbol is None:
            raise AttributeError(f"{name!r}: no such attribute, and no such symbol is loaded")
        size = symbol.size()
        view = memoryview(bytearray(len(self) * size))
        parts = [view[i * size : (i + 1) * size] for i in range(len(self))]
        self.copy(parts, symbol, async_mode=False)
        return DpuVariable(parts)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _STATE or name not in self.__dict__.get("_symbols", {}):
            super().__setattr__(name, value)
        else:
            self.copy(self._symbols[name], value)

    # --- transfers ------------------------------------------------------------------------------

    def copy(
        self,
        dst: Any,
        src: Any,
        size: int | None = None,
        offset: int = 0,
        async_mode: bool | None = None,
    ) -> None:
        """Copies between the host and the DPUs.

        One of ``dst`` and ``src`` is a symbol (name or DpuSymbol), the other a buffer, or a list
        with a buffer (or None: skipped) for each DPU. One buffer goes to all DPUs; it can come
        from a single DPU only. ``size`` (default: the buffer's) and ``offset`` in the symbol are
        in bytes. A buffer of an asynchronous copy must not change before ``sync``.

        Raises DpuError.
        """
        to_dpu = isinstance(dst, str | DpuSymbol)
        if to_dpu == isinstance(src, str | DpuSymbol):
            raise DpuError("can only execute Host <-> DPU transfers")
        symbol, host = (dst, src) if to_dpu else (src, dst)
        asynchronous = self._async_mode if async_mode is None else async_mode
        flags = dpu_xfer_flags_t.DPU_XFER_ASYNC if asynchronous else 0
        if isinstance(host, list):
            self._check_count(host, "host buffer")
            buffers = [None if h is None else _bytes_of(h, writable=not to_dpu) for h in host]
        else:
            buffers = [_bytes_of(host, writable=not to_dpu)]
            if not to_dpu and len(self) > 1:
                raise DpuError(f"one buffer cannot take what comes from {len(self)} DPUs")
        length = _length(buffers, size)
        named = isinstance(symbol, str)
        place = symbol.encode() if isinstance(symbol, str) else symbol.c_symbol
        if asynchronous:
            self._kept += buffers
        if to_dpu and not isinstance(host, list):
            function = "dpu_broadcast_to" if named else "dpu_broadcast_to_symbol"
            assert buffers[0] is not None
            call(function, self.c_set, place, offset, buffers[0].ctypes.data, length, flags)
            return
        for dpu, buffer in zip(self._dpus, buffers, strict=True):
            pointer = None if buffer is None else buffer.ctypes.data
            call("dpu_prepare_xfer", dpu.c_set, pointer)
        way = dpu_xfer_t.DPU_XFER_TO_DPU if to_dpu else dpu_xfer_t.DPU_XFER_FROM_DPU
        function = "dpu_push_xfer" if named else "dpu_push_xfer_symbol"
        call(function, self.c_set, way, place, offset, length, flags)

    def _check_count(self, values: Sequence[Any], what: str) -> None:
        if len(values) != len(self):
            raise DpuError(f"the {what} list has {len(values)} entries for {len(self)} DPUs")

    # --- running --------------------------------------------------------------------------------

    def exec(self, log: Any = None, async_mode: bool | None = None) -> None:
        """Runs the loaded program; then writes the DPUs' output to ``log`` (see ``DpuSet``; also a
        dictionary of them by DPU), or where the constructor said. Asynchronous: no output.

        Raises DpuError.
        """
        if self._async_mode if async_mode is None else async_mode:
            call("dpu_launch", self.c_set, dpu_launch_policy_t.DPU_ASYNCHRONOUS)
            return
        call("dpu_launch", self.c_set, dpu_launch_policy_t.DPU_SYNCHRONOUS)
        self._write_log(log, None)

    def log(self, stream: Any = None) -> None:
        """Writes the DPUs' output to ``stream``, to where the constructor said, or to stdout.

        Raises DpuError.
        """
        self._write_log(stream, sys.stdout)

    def _write_log(self, log: Any, default: Any) -> None:
        streams = {d: default if d._log is None else d._log for d in self._dpus}
        if isinstance(log, list):
            self._check_count(log, "log")
            pairs = zip(self._dpus, log, strict=True)
            streams.update({d: s for d, s in pairs if s is not None})
        elif isinstance(log, dict):
            streams.update(log)
        elif log is not None:
            streams = dict.fromkeys(self._dpus, log)
        for dpu, stream in streams.items():
            if stream is None:
                continue
            if not callable(getattr(stream, "write", None)):
                raise DpuError("stream argument is not an object with a 'write' method")
            stream.write(_printed(dpu.c_set))

    def sync(self) -> None:
        """Waits for everything asynchronous but calls with ``is_blocking`` False, which may go on.

        Raises DpuError with the first error of it.
        """
        try:
            call("dpu_sync", self.c_set)
        finally:
            self._kept.clear()

    def call(
        self,
        fn: Callable[[DpuSet, int, Any], object],
        arg: Any = None,
        async_mode: bool | None = None,
        is_blocking: bool = True,
        single_call: bool = False,
    ) -> None:
        """Calls ``fn(set, index, arg)`` for each rank (``single_call``: once for the set) when
        everything before it is done. ``is_blocking`` False: what comes after does not wait for it,
        nor does ``sync``, and its error is dropped. ``index`` is 0xFFFFFFFF (-1 in C) for a call
        that is not for one rank of several.

        Raises DpuError; synchronous also what ``fn`` raises.
        """
        flags = 0
        asynchronous = self._async_mode if async_mode is None else async_mode
        if asynchronous:
            flags |= dpu_callback_flags_t.DPU_CALLBACK_ASYNC
            if not is_blocking:
                flags |= dpu_callback_flags_t.DPU_CALLBACK_NONBLOCKING
        if single_call:
            flags |= dpu_callback_flags_t.DPU_CALLBACK_SINGLE_CALL
        raised: list[BaseException] = []

        def on_set(c_set: Any, index: int, _: int | None) -> int:
            try:
                fn(self if single_call else self._part(c_set), index, arg)
            except BaseException as error:  # nothing may pass through C
                raised.append(error)
                return 1
            return 0

        function = _CALLBACK(on_set)
        if asynchronous:
            (self._kept if is_blocking else self._called).append(function)
        try:
            call("dpu_callback", self.c_set, function, None, flags)
        except DpuError as error:
            raise (raised[0] if raised else error) from None

    def _part(self, c_set: Any) -> DpuSet:
        if c_set.kind == dpu_set_kind_t.DPU_SET_DPU or len(self._ranks) == 1:
            return self
        for rank in self._ranks:
            mine, given = rank.c_set.list, c_set.list
            if _first_rank(mine) == _first_rank(given):
                return rank
        return self

    # --- checkpoints ------------------------------------------------------------------------------

    def checkpoint(self, iram: bool = True, mram: bool = True, wram: bool = True) -> DpuContext:
        """The state of a set of one DPU, with those memories. The DPU stops, if it runs.

        Raises DpuError, also for a program that runs natively.
        """
        c_ctx = prototypes.dpu_context_t()
        flags = _checkpoint_flags(iram, mram, wram)
        call("dpu_checkpoint_save", self.c_set, flags, ctypes.byref(c_ctx))
        return DpuContext(c_ctx)

    def restore(
        self, context: DpuContext, iram: bool = True, mram: bool = True, wram: bool = True
    ) -> None:
        """Puts a state into a set of one DPU. Raises DpuError."""
        flags = _checkpoint_flags(iram, mram, wram)
        call("dpu_checkpoint_restore", self.c_set, flags, ctypes.byref(context.c_ctx))


def _checkpoint_flags(iram: bool, mram: bool, wram: bool) -> int:
    flag = dpu_checkpoint_flags_t
    wanted = int(flag.DPU_CHECKPOINT_INTERNAL)
    wanted |= flag.DPU_CHECKPOINT_IRAM if iram else 0
    wanted |= flag.DPU_CHECKPOINT_MRAM if mram else 0
    wanted |= flag.DPU_CHECKPOINT_WRAM if wram else 0
    return wanted


def _walk(c_set: Any, kind: str) -> Iterator[Any]:
    """The sets that one of the two C iterators gives."""
    iterator = getattr(load(), f"{kind}_from")(ctypes.byref(c_set))
    while iterator.has_next:
        yield prototypes.dpu_set_t.from_buffer_copy(iterator.next)
        getattr(load(), f"{kind}_next")(ctypes.byref(iterator))


def _first_rank(ranks: Any) -> int | None:
    return ctypes.cast(ranks.ranks, ctypes.POINTER(ctypes.c_void_p))[0]


def _bytes_of(buffer: Any, writable: bool = False) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The memory of a buffer. Raises DpuError for what is none, or cannot be written."""
    try:
        view = memoryview(buffer).cast("B")
    except TypeError as error:
        raise DpuError(f"{type(buffer).__name__} is no contiguous buffer: {error}") from None
    if writable and view.readonly:
        raise DpuError(f"{type(buffer).__name__} cannot be written; a bytearray can")
    return np.frombuffer(view, np.uint8) if view.nbytes else np.zeros(0, np.uint8)


def _length(buffers: Sequence[np.ndarray[Any, Any] | None], size: int | None) -> int:
    sizes = {b.size for b in buffers if b is not None}
    if size is None:
        if len(sizes) > 1:
            raise DpuError(f"the host buffers have different sizes: {sorted(sizes)} bytes")
        return sizes.pop() if sizes else 0
    if sizes and min(sizes) < size:
        raise DpuError(f"host buffer is too small: {min(sizes)} bytes of {size}")
    return size


def _printed(c_set: Any) -> str:
    """What one DPU printed in its last launch, below its header line."""
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    stream = _LIBC.open_memstream(ctypes.byref(text), ctypes.byref(size))
    try:
        call("dpu_log_read", c_set, stream)
    finally:
        _LIBC.fclose(stream)
        words = ctypes.string_at(text, size.value).decode(errors="replace") if text else ""
        _LIBC.free(text)
    return words
