"""Settings: variables, TOML, profiles of DPUs, rules of faults, costs of the DPUs' host."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from random import Random

from cudla_sim.core import config
from cudla_sim.core.config import from_environment
from cudla_sim.core.errors import ConfigError
from cudla_sim.core.faults import Faults
from cudla_sim.upmem import profile
from cudla_sim.upmem.errors import DpuError
from cudla_sim.upmem.timing.host import Host

from ..mutate import INTERESTING, mutated, text_mutated
from .models import explained

WORDS = ("", "0", "1", "-1", "1e308", "nan", "inf", "on", "off", "nv_small", "²", "1_0", "0x10",
         "true", "2.0", "².0", "a.b", "\x00", "x=y", ",", "cosim:", "all", "9" * 5000)  # fmt: skip
PROFILE = "backend=simulator,chipId=vD_asic8,nrThreadsPerRank=2,disableSafeChecks=1,nrJobsPerRank=4"
FAULTS = "cudaMalloc@2=cudaErrorMemoryAllocation, dpu_alloc"
TOML = 'config = "nv_full"\ndla_count = 1\nclock = 5.0\nnvsci = true\nlog = "api"\n'


def settings(random: Random) -> None:
    """One way in after the other; ConfigError, ValueError or a status of UPMEM's says no."""
    which = random.randrange(5)
    try:
        if which == 0:
            _variables(random)
        elif which == 1:
            _toml(random)
        elif which == 2:
            Faults(text_mutated(FAULTS, random, ("cudaMalloc", *WORDS)))
        elif which == 3:
            text = text_mutated(PROFILE, random, (*profile._KEYS, *WORDS))
            found = profile.parse(text)
            assert found.max_tasklets > 0
            assert found.frequency_mhz >= 0
        else:
            names = [field.name for field in dataclasses.fields(Host)]
            parts = [f"{random.choice(names)}={random.choice(WORDS)}" for _ in range(3)]
            Host.parse(text_mutated(",".join(parts), random, names))
    except (ConfigError, DpuError) as error:
        explained(error)
    except ValueError as error:
        if which != 4:
            raise
        explained(error)


def _variables(random: Random) -> None:
    names = [name for name in config.names() if name != "config_file"]
    numbers = [str(number) for number in INTERESTING]
    found = {
        f"CUDLA_SIM_{random.choice(names).upper()}": random.choice((*WORDS, *numbers))
        for _ in range(random.randrange(1, 4))
    }
    made = from_environment(found)
    [int(part) for part in made.dla_version.split(".")]


def _toml(random: Random) -> None:
    names = config.names()
    text = text_mutated(TOML, random, (*names, "[", "=", '"', "{", "nan"))
    data = text.encode(errors="replace")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "settings.toml"
        file.write_bytes(mutated(data, random) if random.random() < 0.3 else data)
        from_environment({"CUDLA_SIM_CONFIG_FILE": str(file)})
