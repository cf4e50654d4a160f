"""Where a failure can be injected, and what with: every exported function, and points of engines.

A rule for a point that does not exist would never fire, and a test that waits for it would pass
for the wrong reason; so rules are checked against this list.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module

from .errors import ConfigError

# The statuses of each family, as modules of ``constants`` and enumerations in them.
_STATUSES = {
    "cudart": ("cudart", "cudaError"),
    "cudart driver": ("cudart", "cudaError_enum"),
    "cudla": ("cudla", "cudlaStatus"),
    "cupva": ("cupva", "cupvaError_t"),
    "nvdla": ("nvdla", "NvDlaError"),
    "nvsci": ("nvsci", "NvSciError"),
    "sim": ("sim", "simStatus"),
    "upmem": ("upmem", "dpu_error_t"),
}
_HEADERS = ("cudart", "cudla", "cupva", "nvdla", "nvsci", "sim", "upmem")

ENGINE_POINTS: dict[str, tuple[str, ...]] = {
    "dla/task": ("cudla", "nvdla"),
    "dla/timeout": ("cudla", "nvdla"),
    "fence/never": (),
    "pva/program": ("cupva",),
    "pva/timeout": ("cupva",),
    "upmem/launch": ("upmem",),
}
"""Points inside engines, with the families whose statuses they can end in."""

# C++ methods, which no C header declares.
_METHODS = (
    "createRuntime",
    "destroyRuntime",
    *(
        f"IRuntime::{name}"
        for name in (
            "getMaxDevices", "initEMU", "load", "unload", "bindTensor", "getNumTensors",
            "getTensorDesc", "setTensorDesc", "submit",
        )
    ),
)  # fmt: skip


@cache
def _points() -> dict[str, tuple[str, ...]]:
    """Every point with the families of its statuses."""
    found = {f"nvdla::{name}": ("nvdla",) for name in _METHODS}
    for family in _HEADERS:
        for name in import_module(f"..constants.{family}_parameters", __package__).PARAMETERS:
            is_driver = family == "cudart" and not name.startswith("cuda")
            found[name] = ("cudart driver",) if is_driver else (family,)
    return {**found, **ENGINE_POINTS}


@cache
def _statuses(family: str) -> frozenset[str]:
    module, enumeration = _STATUSES[family]
    found = import_module(f"..constants.{module}", __package__)
    return frozenset(getattr(found, enumeration).__members__)


def _near(name: str, names: list[str]) -> str:
    by_lower = {n.lower(): n for n in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def check(rule: str, point: str, status: str) -> None:
    """Raises ConfigError when there is no such point, or it cannot fail with that status ("": any).
    The nearest name is part of the text."""
    families = _points().get(point)
    if families is None:
        raise ConfigError(
            f"fault rule {rule!r}: there is no point {point!r}{_near(point, list(_points()))}"
        )
    if not status:
        return
    known = sorted(name for family in families for name in _statuses(family))
    if not known:
        raise ConfigError(f"fault rule {rule!r}: {point} takes no status, it just happens")
    if status not in known:
        raise ConfigError(
            f"fault rule {rule!r}: {point} cannot end with {status!r}{_near(status, known)}"
        )
