"""Runs the launches of one VPU executable in a process of its own."""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Callable
from ctypes import sizeof
from functools import cache
from struct import Struct

import numpy as np

from ...constants.pva_protocol import (
    CONTROL_SIZE,
    GATE_AT,
    LISTS_AT,
    MAX_FLOWS,
    PROTOCOL_VERSION,
    REQUEST_AT,
    VMEM_SIZE,
    Cause,
    Status,
    pva_flow_request,
    pva_flow_state,
    pva_parameter,
    pva_reply,
    pva_request,
)
from ...native.pva_gate import PvaGate
from ...workers.files import shared_memory
from ...workers.image import Image
from ...workers.patience import SETTING
from ...workers.process import WorkerError, signal_name
from ...workers.structures import filled
from ...workers.switches import MODES
from .explain import explain, warnings
from .process import Process
from .protocol import DELIVERY, FlowRequest, LaunchRequest, LaunchResult, Reply

__all__ = ["FlowRequest", "LaunchRequest", "LaunchResult", "VpuWorker", "WorkerError"]

_NORESERVE = 0x4000
_FLOWS_AT = int(vars(pva_reply)["flows"].offset)
_DONE, _NO_CAUSE = int(Status.DONE), int(Cause.NONE)
_NAMES = {
    Status.DONE: "done",
    Status.FAULT: "fault",
    Status.DMA_TIMEOUT: "dma_timeout",
    Status.UNFINISHED: "unfinished",
}


@cache
def _triggers(flows: int) -> Struct:
    """The triggers of that many dataflows in a reply, without an object for each."""
    return Struct("<" + f"I{sizeof(pva_flow_state) - 4}x" * flows)


