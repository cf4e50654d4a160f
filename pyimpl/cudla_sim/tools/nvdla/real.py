"""``cudla-sim nvdla run --real``: real numbers in the shapes of the ONNX model, in and out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import untrusted
from ...nvdla import pictures
from ...nvdla.errors import NvdlaError
from ...nvdla.parts.package import Package
from ...nvdla.parts.summary import part_line, summary
from ...nvdla.pictures import Preparation
from ...nvdla.real_numbers import RealNetwork
from ...nvdla.task_report import TaskReport
from .inputs import ANY, files
from .parts import surroundings


def load(
    name: str,
    file: Path,
    shape: Sequence[int] = (),
    dtype: str = "float32",
    how: Preparation | None = None,
) -> NDArray[np.generic]:
    """Read an array, or a picture as the tensor of *shape* and *dtype*. Raises OSError, NvdlaError
    for what is neither."""
    if how is not None and file.suffix.lower() in pictures.SUFFIXES:
        return pictures.tensor(file, shape, dtype, how)
    try:
        return untrusted.read_npy(file)
    except ValueError as error:
        raise NvdlaError(f"input {name!r}: {file} is no .npy file ({error})") from None


def run_package(
    package: Package,
    words: Sequence[str],
    how: Preparation,
    output: Path | None,
    config: str,
    *,
    quiet: bool = False,
) -> dict[str, NDArray[Any]]:
    """Run a network in parts (``compile --fallback cpu``) once; see :func:`run`. *quiet*: prints
    nothing about its parts."""
    names = list(package.inputs)
    feeds = package.zeros()
    for number, file in files(words, names).items():
        name = names[number]
        zeros = feeds[name]
        feeds[name] = load(name, file, zeros.shape, zeros.dtype.name, how)
    with package.load(hardware="" if config in ANY else config) as loaded:
        results = loaded.run(feeds)
    for number in range(0 if quiet else len(package.parts)):
        print(part_line(package, number))
    if not quiet:
        print(summary(package, surroundings()))
    save(results, output)
    return results


def save(results: dict[str, NDArray[Any]], output: Path | None) -> None:
    """Write ``outN.npy`` in the order of the network's outputs."""
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for number, array in enumerate(results.values()):
            np.save(output / f"out{number}.npy", array)


def run(
    loadable: bytes, words: Sequence[str], how: Preparation, output: Path | None, config: str
) -> tuple[dict[str, NDArray[Any]], TaskReport | None, str]:
    """Run once, write ``outN.npy``; return outputs, report, configuration.

    Inputs that are not given are zero. Raises OSError, NvdlaError.
    """
    with RealNetwork(loadable, config) as network:
        given = files(words, [note.name for note in network.note.inputs])
        feeds: dict[str, NDArray[Any]] = {}
        for number, note in enumerate(network.note.inputs):
            if number in given:
                file = given[number]
                feeds[note.name] = load(note.name, file, note.shape, note.dtype, how)
            else:
                feeds[note.name] = np.zeros(note.shape, np.float32)
        results = network.run(feeds)
        report, name = network.report, network.config.name
    save(results, output)
    return results, report, name
