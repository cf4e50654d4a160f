"""What is right: class labels, or the outputs of a reference."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import untrusted
from .errors import EvaluationError


def labels(source: Any, names: Sequence[str]) -> NDArray[np.int64]:
    """The class of each sample, from an array or a file.

    .npy, .npz with one array; .csv, .tsv or .txt with a class a line, or with a sample's name (or
    the end of its path) and its class; ``folders``: the folders of the samples in alphabetical
    order are the classes. Raises EvaluationError.
    """
    if isinstance(source, str) and source == "folders":
        return _folders(names)
    if not isinstance(source, str | Path):
        return _checked(np.asarray(source), names, "the labels")
    path = Path(source)
    try:
        if path.suffix.lower() == ".npy":
            return _checked(untrusted.read_npy(path), names, str(path))
        if path.suffix.lower() == ".npz":
            arrays = untrusted.read_npz(path)
            if len(arrays) != 1:
                raise EvaluationError(
                    f"{path} has the arrays {', '.join(arrays)}; labels are one array"
                )
            return _checked(next(iter(arrays.values())), names, str(path))
        return _text(path, names)
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path}: {error}") from None


def _checked(array: NDArray[Any], names: Sequence[str], where: str) -> NDArray[np.int64]:
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise EvaluationError(
            f"{where}: labels are whole numbers, one for each sample; it is an array of "
            f"{array.dtype} with the shape {array.shape}"
        )
    if len(array) != len(names):
        raise EvaluationError(f"{where} has {len(array)} labels, there are {len(names)} samples")
    if (array < 0).any():
        raise EvaluationError(f"{where} has the label {int(array.min())}; classes begin at 0")
    return array.astype(np.int64)


def _text(path: Path, names: Sequence[str]) -> NDArray[np.int64]:
    rows = _rows(path)
    if all(len(row) == 1 for row in rows):
        return _checked(np.array([_class(r[0], path) for r in rows], np.int64), names, str(path))
    if not all(len(row) == 2 for row in rows):
        raise EvaluationError(f"{path}: a line is CLASS, or NAME,CLASS")
    by_name = {name: _class(word, path) for name, word in rows}
    found = []
    for name in names:
        label = by_name.get(name, by_name.get(Path(name).name, by_name.get(Path(name).stem)))
        if label is None:
            raise EvaluationError(f"{path} has no label for {name}")
        found.append(label)
    return _checked(np.array(found, np.int64), names, str(path))


def _rows(path: Path) -> list[list[str]]:
    text = path.read_text()
    delimiter = next((d for d in ("\t", ",", ";") if d in text), " ")
    rows = [[w.strip() for w in row] for row in csv.reader(text.splitlines(), delimiter=delimiter)]
    rows = [[w for w in row if w] for row in rows if any(row)]
    if rows and not rows[0][-1].lstrip("+-").isdigit():
        rows = rows[1:]  # names of the columns
    return rows


def _class(word: str, path: Path) -> int:
    try:
        return int(word)
    except ValueError:
        raise EvaluationError(f"{path}: {word!r} is no class; classes are numbers") from None


def _folders(names: Sequence[str]) -> NDArray[np.int64]:
    folders = [str(Path(name).parent) for name in names]
    classes = {folder: number for number, folder in enumerate(sorted(set(folders)))}
    if len(classes) < 2:
        raise EvaluationError(
            "labels are the folders, but all samples are in one; the inputs are a folder with a "
            "folder for each class"
        )
    return np.array([classes[folder] for folder in folders], np.int64)


class Reference:
    """Expected outputs by name, each [samples, ...].

    *source*: an .npz file with arrays of the outputs' names (or one array for the one output), or
    a mapping. Raises EvaluationError.
    """

    def __init__(self, source: Any, outputs: Sequence[str], count: int) -> None:
        where = "the reference"
        if isinstance(source, str | Path):
            where = str(source)
            source = _arrays(Path(source))
        if not isinstance(source, Mapping):
            source = {"": source}
        found = {str(name): np.asarray(array) for name, array in source.items()}
        if len(found) == 1 and len(outputs) == 1:
            found = {outputs[0]: next(iter(found.values()))}
        unknown = [name for name in found if name not in outputs]
        if unknown or not found:
            what = f"no output is called {unknown[0]!r}" if unknown else "it has no array"
            raise EvaluationError(f"{where}: {what}; the outputs are {', '.join(outputs)}")
        for name, array in found.items():
            if array.dtype.kind not in "fiub" or array.shape[:1] != (count,):
                raise EvaluationError(
                    f"{where}: {name!r} is {array.dtype} of {array.shape}; there are {count} "
                    "samples, along the first dimension"
                )
        self.arrays = found

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def of(self, number: int) -> dict[str, NDArray[Any]]:
        """The expected outputs of one sample."""
        return {name: array[number] for name, array in self.arrays.items()}


def _arrays(path: Path) -> Any:
    try:
        if path.suffix.lower() == ".npy":
            return untrusted.read_npy(path)
        return untrusted.read_npz(path)
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path}: {error}") from None