class VpuWorker:
    """``image``: a VPU executable. DRAM and L2SRAM are files that the worker maps.

    The process starts with the first launch, and anew after a launch that killed it. Launches of
    several threads follow each other. ``limit_s``: seconds that a launch may take, 0: any time.
    Raises WorkerError when the executable does not start.
    """

    def __init__(
        self,
        image: bytes,
        dram_fd: int,
        l2_fd: int,
        dram_size: int,
        l2_size: int,
        limit_s: float = 0.0,
    ) -> None:
        self._limit_s = limit_s
        self._image = image
        self._start_image = Image("vpu", image)
        self._memories = (dram_fd, l2_fd)
        self._sizes = (dram_size, l2_size)
        self._vmem = shared_memory("vpu-vmem", VMEM_SIZE)
        self._control = shared_memory("vpu-control", CONTROL_SIZE)
        self._map = mmap.mmap(self._control, CONTROL_SIZE, flags=mmap.MAP_SHARED | _NORESERVE)
        self._gate = PvaGate(self._map, GATE_AT)
        self._reply = pva_reply.from_buffer(self._map)
        self._written: tuple[object, ...] = ()
        self._written_of: LaunchRequest | None = None
        self._posted: tuple[LaunchRequest, Callable[[LaunchResult], None]] | None = None
        self._lists: list[object] = []
        self._places: list[int] = []
        self._process: Process | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def pid(self) -> int:
        """Process id of the worker, 0 when none runs."""
        process = self._process
        return process.pid if process else 0

    def launch(
        self,
        request: LaunchRequest,
        deadline_s: float | None = None,
        *,
        kernel: bool = True,
        snapshot: bool = False,
    ) -> LaunchResult:
        """Runs the kernel once; waits without the interpreter lock.

        ``deadline_s``: seconds from now after which the process is killed. ``kernel`` false: only
        the dataflows, which must have no handlers. ``snapshot``: VMEM as the kernel left it.
        """
        with self._lock:
            if self._closed:
                raise WorkerError("the worker has been closed")
            process = self._started(request.allowed)
            self._write(request, kernel)
            if self._limit_s and (deadline_s is None or self._limit_s < deadline_s):
                deadline_s = self._limit_s
            outcome = process.run(deadline_s)
            result = self._result(outcome, request, deadline_s)
            if snapshot:
                result.vmem = os.pread(self._vmem, VMEM_SIZE, 0)
            return result

    def _started(self, allowed: int) -> Process:
        """The process; a new one where another thing is allowed than what it was started with."""
        if self._process is not None and self._process.allowed != allowed:
            self._drop()
        if self._process is None:
            files = (self._control, self._vmem, *self._memories)
            self._process = Process(
                self._start_image, files, self._sizes, self._gate, allowed, self._limit_s
            )
        return self._process

    # --- launches that the caller does not wait for ---

    def post(self, request: LaunchRequest, ended: Callable[[LaunchResult], None]) -> bool:
        """Begins a launch if it can begin at once, in a process that runs already. The request is
        not changed afterwards.

        ``ended`` gets its result, in the thread that helps, or in one of our own when nobody does.
        It does not fail.
        """
        process = self._process
        if process is None or process.allowed != request.allowed:
            return False
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._process is process and not self._closed:
                if not process.listens:
                    process.listen(self._ended, "VPU reports")
                if self._written_of is not request:
                    self._write(request, True)
                    self._written_of = request
                self._posted = request, ended
                if process.post():
                    return True
                self._posted = None
        except MemoryError:  # no thread that could listen
            self._posted = None
        except BaseException:
            self._posted = None
            self._lock.release()
            raise
        self._lock.release()
        return False

    def help(self, timeout_us: int) -> None:
        """Waits for the launch that was posted, below 0 for ever, and works off its result.
        Returns at once when there is none or another thread does so."""
        process = self._process
        if process is not None and self._posted is not None:
            outcome = process.wait(timeout_us)
            if outcome:
                self._ended(outcome)

    def _ended(self, outcome: str) -> None:
        """By the one who took the launch: it has the lock now."""
        assert self._posted is not None, "somebody posted it"
        (request, ended), self._posted = self._posted, None
        try:
            result = self._result(outcome, request, None)
        finally:
            self._lock.release()
        ended(result)

    def close(self) -> None:
        """Ends the process, also in the middle of a launch. Harmless when repeated."""
        process = self._process
        if process is not None:
            process.stop()  # who waits for it in launch() has the lock
            self.help(-1)
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._drop()
            self._start_image.close()
            os.close(self._vmem)
            os.close(self._control)

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None
        self._written, self._written_of = (), None  # a kernel may have written over it
        self._lists, self._places = [], []

    # --- the request ---

    def _write(self, request: LaunchRequest, kernel: bool) -> None:
        flows, parameters = request.flows, request.parameters
        self._written_of = None
        how = (request.delivery, request.checks.pending, request.seed)
        same = flows, parameters, request.vpu, kernel, how
        if same == self._written:  # compares dataflows by identity
            return
        self._written = ()
        if len(flows) > MAX_FLOWS:
            raise ValueError(f"{len(flows)} dataflows; at most {MAX_FLOWS}")
        self._write_lists(flows)
        asked = filled(
            pva_request,
            version=PROTOCOL_VERSION,
            vpu=request.vpu,
            nr_parameters=len(parameters),
            nr_flows=len(flows),
            run_kernel=int(kernel),
            delivery=DELIVERY.index(request.delivery),
            watch=MODES.index(request.checks.pending),
            seed=request.seed,
        )
        head = [bytes(asked)]
        at = REQUEST_AT + sizeof(pva_request) + sizeof(pva_parameter) * len(parameters)
        at += sizeof(pva_flow_request) * len(flows)
        for offset, value in parameters:
            if not 0 <= offset <= VMEM_SIZE - len(value):
                raise ValueError(f"{len(value)} bytes at VMEM offset {offset:#x}")
            head.append(bytes(filled(pva_parameter, at=offset, size=len(value), bytes_at=at)))
            at += len(value)
        for flow, place in zip(flows, self._places, strict=True):
            described = filled(
                pva_flow_request,
                kind=flow.kind,
                handler=flow.handler_offset,
                list_at=place,
                count=len(flow.descriptors),
                info=flow.described(),
            )
            head.append(bytes(described))
        head += [value for _, value in parameters]
        message = b"".join(head)
        if REQUEST_AT + len(message) > LISTS_AT:
            raise ValueError(f"{len(message)} bytes of parameters and dataflows in one launch")
        self._map[REQUEST_AT : REQUEST_AT + len(message)] = message
        self._written = (list(flows), list(parameters), request.vpu, kernel, how)

    def _write_lists(self, flows: list[FlowRequest]) -> None:
        """Descriptors stay where they are from launch to launch while they are the same."""
        fresh: list[object] = [flow.descriptors for flow in flows]
        same = len(fresh) == len(self._lists)
        if same and all(a is b for a, b in zip(fresh, self._lists, strict=True)):
            return
        self._lists, self._places, at = [], [], LISTS_AT
        for flow in flows:
            data = np.ascontiguousarray(flow.descriptors).view(np.uint8).reshape(-1)
            if at + data.nbytes > CONTROL_SIZE:
                raise ValueError("too many tiles in one launch")
            np.frombuffer(self._map, np.uint8, data.nbytes, at)[:] = data
            self._places.append(at)
            at += -(-data.nbytes // 64) * 64
        self._lists = fresh

    # --- the result ---

    def _well(self, reply: Reply, request: LaunchRequest) -> LaunchResult:
        """A launch that ended well, unless a check says otherwise."""
        if reply.cause != Cause.REMARKS:
            return LaunchResult("done", reply.value, triggers=reply.triggers)
        found = warnings(self._image, reply, request)
        for name, text in found:
            if getattr(request.checks, name) == "fault":
                return LaunchResult("fault", reply.value, text, triggers=reply.triggers)
        told = tuple(text for _, text in found)
        return LaunchResult("done", reply.value, triggers=reply.triggers, warnings=told)

    def _result(
        self, outcome: str, request: LaunchRequest, deadline_s: float | None
    ) -> LaunchResult:
        if outcome == "answered":
            head = self._reply
            if head.status == _DONE and head.cause == _NO_CAUSE:
                count = len(request.flows)
                triggers = _triggers(count).unpack_from(self._map, _FLOWS_AT) if count else ()
                return LaunchResult("done", head.value, triggers=triggers)
        reply = Reply.read(self._map, len(request.flows))
        if outcome == "answered" and reply.status == Status.DONE:
            return self._well(reply, request)
        text = explain(self._image, reply, request)
        flow = reply.flow - 1 if 1 <= reply.flow <= len(request.flows) else -1
        if outcome == "answered" and reply.status in _NAMES:
            name = _NAMES[Status(reply.status)]
            if reply.status != Status.UNFINISHED and reply.cause != Cause.OVERRUN:
                self._drop()  # every other fault ends the process
            return LaunchResult(name, reply.value, text, reply.cause, flow, reply.triggers)
        signal = self._process.ended_by if self._process else 0
        if self._process is not None and self._process.given_up:
            outcome, deadline_s = "late", self._limit_s
        self._drop()
        if outcome == "late" or reply.status == Status.INTERRUPTED:
            limit = f" in {deadline_s:.3g} s" if deadline_s is not None else ""
            limit += f" ({SETTING})" if self._limit_s and deadline_s == self._limit_s else ""
            place = text.removeprefix("the kernel did not end")
            return LaunchResult("timeout", text=f"the kernel did not end{limit}{place}")
        how = f"was killed by {signal_name(signal)}" if signal else "ended (exit or killed)"
        return LaunchResult("died", text=f"the process that ran the kernel {how}")
