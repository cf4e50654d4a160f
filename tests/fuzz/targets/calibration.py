"""Calibration data and caches."""

from __future__ import annotations

import functools
import io
import tempfile
from pathlib import Path
from random import Random

import numpy as np

from cudla_sim.compiler import calibrate, front
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.graph import Graph

from ..mutate import mutated, text_mutated
from .models import explained

CACHE = "TRT-8600-EntropyCalibration2\nx: 3c010a14\na: 3c010a14\ny: 3d0a1b2c\n(Unnamed) [1]: 0\n"
SHAPES = ((1, 3, 4, 4), (3, 4, 4), (5, 3, 4, 4), (1, 4, 4, 3), (4, 4), (), (0, 3, 4, 4), (2, 1))


@functools.cache
def _graph() -> Graph:
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Abs", ["a"], ["y"])]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 3, 4, 4)) for n in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    return front.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def calibration_cache(random: Random) -> None:
    """A cache of TensorRT with other words in it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table"
        text = text_mutated(CACHE, random, ("x", "y", "nan", "7f800000", "ffffffff", "\ud7ff"))
        file.write_bytes(text.encode(errors="replace"))
        try:
            if calibrate.Table.is_table(file):
                calibrate.applied(_graph(), calibrate.Table.read(file))
        except CompileError as error:
            explained(error)


def calibration_data(random: Random) -> None:
    """Folders of arrays and pictures, some of them damaged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(random.choice((1, 1, 2))):
            suffix, data = _file(random)
            if random.random() < 0.6:
                data = mutated(data, random)
            (folder / f"{random.choice('xq')}{number}{suffix}").write_bytes(data)
        if random.random() < 0.1:
            (folder / "folder.npy").mkdir()
        few = random.choice(((), (1.0,), (1.0, 2.0, 3.0), (1.0, 2.0)))
        try:
            samples = calibrate.load_samples(_graph(), [folder], mean=few, scale=few)
            calibrate.ranges(_graph(), samples, random.choice(("minmax", "percentile", "mse")))
        except CompileError as error:
            explained(error)


def _file(random: Random) -> tuple[str, bytes]:
    target = io.BytesIO()
    if random.random() < 0.3:
        from PIL import Image

        suffix = random.choice((".png", ".jpg", ".bmp", ".ppm", ".webp"))
        mode = random.choice(("RGB", "L"))
        kind = {".jpg": "jpeg"}.get(suffix, suffix[1:])
        Image.new(mode, (random.choice((1, 4, 9)), 4)).save(target, kind)
        return suffix, target.getvalue()
    dtype = random.choice(("f4", "f4", "f4", "f8", "u1", "i8", "c8", "U3", "M8[s]", ">f4", "f2"))
    array = np.zeros(random.choice(SHAPES), dtype)
    if random.random() < 0.5:
        np.save(target, array)
        return ".npy", target.getvalue()
    np.savez(target, **{random.choice(("x", "x", "z")): array})
    return ".npz", target.getvalue()
