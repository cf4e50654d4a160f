"""Functions of halves for all of them, against numpy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from .conftest import PROGRAMS, nvcc


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("floats") / "floats"
    done = nvcc("-O2", PROGRAMS / "floats.cu", "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def words(program: Path, columns: int) -> np.ndarray:
    done = subprocess.run([program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, np.uint16).reshape(-1, columns)


def bits_of(values: np.ndarray) -> np.ndarray:
    """Every NaN is the one that CUDA gives."""
    halves = values.astype(np.float16)
    return np.where(np.isnan(halves), 0x7FFF, halves.view(np.uint16))


def below(values: np.ndarray) -> np.ndarray:
    near = values.astype(np.float16)
    return np.where(near > values, np.nextafter(near, np.float16(-np.inf)), near)


def test_functions_of_all_halves(floats: Path) -> None:
    found = words(floats, 12)
    with np.errstate(all="ignore"):
        x = np.arange(65536).astype(np.uint16).view(np.float16)
        wide = x.astype(np.float64)
        saturated = np.clip(np.nan_to_num((wide + 0.25).astype(np.float16), nan=0.0), 0, 1)
        less = x.astype(np.float32) * np.float32(0.3)
        toward_zero = np.where(less < 0, -below(-less), below(less))
        wanted = (
            *(np.sqrt(wide), np.floor(wide), np.ceil(wide), np.trunc(wide), np.rint(wide)),
            *(1 / wide, np.exp2(wide), saturated, np.maximum(wide, 1), below(less), toward_zero),
        )
        for column, values in enumerate(wanted):
            np.testing.assert_array_equal(
                found[:, column], bits_of(np.asarray(values)), str(column)
            )
        whole = np.nan_to_num(np.rint(wide), nan=0.0).clip(0, 65535)
    assert (found[:, 11] == whole).all()
