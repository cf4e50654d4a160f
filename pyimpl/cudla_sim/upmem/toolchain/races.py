"""Programs that tell the runtime each access to memory, so that it finds races with reads, too,
and where unwritten MRAM is used.

Clang's instrumentation for threads puts a call in front of each load and store that another tasklet
might meet; ``shim/dpu_run/race_watch.c`` has the functions.
"""

from __future__ import annotations

from collections.abc import Mapping

FLAGS = ("-Xclang", "-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile")
"""For clang's front end and for its last step; volatile variables are told apart."""


def asked(environment: Mapping[str, str]) -> bool:
    """Whether CUDLA_SIM_UPMEM_CHECKS asks in so many words for races, or for where unwritten MRAM
    is used: that is no default, since programs take several times as long. A mode for all checks
    asks for races."""
    said: dict[str, str] = {}
    for part in environment.get("CUDLA_SIM_UPMEM_CHECKS", "").split(","):
        name, _, mode = part.strip().rpartition("=")
        said[name or "race"] = mode
    return not {said.get("race"), said.get("mram_unwritten")}.isdisjoint({"warn", "fault"})
