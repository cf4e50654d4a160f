"""The PVA of one simulated machine: its memory, its engines, and the workers of executables."""

from __future__ import annotations

from functools import reduce
from operator import or_
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING

from ..core import process as processes
from ..core.errors import ConfigError
from ..core.events import warn
from ..core.live import Live
from ..core.process import Process
from ..core.text import tell
from ..cudart.context import Context as CudaContext
from ..cudart.memory import Allocation as CudaAllocation
from ..workers.settings import Settings as WorkerSettings
from .errors import CupvaError, Error, error
from .executable import Executable
from .memory import DeviceMemory
from .program import Program
from .settings import Settings
from .stream import PvaEngine
from .workers.checks import Checks
from .workers.protocol import ALLOWED, LaunchRequest

if TYPE_CHECKING:
    from .posted import Ended
    from .sync import Help
    from .workers.worker import LaunchResult, VpuWorker

DRIVER_VERSION = 2007
RUNTIME_VERSION = 2100
"""PVA SDK 2.10."""
GENERATION = 2
VPUS_PER_ENGINE = 2
ENGINES = 1
DEFAULT_DMA_TIMEOUT_S = 60.0


class Pva:
    """One engine with two VPUs, as on Orin."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._dma = process.native.pva
        self.memory = DeviceMemory()
        self.memory.cuda = self._cuda_memory
        self.engines = [PvaEngine(i, self.run, self._tell, self.post) for i in range(ENGINES)]
        self.dma_timeout_s = DEFAULT_DMA_TIMEOUT_S
        settings = process.config.of(Settings)
        self._delivery, self._seed = settings.pva_dma, settings.pva_seed
        try:
            self.checks = Checks.parse(settings.pva_checks)
        except ValueError as cause:
            raise ConfigError(f"pva_checks: {cause}") from None
        words = filter(None, settings.pva_allow.split(","))
        self.allowed = reduce(or_, (ALLOWED[word.strip()] for word in words), 0)
        self._told: set[tuple[Executable, str]] = set()
        self.programs: list[Program] = Live([], "programs", "CmdProgram::Create makes one")
        self._made = 0
        self._workers: dict[tuple[Executable, int], VpuWorker] = {}
        process.closers.append(self.close)

    def _cuda_memory(self, address: int) -> CudaAllocation | None:
        found = self.process.family("cudart", CudaContext).memory.allocation(address)
        return found if found is not None and (found.is_device or found.is_managed) else None

    def cuda_end(self, address: int) -> int | None:
        """Where the memory of CUDA around an address ends: of its device or page-locked memory, or
        of external memory that it has mapped."""
        memory = self.process.family("cudart", CudaContext).memory
        found = memory.allocation(address)
        if found is not None:
            return found.region.end
        mapped = memory.mapping(address)
        return None if mapped is None else mapped.base + mapped.size

    def program(self, executable: Executable | None) -> Program:
        """A new program; ``programs`` lists those that live."""
        made = Program(self.memory, executable)
        made.number = self._made = self._made + 1
        self.programs.append(made)
        return made

    def forget(self, program: Program) -> None:
        """The program is destroyed."""
        if program in self.programs:
            self.programs.remove(program)
        program.close()
        if program.executable is not None and program.executable.released:
            self.release(program.executable)

    def run(self, program: Program, vpu: int, deadline: float | None) -> None:
        """Runs a program on a VPU to its end.

        Raises CupvaError with what the command's status becomes.
        """
        self._maybe_fail()
        begin = perf_counter_ns()
        lists = [flow.descriptors for flow in program.flows]
        written = self.memory.touched(lists, "dst")
        self.memory.copy_in([*self.memory.touched(lists, "src"), *written])
        try:
            self._run(program, vpu, deadline)
        finally:
            self.memory.copy_out(written)
            self._note(program, vpu, begin, len(lists))

    def post(self, program: Program, vpu: int, ended: Ended) -> Help | None:
        """Begins a program if its worker is there and nothing is to be done around it.

        ``ended`` gets what the command's status becomes. None: ``run`` is the way.
        """
        executable = program.executable
        worker = self._workers.get((executable, vpu)) if executable is not None else None
        if worker is None or self.memory.copies or self.process.faults.active:
            return None
        begin = perf_counter_ns()
        around = (vpu, self.dma_timeout_s, self.checks, self.allowed)
        if program.launch is not None and program.launch[0] == around:
            request = program.launch[1]
        else:
            request = self._request(program, vpu)
            if program.is_taken and not program.pointers:
                program.launch = around, request

        def finished(result: LaunchResult) -> None:
            failure: CupvaError | None = None
            try:
                if result.value or result.status != "done":
                    failure = _failure(result)
                if result.warnings:
                    self._warn(program, result)
                if self.process.events.subscribers:
                    self._note(program, vpu, begin, len(request.flows))
            finally:
                ended(failure)

        return worker.help if worker.post(request, finished) else None

    def _note(self, program: Program, vpu: int, begin: int, flows: int) -> None:
        if self.process.events.subscribers:
            details = {"program": program.number, "dataflows": flows}
            self.process.events.emit("launch", "CmdProgram", begin, details, f"VPU{vpu}")

    def _request(self, program: Program, vpu: int) -> LaunchRequest:
        return LaunchRequest(
            parameters=program.parameter_bytes(),
            flows=program.flow_requests() if program.heads else [],
            vpu=vpu,
            dma_timeout_s=self.dma_timeout_s,
            delivery=self._delivery,
            seed=self._seed,
            checks=self.checks,
            allowed=self.allowed,
        )

    def _maybe_fail(self) -> None:
        """Raises CupvaError when a fault rule wants a program to fail."""
        chosen = self.process.faults.chosen(_FAULTS)
        if chosen is not None:
            raise error(chosen[1], f"made to fail by the injected fault {chosen[0]}")

    def _tell(self, failure: CupvaError) -> None:
        if self.process.config.general.explain:
            name = Error(failure.status).name
            text = f"cudla-sim: command: {failure.explanation} -> {name} ({failure.status})"
            tell(text)

    def _run(self, program: Program, vpu: int, deadline: float | None) -> None:
        if program.executable is None:
            self._run_dma(program)
            return
        from .workers.worker import WorkerError

        left = None if deadline is None else max(0.0, deadline - monotonic())
        request = self._request(program, vpu)
        try:
            result = self._worker(program.executable, vpu).launch(request, left)
        except WorkerError as cause:
            raise error(Error.CUPVA_DRIVER_API_ERROR, f"no VPU process: {cause}") from None
        self._warn(program, result)
        failure = _failure(result)
        if failure is not None:
            raise failure

    def _warn(self, program: Program, result: LaunchResult) -> None:
        """Once for each executable: a kernel says the same in every frame."""
        for text in result.warnings:
            executable = program.executable
            if executable is not None and (executable, text) not in self._told:
                self._told.add((executable, text))
                warn(f"program {program.number}: {text}")

    def _run_dma(self, program: Program) -> None:
        from .engine import run_all

        for number, flow in enumerate(program.flows):
            begin = perf_counter_ns()
            run_all(self._dma, flow.descriptors, self.memory)
            details = {"program": program.number, "descriptors": len(flow.descriptors)}
            self.process.events.emit("dma", f"dataflow {number}", begin, details, "PVA DMA")

    def _worker(self, executable: Executable, vpu: int) -> VpuWorker:
        from .workers.worker import VpuWorker

        key = (executable, vpu)
        if key not in self._workers:
            memory = self.memory
            self._workers[key] = VpuWorker(
                executable.image,
                memory.fd,
                memory.l2_fd,
                memory.dram_size,
                memory.l2_size,
                self.process.config.of(WorkerSettings).worker_timeout,
            )
        return self._workers[key]

    def release(self, executable: Executable) -> None:
        """The executable is destroyed: its workers end, with its last program at the latest."""
        executable.released = True
        if any(program.executable is executable for program in self.programs):
            return
        self._told = {told for told in self._told if told[0] is not executable}
        for key in [k for k in self._workers if k[0] is executable]:
            self._workers.pop(key).close()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()
        self.memory.close()


_FAULTS = {
    "pva/program": Error.CUPVA_VPU_APPLICATION_ERROR,
    "pva/timeout": Error.CUPVA_COMMAND_EXECUTION_TIMEOUT,
}
_STATUSES = {
    "timeout": Error.CUPVA_COMMAND_EXECUTION_TIMEOUT,
    "dma_timeout": Error.CUPVA_COMMAND_EXECUTION_TIMEOUT,
    "unfinished": Error.CUPVA_COMMAND_EXECUTION_TIMEOUT,
    "died": Error.CUPVA_VPU_ABORTED,
}
_CAUSES = {
    "NAN": Error.CUPVA_VPU_FLOATING_POINT_NAN,
    "DIVISION": Error.CUPVA_VPU_DIVIDE_BY_ZERO,
    "INSTRUCTION": Error.CUPVA_VPU_ILLEGAL_INSTRUCTION,
    "OVERRUN": Error.CUPVA_VPU_BUFFER_OVERFLOW,
    "ABORT": Error.CUPVA_VPU_ABORTED,
}


def _failure(result: LaunchResult) -> CupvaError | None:
    """What a launch that did not end well makes of its command."""
    if result.status == "done":
        if result.value:
            return error(
                Error.CUPVA_VPU_APPLICATION_ERROR, f"the VPU program returned {result.value}"
            )
        return None
    status = _STATUSES.get(result.status)
    if status is None:
        status = _CAUSES.get(result.cause.name, Error.CUPVA_VPU_APPLICATION_ERROR)
    return error(status, result.text or result.status)


def pva(process: Process | None = None) -> Pva:
    """The PVA of a process (the current one by default)."""
    return (process or processes.current()).family("cupva", Pva)
