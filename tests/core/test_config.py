"""Settings: from variables, from a file, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.core.config import Config, from_environment, names
from cudla_sim.core.errors import ConfigError
from cudla_sim.core.faults import Faults
from cudla_sim.settings import MODULES
from tests.conftest import ROOT

PACKAGE = ROOT / "pyimpl" / "cudla_sim"


def test_defaults_need_no_environment() -> None:
    assert from_environment({"PATH": "/bin", "CUDLA": "1"}) == Config()


def test_variables_are_typed() -> None:
    config = from_environment(
        {"CUDLA_SIM_CONFIG": "nv_small", "CUDLA_SIM_DLA_COUNT": "1", "CUDLA_SIM_EXPLAIN": "yes"}
    )
    assert (config.config, config.dla_count, config.explain) == ("nv_small", 1, True)


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("CUDLA_SIM_CONFIGG", "nv_full", "did you mean config"),
        ("CUDLA_SIM_CONFIG", "nv_tiny", "nv_small"),
        ("CUDLA_SIM_DLA_COUNT", "3", "0, 1 or 2"),
        ("CUDLA_SIM_DLA_COUNT", "two", "whole number"),
        ("CUDLA_SIM_EXPLAIN", "maybe", "0 or 1"),
        ("CUDLA_SIM_LOG", "everything", "api"),
        ("CUDLA_SIM_FP16", "float32", "exact, fast"),
        ("CUDLA_SIM_DLA_VERSION", "two", "major.minor"),
        ("CUDLA_SIM_CONFIG_FILE", "/nonexistent.toml", "No such file"),
    ],
)
def test_mistakes_are_named(variable: str, value: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        from_environment({variable: value})


def test_file_comes_first_and_variables_win(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text('config = "nv_large"\ndla_count = 1\n')
    variables = {"CUDLA_SIM_CONFIG_FILE": str(file), "CUDLA_SIM_DLA_COUNT": "2"}
    config = from_environment(variables)
    assert (config.config, config.dla_count) == ("nv_large", 2)


@pytest.mark.parametrize("text", ["config = 3", "nonsense = 1", "config = ", 'dla_count = "1"'])
def test_bad_files(tmp_path: Path, text: str) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(text)
    with pytest.raises(ConfigError):
        from_environment({"CUDLA_SIM_CONFIG_FILE": str(file)})


def test_every_section_is_listed() -> None:
    found = {f"{p.parent.relative_to(PACKAGE).as_posix().replace('/', '.')}.settings"
             for p in PACKAGE.glob("*/**/settings.py")}  # fmt: skip
    assert found == set(MODULES)
    assert len(set(names())) == len(names())


def test_settings_are_values() -> None:
    one = Config(dla_count=1, upmem_ranks=40)
    assert one == Config(dla_count=1)
    assert one != Config()
    assert hash(one) == hash(Config(dla_count=1))
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.replace(dla_count=2) == Config()
    assert "dla_count=1" in repr(one)
    with pytest.raises(AttributeError):
        one.dla_count = 2
    with pytest.raises(AttributeError, match="did you mean dla_count"):
        one.dla_cuont  # noqa: B018
    with pytest.raises(ConfigError, match="did you mean dla_count"):
        Config(dla_cuont=1)


def test_only_what_is_asked_for_is_imported() -> None:
    program = (
        "import sys; from cudla_sim.core.config import Config, from_environment;"
        "from_environment({'CUDLA_SIM_EXPLAIN': '1'}); print('cudla_sim.nvdla' in sys.modules);"
        "Config(config='nv_small'); print('cudla_sim.upmem' in sys.modules, 'numpy' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False"] * 3


def test_fault_rules_count_passes() -> None:
    faults = Faults("cudaFree@2=cudaErrorUnknown, dla/task")
    assert [faults.check("cudaFree") for _ in range(3)] == [None, "cudaErrorUnknown", None]
    assert [faults.check("dla/task") for _ in range(2)] == ["", ""]
    assert faults.check("cudaMalloc") is None
    faults.set("")
    assert not faults.active


@pytest.mark.parametrize("text", ["@2", "a@0", "a@x", "=X"])
def test_bad_fault_rules(text: str) -> None:
    with pytest.raises(ConfigError, match="fault rule"):
        Faults(text)
