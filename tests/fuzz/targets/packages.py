"""Networks in parts: the archive, its plan, and the parts themselves."""

from __future__ import annotations

import functools
import io
import json
import zipfile
from random import Random
from typing import Any

import numpy as np

from cudla_sim.compiler.options import Options
from cudla_sim.compiler.partition import Package, compile_partitions
from cudla_sim.core.memory import AddressSpace, MemoryFault
from cudla_sim.nvdla.dla_core import Core
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.parts.on_core import PartsOnCore
from cudla_sim.nvdla.parts.summary import summary
from cudla_sim.nvdla.timing.parameters import Surroundings

from ..mutate import altered, mutated
from .models import explained

MOST = 1 << 16


@functools.cache
def sound() -> tuple[dict[str, Any], dict[str, bytes]]:
    """Plan and parts of a network that hardware and host compute together."""
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        helper.make_node("Einsum", ["a"], ["b"], name="second", equation="nchw->nhcw"),
        helper.make_node("Relu", ["b"], ["y"], name="third"),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 4, 4, 4)) for n in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = compile_partitions(model, Options(precision="fp16")).encode()
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    return json.loads(files.pop("plan.json")), files


def package(random: Random) -> None:
    """Reads a damaged package and, where it can be read, runs it on zeros."""
    plan, files = sound()
    changed = altered(plan, random) if random.random() < 0.6 else plan
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", random.choice((0, 8))) as archive:
        archive.writestr("plan.json", json.dumps(changed))
        for name, data in files.items():
            if random.random() < 0.97:
                damaged = random.random() < 0.3
                archive.writestr(name, mutated(data, random) if damaged else data)
    data = target.getvalue()
    if random.random() < 0.3:
        data = mutated(data, random)
    try:
        found = Package.decode(data)
        sizes = [*found.inputs.values(), *(tensor.shape for tensor in found.tensors.values())]
        if any(np.prod(shape, dtype=object) > MOST for shape in sizes):
            return
        summary(found, Surroundings())
        found.run(found.zeros())
        _on_core(found)
    except (NvdlaError, MemoryFault) as error:
        explained(error)


def _on_core(found: Package) -> None:
    """As cuDLA runs it: between buffers."""
    space, core = AddressSpace("the fuzzer's memory"), Core(found.config)
    loaded = PartsOnCore(found, space, lambda loadable: core.config, 0)
    buffers = [
        [
            space.allocate(max(port.tensor.size if port.tensor else port.linear.size, 1), name="")
            for port in ports
            if port.tensor or port.linear
        ]
        for ports in (loaded.inputs, loaded.outputs)
    ]
    try:
        loaded.run(core, *([region.base for region in each] for each in buffers), None)
    finally:
        loaded.close()
