"""Enumerations of the headers are made when they are named."""

import pickle
import subprocess
import sys

import pytest

from cudla_sim.constants import cudart, cudla


def test_an_enumeration_is_one_class() -> None:
    assert cudart.cudaError is cudart.cudaError
    assert cudart.cudaError.cudaErrorInvalidValue == 1
    assert cudart.cudaError.__module__ == "cudla_sim.constants.cudart"
    assert pickle.loads(pickle.dumps(cudla.cudlaStatus.cudlaErrorInvalidParam)) is (
        cudla.cudlaStatus.cudlaErrorInvalidParam
    )


def test_all_names_are_listed() -> None:
    names = dir(cudart)
    assert "cudaMemcpyKind" in names
    assert "cudaHostAllocMapped" in names
    assert names == sorted(set(names))


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match=r"cudla_sim\.constants\.cudart.*'cudaNothing'"):
        _ = cudart.cudaNothing  # type: ignore[attr-defined]


def test_importing_makes_none() -> None:
    program = (
        "import enum\n"
        "from cudla_sim.constants import cudart, nvsci\n"
        "assert not [v for m in (cudart, nvsci) for v in vars(m).values()\n"
        "            if isinstance(v, enum.EnumMeta)]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
