"""Loadables of several pictures through cuDLA, with activations in the second memory or without."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from cudla_sim.nvdla.build import Network
from cudla_sim.testing import CApi

from .driver import STANDALONE, Client, check


def loadable(**options: int) -> bytes:
    random = np.random.default_rng(0)
    net = Network(input=("x", (1, 64, 1, 1)), precision="int8", config="nv_full")
    net.fully_connected(random.normal(size=(128, 64)), relu=True)
    net.fully_connected(random.normal(size=(32, 128)))
    return net.build(random.normal(size=(8, 64, 1, 1)), **options)


@pytest.mark.parametrize("cvsram", [0, 1 << 16])
def test_a_batch_is_as_many_single_tasks(sim: ModuleType, sim_api: CApi, cvsram: int) -> None:
    sim.configure(config="nv_full")
    client = Client(sim_api, STANDALONE)
    pictures = np.random.default_rng(1).integers(-128, 128, (5, 64), np.int8)
    check(client.load(loadable()))
    single = [client.infer([picture.tobytes()])[0] for picture in pictures]
    other = Client(sim_api, STANDALONE)
    check(other.load(loadable(batch=5, cvsram=cvsram)))
    (source,), (result,) = other.descriptors(2), other.descriptors(3)
    assert (source.n, source.c, result.n, result.c) == (5, 64, 5, 32)
    assert (source.size, result.size) == (5 * 64, 5 * 32)
    assert bytes(other.infer([pictures.tobytes()])[0])[: 5 * 32] == b"".join(
        bytes(item)[:32] for item in single
    )
