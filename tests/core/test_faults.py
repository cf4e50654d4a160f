"""Fault rules: only points that exist, only statuses they can end in."""

from __future__ import annotations

import ast
import ctypes
from types import ModuleType

import pytest

from cudla_sim.core.errors import ConfigError
from cudla_sim.core.faults import Faults
from cudla_sim.core.points import ENGINE_POINTS
from cudla_sim.testing import CApi, Compiler
from tests.boot import programs
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("cudlaCreateDevic", "no point 'cudlaCreateDevic'; did you mean cudlaCreateDevice?"),
        ("nonsense", "no point 'nonsense'$"),
        ("CUDLASUBMITTASK@2", "did you mean cudlaSubmitTask?"),
        ("dla/tsk", "did you mean dla/task?"),
        ("cudlaSubmitTask=cudlaErrorUmdd", "did you mean cudlaErrorUmd?"),
        ("cudlaSubmitTask=cudaErrorUnknown", "cudlaSubmitTask cannot end with"),
        ("cuInit=cudaErrorUnknown", "cuInit cannot end with"),
        ("fence/never=cudlaErrorUmd", "fence/never takes no status"),
        ("nvdla::IRuntime::laod", "did you mean nvdla::IRuntime::load?"),
        ("cudlaSubmitTask@0", "n from 1"),
        ("=cudlaErrorUmd", "n from 1"),
    ],
)
def test_rules_that_would_never_fire_are_refused(rule: str, words: str) -> None:
    faults = Faults("cudlaSubmitTask@2=cudlaErrorUmd")
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        faults.set(rule)
    assert faults.active, "the rules before stay in force"


@pytest.mark.parametrize(
    "rule",
    [
        "cudlaSubmitTask@3=cudlaErrorUmd, dla/task=NvDlaError_IoctlFailed",
        "cudaMalloc=cudaErrorMemoryAllocation,cuInit=CUDA_ERROR_UNKNOWN",
        "dpu_load=DPU_ERR_DRIVER,CupvaMemAlloc,NvSciSyncModuleOpen=NvSciError_BadParameter",
        "nvdla::IRuntime::load=NvDlaError_BadValue,NvDlaSubmit,simReset=simErrorUnknown",
        "pva/program=CUPVA_VPU_HALTED,upmem/launch,fence/never",
    ],
)
def test_rules_of_every_family(rule: str) -> None:
    assert Faults(rule).active


def test_every_point_of_an_engine_is_listed() -> None:
    """Points are strings with a slash: what the code asks for is what can be asked for."""
    used = set()
    for path in (ROOT / "pyimpl" / "cudla_sim").rglob("*.py"):
        if path.name == "points.py" or "faults" not in path.read_text():
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict) and node.keys:
                words = [k.value for k in node.keys if isinstance(k, ast.Constant)]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = node.func.attr == "check"
                words = [a.value for a in node.args if asked and isinstance(a, ast.Constant)]
            else:
                continue
            used |= {w for w in words if isinstance(w, str) and w.count("/") == 1 and " " not in w}
    assert used == set(ENGINE_POINTS)


def test_a_program_is_told_about_a_wrong_rule(sim_cc: Compiler) -> None:
    settings = {"CUDLA_SIM_FAULT": "cudlaGetVersio"}
    result = sim_cc.run(sim_cc.build(programs.VERSION), settings=settings)
    assert result.out.startswith(f"{0x7FFFFFFF} ")
    assert "did you mean cudlaGetVersion?" in result.out


def test_python_and_c_refuse_alike(sim: ModuleType, sim_api: CApi) -> None:
    with pytest.raises(ConfigError, match="no point"):
        sim.inject_fault("nonsense")
    assert sim_api.simInjectFault(b"nonsense") == 1
    assert "no point 'nonsense'" in sim.last_explanation()
    count = ctypes.c_uint64()
    assert sim_api.cudlaDeviceGetCount(ctypes.byref(count)) == 0
