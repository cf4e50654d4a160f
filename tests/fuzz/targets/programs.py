"""Damaged networks and programs, as the C libraries get them."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from cudla_sim import flags
from cudla_sim.constants import cudart, cudla, cupva, upmem
from cudla_sim.testing import prototypes as p

from ..mutate import mutated
from .common import ROOT, api, documented, pointer

LOADABLES = ROOT / "c_examples" / "cudla" / "data"
DIGITS = "digits_int8.nvdla"
MOST = 1 << 20
"""Bytes of a tensor that are allocated for a network that loads although it is damaged."""


@functools.cache
def built(kind: str) -> bytes:
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
    data, c = mutated(built("dpu"), random), api()
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
    data, c = mutated(built("vpu"), random), api()
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
