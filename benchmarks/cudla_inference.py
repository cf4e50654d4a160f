"""Whole networks through cuDLA: submit and wait, int8 and fp16, and the same in plain numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

import cudla_sim
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import load
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
    return found
