"""Settings: from variables, from a file, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim.core.config import Config, from_environment
from cudla_sim.core.errors import ConfigError
from cudla_sim.core.faults import Faults


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
