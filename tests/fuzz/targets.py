"""What is fuzzed. A target makes one case from random numbers, and raises when the case is wrong.

Every call must answer a status of its API, and no answer may be an internal error: the settings of
``tests.fuzz.run`` make those end the process, as a crash would.
"""

from __future__ import annotations

import ctypes
import functools
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from cudla_sim import flags
from cudla_sim.constants import cudart, cudla, cupva, nvsci, upmem
from cudla_sim.testing import load
from cudla_sim.testing import prototypes as p

from .mutate import INTERESTING, mutated

ROOT = Path(__file__).resolve().parent.parent.parent
LOADABLES = ROOT / "c_examples" / "cudla" / "data"
DIGITS = "digits_int8.nvdla"
MOST = 1 << 20
"""Bytes of a tensor that are allocated for a network that loads although it is damaged."""

Target = Callable[[Random], None]
pointer = ctypes.c_void_p


def documented(status: int, statuses: Any, call: str) -> int:
    assert status in statuses._value2member_map_, f"{call} answers {status}, which is no status"
    return status


@functools.cache
def api() -> Any:
    return load()


@functools.cache
def _built(kind: str) -> bytes:
    """A VPU executable's object or a DPU program."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "program"
        if kind == "dpu":
            tools = flags.environment(cuda=True)["PATH"].split(":")[0]
            source = str(ROOT / "tests" / "faults" / "value_dpu.c")
            words = [f"{tools}/dpu-upmem-dpurte-clang", "-o", str(target), source]
        else:
            source = str(ROOT / "tests" / "cupva" / "host" / "programs" / "subject.c")
            command = [sys.executable, "-m", "cudla_sim", "pva-cc", "-O2"]
            words = [*command, source, "-o", str(target)]
        subprocess.run(words, check=True, capture_output=True)
        data = target.read_bytes()
    if kind == "vpu":  # the executable is embedded in the object of the host program
        data = data[data.index(b"\x7fELF", 4) :]
    return data


def loadable(random: Random) -> None:
    """Loads a damaged network through cuDLA, asks for its tensors, and runs it."""
    data = mutated((LOADABLES / DIGITS).read_bytes(), random)
    c, device, module = api(), pointer(), pointer()
    assert c.cudlaCreateDevice(0, ctypes.byref(device), 0) == 0
    try:
        status = c.cudlaModuleLoadFromMemory(device, data, len(data), ctypes.byref(module), 0)
        if documented(status, cudla.cudlaStatus, "cudlaModuleLoadFromMemory") == 0:
            _run(c, device, module)
    finally:
        c.cudaDeviceReset()
        c.simReset()


def _run(c: Any, device: Any, module: Any) -> None:
    counts, tensors = [], []
    for number in (0, 1):
        answer = p.cudlaModuleAttribute()
        assert c.cudlaModuleGetAttributes(module, number, ctypes.byref(answer)) == 0
        counts.append(answer.numInputTensors)
    if max(counts) > 16:
        return
    for number, count in zip((2, 3), counts, strict=True):
        found = (p.cudlaModuleTensorDescriptor * max(count, 1))()
        answer = p.cudlaModuleAttribute()
        answer.inputTensorDesc = ctypes.addressof(found)
        assert c.cudlaModuleGetAttributes(module, number, ctypes.byref(answer)) == 0
        tensors.append([found[i].size for i in range(count)])
    places = []
    for size in [*tensors[0], *tensors[1]]:
        memory, registered = pointer(), pointer()
        if not 0 < size <= MOST or c.cudaMalloc(ctypes.byref(memory), size):
            return
        status = c.cudlaMemRegister(device, memory, size, ctypes.byref(registered), 0)
        if documented(status, cudla.cudlaStatus, "cudlaMemRegister"):
            return
        places.append(registered.value)
    inputs = (ctypes.c_void_p * max(counts[0], 1))(*places[: counts[0]])
    outputs = (ctypes.c_void_p * max(counts[1], 1))(*places[counts[0] :])
    task = p.cudlaTask(
        moduleHandle=module.value,
        inputTensor=ctypes.addressof(inputs),
        numInputTensors=counts[0],
        outputTensor=ctypes.addressof(outputs),
        numOutputTensors=counts[1],
    )
    status = c.cudlaSubmitTask(device, ctypes.byref(task), 1, None, 0)
    documented(status, cudla.cudlaStatus, "cudlaSubmitTask")
    documented(c.cudaDeviceSynchronize(), cudart.cudaError, "cudaDeviceSynchronize")


def dpu_program(random: Random) -> None:
    """Loads a damaged DPU program. Its code stays as it is: nobody launches it anyway."""
    data, c = mutated(_built("dpu"), random), api()
    dpus = p.dpu_set_t()
    assert c.dpu_alloc(1, None, ctypes.byref(dpus)) == 0
    try:
        status = c.dpu_load_from_memory(dpus, data, len(data), None)
        if documented(status, upmem.dpu_error_t, "dpu_load_from_memory") == 0:
            value = ctypes.c_uint32(7)
            name = random.choice((b"value", b"__sys_used_mram_end", b""))
            size = random.choice((4, 8, 0, 1 << 30))
            if size <= 4:
                call = c.dpu_copy_to(dpus, name, 0, ctypes.byref(value), size)
                documented(call, upmem.dpu_error_t, "dpu_copy_to")
    finally:
        c.dpu_free(dpus)


def vpu_executable(random: Random) -> None:
    """Creates a damaged VPU executable and asks for its variables; nothing of it runs."""
    data, c = mutated(_built("vpu"), random), api()
    executable, program, parameter = pointer(), p.cupvaCmd_t(), p.cupvaParameter_t()
    status = c.CupvaExecutableCreate(ctypes.byref(executable), data, len(data))
    if documented(status, cupva.cupvaError_t, "CupvaExecutableCreate"):
        return
    assert c.CupvaCmdProgramCreate(ctypes.byref(program), executable) == 0
    for name in (b"answer", b"tile", b"raster_handler", b"nobody"):
        words = (ctypes.byref(program), ctypes.byref(parameter), name)
        status = c.CupvaCmdProgramGetParameter(*words)
        if documented(status, cupva.cupvaError_t, "CupvaCmdProgramGetParameter") == 0:
            value = (ctypes.c_uint8 * 64)()
            words = (ctypes.byref(parameter), value, random.choice((1, 4, 64)))
            status = c.CupvaParameterSetValueArray(*words)
            documented(status, cupva.cupvaError_t, "CupvaParameterSetValueArray")
    assert c.CupvaCmdDestroy(ctypes.byref(program)) == 0
    assert c.CupvaExecutableDestroy(executable) == 0


def dataflow(random: Random) -> None:
    """Sets properties of dataflows to anything, compiles, and runs what compiles: it may not write
    beside the buffer that it was given."""
    c, size = api(), 4096
    memory = []
    for _ in range(3):
        device, host = pointer(), pointer()
        assert c.CupvaMemAlloc(ctypes.byref(device), size, 3, 1) == 0
        assert c.CupvaMemGetHostPointer(ctypes.byref(host), device) == 0
        ctypes.memset(host.value, len(memory) + 1, size)
        memory.append((device.value, host.value))
    guard, source, target = memory
    program, flow, stream = p.cupvaCmd_t(), pointer(), pointer()
    assert c.CupvaCmdProgramCreate(ctypes.byref(program), None) == 0
    kind = random.choice((1, 1, 1, 1, 4, 5, 6, 7, 0, 2, 9))
    words = (ctypes.byref(program), ctypes.byref(flow), kind, 0, 1.0)
    status = c.CupvaCmdProgramAddDataFlowHead(*words)
    if documented(status, cupva.cupvaError_t, "CupvaCmdProgramAddDataFlowHead") == 0:
        _set(c, flow, 6, source[0], 0)
        _set(c, flow, 7, target[0], 0)
        _set(c, flow, 2, random.choice((1, 8, 64)), random.choice((1, 4, 64)))
        for _ in range(random.randrange(12)):
            few = (0, 1, 2, 3, 4, 8, 16, 64, 100, -1, source[0], target[0] + 100)
            values = [
                random.choice(few) if random.random() < 0.7 else random.choice(INTERESTING)
                for _ in range(random.randrange(1, 8))
            ]
            _set(c, flow, random.randrange(0, 28), *values)
        status = c.CupvaCmdProgramCompileDataFlows(ctypes.byref(program))
        if documented(status, cupva.cupvaError_t, "CupvaCmdProgramCompileDataFlows") == 0:
            assert c.CupvaStreamCreate(ctypes.byref(stream), 1, 3) == 0
            array = (ctypes.c_void_p * 1)(ctypes.addressof(program))
            status = c.CupvaStreamSubmit(stream, array, None, 1, 1, -1, -1)
            documented(status, cupva.cupvaError_t, "CupvaStreamSubmit")
            assert c.CupvaStreamSynchronize(stream) == 0
            assert c.CupvaStreamDestroy(stream) == 0
    assert ctypes.string_at(guard[1], size) == b"\1" * size, "a dataflow wrote beside its buffer"
    assert c.CupvaCmdDestroy(ctypes.byref(program)) == 0
    for device, _ in memory:
        assert c.CupvaMemFree(device) == 0


def _set(c: Any, flow: Any, which: int, *values: int) -> None:
    signed = [((v + (1 << 63)) % (1 << 64)) - (1 << 63) for v in values]
    array = (ctypes.c_int64 * len(signed))(*signed)
    status = c.CupvaSimDataFlowSet(flow, which, array, len(signed))
    documented(status, cupva.cupvaError_t, "CupvaSimDataFlowSet")


# Calls whose pointers are handles, places for results, or memory whose size is another argument:
# whatever they get, they answer a status. h: a handle; r: a place for a result; n: a number.
_CALLS: dict[str, tuple[str, Any]] = {
    "cudaMalloc": ("rn", cudart.cudaError),
    "cudaMallocHost": ("rn", cudart.cudaError),
    "cudaFree": ("h", cudart.cudaError),
    "cudaFreeHost": ("h", cudart.cudaError),
    "cudaMemsetAsync": ("hnnh", cudart.cudaError),
    "cudaMemcpyAsync": ("hhnnh", cudart.cudaError),
    "cudaStreamCreateWithFlags": ("rn", cudart.cudaError),
    "cudaStreamDestroy": ("h", cudart.cudaError),
    "cudaStreamQuery": ("h", cudart.cudaError),
    "cudaStreamSynchronize": ("h", cudart.cudaError),
    "cudaStreamWaitEvent": ("hhn", cudart.cudaError),
    "cudaStreamBeginCapture": ("hn", cudart.cudaError),
    "cudaStreamEndCapture": ("hr", cudart.cudaError),
    "cudaEventCreate": ("r", cudart.cudaError),
    "cudaEventRecord": ("hh", cudart.cudaError),
    "cudaEventQuery": ("h", cudart.cudaError),
    "cudaEventSynchronize": ("h", cudart.cudaError),
    "cudaEventElapsedTime": ("rhh", cudart.cudaError),
    "cudaEventDestroy": ("h", cudart.cudaError),
    "cudaGraphInstantiate": ("rhn", cudart.cudaError),
    "cudaGraphLaunch": ("hh", cudart.cudaError),
    "cudaGraphDestroy": ("h", cudart.cudaError),
    "cudlaCreateDevice": ("nrn", cudla.cudlaStatus),
    "cudlaDestroyDevice": ("h", cudla.cudlaStatus),
    "cudlaMemRegister": ("hhnrn", cudla.cudlaStatus),
    "cudlaMemUnregister": ("hh", cudla.cudlaStatus),
    "cudlaModuleUnload": ("hn", cudla.cudlaStatus),
    "cudlaModuleGetAttributes": ("hnr", cudla.cudlaStatus),
    "cudlaSetTaskTimeoutInMs": ("hn", cudla.cudlaStatus),
    "cudlaGetLastError": ("h", cudla.cudlaStatus),
    "cudlaGetNvSciSyncAttributes": ("hn", cudla.cudlaStatus),
    "NvSciBufModuleOpen": ("r", nvsci.NvSciError),
    "NvSciBufAttrListCreate": ("hr", nvsci.NvSciError),
    "NvSciBufAttrListClone": ("hr", nvsci.NvSciError),
    "NvSciBufObjAlloc": ("hr", nvsci.NvSciError),
    "NvSciBufObjGetCpuPtr": ("hr", nvsci.NvSciError),
    "NvSciSyncModuleOpen": ("r", nvsci.NvSciError),
    "NvSciSyncAttrListCreate": ("hr", nvsci.NvSciError),
    "NvSciSyncAttrListIsReconciled": ("hr", nvsci.NvSciError),
    "NvSciSyncObjAlloc": ("hr", nvsci.NvSciError),
    "NvSciSyncObjSignal": ("h", nvsci.NvSciError),
    "NvSciSyncCpuWaitContextAlloc": ("hr", nvsci.NvSciError),
    "CupvaStreamCreate": ("rnn", cupva.cupvaError_t),
    "CupvaStreamDestroy": ("h", cupva.cupvaError_t),
    "CupvaStreamSynchronize": ("h", cupva.cupvaError_t),
    "CupvaSyncObjCreate": ("rnnn", cupva.cupvaError_t),
    "CupvaSyncObjDestroy": ("h", cupva.cupvaError_t),
    "CupvaMemAlloc": ("rnnn", cupva.cupvaError_t),
    "CupvaMemFree": ("h", cupva.cupvaError_t),
    "CupvaMemGetHostPointer": ("rh", cupva.cupvaError_t),
    "CupvaMemGetPointerAttributes": ("hr", cupva.cupvaError_t),
    "CupvaContextCreate": ("rn", cupva.cupvaError_t),
    "CupvaContextSetCurrent": ("h", cupva.cupvaError_t),
    "CupvaContextDestroy": ("h", cupva.cupvaError_t),
    "CupvaDataFlowGetId": ("hr", cupva.cupvaError_t),
    "CupvaCheckCommandStatus": ("hr", cupva.cupvaError_t),
}


def calls(random: Random) -> None:
    """A sequence of calls with handles of any kind, live, freed, or of nobody."""
    c = api()
    known: list[int] = [0, 1, 2, 0xDEAD, 1 << 63]
    results = [(ctypes.c_uint64 * 128)() for _ in range(8)]
    try:
        for _ in range(40):
            name = random.choice(list(_CALLS))
            form, statuses = _CALLS[name]
            words: list[Any] = []
            place = None
            for letter in form:
                if letter == "h":
                    words.append(random.choice(known[:5] if random.random() < 0.1 else known))
                elif letter == "r":
                    place = random.choice(results)
                    words.append(ctypes.addressof(place) if random.random() < 0.95 else None)
                else:
                    words.append(random.choice((0, 1, 2, 3, 4, 64, 4096, 65536, 1 << 40)))
            kinds = getattr(c, name).argtypes
            arguments = [_fitting(k, w) for k, w in zip(kinds, words, strict=True)]
            status = documented(getattr(c, name)(*arguments), statuses, name)
            if status == 0 and place is not None:
                known.append(place[0])
    finally:
        c.cudaDeviceReset()
        c.simReset()


def _fitting(kind: Any, word: Any) -> Any:
    """The number as the parameter's type takes it."""
    if kind is ctypes.c_void_p or word is None:
        return word
    if kind is ctypes.c_bool:
        return bool(word)
    if kind in (ctypes.c_int, ctypes.c_int32):
        return ((word + (1 << 31)) % (1 << 32)) - (1 << 31)
    return word


TARGETS: dict[str, Target] = {
    "loadable": loadable,
    "dpu_program": dpu_program,
    "vpu_executable": vpu_executable,
    "dataflow": dataflow,
    "calls": calls,
}
