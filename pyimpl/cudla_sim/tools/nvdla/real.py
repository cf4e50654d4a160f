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
from .inputs import ANY
from .parts import surroundings


def files(words: Sequence[str], names: Sequence[str]) -> dict[str, Path]:
    """``NAME=FILE`` or ``N=FILE``; a bare FILE is input 0. Raises NvdlaError.

    A name may hold "="; one that is a number is taken as a name first.
    """
    found: dict[str, Path] = {}
    for word in words:
        name = next((n for n in names if word.startswith(f"{n}=")), None)
        number, equals, file = word.partition("=")
        if name is not None:
            file = word[len(name) + 1 :]
        elif equals and number.isdigit():
            if int(number) >= len(names):
                raise NvdlaError(f"input {number}: the network has {len(names)}, numbered from 0")
            name = names[int(number)]
        elif not equals and names:
            name, file = names[0], word
        else:
            raise NvdlaError(f"there is no input {number!r}; the inputs are {', '.join(names)}")
        if name in found:
            raise NvdlaError(f"input {name!r} is given twice")
        found[name] = Path(file)
    return found


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
    data: bytes, words: Sequence[str], how: Preparation, output: Path | None, config: str
) -> dict[str, NDArray[Any]]:
    """Run a network in parts (``compile --fallback cpu``) once; see :func:`run`."""
    package = Package.decode(data)
    given = files(words, list(package.inputs))
    feeds = package.zeros()
    for name, file in given.items():
        zeros = feeds[name]
        feeds[name] = load(name, file, zeros.shape, zeros.dtype.name, how)
    with package.load(hardware="" if config in ANY else config) as loaded:
        results = loaded.run(feeds)
    for number in range(len(package.parts)):
        print(part_line(package, number))
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
        for note in network.note.inputs:
            if note.name in given:
                file = given[note.name]
                feeds[note.name] = load(note.name, file, note.shape, note.dtype, how)
            else:
                feeds[note.name] = np.zeros(note.shape, np.float32)
        results = network.run(feeds)
        report, name = network.report, network.config.name
    save(results, output)
    return results, report, name
