"""Whole networks through cuDLA: submit and wait, int8 and fp16, and the same in plain numpy."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cudla_sim
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import Compiler, load
from tests.cudla.driver import HYBRID, Client, check

from .report import Figure, median_seconds


def lenet(precision: str) -> tuple[bytes, Network]:
    """LeNet-5 as Caffe has it, random weights: 1x28x28, 20 and 50 kernels of 5x5, 500, 10."""
    random = np.random.default_rng(5)

    def weights(*shape: int) -> np.ndarray:
        return random.normal(size=shape) / np.sqrt(np.prod(shape[1:]))

    net = Network(input=("data", (1, 1, 28, 28)), precision=precision)
    net.conv2d(weights(20, 1, 5, 5), weights(20))
    net.max_pool(2)
    net.conv2d(weights(50, 20, 5, 5), weights(50))
    net.max_pool(2)
    net.conv2d(weights(500, 50, 4, 4), weights(500), relu=True)
    net.conv2d(weights(10, 500, 1, 1), weights(10))
    return net.build(calibration=random.uniform(0, 1, (8, 1, 28, 28))), net


def runner(image: bytes) -> Callable[[], None]:
    """One inference: submit, wait."""
    client = Client(load(), HYBRID)
    check(client.load(image))
    inputs = [client.allocate(d.size) for d in client.descriptors(2)]
    outputs = [client.allocate(d.size) for d in client.descriptors(3)]
    task = client.task(inputs, outputs)
    api, device, where = client.api, client.device, ctypes.byref(task)

    def infer() -> None:
        check(api.cudlaSubmitTask(device, where, 1, None, 0))
        check(api.cudaStreamSynchronize(None))

    return infer


def from_c(image: bytes) -> dict[str, float]:
    """CPU time of one of many inferences that do not depend on each other, in milliseconds: each
    waited for, all in flight before one wait, all in one submission."""
    source = Path(__file__).with_name("cudla_batches.c")
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        program = compiler.build(source, options=["-O2"])
        loadable = Path(folder) / "lenet.nvdla"
        loadable.write_bytes(image)
        done = compiler.run(program, str(loadable))
    if done.status:
        raise SystemExit(f"{source.name}: {done.err}")
    pairs = (line.split() for line in done.out.splitlines())
    return {name: float(value) for name, value in pairs}


def figures() -> list[Figure]:
    cudla_sim.reset()
    found = []
    for precision, goal in (("int8", 50.0), ("fp16", None)):
        image, net = lenet(precision)
        infer = runner(image)
        simulated = median_seconds(lambda infer=infer: [infer() for _ in range(20)]) / 20
        picture = np.random.default_rng(1).uniform(0, 1, (1, 1, 28, 28))
        plain = median_seconds(lambda net=net, picture=picture: net.reference(picture))
        found.append(Figure(f"{precision} LeNet, inferences", 1 / simulated, "1/s", goal, "higher"))
        found.append(
            Figure(f"{precision} LeNet, float32 numpy time / ours", plain / simulated, "x")
        )
    cudla_sim.reset()
    batches = from_c(lenet("int8")[0])
    found += [
        Figure("int8 LeNet from C, each waited for, CPU time", batches["each_ms"], "ms", 0.5),
        Figure(
            "int8 LeNet, batches of independent tasks, CPU time",
            batches["in_flight_ms"],
            "ms",
            0.25,
        ),
        Figure("the same, 16 tasks in a submission", batches["one_submission_ms"], "ms", 0.25),
    ]
    return found
