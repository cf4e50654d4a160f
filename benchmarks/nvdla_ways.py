"""One fp16 network three ways: a C program, plain Python, the command line. They share one engine.

Times are CPU seconds of the run itself: what starting each of them costs is measured with a
network that computes next to nothing, and taken off.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import Compiler

from .report import Figure

_PYTHON = """
import sys
from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork
loadable, space = Loadable.parse(open(sys.argv[1], "rb").read()), AddressSpace()
network = LoadedNetwork(loadable, space, "nv_full")
source = space.allocate(loadable.inputs[0].size, name="input")
source.data[:] = 0x3c
target = space.allocate(loadable.outputs[0].size, name="output")
Core("nv_full").run(network, [source.base], [target.base])
"""

_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime_api.h>
#include <cudla.h>
int main(int argc, char **argv)
{
    (void)argc;
    static unsigned char image[64 << 20];
    FILE *file = fopen(argv[1], "rb");
    size_t size = fread(image, 1, sizeof image, file);
    cudlaDevHandle device;
    cudlaModule module;
    cudlaModuleAttribute attribute;
    cudlaModuleTensorDescriptor in, out;
    void *memory[2];
    uint64_t *tensor[2];
    cudaStream_t stream;
    cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA);
    if (cudlaModuleLoadFromMemory(device, image, size, &module, 0)) return 1;
    attribute.inputTensorDesc = &in;
    cudlaModuleGetAttributes(module, CUDLA_INPUT_TENSOR_DESCRIPTORS, &attribute);
    attribute.outputTensorDesc = &out;
    cudlaModuleGetAttributes(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS, &attribute);
    cudaMalloc(&memory[0], in.size);
    cudaMalloc(&memory[1], out.size);
    cudlaMemRegister(device, memory[0], in.size, &tensor[0], 0);
    cudlaMemRegister(device, memory[1], out.size, &tensor[1], 0);
    cudaMemset(memory[0], 0x3c, in.size);
    cudaStreamCreate(&stream);
    cudlaTask task = {0};
    task.moduleHandle = module;
    task.numInputTensors = task.numOutputTensors = 1;
    task.inputTensor = (const uint64_t *const *)&tensor[0];
    task.outputTensor = &tensor[1];
    if (cudlaSubmitTask(device, &task, 1, stream, 0)) return 2;
    return cudaStreamSynchronize(stream) ? 3 : 0;
}
"""


def _network(size: int) -> bytes:
    random = np.random.default_rng(5)
    net = Network(("data", (1, 32, size, size)), "fp16", "nv_full")
    net.conv2d(random.normal(size=(64, 32, 5, 5)), padding=2)
    return net.build()


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        small, large = folder / "small.nvdla", folder / "large.nvdla"
        small.write_bytes(_network(1))
        large.write_bytes(_network(48))  # 118 million multiply-accumulates
        for network in (small, large):
            size = Loadable.parse(network.read_bytes()).inputs[0].size
            network.with_suffix(".bin").write_bytes(b"\x3c" * size)
        program = Compiler(folder).build(_C)
        ways: dict[str, Callable[[Path], list[str]]] = {
            "C": lambda n: [str(program), str(n)],
            "Python": lambda n: [sys.executable, "-c", _PYTHON, str(n)],
            "command line": lambda n: [
                sys.executable, "-m", "cudla_sim", "nvdla", "run", str(n), "--config", "nv_full",
                "--input", f"0={n.with_suffix('.bin')}",
            ],
        }  # fmt: skip
        spent = {}
        for name, command in ways.items():
            runs = [_cpu_seconds(command(large)) - _cpu_seconds(command(small)) for _ in range(3)]
            spent[name] = sorted(runs)[1]
    return [Figure("fp16 conv, 118 M MAC, from C", spent["C"] * 1e3, "ms CPU")] + [
        Figure(f"the same from {name} / from C", spent[name] / spent["C"], "x", 1.5, "lower")
        for name in ("Python", "command line")
    ]
