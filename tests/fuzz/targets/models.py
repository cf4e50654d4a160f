"""ONNX models into the compiler: it compiles them or says in a sentence why not."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from math import prod
from pathlib import Path
from random import Random

from cudla_sim.compiler import compilation, front
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.fallback import compile_package
from cudla_sim.compiler.options import Options

from ..mutate import mutated
from .networks import model

MOST_ELEMENTS = 1 << 20
"""Of a network that is compiled whole: what is larger takes its time and is no finding."""


def _say(text: str) -> None:
    pass


def explained(error: Exception) -> None:
    """The text is sentences: no traceback's first line, nothing empty."""
    assert str(error).strip(), "an error without a text"
    assert len(str(error)) < 100_000, "an error of more than 100,000 characters"


def onnx_bytes(random: Random) -> None:
    """A damaged file: what it says must not matter to protobuf, the front end or its checks."""
    data = mutated(model(random).SerializeToString(), random)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        file.write_bytes(data)
        try:
            front.load(file)
        except CompileError as error:
            explained(error)


def onnx_graph(random: Random) -> None:
    """A graph of random nodes through the front end alone."""
    try:
        front.load(model(random))
    except CompileError as error:
        explained(error)


def compiled(random: Random) -> None:
    """The same through the whole compiler, to the loadable."""
    _compile(random, fallback=False)


def in_parts(random: Random) -> None:
    """The same, with the host for what the hardware refuses."""
    _compile(random, fallback=True)


def _compile(random: Random, fallback: bool) -> None:
    config = random.choice(("nv_full", "nv_small", "nv_large", "nv_small_256_full"))
    precision = random.choice(("int8", "int8", "fp16", "int16"))
    options = Options(config=config, precision=precision)
    if fallback:
        options = replace(options, precision="fp16")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        made = model(random)
        data = made.SerializeToString()
        file.write_bytes(mutated(data, random) if random.random() < 0.2 else data)
        request = compilation.Request(file, options, invent=True)
        try:
            if fallback:
                compile_package(request, _say)
                return
            graph = front.load(file)
            if sum(prod(value.shape) for value in graph.values()) <= MOST_ELEMENTS:
                compilation.run(request, _say)
        except CompileError as error:
            explained(error)
